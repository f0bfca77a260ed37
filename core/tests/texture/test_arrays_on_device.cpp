// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies of arrays on a GPU and on the emulated device, and what graphs keep of them.

#include "driver/deferred_release.hpp"
#include "graph/payload.hpp"
#include "support/device_test.hpp"
#include "support/every_failure.hpp"
#include "support/expect_error.hpp"

#include <cuprum/cuprum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;
using Bytes = std::vector<std::uint8_t>;

/// Waits until graphs have given up what they kept alive: the driver decides when.
void release_graphs() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (detail::Payload::live_count() != 0 && std::chrono::steady_clock::now() < deadline) {
        detail::release_deferred();
        std::this_thread::yield();
    }
    EXPECT_EQ(detail::Payload::live_count(), 0U);
}

class ArrayOnDriver : public testing::DeviceTest {
protected:
    template <typename T>
    [[nodiscard]] static std::vector<T> counted(std::size_t count) {
        std::vector<T> values(count);
        std::iota(values.begin(), values.end(), T{1});
        return values;
    }

    [[nodiscard]] OpaqueArray make(const OpaqueArrayOptions& options) const {
        return device().create_opaque_array(options);
    }

    /// Copies everything in from the host and out again, and compares.
    void check_round_trip(const OpaqueArrayOptions& options) {
        SCOPED_TRACE(to_string(options.format) + " " + to_string(options.extent));
        const OpaqueArray array = make(options);
        EXPECT_EQ(array.options().extent, options.extent);
        Bytes values = counted<std::uint8_t>(array.size_bytes());
        array.copy_from_host(values, stream());
        Bytes result(values.size());
        array.copy_to_host(result, stream());
        stream().sync();
        EXPECT_EQ(result, values);
    }
};

} // namespace

TEST_F(ArrayOnDriver, every_kind_of_array_keeps_what_is_copied_in) {
    check_round_trip({.extent = {.width = 17}});
    check_round_trip({.extent = {.width = 17, .height = 5}});
    check_round_trip({.extent = {.width = 17, .height = 5, .depth = 3}});
    check_round_trip({.extent = {.width = 17}, .num_layers = 3});
    check_round_trip({.extent = {.width = 17, .height = 5}, .num_layers = 3});
    check_round_trip({.extent = {.width = 8, .height = 8}, .is_cubemap = true});
    check_round_trip({.extent = {.width = 8, .height = 8}, .num_layers = 2, .is_cubemap = true});
    check_round_trip({.extent = {.width = 8, .height = 8}, .is_surface_load_store = true});
    check_round_trip({.extent = {.width = 8, .height = 8}, .is_texture_gather = true});
}

TEST_F(ArrayOnDriver, every_format_that_the_driver_takes_keeps_what_is_copied_in) {
    for (const ArrayFormatInfo& info : array_formats()) {
        if (info.num_planes == 1 && !info.is_video) {
            check_round_trip({.extent = {.width = 20, .height = 12}, .format = info.format});
        }
    }
    for (const unsigned channels : {1U, 2U, 4U}) {
        check_round_trip({.extent = {.width = 5, .height = 3},
                          .format = ArrayFormat::UInt16,
                          .num_channels = channels});
    }
}

TEST_F(ArrayOnDriver, a_wrapped_array_has_the_driver_s_description) {
    const OpaqueArrayOptions options{.extent = {.width = 8, .height = 4},
                                     .format = ArrayFormat::UInt16,
                                     .num_channels = 2,
                                     .num_layers = 3,
                                     .is_surface_load_store = true};
    const OpaqueArray own = make(options);
    const OpaqueArray wrapped = OpaqueArray::from_handle(own.handle(), own.context());
    EXPECT_EQ(wrapped.options(), options);
    EXPECT_EQ(wrapped, own);
}

TEST_F(ArrayOnDriver, regions_are_copied_to_and_from_buffers) {
    const OpaqueArray array = make({.extent = {.width = 8, .height = 4, .depth = 2}});
    const std::vector<float> zeros(64);
    array.copy_from_host(zeros, stream());
    const std::vector<float> values = counted<float>(24);
    const Buffer source = upload(values);
    // Rows of 3 in a buffer with a pitch of 6, two slices of two rows.
    array.copy_from(source, {.offset = 4, .pitch = 24},
                    {.x = 5, .y = 1, .z = 0, .width = 3, .height = 2, .depth = 2}, stream());
    std::vector<float> expected(64);
    for (std::size_t slice = 0; slice < 2; ++slice) {
        for (std::size_t row = 0; row < 2; ++row) {
            for (std::size_t column = 0; column < 3; ++column) {
                expected[slice * 32 + (row + 1) * 8 + 5 + column] =
                    values[1 + (slice * 2 + row) * 6 + column];
            }
        }
    }
    std::vector<float> result(64);
    array.copy_to_host(result, stream());
    stream().sync();
    EXPECT_EQ(result, expected);
    const Buffer target = device().allocate(16 * sizeof(float), stream());
    target.fill(std::uint8_t{0}, stream());
    array.copy_to(target, {.pitch = 16}, {.x = 5, .y = 1, .z = 1, .width = 2, .height = 3},
                  stream());
    std::vector<float> part(16);
    for (std::size_t row = 0; row < 3; ++row) {
        std::copy_n(expected.begin() + static_cast<std::ptrdiff_t>(32 + (row + 1) * 8 + 5), 2,
                    part.begin() + static_cast<std::ptrdiff_t>(row * 4));
    }
    EXPECT_EQ(download<float>(target), part);
}

TEST_F(ArrayOnDriver, views_of_the_host_are_copied_with_their_gaps) {
    const OpaqueArray array = make(
        {.extent = {.width = 4, .height = 3}, .format = ArrayFormat::UInt8, .num_channels = 4});
    const Bytes values = counted<std::uint8_t>(3 * 32);
    array.copy_from_host(TypedView<const std::uint8_t, 3>(values.data(), {3, 4, 4}, {32, 4, 1}),
                         stream());
    Bytes result(48);
    array.copy_to_host(result, stream());
    stream().sync();
    for (std::size_t row = 0; row < 3; ++row) {
        EXPECT_TRUE(std::equal(result.begin() + static_cast<std::ptrdiff_t>(row * 16),
                               result.begin() + static_cast<std::ptrdiff_t>(row * 16 + 16),
                               values.begin() + static_cast<std::ptrdiff_t>(row * 32)))
            << "row " << row;
    }
}

TEST_F(ArrayOnDriver, arrays_are_copied_to_arrays) {
    const OpaqueArray first = make({.extent = {.width = 8, .height = 4}});
    const OpaqueArray second = make(
        {.extent = {.width = 8, .height = 4}, .format = ArrayFormat::UInt8, .num_channels = 4});
    const std::vector<float> values = counted<float>(32);
    first.copy_from_host(values, stream());
    second.copy_from(first, stream());
    std::vector<float> result(32);
    second.copy_to_host(std::as_writable_bytes(std::span(result)), stream());
    stream().sync();
    EXPECT_EQ(result, values);
    // Within one array: the upper left corner to the lower right one.
    first.copy_from(first, {.width = 4, .height = 2}, {.x = 4, .y = 2}, stream());
    first.copy_to_host(result, stream());
    stream().sync();
    EXPECT_EQ(result[2 * 8 + 4], values[0]);
    EXPECT_EQ(result[3 * 8 + 7], values[8 + 3]);
    EXPECT_EQ(result[0], values[0]);
}

TEST_F(ArrayOnDriver, levels_have_half_the_size_and_outlive_the_whole) {
    std::optional<MipmappedArray> whole = device().create_mipmapped_array(
        {.array = {.extent = {.width = 16, .height = 8}, .format = ArrayFormat::UInt32}});
    EXPECT_EQ(whole->num_levels(), 5U);
    EXPECT_EQ(whole->level(4).extent(), (ArrayExtent{1, 1, 0}));
    const OpaqueArray level = whole->level(2);
    EXPECT_EQ(level.extent(), (ArrayExtent{4, 2, 0}));
    whole.reset();
    const auto values = counted<std::uint32_t>(8);
    level.copy_from_host(values, stream());
    std::vector<std::uint32_t> result(8);
    level.copy_to_host(result, stream());
    stream().sync();
    EXPECT_EQ(result, values);
}

TEST_F(ArrayOnDriver, captured_copies_keep_arrays_and_buffers_alive) {
    const std::vector<float> values = counted<float>(32);
    const Buffer result = device().allocate(32 * sizeof(float), stream());
    std::optional<Graph> graph;
    {
        Buffer source = upload(values);
        OpaqueArray first = make({.extent = {.width = 8, .height = 4}});
        OpaqueArray second = make({.extent = {.width = 8, .height = 4}});
        stream().sync();
        GraphBuilder builder = device().create_graph_builder();
        builder.begin_building();
        first.copy_from(source, builder.stream());
        second.copy_from(first, builder.stream());
        second.copy_to(result, builder.stream());
        builder.end_building();
        graph = builder.complete();
        source.close();
        first.close();
        second.close();
    }
    graph->launch(stream());
    EXPECT_EQ(download<float>(result), values);
    graph.reset();
    release_graphs();
}

TEST_F(ArrayOnDriver, sizes_over_a_limit_name_the_limit) {
    const int most = device().properties().maximum_texture2d_width();
    expect_error<std::invalid_argument>(
        [&] { (void)make({.extent = {.width = static_cast<std::size_t>(most) + 1, .height = 4}}); },
        {"width is " + std::to_string(most + 1), "at most " + std::to_string(most),
         "maximum_texture2d_width"});
}

TEST_F(ArrayOnDriver, deferred_and_sparse_arrays_say_what_memory_they_need) {
    const OpaqueArray deferred =
        make({.extent = {.width = 64, .height = 64}, .is_deferred_mapping = true});
    EXPECT_GE(deferred.memory_requirements().size, 64U * 64U * 4U);
    EXPECT_GT(deferred.memory_requirements().alignment, 0U);
    if (!device().properties().sparse_cuda_array_supported()) {
        return;
    }
    const OpaqueArray sparse = make({.extent = {.width = 512, .height = 512}, .is_sparse = true});
    EXPECT_GT(sparse.sparse_properties().tile.width, 0U);
}

TEST_F(ArrayOnDriver, video_formats_are_copied_plane_by_plane) {
    const OpaqueArray video = make(
        {.extent = {.width = 64, .height = 32}, .format = ArrayFormat::NV12, .is_video = true});
    const OpaqueArray light = video.plane(0);
    const OpaqueArray color = video.plane(1);
    EXPECT_EQ(light.extent(), (ArrayExtent{64, 32, 0}));
    EXPECT_EQ(color.extent(), (ArrayExtent{32, 16, 0}));
    EXPECT_EQ(color.num_channels(), 2U);
    const Bytes values = counted<std::uint8_t>(color.size_bytes());
    color.copy_from_host(values, stream());
    Bytes result(values.size());
    color.copy_to_host(result, stream());
    stream().sync();
    EXPECT_EQ(result, values);
}

TEST_F(ArrayOnDriver, nothing_leaks_if_any_driver_call_fails) {
    testing::check_every_failure_on_driver([] {
        const Stream stream = Device(0).create_stream();
        const OpaqueArray array = Device(0).create_opaque_array(
            {.extent = {.width = 16, .height = 8}, .is_surface_load_store = true});
        const MipmappedArray levels =
            Device(0).create_mipmapped_array({.array = {.extent = {.width = 16, .height = 8}}});
        std::vector<float> host(128);
        array.copy_from_host(host, stream);
        levels.level(0).copy_from(array, stream);
        array.copy_to_host(host, stream);
        const ResourceDescriptor resource = ResourceDescriptor::from_opaque_array(array);
        const TextureObject texture = TextureObject::create(resource);
        const SurfaceObject surface = SurfaceObject::create(resource);
        const Buffer memory = Device(0).allocate(4096, stream);
        (void)TextureObject::create(ResourceDescriptor::from_linear(memory, {}));
        stream.sync();
    });
}

} // namespace cuprum
