// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace cuprum {

namespace {

using testing::expect_error;

class MipmappedArrayOnFake : public testing::FakeDriverTest {
protected:
    static MipmappedArray make(const MipmappedArrayOptions& options) {
        return Device(0).create_mipmapped_array(options);
    }
};

constexpr OpaqueArrayOptions IMAGE{
    .extent = {.width = 64, .height = 16}, .format = ArrayFormat::UInt8, .num_channels = 4};

} // namespace

TEST_F(MipmappedArrayOnFake, options_become_the_driver_s_description) {
    OpaqueArrayOptions image = IMAGE;
    image.is_surface_load_store = true;
    const MipmappedArray array = make({.array = image, .num_levels = 3});
    const testing::FakeDriver::Mipmap& made = fake->mipmaps.at(array.handle());
    EXPECT_EQ(made.levels, 3U);
    EXPECT_EQ(made.description.Width, 64U);
    EXPECT_EQ(made.description.NumChannels, 4U);
    EXPECT_EQ(array.options(), (MipmappedArrayOptions{image, 3}));
    EXPECT_EQ(array.extent(), (ArrayExtent{64, 16, 0}));
    EXPECT_EQ(array.format(), ArrayFormat::UInt8);
    EXPECT_EQ(array.num_channels(), 4U);
    EXPECT_EQ(array.num_levels(), 3U);
    EXPECT_EQ(array.num_layers(), 0U);
    EXPECT_FALSE(array.is_cubemap());
    EXPECT_TRUE(array.is_surface_load_store());
    EXPECT_EQ(array.device(), Device(0));
    EXPECT_EQ(to_string(array), "<MipmappedArray 64 x 16 of uint8 channels=4 levels=3>");
}

TEST_F(MipmappedArrayOnFake, all_levels_end_with_one_element) {
    EXPECT_EQ(make({.array = IMAGE}).num_levels(), 7U);
    EXPECT_EQ(make({.array = {.extent = {.width = 5, .height = 1, .depth = 9}}}).num_levels(), 4U);
    EXPECT_EQ(make({.array = {.extent = {.width = 4}, .num_layers = 100}}).num_levels(), 3U);
    expect_error<std::invalid_argument>([] { (void)make({.array = IMAGE, .num_levels = 8}); },
                                        {"num_levels is 8", "at most 7", "64 x 16"});
}

TEST_F(MipmappedArrayOnFake, levels_keep_the_whole_alive) {
    MipmappedArray array = make({.array = IMAGE, .num_levels = 3});
    OpaqueArray level = array.level(2);
    EXPECT_EQ(level.extent(), (ArrayExtent{16, 4, 0}));
    expect_error<std::invalid_argument>([&] { (void)array.level(3); },
                                        {"level is 3", "num_levels, which is 3"});
    array.close();
    array.close();
    EXPECT_EQ(fake->live().mipmapped_arrays, 1);
    EXPECT_NE(level.handle(), nullptr);
    level.close();
    EXPECT_EQ(fake->live().mipmapped_arrays, 0);
    expect_error<ClosedError>([&] { (void)array.level(0); }, {"MipmappedArray"});
    EXPECT_EQ(to_string(array), "<MipmappedArray closed>");
}

TEST_F(MipmappedArrayOnFake, a_wrapped_array_keeps_its_owner_and_is_not_destroyed) {
    const MipmappedArray own = make({.array = IMAGE, .num_levels = 2});
    auto owner = std::make_shared<int>(1);
    {
        const MipmappedArray wrapped =
            MipmappedArray::from_handle(own.handle(), 2, own.context(), owner);
        EXPECT_EQ(owner.use_count(), 2);
        EXPECT_EQ(wrapped, own);
        EXPECT_EQ(std::hash<MipmappedArray>()(wrapped), std::hash<MipmappedArray>()(own));
        EXPECT_EQ(wrapped.extent(), own.extent());
        EXPECT_EQ(wrapped.level(1).extent(), (ArrayExtent{32, 8, 0}));
    }
    EXPECT_EQ(owner.use_count(), 1);
    EXPECT_EQ(fake->live().mipmapped_arrays, 1);
    expect_error<std::invalid_argument>(
        [&] { (void)MipmappedArray::from_handle(nullptr, 2, own.context()); }, {"handle is null"});
    expect_error<std::invalid_argument>(
        [&] { (void)MipmappedArray::from_handle(own.handle(), 0, own.context()); },
        {"num_levels is 0"});
}

TEST_F(MipmappedArrayOnFake, requirements_and_tiles_come_from_the_driver) {
    OpaqueArrayOptions image = IMAGE;
    image.is_deferred_mapping = true;
    EXPECT_EQ(make({.array = image}).memory_requirements(),
              (ArrayMemoryRequirements{131072, 1024}));
    expect_error<std::invalid_argument>([] { (void)make({.array = IMAGE}).memory_requirements(); },
                                        {"is_deferred_mapping"});
    image = IMAGE;
    image.is_sparse = true;
    EXPECT_EQ(make({.array = image}).sparse_properties(),
              (ArraySparseProperties{{128, 64, 1}, 3, 65536, true}));
    expect_error<std::invalid_argument>([] { (void)make({.array = IMAGE}).sparse_properties(); },
                                        {"is_sparse"});
}

TEST_F(MipmappedArrayOnFake, sizes_over_a_limit_name_the_limit) {
    fake->device_attributes = {{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, 32768}};
    expect_error<std::invalid_argument>(
        [] { (void)make({.array = {.extent = {.width = std::size_t{2} << 20U, .height = 4}}}); },
        {"width is 2097152", "at most 32768", "maximum_texture2d_mipmapped_width"});
}

TEST_F(MipmappedArrayOnFake, a_reset_of_the_device_destroys_arrays_and_levels) {
    const MipmappedArray array = make({.array = IMAGE});
    const OpaqueArray level = array.level(1);
    Device(0).reset_primary_context();
    expect_error<ClosedError>([&] { (void)array.handle(); }, {"MipmappedArray", "reset"});
    expect_error<ClosedError>([&] { (void)level.handle(); }, {"OpaqueArray", "reset"});
    fake->mipmaps.clear(); // the driver destroys them with the context
    fake->arrays.clear();
}

TEST(MipmappedArrayFailures, nothing_leaks_if_any_driver_call_fails) {
    testing::check_every_failure([](testing::FakeDriver&) {
        OpaqueArrayOptions image = IMAGE;
        const MipmappedArray array = Device(0).create_mipmapped_array({.array = image});
        (void)array.level(1);
        (void)MipmappedArray::from_handle(array.handle(), 1, array.context());
        image.is_deferred_mapping = true;
        (void)Device(0).create_mipmapped_array({.array = image}).memory_requirements();
        image.is_deferred_mapping = false;
        image.is_sparse = true;
        (void)Device(0).create_mipmapped_array({.array = image}).sparse_properties();
    });
}

} // namespace cuprum
