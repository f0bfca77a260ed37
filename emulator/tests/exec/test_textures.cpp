// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// tex, tld4, txq and istypep. Expected values follow from the texels; compare/textures.py compares
// the arithmetic with a GPU.

#include "exec/image_test.hpp"

namespace cuprum::emulator {

namespace {

using test::ImageKernel;
using test::numbered_image;

/// A fetch of a 4 x 3 image whose texel (x, y) is 10 * y + x.
float fetch(const Sampler& sampler, float x, float y) {
    ImageKernel kernel(numbered_image(4, 3), sampler);
    return kernel.floats("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%c0, %c1}];", {x, y})[0];
}

Sampler with_mode(AddressMode mode, ImageFilter filter = ImageFilter::Point,
                  bool is_normalized = false) {
    Sampler sampler;
    sampler.modes = {mode, mode, mode};
    sampler.filter = filter;
    sampler.is_normalized = is_normalized;
    return sampler;
}

TEST(Textures, a_point_reads_the_texel_that_it_lies_in) {
    const Sampler sampler = with_mode(AddressMode::Clamp);
    EXPECT_EQ(fetch(sampler, 0.0f, 0.0f), 0);
    EXPECT_EQ(fetch(sampler, 2.99f, 1.5f), 12);
    EXPECT_EQ(fetch(sampler, 3.0f, 2.0f), 23);
}

TEST(Textures, address_modes_choose_texels_outside) {
    EXPECT_EQ(fetch(with_mode(AddressMode::Clamp), -7, 99), 20);
    const Sampler wrap = with_mode(AddressMode::Wrap, ImageFilter::Point, true);
    EXPECT_EQ(fetch(wrap, 1.3f, -0.1f), 21);
    const Sampler mirror = with_mode(AddressMode::Mirror, ImageFilter::Point, true);
    EXPECT_EQ(fetch(mirror, 1.3f, -0.1f), 2);
    Sampler border = with_mode(AddressMode::Border);
    border.border = {0.5f, 0, 0, 0};
    EXPECT_EQ(fetch(border, -0.1f, 1), 0.5f);
    EXPECT_EQ(fetch(border, 3.9f, 1), 13);
}

TEST(Textures, filters_have_weights_of_256ths) {
    const Sampler linear = with_mode(AddressMode::Clamp, ImageFilter::Linear);
    EXPECT_EQ(fetch(linear, 1.5f, 1.5f), 11);
    EXPECT_EQ(fetch(linear, 2.0f, 1.5f), 11.5f);
    EXPECT_EQ(fetch(linear, 1.5f + 3.0f / 256, 1.5f), 11 + 3.0f / 256);
    EXPECT_EQ(fetch(linear, 1.5f + 1.0f / 1024, 1.5f), 11); // less than half a step
    EXPECT_EQ(fetch(linear, 1.5f + 1.0f / 512, 1.5f), 11 + 1.0f / 256);
    EXPECT_EQ(fetch(linear, 2.0f, 2.0f), 16.5f);
    EXPECT_EQ(fetch(linear, 0.0f, 0.5f), 0); // the edge repeats
}

TEST(Textures, missing_channels_read_as_zero) {
    ImageKernel kernel(numbered_image(4, 3), with_mode(AddressMode::Clamp));
    const auto values =
        kernel.floats("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%c0, %c1}];", {1.5f, 0.5f});
    EXPECT_EQ(values, (std::array<float, 4>{1, 0, 0, 0}));
}

TEST(Textures, bytes_read_as_fractions_or_as_integers) {
    test::TestImage image = test::byte_image({0, 51, 255, 128});
    Sampler sampler = with_mode(AddressMode::Clamp);
    {
        ImageKernel kernel(image, sampler);
        EXPECT_EQ(kernel.floats("tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%c0}];", {1.5f})[0],
                  0.2f);
    }
    sampler.reads_integers = true;
    ImageKernel kernel(image, sampler);
    EXPECT_EQ(kernel.words("tex.1d.v4.u32.f32 {%f0, %f1, %f2, %f3}, [%h, {%c0}];", {3.5f})[0],
              128u);
}

TEST(Textures, srgb_is_converted) {
    Sampler sampler = with_mode(AddressMode::Clamp);
    sampler.is_srgb = true;
    ImageKernel kernel(test::byte_image({0, 255, 128, 1}), sampler);
    const std::string text = "tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%c0}];";
    EXPECT_EQ(kernel.floats(text, {0.5f})[0], 0);
    EXPECT_EQ(kernel.floats(text, {1.5f})[0], 1);
    EXPECT_NEAR(kernel.floats(text, {2.5f})[0], 0.2158f, 0.002f);
}

TEST(Textures, layers_are_clamped_and_not_filtered) {
    ImageKernel kernel(numbered_image(4, 3, 2, ImageShape::PlaneLayers),
                       with_mode(AddressMode::Clamp, ImageFilter::Linear));
    const std::string text = "cvt.rzi.u32.f32 %w, %c0;\n"
                             "tex.a2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%w, %c1, %c2, %c2}];";
    EXPECT_EQ(kernel.floats(text, {1, 1.5f, 0.5f})[0], 101);
    EXPECT_EQ(kernel.floats(text, {7, 1.5f, 0.5f})[0], 101);
}

TEST(Textures, volumes_are_filtered_in_three_directions) {
    ImageKernel kernel(numbered_image(4, 3, 2, ImageShape::Volume),
                       with_mode(AddressMode::Clamp, ImageFilter::Linear));
    const std::string text = "tex.3d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%c0, %c1, %c2, %c2}];";
    EXPECT_EQ(kernel.floats(text, {2, 2, 1})[0], 66.5f);
}

TEST(Textures, directions_select_the_face_of_a_cube) {
    ImageKernel kernel(numbered_image(2, 2, 6, ImageShape::Cube), with_mode(AddressMode::Clamp));
    const std::string text =
        "tex.cube.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%c0, %c1, %c2, %c2}];";
    EXPECT_EQ(kernel.floats(text, {1, 0.5f, 0.5f})[0], 0);
    EXPECT_EQ(kernel.floats(text, {-1, 0.5f, 0.5f})[0], 101);
    EXPECT_EQ(kernel.floats(text, {0.5f, 1, 0.5f})[0], 211);
    EXPECT_EQ(kernel.floats(text, {0.5f, -1, 0.5f})[0], 301);
    EXPECT_EQ(kernel.floats(text, {0.5f, 0.5f, 1})[0], 401);
    EXPECT_EQ(kernel.floats(text, {0.5f, 0.5f, -1})[0], 500);
}

TEST(Textures, levels_are_chosen_and_filtered) {
    Sampler sampler = with_mode(AddressMode::Clamp, ImageFilter::Point, true);
    sampler.level_filter = ImageFilter::Linear;
    sampler.max_level = 99;
    ImageKernel kernel(test::levelled_image(), sampler); // all texels of level l are l
    const std::string text = "tex.level.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%c0, %c1}], %c2;";
    EXPECT_EQ(kernel.floats(text, {0.5f, 0.5f, 0})[0], 0);
    EXPECT_EQ(kernel.floats(text, {0.5f, 0.5f, 1.25f})[0], 1.25f);
    EXPECT_EQ(kernel.floats(text, {0.5f, 0.5f, 50})[0], 2);
    EXPECT_EQ(kernel.floats(text, {0.5f, 0.5f, -3})[0], 0);
    // A step of two texels of the first level is a step of one of the second.
    EXPECT_EQ(kernel.floats("tex.grad.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%c0, %c1}], "
                            "{%c2, %c3}, {%c3, %c3};",
                            {0.5f, 0.5f, 0.5f, 0})[0],
              1);
    EXPECT_EQ(kernel.words("txq.level.width.b32 %f0, [%h], 1;", {})[0], 2u);
}

TEST(Textures, tld4_starts_at_the_lower_left) {
    ImageKernel kernel(numbered_image(4, 3), with_mode(AddressMode::Clamp));
    EXPECT_EQ(kernel.floats("tld4.r.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%c0, %c1}];", {2, 2}),
              (std::array<float, 4>{21, 22, 12, 11}));
}

TEST(Textures, offsets_move_by_texels) {
    ImageKernel kernel(numbered_image(4, 3), with_mode(AddressMode::Clamp));
    EXPECT_EQ(kernel.floats("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%c0, %c1}], {2, -1};",
                            {0.5f, 1.5f})[0],
              2);
}

TEST(Textures, results_can_be_halves) {
    ImageKernel kernel(numbered_image(4, 3), with_mode(AddressMode::Clamp));
    EXPECT_EQ(kernel.words("tex.2d.v2.f16x2.f32 {%f0, %f1}, [%h, {%c0, %c1}];", {1.5f, 0.5f})[0],
              0x3c00u);
}

TEST(Textures, the_residency_predicate_is_true) {
    ImageKernel kernel(numbered_image(4, 3), with_mode(AddressMode::Clamp));
    EXPECT_EQ(kernel.words("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}|%p, [%h, {%c0, %c1}];\n"
                           "selp.b32 %f0, 1, 0, %p;",
                           {1.5f, 0.5f})[0],
              1u);
}

TEST(Textures, queries_tell_sizes_and_settings) {
    ImageKernel kernel(numbered_image(4, 3), with_mode(AddressMode::Mirror, ImageFilter::Linear));
    EXPECT_EQ(kernel.words("txq.width.b32 %f0, [%h];", {})[0], 4u);
    EXPECT_EQ(kernel.words("txq.height.b32 %f0, [%h];", {})[0], 3u);
    EXPECT_EQ(kernel.words("txq.filter_mode.b32 %f0, [%h];", {})[0], 1u);
    EXPECT_EQ(kernel.words("txq.normalized_coords.b32 %f0, [%h];", {})[0], 0u);
}

TEST(Textures, istypep_recognises_handles) {
    ImageKernel kernel(numbered_image(4, 3), with_mode(AddressMode::Clamp));
    const auto holds = [&](const std::string& type) {
        return kernel.words("istypep." + type + " %p, %h;\nselp.b32 %f0, 1, 0, %p;", {})[0] == 1;
    };
    EXPECT_TRUE(holds("texref"));
    EXPECT_FALSE(holds("samplerref"));
    EXPECT_FALSE(holds("surfref"));
}

TEST(Textures, lanes_may_use_different_textures) {
    const test::TestImage second = numbered_image(4, 3);
    ImageKernel kernel(numbered_image(4, 3, 1, ImageShape::Plane, 1000),
                       with_mode(AddressMode::Clamp));
    const auto other = ImageTable::instance().insert(ImageUse::Texture, second.image);
    const auto words = kernel.run_lanes(
        "and.b32 %w, %lane, 1;\nsetp.eq.u32 %p, %w, 1;\n@%p mov.b64 %h, " + std::to_string(other) +
            ";\ntex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%c0, %c1}];",
        {1.5f, 0.5f});
    EXPECT_EQ(std::bit_cast<float>(words[0]), 1001);
    EXPECT_EQ(std::bit_cast<float>(words[1]), 1);
    ImageTable::instance().erase(other);
}

TEST(Textures, a_variable_holds_the_handle) {
    ImageKernel kernel(numbered_image(4, 3), with_mode(AddressMode::Clamp),
                       ".global .texref image;\n");
    const std::string bind = "mov.u64 %at, image;\nst.global.u64 [%at], %h;\n";
    EXPECT_EQ(kernel.floats(bind + "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [image, {%c0, %c1}];",
                            {2.5f, 1.5f})[0],
              12);
    EXPECT_EQ(kernel.floats(bind + "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%at, {%c0, %c1}];",
                            {2.5f, 1.5f})[0],
              12);
}

TEST(Textures, a_sampler_can_be_named) {
    ImageKernel kernel(numbered_image(4, 3),
                       with_mode(AddressMode::Clamp, ImageFilter::Point, true),
                       ".global .samplerref smooth = { addr_mode_0 = wrap, addr_mode_1 = wrap, "
                       "filter_mode = linear };\n");
    EXPECT_EQ(kernel.floats("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, smooth, {%c0, %c1}];",
                            {0.5f, 0.5f})[0],
              11.5f);
    EXPECT_EQ(kernel.words("txq.filter_mode.b32 %f0, [smooth];", {})[0], 1u);
}

TEST(Textures, an_invalid_handle_is_reported) {
    const std::string text = "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%c0, %c1}];";
    ImageKernel kernel(numbered_image(4, 3), with_mode(AddressMode::Clamp));
    EXPECT_NE(kernel.fault("mov.b64 %h, 0;\n" + text).find("no texture is bound"),
              std::string::npos);
    EXPECT_NE(kernel.fault("mov.b64 %h, 123456789;\n" + text)
                  .find("the handle 0x75bcd15 is not the handle of a texture object"),
              std::string::npos);
    EXPECT_NE(kernel.fault("suld.b.2d.b32.trap %f0, [%h, {0, 0}];")
                  .find("belongs to a texture object, not to a surface object"),
              std::string::npos);
    ImageTable::instance().retire(kernel.handle(), "its array was destroyed");
    EXPECT_NE(kernel.fault(text).find("its array was destroyed"), std::string::npos);
    kernel.destroy_texture();
    const std::string report = kernel.fault(text);
    EXPECT_NE(report.find("that was destroyed"), std::string::npos) << report;
    EXPECT_NE(report.find("in kernel k, block (0, 0, 0), thread (0, 0, 0)"), std::string::npos);
    EXPECT_NE(report.find("tex.2d.v4.f32.f32"), std::string::npos);
}

TEST(Textures, forms_that_do_not_exist_are_refused) {
    const auto complaint = [](const std::string& text) {
        test::TestDevice device;
        EXPECT_EQ(device.compile(test::ptx_module(".visible .entry k()\n{\n.reg .b32 %r<8>;\n"
                                                  ".reg .b64 %h;\n" +
                                                  text + "\nret;\n}\n")),
                  nullptr)
            << text;
        return device.log;
    };
    EXPECT_NE(complaint("tex.2d.v2.f32.f32 {%r0, %r1}, [%h, {%r4, %r5}];").find("needs .v4"),
              std::string::npos);
    EXPECT_NE(complaint("tex.3d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%r4, %r5, %r6}];")
                  .find("needs a vector of 4 words, found 3"),
              std::string::npos);
    EXPECT_NE(complaint("tex.cube.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%h, {%r4, %r5, %r6, %r6}];")
                  .find(".f32"),
              std::string::npos);
    EXPECT_NE(complaint("tld4.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%r4, %r5}];")
                  .find("needs a component"),
              std::string::npos);
    EXPECT_NE(complaint("txq.colour.b32 %r0, [%h];").find("asks for nothing"), std::string::npos);
    EXPECT_NE(complaint("suld.b.2d.b32 %r0, [%h, {%r4, %r5}];").find(".trap, .clamp or .zero"),
              std::string::npos);
    EXPECT_NE(complaint("sured.b.add.a2d.u32.trap [%h, {%r4, %r5, %r6, %r6}], %r0;").find("layers"),
              std::string::npos);
}

TEST(Textures, linear_memory_with_a_hole_is_reported) {
    constexpr std::size_t PART_BYTES = std::size_t{128} << 10; // two granules
    test::TestDevice device;
    auto* const memory = device.allocate<std::byte>(3 * PART_BYTES);
    auto* const out = device.allocate<float>(1);
    Image image;
    image.source = ImageSource::Linear;
    image.format = TexelFormat::F32;
    image.texel_bytes = 4;
    image.levels[0].data = memory;
    image.levels[0].width = static_cast<std::uint32_t>(3 * PART_BYTES / 4);
    image.address = reinterpret_cast<std::uint64_t>(memory);
    image.bytes = 3 * PART_BYTES;
    const std::uint64_t handle = ImageTable::instance().insert(ImageUse::Texture, image);
    const std::string text =
        ".visible .entry k(.param .u64 ph, .param .u64 pout)\n{\n.reg .b64 %h, %out;\n"
        ".reg .f32 %f<4>;\nld.param.u64 %h, [ph];\nld.param.u64 %out, [pout];\n"
        "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%h, {49000}];\nst.global.f32 [%out], %f0;\n"
        "ret;\n}\n";
    const auto run = [&] {
        return test::run(device, text, {}, handle, reinterpret_cast<std::uint64_t>(out));
    };
    EXPECT_EQ(run().kind, FaultKind::None);
    device.set_permission(memory + PART_BYTES, PART_BYTES, Permission::None);
    const Fault fault = run();
    EXPECT_EQ(fault.kind, FaultKind::IllegalAddress);
    EXPECT_NE(fault.report.find("which are not all memory that the device may access"),
              std::string::npos)
        << fault.report;
    ImageTable::instance().erase(handle);
}

} // namespace

} // namespace cuprum::emulator
