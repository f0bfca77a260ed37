// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"
#include "texture/states.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;

class OpaqueArrayOnFake : public testing::FakeDriverTest {
protected:
    static OpaqueArray make(const OpaqueArrayOptions& options) {
        return Device(0).create_opaque_array(options);
    }

    static void expect_refused(const OpaqueArrayOptions& options,
                               std::initializer_list<std::string_view> parts) {
        expect_error<std::invalid_argument>([&] { (void)make(options); }, parts);
    }

    [[nodiscard]] const CUDA_ARRAY3D_DESCRIPTOR& description(const OpaqueArray& array) const {
        return fake->arrays.at(array.handle()).description;
    }

    [[nodiscard]] std::string last_copy() const {
        return fake->notes.empty() ? "none" : fake->notes.back();
    }
};

} // namespace

TEST_F(OpaqueArrayOnFake, options_become_the_driver_s_description) {
    const OpaqueArray array = make({.extent = {.width = 32, .height = 16},
                                    .format = ArrayFormat::UInt8,
                                    .num_channels = 4,
                                    .is_surface_load_store = true});
    EXPECT_EQ(description(array).Width, 32U);
    EXPECT_EQ(description(array).Height, 16U);
    EXPECT_EQ(description(array).Depth, 0U);
    EXPECT_EQ(description(array).Format, CU_AD_FORMAT_UNSIGNED_INT8);
    EXPECT_EQ(description(array).NumChannels, 4U);
    EXPECT_EQ(description(array).Flags, unsigned{CUDA_ARRAY3D_SURFACE_LDST});
    EXPECT_EQ(array.extent(), (ArrayExtent{32, 16, 0}));
    EXPECT_EQ(array.element_bytes(), 4U);
    EXPECT_EQ(array.size_bytes(), 32U * 16U * 4U);
    EXPECT_TRUE(array.is_surface_load_store());
    EXPECT_EQ(array.device(), Device(0));
    EXPECT_EQ(to_string(array), "<OpaqueArray 32 x 16 of uint8 channels=4>");
}

TEST_F(OpaqueArrayOnFake, layers_and_cubemaps_become_a_depth) {
    const OpaqueArray layered = make({.extent = {.width = 8}, .num_layers = 3});
    EXPECT_EQ(description(layered).Height, 0U);
    EXPECT_EQ(description(layered).Depth, 3U);
    EXPECT_EQ(description(layered).Flags, unsigned{CUDA_ARRAY3D_LAYERED});
    EXPECT_EQ(layered.num_layers(), 3U);
    EXPECT_EQ(layered.extent(), (ArrayExtent{8, 0, 0}));
    EXPECT_EQ(layered.size_bytes(), 8U * 3U * 4U);

    const OpaqueArray cube = make({.extent = {.width = 8, .height = 8}, .is_cubemap = true});
    EXPECT_EQ(description(cube).Depth, 6U);
    EXPECT_EQ(description(cube).Flags, unsigned{CUDA_ARRAY3D_CUBEMAP});
    EXPECT_TRUE(cube.is_cubemap());
    EXPECT_EQ(cube.num_layers(), 0U);

    const OpaqueArray cubes =
        make({.extent = {.width = 8, .height = 8}, .num_layers = 2, .is_cubemap = true});
    EXPECT_EQ(description(cubes).Depth, 12U);
    EXPECT_EQ(cubes.num_layers(), 2U);
    EXPECT_EQ(cubes.options().extent, (ArrayExtent{8, 8, 0}));
    EXPECT_EQ(to_string(cubes), "<OpaqueArray 8 x 8 of float32 channels=1 cubemap layers=2>");
}

TEST_F(OpaqueArrayOnFake, every_flag_goes_to_the_driver_and_back) {
    const std::array<std::pair<bool OpaqueArrayOptions::*, unsigned>, 7> flags{{
        {&OpaqueArrayOptions::is_surface_load_store, CUDA_ARRAY3D_SURFACE_LDST},
        {&OpaqueArrayOptions::is_texture_gather, CUDA_ARRAY3D_TEXTURE_GATHER},
        {&OpaqueArrayOptions::is_depth_texture, CUDA_ARRAY3D_DEPTH_TEXTURE},
        {&OpaqueArrayOptions::is_color_attachment, CUDA_ARRAY3D_COLOR_ATTACHMENT},
        {&OpaqueArrayOptions::is_sparse, CUDA_ARRAY3D_SPARSE},
        {&OpaqueArrayOptions::is_deferred_mapping, CUDA_ARRAY3D_DEFERRED_MAPPING},
        {&OpaqueArrayOptions::is_video, CUDA_ARRAY3D_VIDEO_ENCODE_DECODE},
    }};
    for (const auto& [option, flag] : flags) {
        OpaqueArrayOptions options{
            .extent = {.width = 8, .height = 8}, .format = ArrayFormat::UInt8, .num_channels = 1};
        options.*option = true;
        const OpaqueArray array = make(options);
        EXPECT_EQ(description(array).Flags, flag);
        EXPECT_EQ(array.options(), options);
    }
}

TEST_F(OpaqueArrayOnFake, every_format_of_the_header_is_known) {
    std::set<std::string> names;
    for (const ArrayFormatInfo& info : array_formats()) {
        EXPECT_EQ(&info_of(info.format), &info);
        EXPECT_EQ(to_string(info.format), info.name);
        EXPECT_TRUE(names.insert(info.name).second) << info.name;
        const OpaqueArray array =
            make({.extent = {.width = 16, .height = 8}, .format = info.format});
        EXPECT_EQ(array.format(), info.format);
        EXPECT_EQ(array.num_channels(), std::max(info.num_channels, 1U));
    }
    EXPECT_EQ(names.size(), 51U); // of CUarray_format in CUDA 13.0
    EXPECT_EQ(to_string(static_cast<ArrayFormat>(0x7f)), "format 0x7f");
    expect_error<std::invalid_argument>([] { (void)info_of(static_cast<ArrayFormat>(0x7f)); },
                                        {"format is format 0x7f"});
}

TEST_F(OpaqueArrayOnFake, a_compressed_format_counts_blocks) {
    const OpaqueArray array =
        make({.extent = {.width = 32, .height = 10}, .format = ArrayFormat::BC1Unorm});
    EXPECT_EQ(array.element_bytes(), 8U);
    EXPECT_EQ(array.size_bytes(), 8U * 3U * 8U);
    const Stream stream = Device(0).create_stream();
    const std::vector<std::uint8_t> host(array.size_bytes());
    array.copy_from_host(host, stream);
    EXPECT_EQ(last_copy(), "copy of 64 x 3 x 1 from host pitch 64 rows 3 to array at 0,0,0");
    array.copy_from_host(host, {.x = 4, .y = 8, .width = 8, .height = 2}, stream);
    EXPECT_EQ(last_copy(), "copy of 16 x 1 x 1 from host pitch 16 rows 1 to array at 8,2,0");
    expect_error<std::invalid_argument>(
        [&] { array.copy_from_host(host, {.x = 2, .width = 4}, stream); },
        {"x = 2", "multiples of 4"});
}

TEST_F(OpaqueArrayOnFake, options_that_contradict_each_other_are_refused) {
    expect_refused({}, {"width is 0", "at least 1"});
    expect_refused({.extent = {.width = 4, .depth = 3}}, {"height is 0", "depth is 3"});
    expect_refused({.extent = {.width = 4, .height = 4, .depth = 3}, .num_layers = 2},
                   {"depth is 3", "num_layers is 2"});
    expect_refused({.extent = {.width = 4, .height = 8}, .is_cubemap = true},
                   {"width is 4", "height is 8", "square"});
    expect_refused({.extent = {.width = 4, .height = 4, .depth = 6}, .is_cubemap = true},
                   {"depth is 6", "six 2-D faces"});
    expect_refused({.extent = {.width = 4}, .is_texture_gather = true},
                   {"is_texture_gather", "2-D array", "4 elements"});
    expect_refused(
        {.extent = {.width = 4, .height = 4}, .num_layers = 2, .is_texture_gather = true},
        {"without layers"});
    expect_refused({.extent = {.width = 4}, .num_channels = 3},
                   {"num_channels is 3", "1, 2 or 4", "float32"});
    expect_refused({.extent = {.width = 4}, .format = ArrayFormat::BC6HSigned, .num_channels = 4},
                   {"num_channels is 4", "expected 3", "bc6h_sf16"});
    expect_refused({.extent = {.width = 4}, .format = static_cast<ArrayFormat>(0x51)},
                   {"format 0x51"});
    EXPECT_EQ(fake->count("cuArray3DCreate"), 0);
}

TEST_F(OpaqueArrayOnFake, sizes_over_a_limit_name_the_limit) {
    fake->device_attributes = {{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072},
                               {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536},
                               {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 2 << 20},
                               {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH, 16384},
                               {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 2 << 20},
                               {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 32768},
                               {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048},
                               {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH, 32768},
                               {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384},
                               {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE, 8192}};
    constexpr std::size_t huge = (std::size_t{1} << 20U) + 1;
    expect_refused({.extent = {.width = huge, .height = 4}},
                   {"width is 1048577", "at most 131072", "maximum_texture2d_width of device 0"});
    expect_refused({.extent = {.width = 4, .height = huge}},
                   {"height is 1048577", "at most 65536", "maximum_texture2d_height"});
    expect_refused({.extent = {.width = huge}, .is_surface_load_store = true},
                   {"at most 16384", "maximum_surface1d_width"});
    expect_refused({.extent = {.width = huge, .height = 8}, .num_layers = 4000},
                   {"num_layers is 4000", "maximum_texture2d_layered_layers"});
    expect_refused({.extent = {.width = huge, .height = huge}, .is_cubemap = true},
                   {"at most 32768", "maximum_texturecubemap_width"});
    expect_refused({.extent = {.width = huge, .height = 4, .depth = 4}},
                   {"at most 16384", "maximum_texture3d_width"});
}

TEST_F(OpaqueArrayOnFake, a_refusal_without_a_known_reason_is_the_driver_s_error) {
    fake->fail("cuArray3DCreate", CUDA_ERROR_INVALID_VALUE);
    fake->device_attributes = {{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 100}};
    expect_error<CUDAError>([&] { (void)make({.extent = {.width = 8}}); },
                            {"cuArray3DCreate", "CUDA_ERROR_INVALID_VALUE"});
    fake->fail("cuArray3DCreate", CUDA_ERROR_OUT_OF_MEMORY);
    expect_error<OutOfMemoryError>([&] { (void)make({.extent = {.width = 1024}}); },
                                   {"cuArray3DCreate", "4"});
}

TEST_F(OpaqueArrayOnFake, a_known_reason_for_a_refusal_is_named) {
    const auto refused = [&](const OpaqueArrayOptions& options,
                             std::initializer_list<std::string_view> parts) {
        fake->fail("cuArray3DCreate", CUDA_ERROR_INVALID_VALUE);
        expect_refused(options, parts);
    };
    fake->device_attributes = {{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 100},
                               {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 100},
                               {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 100}};
    const ArrayExtent image{.width = 8, .height = 8};
    refused({.extent = image, .format = ArrayFormat::NV12}, {"format is nv12", "is_video"});
    refused({.extent = {.width = 8}, .format = ArrayFormat::BC1Unorm},
            {"bc1_unorm", "height is 0"});
    refused({.extent = image, .is_color_attachment = true}, {"is_color_attachment", "graphics"});
    refused({.extent = image, .is_sparse = true, .is_deferred_mapping = true},
            {"is_sparse and is_deferred_mapping"});
    refused({.extent = {.width = 8}, .is_sparse = true}, {"is_sparse", "1-D"});
    fake->fail("cuArray3DCreate", CUDA_ERROR_NOT_SUPPORTED);
    expect_refused(
        {.extent = image, .format = ArrayFormat::BC7Unorm, .is_surface_load_store = true},
        {"is_surface_load_store", "bc7_unorm"});
}

TEST_F(OpaqueArrayOnFake, the_last_share_destroys_the_array_in_its_context) {
    const CUcontext other = fake->make_context(1);
    start_with(other);
    OpaqueArray first = make({.extent = {.width = 8}});
    const OpaqueArray second = first;
    EXPECT_EQ(first, second);
    EXPECT_EQ(std::hash<OpaqueArray>()(first), std::hash<OpaqueArray>()(second));
    first.close();
    first.close();
    EXPECT_TRUE(first.is_closed());
    EXPECT_FALSE(first == second);
    EXPECT_EQ(fake->live().arrays, 1);
    EXPECT_EQ(to_string(first), "<OpaqueArray closed>");
    expect_error<ClosedError>([&] { (void)first.handle(); }, {"OpaqueArray", "closed"});
    expect_error<ClosedError>([&] { (void)first.extent(); }, {"OpaqueArray"});
    EXPECT_EQ(testing::FakeDriver::current(), other);
}

TEST_F(OpaqueArrayOnFake, a_wrapped_array_keeps_its_owner_and_is_not_destroyed) {
    const OpaqueArray own = make({.extent = {.width = 8, .height = 4}, .num_channels = 2});
    auto owner = std::make_shared<int>(1);
    {
        const OpaqueArray wrapped = OpaqueArray::from_handle(own.handle(), own.context(), owner);
        EXPECT_EQ(owner.use_count(), 2);
        EXPECT_EQ(wrapped.extent(), (ArrayExtent{8, 4, 0}));
        EXPECT_EQ(wrapped.num_channels(), 2U);
        EXPECT_EQ(wrapped, own);
    }
    EXPECT_EQ(owner.use_count(), 1);
    EXPECT_EQ(fake->live().arrays, 1);
    expect_error<std::invalid_argument>(
        [&] { (void)OpaqueArray::from_handle(nullptr, own.context()); }, {"handle is null"});
    expect_error<CUDAError>([&] { (void)OpaqueArray::from_handle(own.handle()); },
                            {"wrapping an array"});
}

TEST_F(OpaqueArrayOnFake, an_array_ends_with_its_owner) {
    const OpaqueArray own = make(
        {.extent = {.width = 32, .height = 16}, .format = ArrayFormat::NV12, .is_video = true});
    const auto is_over = std::make_shared<std::atomic<bool>>(false);
    const OpaqueArray wrapped = OpaqueArray::from_handle(own.handle(), own.context(), is_over);
    detail::end_with(wrapped, *is_over);
    const OpaqueArray share = wrapped;
    const OpaqueArray plane = wrapped.plane(0);
    EXPECT_EQ(share.handle(), own.handle());
    EXPECT_NE(plane.handle(), nullptr);
    is_over->store(true);
    expect_error<ClosedError>([&] { (void)share.handle(); }, {"OpaqueArray"});
    expect_error<ClosedError>([&] { (void)plane.handle(); }, {"OpaqueArray"});
    EXPECT_NE(own.handle(), nullptr);
}

TEST_F(OpaqueArrayOnFake, a_reset_of_the_device_destroys_arrays) {
    const OpaqueArray array = make({.extent = {.width = 8}});
    Device(0).reset_primary_context();
    expect_error<ClosedError>([&] { (void)array.handle(); }, {"OpaqueArray", "reset"});
    fake->arrays.clear(); // the driver destroys them with the context
}

TEST_F(OpaqueArrayOnFake, planes_keep_the_whole_alive) {
    OpaqueArray video = make(
        {.extent = {.width = 32, .height = 16}, .format = ArrayFormat::NV12, .is_video = true});
    EXPECT_EQ(video.size_bytes(), 0U);
    const OpaqueArray plane = video.plane(1);
    video.close();
    EXPECT_EQ(fake->live().arrays, 1);
    EXPECT_EQ(plane.format(), ArrayFormat::UInt8);
}

TEST_F(OpaqueArrayOnFake, planes_that_do_not_exist_are_refused) {
    const OpaqueArray video =
        make({.extent = {.width = 32, .height = 16}, .format = ArrayFormat::NV12});
    expect_error<std::invalid_argument>([&] { (void)video.plane(2); }, {"index is 2", "2 planes"});
    const OpaqueArray plain = make({.extent = {.width = 32}});
    expect_error<std::invalid_argument>([&] { (void)plain.plane(0); }, {"float32", "no planes"});
    const Stream stream = Device(0).create_stream();
    const std::vector<std::uint8_t> host(4096);
    expect_error<std::invalid_argument>([&] { video.copy_from_host(host, stream); },
                                        {"nv12", "planes one by one"});
}

TEST_F(OpaqueArrayOnFake, requirements_and_tiles_come_from_the_driver) {
    const OpaqueArray deferred =
        make({.extent = {.width = 64, .height = 64}, .is_deferred_mapping = true});
    EXPECT_EQ(deferred.memory_requirements(), (ArrayMemoryRequirements{65536, 512}));
    expect_error<std::invalid_argument>([&] { (void)deferred.sparse_properties(); }, {"is_sparse"});
    const OpaqueArray sparse = make({.extent = {.width = 64, .height = 64}, .is_sparse = true});
    EXPECT_EQ(sparse.sparse_properties().tile, (ArrayExtent{128, 64, 1}));
    expect_error<std::invalid_argument>([&] { (void)sparse.memory_requirements(); },
                                        {"is_deferred_mapping"});
}

TEST_F(OpaqueArrayOnFake, copies_describe_both_sides) {
    const Stream stream = Device(0).create_stream();
    const OpaqueArray array = make({.extent = {.width = 8, .height = 4, .depth = 2}});
    const OpaqueArray other = make({.extent = {.width = 8, .height = 4, .depth = 2}});
    std::vector<float> host(64);
    const Buffer buffer = Device(0).allocate(1024, stream);
    array.copy_from_host(host, stream);
    EXPECT_EQ(last_copy(), "copy of 32 x 4 x 2 from host pitch 32 rows 4 to array at 0,0,0");
    array.copy_to_host(host, stream);
    EXPECT_EQ(last_copy(), "copy of 32 x 4 x 2 from array at 0,0,0 to host pitch 32 rows 4");
    array.copy_from(buffer, stream);
    EXPECT_EQ(last_copy(), "copy of 32 x 4 x 2 from buffer pitch 32 rows 4 to array at 0,0,0");
    array.copy_to(buffer, {.offset = 64, .pitch = 48, .rows_per_slice = 5},
                  {.x = 2, .y = 1, .z = 1, .width = 3, .height = 2}, stream);
    EXPECT_EQ(last_copy(), "copy of 12 x 2 x 1 from array at 8,1,1 to buffer pitch 48 rows 5");
    array.copy_from(other, stream);
    EXPECT_EQ(last_copy(), "copy of 32 x 4 x 2 from array at 0,0,0 to array at 0,0,0");
    array.copy_from(other, {.x = 1, .width = 2, .height = 2, .depth = 1}, {.x = 4, .y = 2}, stream);
    EXPECT_EQ(last_copy(), "copy of 8 x 2 x 1 from array at 4,0,0 to array at 16,2,0");
    other.copy_to(array, stream);
    EXPECT_EQ(fake->notes.size(), 7U);
}

TEST_F(OpaqueArrayOnFake, copies_of_layers_count_them_in_z) {
    const Stream stream = Device(0).create_stream();
    const OpaqueArray layered = make({.extent = {.width = 8}, .num_layers = 3});
    const std::vector<float> host(24);
    layered.copy_from_host(host, stream);
    EXPECT_EQ(last_copy(), "copy of 32 x 1 x 3 from host pitch 32 rows 1 to array at 0,0,0");
    layered.copy_from_host(std::span(host).first(8), {.z = 2}, stream);
    EXPECT_EQ(last_copy(), "copy of 32 x 1 x 1 from host pitch 32 rows 1 to array at 0,0,2");
}

TEST_F(OpaqueArrayOnFake, copies_of_views_take_gaps_and_channels) {
    const Stream stream = Device(0).create_stream();
    const OpaqueArray array = make(
        {.extent = {.width = 8, .height = 4}, .format = ArrayFormat::UInt8, .num_channels = 4});
    std::vector<std::uint8_t> bytes(4096);
    array.copy_from_host(TypedView<std::uint8_t, 3>(bytes.data(), {4, 8, 4}, {64, 4, 1}), stream);
    EXPECT_EQ(last_copy(), "copy of 32 x 4 x 1 from host pitch 64 rows 4 to array at 0,0,0");
    std::vector<std::uint32_t> words(1024);
    array.copy_to_host(TypedView<std::uint32_t, 2>(words.data(), {2, 3}, {10, 1}),
                       {.x = 1, .y = 1, .width = 3, .height = 2}, stream);
    EXPECT_EQ(last_copy(), "copy of 12 x 2 x 1 from array at 4,1,0 to host pitch 40 rows 2");
    const OpaqueArray layered = make({.extent = {.width = 8}, .num_layers = 3});
    std::vector<float> numbers(1024);
    layered.copy_from_host(TypedView<const float, 2>(numbers.data(), {3, 8}, {20, 1}), stream);
    EXPECT_EQ(last_copy(), "copy of 32 x 1 x 3 from host pitch 80 rows 1 to array at 0,0,0");
    const OpaqueArray cubes =
        make({.extent = {.width = 2, .height = 2}, .num_layers = 2, .is_cubemap = true});
    cubes.copy_from_host(TypedView<const float, 4>(numbers.data(), {2, 6, 2, 2}, {48, 8, 4, 1}),
                         stream);
    EXPECT_EQ(last_copy(), "copy of 8 x 2 x 12 from host pitch 16 rows 2 to array at 0,0,0");
}

TEST_F(OpaqueArrayOnFake, views_that_do_not_fit_are_refused) {
    const Stream stream = Device(0).create_stream();
    const OpaqueArray array = make({.extent = {.width = 8, .height = 4}});
    std::vector<float> numbers(4096);
    const auto refused = [&](std::array<StridedLayout::Index, 2> shape,
                             std::array<StridedLayout::Index, 2> strides,
                             std::string_view expected) {
        expect_error<std::invalid_argument>(
            [&] {
                array.copy_from_host(TypedView<float, 2>(numbers.data(), shape, strides), stream);
            },
            {"source has", expected});
    };
    refused({4, 7}, {8, 1},
            "112 bytes, smaller than the array extent of 128 bytes: it has shape (4, 7) of "
            "float32, expected shape (4, 8) of float32, slowest axis first");
    refused({5, 8}, {8, 1}, "shape (5, 8) of float32, expected shape (4, 8)");
    refused({8, 4}, {4, 1}, "shape (8, 4) of float32, expected shape (4, 8)");
    refused({4, 8}, {1, 4}, "next to each other");
    refused({4, 8}, {4, 1}, "in order");
    refused({4, 8}, {-8, 1}, "strides above 0");
    refused({4, 8}, {0, 1}, "strides above 0");
    expect_error<std::invalid_argument>(
        [&] {
            array.copy_from_host(TypedView<float, 3>(numbers.data(), {2, 4, 8}, {32, 8, 1}),
                                 stream);
        },
        {"shape (2, 4, 8) of float32, expected shape (4, 8)"});
    std::vector<double> doubles(64);
    expect_error<std::invalid_argument>(
        [&] { array.copy_from_host(TypedView<double, 2>(doubles.data(), {4, 8}, {8, 1}), stream); },
        {"shape (4, 8) of float64, expected shape (4, 8) of float32"});
}

TEST_F(OpaqueArrayOnFake, ranges_have_the_size_and_the_numbers_of_the_array) {
    const Stream stream = Device(0).create_stream();
    const OpaqueArray array = make({.extent = {.width = 2, .height = 4}, .num_channels = 2});
    const auto refused = [&](auto range, std::initializer_list<std::string_view> parts) {
        expect_error<std::invalid_argument>([&] { array.copy_from_host(range, stream); }, parts);
        expect_error<std::invalid_argument>([&] { array.copy_to_host(range, stream); }, parts);
    };
    refused(std::vector<float>(17), {"has shape (17,) of float32, expected shape (4, 2, 2) of "
                                     "float32, slowest axis first, or these numbers in one "
                                     "dimension; convert or reshape it, or pass its bytes"});
    refused(std::vector<float>(15), {"60 bytes, smaller than the array extent of 64 bytes"});
    refused(std::vector<int>(16), {"shape (16,) of int32"});
    refused(std::vector<double>(8), {"shape (8,) of float64"});
    refused(std::vector<std::array<float, 2>>(9), {"shape (9,) of elements of 8 bytes"});
    refused(std::vector<std::uint8_t>(63), {"the host memory has 63 bytes", "64 bytes"});
    EXPECT_EQ(fake->count("cuMemcpy3DAsync"), 0);
    array.copy_from_host(std::vector<float>(16), stream);
    array.copy_from_host(std::vector<std::complex<float>>(8), stream);
    array.copy_from_host(std::vector<std::array<float, 2>>(8), stream);
    array.copy_from_host(std::vector<std::uint64_t>(8), stream); // whole elements
    array.copy_from_host(std::vector<std::byte>(100), stream);
    EXPECT_EQ(fake->count("cuMemcpy3DAsync"), 5);
    for (const std::string& note : fake->notes) {
        EXPECT_EQ(note, "copy of 16 x 4 x 1 from host pitch 16 rows 4 to array at 0,0,0");
    }
}

TEST_F(OpaqueArrayOnFake, axes_of_one_element_do_not_count) {
    const Stream stream = Device(0).create_stream();
    const OpaqueArray array = make({.extent = {.width = 8, .height = 4}});
    std::vector<float> numbers(4096);
    const std::string gapless = "copy of 32 x 4 x 1 from host pitch 40 rows 4 to array at 0,0,0";
    array.copy_from_host(TypedView<float, 3>(numbers.data(), {4, 8, 1}, {10, 1, 7}), stream);
    EXPECT_EQ(last_copy(), gapless);
    array.copy_from_host(TypedView<float, 3>(numbers.data(), {1, 4, 8}, {0, 10, 1}), stream);
    EXPECT_EQ(last_copy(), gapless);
}

TEST_F(OpaqueArrayOnFake, the_last_block_of_a_copy_between_arrays_may_be_cut_off) {
    const Stream stream = Device(0).create_stream();
    const ArrayExtent extent{.width = 30, .height = 10};
    const OpaqueArray one = make({.extent = extent, .format = ArrayFormat::BC1Unorm});
    const OpaqueArray other = make({.extent = extent, .format = ArrayFormat::BC1Unorm});
    one.copy_from(other, stream);
    EXPECT_EQ(last_copy(), "copy of 64 x 3 x 1 from array at 0,0,0 to array at 0,0,0");
    one.copy_from(other, {.width = 4, .height = 4}, {.x = 28, .y = 8}, stream);
    EXPECT_EQ(last_copy(), "copy of 8 x 1 x 1 from array at 0,0,0 to array at 56,2,0");
    one.copy_from(other, {.x = 28, .y = 8}, {}, stream);
    EXPECT_EQ(last_copy(), "copy of 8 x 1 x 1 from array at 56,2,0 to array at 0,0,0");
    const OpaqueArray words = make(
        {.extent = {.width = 8, .height = 3}, .format = ArrayFormat::UInt32, .num_channels = 2});
    one.copy_from(words, stream);
    EXPECT_EQ(last_copy(), "copy of 64 x 3 x 1 from array at 0,0,0 to array at 0,0,0");
    words.copy_from(one, stream);
    EXPECT_EQ(last_copy(), "copy of 64 x 3 x 1 from array at 0,0,0 to array at 0,0,0");
    const OpaqueArray small =
        make({.extent = {.width = 2, .height = 1}, .format = ArrayFormat::BC1Unorm});
    small.copy_from(one, {.width = 4, .height = 4}, {}, stream);
    EXPECT_EQ(last_copy(), "copy of 8 x 1 x 1 from array at 0,0,0 to array at 0,0,0");
    expect_error<std::invalid_argument>(
        [&] { one.copy_from(other, {.width = 8, .height = 4}, {.x = 28}, stream); },
        {"width of 8 from x = 28", "width is 30"});
}

TEST_F(OpaqueArrayOnFake, bad_copies_do_not_reach_the_driver) {
    const Stream stream = Device(0).create_stream();
    const OpaqueArray array = make({.extent = {.width = 8, .height = 4}});
    const Buffer small = Device(0).allocate(100, stream);
    std::vector<float> host(31);
    const auto refused = [&](const auto& copy, std::initializer_list<std::string_view> parts) {
        expect_error<std::invalid_argument>(copy, parts);
    };
    refused([&] { array.copy_from(small, stream); },
            {"100 bytes", "smaller than the array extent of 128 bytes"});
    refused([&] { array.copy_to(small, stream); }, {"smaller than the array extent"});
    refused([&] { array.copy_from_host(host, stream); },
            {"124 bytes", "smaller than the array extent of 128 bytes"});
    refused([&] { array.copy_from(small, {}, {.width = 7, .height = 4}, stream); },
            {"100 bytes", "smaller than the region of 112 bytes"});
    refused([&] { array.copy_from(small, {.offset = 90}, {.width = 4, .height = 1}, stream); },
            {"16 bytes from offset 90", "the buffer has 100"});
    refused([&] { array.copy_from(small, {.pitch = 4}, {.width = 4, .height = 2}, stream); },
            {"pitch of 4", "width of 16"});
    refused([&] { array.copy_from(small, {}, {.x = 8, .width = 1}, stream); },
            {"x = 8", "width is 8"});
    refused([&] { array.copy_from(small, {}, {.x = 4, .width = 5}, stream); },
            {"width of 5 from x = 4", "width is 8"});
    refused([&] { array.copy_from(small, {}, {.y = 1, .height = 4}, stream); },
            {"height of 4 from y = 1", "height is 4"});
    refused([&] { array.copy_from(small, {}, {.z = 1}, stream); }, {"z = 1", "depth is 1"});
    refused([&] { array.copy_from(small, {}, {.depth = 2}, stream); }, {"depth of 2"});
    const OpaqueArray other = make({.extent = {.width = 8, .height = 5}});
    refused([&] { array.copy_from(other, stream); }, {"8 x 5", "8 x 4"});
    refused([&] { array.copy_from(other, {.width = 4}, {.width = 3}, stream); }, {"height of 5"});
    refused([&] { array.copy_from(other, {.width = 4, .height = 1}, {.width = 3}, stream); },
            {"differ in size"});
    const OpaqueArray bytes =
        make({.extent = {.width = 8, .height = 4}, .format = ArrayFormat::Int8});
    refused([&] { array.copy_from(bytes, {}, {}, stream); }, {"1 bytes", "expected 4"});
    refused([&] { array.copy_from(array, {.width = 4}, {.x = 3}, stream); }, {"overlap"});
    const Stream elsewhere = Device(1).create_stream();
    refused([&] { array.copy_from(other, {}, {}, elsewhere); }, {"device 1", "device 0"});
    Stream closed = Device(0).create_stream();
    closed.close();
    expect_error<ClosedError>([&] { array.copy_from(small, closed); }, {"Stream"});
    OpaqueArray gone = make({.extent = {.width = 8}});
    gone.close();
    expect_error<ClosedError>([&] { gone.copy_from(small, stream); }, {"OpaqueArray"});
    expect_error<ClosedError>([&] { array.copy_from(gone, stream); }, {"OpaqueArray"});
    EXPECT_EQ(fake->count("cuMemcpy3DAsync"), 0);
}

TEST_F(OpaqueArrayOnFake, an_array_dropped_in_a_host_function_is_destroyed_later) {
    const Stream stream = Device(0).create_stream();
    auto array = std::make_shared<OpaqueArray>(make({.extent = {.width = 8}}));
    stream.launch_host([held = std::move(array)]() mutable { held.reset(); });
    stream.sync();
    stream.sync(); // empties the list
    EXPECT_EQ(fake->live().arrays, 0);
}

TEST(OpaqueArrayFailures, nothing_leaks_if_any_driver_call_fails) {
    testing::check_every_failure([](testing::FakeDriver&) {
        const Stream stream = Device(0).create_stream();
        const OpaqueArray array =
            Device(0).create_opaque_array({.extent = {.width = 8, .height = 4}});
        const OpaqueArray deferred = Device(0).create_opaque_array(
            {.extent = {.width = 8, .height = 4}, .is_deferred_mapping = true});
        const OpaqueArray sparse =
            Device(0).create_opaque_array({.extent = {.width = 8, .height = 4}, .is_sparse = true});
        const OpaqueArray video = Device(0).create_opaque_array(
            {.extent = {.width = 8, .height = 4}, .format = ArrayFormat::NV12});
        std::vector<float> host(32);
        array.copy_from_host(host, stream);
        array.copy_to_host(host, stream);
        (void)deferred.memory_requirements();
        (void)sparse.sparse_properties();
        (void)video.plane(0);
        (void)OpaqueArray::from_handle(array.handle(), array.context());
    });
}

} // namespace cuprum
