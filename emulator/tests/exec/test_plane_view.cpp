// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which textures are fetched with vectors (docs/emulator/hardware.md lists them).

#include "exec/image_test.hpp"
#include "interp/plane_view.hpp"

namespace cuprum::emulator {

namespace {

/// Returns whether a texture of floats is fetched with vectors.
bool has_vectors(Geometry geometry, ImageShape shape, const Sampler& sampler) {
    test::TestImage image = test::numbered_image(8, shape == ImageShape::Line ? 1 : 4, 2, shape);
    image.image.sampler = sampler;
    PlaneView view;
    return view_of(image.image, geometry, view);
}

} // namespace

TEST(PlaneView, all_address_modes_have_vectors) {
    for (const AddressMode mode :
         {AddressMode::Clamp, AddressMode::Wrap, AddressMode::Mirror, AddressMode::Border}) {
        for (const bool is_normalized : {false, true}) {
            for (const ImageFilter filter : {ImageFilter::Point, ImageFilter::Linear}) {
                Sampler sampler;
                sampler.modes = {mode, mode, mode};
                sampler.is_normalized = is_normalized;
                sampler.filter = filter;
                EXPECT_TRUE(has_vectors(Geometry::Line, ImageShape::Line, sampler));
                EXPECT_TRUE(has_vectors(Geometry::Plane, ImageShape::Plane, sampler));
                EXPECT_TRUE(has_vectors(Geometry::PlaneLayers, ImageShape::PlaneLayers, sampler));
                EXPECT_TRUE(has_vectors(Geometry::Volume, ImageShape::Volume, sampler));
            }
        }
    }
}

TEST(PlaneView, a_texture_of_another_shape_than_the_instruction_has_no_vectors) {
    EXPECT_FALSE(has_vectors(Geometry::Plane, ImageShape::Line, {}));
    EXPECT_FALSE(has_vectors(Geometry::Line, ImageShape::Plane, {}));
    EXPECT_FALSE(has_vectors(Geometry::Plane, ImageShape::PlaneLayers, {}));
    EXPECT_FALSE(has_vectors(Geometry::Volume, ImageShape::PlaneLayers, {}));
}

TEST(PlaneView, conversion_from_srgb_has_no_vectors) {
    Sampler sampler;
    sampler.is_srgb = true;
    EXPECT_FALSE(has_vectors(Geometry::Plane, ImageShape::Plane, sampler));
}

TEST(PlaneView, one_level_of_a_mipmapped_array_has_vectors) {
    test::TestImage image = test::levelled_image();
    image.image.sampler.max_level = 2;
    PlaneView view;
    ASSERT_TRUE(view_of(image.image, Geometry::Plane, view));
    EXPECT_TRUE(view.is_normalized);
    EXPECT_EQ(view.sizes[0], 4u);
    ASSERT_TRUE(choose_level(1.4f, view));
    EXPECT_EQ(view.sizes[0], 2u);
    EXPECT_EQ(view.data, image.image.levels[1].data);
    image.image.sampler.level_filter = ImageFilter::Linear;
    EXPECT_FALSE(choose_level(1.4f, view)); // mixes two
    EXPECT_TRUE(choose_level(2, view));
    EXPECT_EQ(view.sizes[0], 1u);
}

TEST(PlaneView, a_border_is_stored_as_a_texel) {
    test::TestImage image = test::byte_image({1, 2, 3, 4});
    Sampler& sampler = image.image.sampler;
    sampler.modes = {AddressMode::Border, AddressMode::Clamp, AddressMode::Clamp};
    sampler.border = {1, 0.5f, 0, 2};
    image.image.channels = 4;
    image.image.texel_bytes = 4;
    image.image.levels[0].width = 1;
    PlaneView view;
    ASSERT_TRUE(view_of(image.image, Geometry::Line, view));
    EXPECT_TRUE(view.has_border);
    EXPECT_EQ(view.border[0], 0xff0080ffu);
}

} // namespace cuprum::emulator
