// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// suld, sust, sured and suq.

#include "exec/image_test.hpp"

namespace cuprum::emulator {

namespace {

using test::ImageKernel;
using test::numbered_image;

TEST(Surfaces, loads_count_bytes_in_a_row) {
    ImageKernel kernel(numbered_image(4, 3));
    EXPECT_EQ(kernel.floats("suld.b.2d.b32.trap %f0, [%h, {8, 1}];", {})[0], 12);
    EXPECT_EQ(kernel.floats("suld.b.2d.v2.b32.trap {%f0, %f1}, [%h, {8, 2}];", {}),
              (std::array<float, 4>{22, 23, 0, 0}));
}

TEST(Surfaces, stores_change_the_texels) {
    ImageKernel kernel(numbered_image(4, 3));
    (void)kernel.words("setp.eq.u32 %p, %lane, 0;\n@%p sust.b.2d.b32.trap [%h, {4, 1}], %c0;",
                       {0.25f});
    EXPECT_EQ(kernel.texel(5), 0.25f);
    EXPECT_EQ(kernel.texel(4), 10);
    EXPECT_EQ(kernel.texel(6), 12);
}

TEST(Surfaces, outside_loads_give_the_edge_or_zero) {
    ImageKernel kernel(numbered_image(4, 3));
    EXPECT_EQ(kernel.floats("suld.b.2d.b32.clamp %f0, [%h, {400, -5}];", {})[0], 3);
    EXPECT_EQ(kernel.floats("suld.b.2d.b32.zero %f0, [%h, {0, 3}];", {})[0], 0);
    EXPECT_EQ(kernel.floats("suld.b.2d.b32.zero %f0, [%h, {-4, 1}];", {})[0], 0);
}

TEST(Surfaces, outside_stores_are_dropped_or_change_the_edge) {
    ImageKernel kernel(numbered_image(4, 3));
    (void)kernel.words("sust.b.2d.b32.zero [%h, {16, 1}], %c0;", {7});
    EXPECT_EQ(kernel.texel(8), 20);
    EXPECT_EQ(kernel.texel(7), 13);
    (void)kernel.words("sust.b.2d.b32.clamp [%h, {16, 1}], %c0;", {7});
    EXPECT_EQ(kernel.texel(7), 7);
}

TEST(Surfaces, a_trap_names_the_place_and_the_array) {
    ImageKernel kernel(numbered_image(4, 3));
    const std::string report = kernel.fault("suld.b.2d.b32.trap %f0, [%h, {16, 2}];");
    EXPECT_NE(report.find("illegal address: the surface access at byte 16, row 2 is outside of a "
                          "2-D array of 4 x 3 texels of 4 bytes"),
              std::string::npos)
        << report;
    EXPECT_NE(report.find("in kernel k, block (0, 0, 0), thread (0, 0, 0)"), std::string::npos);
    EXPECT_NE(report.find("suld.b.2d.b32.trap"), std::string::npos);
}

TEST(Surfaces, reductions_are_atomic) {
    test::TestImage image = numbered_image(4, 3);
    image.image.format = TexelFormat::U32;
    ImageKernel kernel(image);
    (void)kernel.words("mov.b32 %w, 1;\nsured.b.add.2d.u32.trap [%h, {0, 0}], %w;", {});
    EXPECT_EQ(std::bit_cast<std::uint32_t>(kernel.texel(0)), 32u); // one per lane
}

TEST(Surfaces, an_access_that_is_wider_than_a_row_stays_inside) {
    ImageKernel kernel(numbered_image(2, 3));
    (void)kernel.words("sust.b.2d.v4.b32.clamp [%h, {0, 0}], {%c0, %c0, %c0, %c0};", {7});
    EXPECT_EQ(kernel.texel(0), 0);
    EXPECT_EQ(kernel.texel(2), 10);
    EXPECT_EQ(
        kernel.floats("suld.b.2d.v4.b32.clamp {%f0, %f1, %f2, %f3}, [%h, {0, 2}];", {1, 1, 1, 1}),
        (std::array<float, 4>{0, 0, 0, 0}));
}

TEST(Surfaces, reductions_do_not_change_more_than_a_texel) {
    test::TestImage image = numbered_image(4, 3);
    image.image.format = TexelFormat::U16;
    image.image.texel_bytes = 2;
    ImageKernel kernel(image);
    const std::string report =
        kernel.fault("mov.b32 %w, 1;\nsured.p.add.2d.b32.trap [%h, {3, 2}], %w;");
    EXPECT_NE(report.find("sured.p changes 4 bytes, but the surface is a 2-D array of 4 x 3 texels "
                          "of 2 bytes"),
              std::string::npos)
        << report;
    EXPECT_NE(report.find("at PTX line"), std::string::npos) << report;
}

TEST(Surfaces, formatted_stores_convert) {
    test::TestImage image = numbered_image(4, 3);
    image.image.format = TexelFormat::Unorm8;
    image.image.channels = 4;
    ImageKernel kernel(image);
    (void)kernel.words("sust.p.2d.v4.b32.trap [%h, {1, 0}], {%c0, %c1, %c2, %c3};",
                       {0, 1, 0.2f, -3});
    EXPECT_EQ(std::bit_cast<std::uint32_t>(kernel.texel(1)), 0x0033ff00u);
}

TEST(Surfaces, queries_tell_sizes) {
    ImageKernel kernel(numbered_image(4, 3, 2, ImageShape::PlaneLayers));
    EXPECT_EQ(kernel.words("suq.width.b32 %f0, [%h];", {})[0], 4u);
    EXPECT_EQ(kernel.words("suq.height.b32 %f0, [%h];", {})[0], 3u);
    EXPECT_EQ(kernel.words("suq.array_size.b32 %f0, [%h];", {})[0], 2u);
}

} // namespace

namespace {

/// Copies a surface of 80 x 4 (x 2) elements to another one, `shift` elements to the right, in
/// blocks of 64 x 4 threads, and compares. Elements from outside are zero.
void expect_copy(const std::string& geometry, const std::string& type, unsigned element_bytes,
                 unsigned count, int shift, test::Shape shape) {
    constexpr unsigned width = 80;
    constexpr unsigned height = 4;
    constexpr unsigned threads = 64; // of a row
    const unsigned lane_bytes = element_bytes * count;
    const unsigned slices = geometry == "2d" ? 1 : 2;
    const std::size_t bytes = std::size_t{width} * height * slices * lane_bytes;
    std::vector<std::byte> from(bytes);
    std::vector<std::byte> to(bytes, std::byte{0xee});
    for (std::size_t i = 0; i < bytes; ++i) {
        from[i] = static_cast<std::byte>(i * 7 + i / 256);
    }
    const auto insert = [&](std::vector<std::byte>& texels) {
        Image image;
        image.shape = geometry == "2d"    ? ImageShape::Plane
                      : geometry == "a2d" ? ImageShape::PlaneLayers
                                          : ImageShape::Volume;
        image.texel_bytes = static_cast<std::uint8_t>(lane_bytes);
        image.layers = geometry == "a2d" ? slices : 1;
        image.levels[0] = {.data = texels.data(),
                           .width = width,
                           .height = height,
                           .depth = geometry == "3d" ? slices : 1,
                           .pitch_bytes = std::uint64_t{width} * lane_bytes,
                           .slice_bytes = std::uint64_t{width} * height * lane_bytes};
        return ImageTable::instance().insert(ImageUse::Surface, image);
    };
    const std::uint64_t source = insert(from);
    const std::uint64_t target = insert(to);
    std::string values = "%v0";
    for (unsigned i = 1; i < count; ++i) {
        values += ", %v" + std::to_string(i);
    }
    values = "{" + values + "}";
    const std::string vector = count == 1 ? "" : ".v" + std::to_string(count);
    const auto place = [&](const std::string& x) {
        return geometry == "2d"    ? "{" + x + ", %y}"
               : geometry == "a2d" ? "{%z, " + x + ", %y, %y}"
                                   : "{" + x + ", %y, %z, %z}";
    };
    const std::string width_text = element_bytes == 8   ? ".b64"
                                   : element_bytes == 4 ? ".b32"
                                                        : ".b16";
    test::TestDevice device;
    const Fault fault = test::run(
        device,
        ".visible .entry k(.param .u64 ps, .param .u64 pt, .param .s32 pshift) {\n"
        ".reg .b64 %s, %t; .reg .b32 %x, %y, %z, %w, %i, %shift, %from; .reg " +
            width_text +
            " %v<4>;\n"
            "ld.param.u64 %s, [ps]; ld.param.u64 %t, [pt]; ld.param.s32 %shift, [pshift];\n"
            "mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %w, %ntid.x; mad.lo.u32 %i, %y, %w, "
            "%x;\nand.b32 %x, %i, 63; shr.u32 %y, %i, 6; mov.u32 %z, %ctaid.x;\n"
            "sub.s32 %from, %x, %shift; mul.lo.s32 %from, %from, " +
            std::to_string(lane_bytes) + "; mul.lo.s32 %x, %x, " + std::to_string(lane_bytes) +
            ";\nsuld.b." + geometry + vector + "." + type + ".zero " + values + ", [%s, " +
            place("%from") + "];\nsust.b." + geometry + vector + "." + type + ".zero [%t, " +
            place("%x") + "], " + values + ";\nret;\n}\n",
        shape, source, target, shift);
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::size_t i = 0; i < bytes; ++i) {
        const auto x = static_cast<int>(i / lane_bytes % width);
        const bool is_written = x < static_cast<int>(threads);
        const bool is_inside = x >= shift && x - shift < static_cast<int>(width);
        const std::byte expected =
            !is_written  ? std::byte{0xee}
            : !is_inside ? std::byte{0}
                         : from[i - static_cast<std::size_t>(shift * static_cast<int>(lane_bytes))];
        ASSERT_EQ(to[i], expected)
            << geometry << " " << type << " x " << count << ", shift " << shift << ", byte " << i;
    }
    ImageTable::instance().erase(source);
    ImageTable::instance().erase(target);
}

} // namespace

TEST(Surfaces, rows_are_copied_with_any_element_shape_and_shift) {
    for (const std::string geometry : {"2d", "a2d", "3d"}) {
        for (const unsigned count : {1u, 2u, 4u}) {
            for (const int shift : {0, 3, -3, -20, 64}) {
                for (test::Shape shape :
                     {test::Shape{.block = 256}, test::Shape{.block = 16, .block_y = 16},
                      test::Shape{.block = 64, .block_y = 4}}) {
                    shape.grid = geometry == "2d" ? 1 : 2;
                    expect_copy(geometry, "b8", 1, count, shift, shape);
                    expect_copy(geometry, "b16", 2, count, shift, shape);
                    expect_copy(geometry, "b32", 4, count, shift, shape);
                    if (count < 4) {
                        expect_copy(geometry, "b64", 8, count, shift, shape);
                    }
                }
            }
        }
    }
}

TEST(Surfaces, a_trap_in_one_of_many_warps_names_the_thread) {
    test::TestDevice device;
    const test::TestImage image = test::numbered_image(100, 1);
    const auto handle = ImageTable::instance().insert(ImageUse::Surface, image.image);
    auto* const out = device.allocate<std::uint32_t>(128);
    const Fault fault = test::run(
        device,
        ".visible .entry k(.param .u64 ps, .param .u64 pout) {\n"
        ".reg .b64 %s, %out, %d; .reg .b32 %x, %i, %v;\n"
        "ld.param.u64 %s, [ps]; ld.param.u64 %out, [pout]; mov.u32 %i, %tid.x; shl.b32 %x, %i, 2;\n"
        "suld.b.2d.b32.trap {%v}, [%s, {%x, 0}];\nmul.wide.u32 %d, %i, 4; add.u64 %out, %out, %d;\n"
        "st.global.u32 [%out], %v;\nret;\n}\n",
        {.block = 128}, handle, out);
    EXPECT_EQ(fault.kind, FaultKind::IllegalAddress);
    EXPECT_NE(fault.report.find("thread (100, 0, 0)"), std::string::npos) << fault.report;
    EXPECT_NE(fault.report.find("byte 400, row 0"), std::string::npos) << fault.report;
    ImageTable::instance().erase(handle);
}

} // namespace cuprum::emulator
