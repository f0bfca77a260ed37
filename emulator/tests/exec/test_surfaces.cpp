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

} // namespace cuprum::emulator
