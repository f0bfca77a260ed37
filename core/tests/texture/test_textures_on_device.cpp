// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that read textures and write surfaces, on a GPU and on the emulated device.

#include "driver/deferred_release.hpp"
#include "graph/payload.hpp"
#include "support/device_test.hpp"
#include "support/expect_error.hpp"

#include <cuprum/cuprum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;

constexpr const char* SOURCE = R"(
extern "C" __global__ void read_1d(cudaTextureObject_t texture, const float* x, float* out, int n) {
    for (int i = 0; i < n; ++i) out[i] = tex1D<float>(texture, x[i]);
}
extern "C" __global__ void fetch(cudaTextureObject_t texture, float* out, int n) {
    for (int i = 0; i < n; ++i) out[i] = tex1Dfetch<float>(texture, i);
}
extern "C" __global__ void read_2d(cudaTextureObject_t texture, const float* x, const float* y,
                                   float* out, int n) {
    for (int i = 0; i < n; ++i) out[i] = tex2D<float>(texture, x[i], y[i]);
}
extern "C" __global__ void read_2d_integers(cudaTextureObject_t texture, const float* x,
                                            const float* y, int* out, int n) {
    for (int i = 0; i < n; ++i) {
        uchar4 value = tex2D<uchar4>(texture, x[i], y[i]);
        out[i] = value.x | value.y << 8 | value.z << 16 | value.w << 24;
    }
}
extern "C" __global__ void read_2d_level(cudaTextureObject_t texture, float x, float y,
                                         const float* level, float* out, int n) {
    for (int i = 0; i < n; ++i) out[i] = tex2DLod<float>(texture, x, y, level[i]);
}
extern "C" __global__ void read_3d(cudaTextureObject_t texture, float x, float y, const float* z,
                                   float* out, int n) {
    for (int i = 0; i < n; ++i) out[i] = tex3D<float>(texture, x, y, z[i]);
}
extern "C" __global__ void read_layers(cudaTextureObject_t texture, float x, float y, float* out,
                                       int n) {
    for (int i = 0; i < n; ++i) out[i] = tex2DLayered<float>(texture, x, y, i);
}
extern "C" __global__ void read_faces(cudaTextureObject_t texture, float* out) {
    out[0] = texCubemap<float>(texture, 1, 0, 0);
    out[1] = texCubemap<float>(texture, -1, 0, 0);
    out[2] = texCubemap<float>(texture, 0, 1, 0);
    out[3] = texCubemap<float>(texture, 0, -1, 0);
    out[4] = texCubemap<float>(texture, 0, 0, 1);
    out[5] = texCubemap<float>(texture, 0, 0, -1);
}
extern "C" __global__ void write_2d(cudaSurfaceObject_t surface, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x < width && y < height) surf2Dwrite<float>(10 * y + x, surface, x * sizeof(float), y);
}
extern "C" __global__ void add_2d(cudaSurfaceObject_t surface, float amount, int width) {
    int x = threadIdx.x;
    int y = blockIdx.x;
    if (x < width) {
        float value = surf2Dread<float>(surface, x * sizeof(float), y);
        surf2Dwrite<float>(value + amount, surface, x * sizeof(float), y);
    }
})";

/// Waits until graphs have given up what they kept alive: the driver decides when.
void release_graphs() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (detail::Payload::live_count() != 0 && std::chrono::steady_clock::now() < deadline) {
        detail::release_deferred();
        std::this_thread::yield();
    }
    EXPECT_EQ(detail::Payload::live_count(), 0U);
}

class TextureOnDriver : public testing::DeviceTest {
protected:
    using Floats = std::vector<float>;

    void SetUp() override {
        DeviceTest::SetUp();
        if (!IsSkipped()) {
            code_ = compile(SOURCE);
        }
    }

    void TearDown() override {
        code_.reset();
        release_graphs();
        DeviceTest::TearDown();
    }

    [[nodiscard]] Kernel kernel(const char* name) const { return code_->get_kernel(name); }

    /// Makes an array and copies values in.
    [[nodiscard]] OpaqueArray filled(const OpaqueArrayOptions& options, const Floats& values) {
        const OpaqueArray array = device().create_opaque_array(options);
        array.copy_from_host(values, stream());
        stream().sync();
        return array;
    }

    [[nodiscard]] static TextureObject texture(const OpaqueArray& array,
                                               const TextureObjectOptions& options = {}) {
        return TextureObject::create(ResourceDescriptor::from_opaque_array(array), options);
    }

    /// Reads a 2-D texture at the given places.
    [[nodiscard]] Floats read_2d(const TextureObject& image, const Floats& x, const Floats& y) {
        const Buffer out = device().allocate(x.size() * sizeof(float), stream());
        launch(stream(), {.grid = 1, .block = 1}, kernel("read_2d"), image, upload(x), upload(y),
               out, static_cast<int>(x.size()));
        return download<float>(out);
    }

    [[nodiscard]] Buffer floats(std::size_t count) {
        return device().allocate(count * sizeof(float), stream());
    }

private:
    std::optional<ObjectCode> code_;
};

const std::vector<float> FOUR_BY_TWO{0, 1, 2, 3, 10, 11, 12, 13};

} // namespace

TEST_F(TextureOnDriver, point_and_linear_sampling_read_a_2d_array) {
    const OpaqueArray array = filled({.extent = {.width = 4, .height = 2}}, FOUR_BY_TWO);
    const TextureObject point = texture(array);
    EXPECT_EQ(read_2d(point, {0.5F, 3.5F, 2.9F, -1.0F, 9.0F}, {0.5F, 1.5F, 0.1F, 0.5F, 9.0F}),
              (Floats{0, 13, 2, 0, 13}));
    const TextureObject linear = texture(array, {.filter_mode = FilterMode::Linear});
    EXPECT_EQ(read_2d(linear, {0.5F, 1.0F, 1.5F, 2.0F}, {0.5F, 0.5F, 1.0F, 1.0F}),
              (Floats{0, 0.5F, 6, 6.5F}));
    const TextureObject wrapped =
        texture(array, {.address_mode = {AddressMode::Wrap, AddressMode::Wrap, AddressMode::Wrap},
                        .normalized_coords = true});
    EXPECT_EQ(read_2d(wrapped, {1.125F, -0.125F}, {0.25F, 0.75F}), (Floats{0, 13}));
    const TextureObject bordered = texture(
        array, {.address_mode = {AddressMode::Border, AddressMode::Border, AddressMode::Border},
                .border_color = {7.0F}});
    EXPECT_EQ(read_2d(bordered, {-1.0F, 1.5F}, {0.5F, 0.5F}), (Floats{7, 1}));
}

TEST_F(TextureOnDriver, integers_are_read_as_they_are_or_normalised) {
    const OpaqueArray array = device().create_opaque_array(
        {.extent = {.width = 2, .height = 1}, .format = ArrayFormat::UInt8, .num_channels = 4});
    array.copy_from_host(std::vector<std::uint8_t>{1, 2, 3, 4, 255, 0, 51, 102}, stream());
    const Buffer out = device().allocate(2 * sizeof(int), stream());
    const TextureObject integers = texture(array);
    launch(stream(), {.grid = 1, .block = 1}, kernel("read_2d_integers"), integers,
           upload(Floats{0.5F, 1.5F}), upload(Floats{0.5F, 0.5F}), out, 2);
    EXPECT_EQ(download<std::uint32_t>(out), (std::vector<std::uint32_t>{0x04030201, 0x663300ff}));
    const TextureObject normalised = texture(array, {.read_mode = ReadMode::NormalizedFloat});
    EXPECT_EQ(read_2d(normalised, {1.5F}, {0.5F}), (Floats{1}));
}

TEST_F(TextureOnDriver, linear_and_pitched_memory_are_read) {
    const Buffer memory = upload(FOUR_BY_TWO);
    const Buffer out = floats(8);
    const TextureObject linear = TextureObject::create(ResourceDescriptor::from_linear(memory, {}));
    launch(stream(), {.grid = 1, .block = 1}, kernel("fetch"), linear, out, 8);
    EXPECT_EQ(download<float>(out), FOUR_BY_TWO);
    const auto pitch =
        static_cast<std::size_t>(std::max(device().properties().texture_pitch_alignment(), 32));
    const Buffer rows = device().allocate(2 * pitch, stream());
    copy_region(rows, {.pitch = pitch}, memory, {}, {.width = 16, .height = 2}, stream());
    const TextureObject pitched = TextureObject::create(
        ResourceDescriptor::from_pitch2d(rows, {.width = 4, .height = 2, .pitch_bytes = pitch}),
        {.filter_mode = FilterMode::Linear});
    EXPECT_EQ(read_2d(pitched, {1.0F, 3.5F}, {0.5F, 1.0F}), (Floats{0.5F, 8}));
}

TEST_F(TextureOnDriver, a_1d_array_is_read) {
    const OpaqueArray array = filled({.extent = {.width = 4}}, {1, 3, 5, 7});
    const Buffer out = floats(3);
    const TextureObject line = texture(array, {.filter_mode = FilterMode::Linear});
    launch(stream(), {.grid = 1, .block = 1}, kernel("read_1d"), line,
           upload(Floats{0.5F, 1.0F, 3.9F}), out, 3);
    EXPECT_EQ(download<float>(out), (Floats{1, 2, 7}));
}

TEST_F(TextureOnDriver, a_volume_is_read) {
    Floats values(4 * 2 * 3);
    std::iota(values.begin(), values.end(), 0.0F);
    const OpaqueArray array = filled({.extent = {.width = 4, .height = 2, .depth = 3}}, values);
    const Buffer out = floats(3);
    const TextureObject volume = texture(array, {.filter_mode = FilterMode::Linear});
    launch(stream(), {.grid = 1, .block = 1}, kernel("read_3d"), volume, 1.5F, 0.5F,
           upload(Floats{0.5F, 1.0F, 2.5F}), out, 3);
    EXPECT_EQ(download<float>(out), (Floats{1, 5, 17}));
}

TEST_F(TextureOnDriver, layers_and_a_view_of_them_are_read) {
    Floats values(4 * 2 * 3);
    std::iota(values.begin(), values.end(), 0.0F);
    const OpaqueArray array =
        filled({.extent = {.width = 4, .height = 2}, .num_layers = 3}, values);
    const Buffer out = floats(3);
    const TextureObject all = texture(array);
    launch(stream(), {.grid = 1, .block = 1}, kernel("read_layers"), all, 2.5F, 1.5F, out, 3);
    EXPECT_EQ(download<float>(out), (Floats{6, 14, 22}));
    const TextureObject two =
        texture(array, {.view = ResourceView{.first_layer = 1, .last_layer = 2}});
    launch(stream(), {.grid = 1, .block = 1}, kernel("read_layers"), two, 2.5F, 1.5F, out, 2);
    const Floats seen = download<float>(out);
    EXPECT_EQ(seen[0], 14.0F);
    EXPECT_EQ(seen[1], 22.0F);
}

TEST_F(TextureOnDriver, the_faces_of_a_cubemap_are_read) {
    Floats values(4 * 4 * 6);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i / 16);
    }
    const OpaqueArray array =
        filled({.extent = {.width = 4, .height = 4}, .is_cubemap = true}, values);
    const Buffer out = floats(6);
    const TextureObject faces = texture(array, {.normalized_coords = true});
    launch(stream(), {.grid = 1, .block = 1}, kernel("read_faces"), faces, out);
    EXPECT_EQ(download<float>(out), (Floats{0, 1, 2, 3, 4, 5}));
}

TEST_F(TextureOnDriver, levels_are_read_and_blended) {
    const MipmappedArray levels =
        device().create_mipmapped_array({.array = {.extent = {.width = 4, .height = 4}}});
    for (unsigned i = 0; i < levels.num_levels(); ++i) {
        const OpaqueArray level = levels.level(i);
        level.copy_from_host(Floats(level.size_bytes() / sizeof(float), static_cast<float>(i)),
                             stream());
    }
    const Buffer out = floats(4);
    const TextureObject blended = TextureObject::create(
        ResourceDescriptor::from_mipmapped_array(levels), {.filter_mode = FilterMode::Linear,
                                                           .normalized_coords = true,
                                                           .mipmap_filter_mode = FilterMode::Linear,
                                                           .max_mipmap_level_clamp = 2.0F});
    launch(stream(), {.grid = 1, .block = 1}, kernel("read_2d_level"), blended, 0.5F, 0.5F,
           upload(Floats{0, 0.5F, 1, 9}), out, 4);
    EXPECT_EQ(download<float>(out), (Floats{0, 0.5F, 1, 2}));
}

TEST_F(TextureOnDriver, surfaces_are_written_and_read_by_textures) {
    const OpaqueArray array = device().create_opaque_array(
        {.extent = {.width = 4, .height = 3}, .is_surface_load_store = true});
    const SurfaceObject surface = SurfaceObject::create(array);
    launch(stream(), {.grid = {1, 3}, .block = 32}, kernel("write_2d"), surface, 4, 3);
    Floats result(12);
    array.copy_to_host(result, stream());
    stream().sync();
    EXPECT_EQ(result, (Floats{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}));
    EXPECT_EQ(read_2d(texture(array), {2.5F}, {2.5F}), (Floats{22}));
}

TEST_F(TextureOnDriver, typed_kernels_take_textures_and_surfaces) {
    const OpaqueArray array = device().create_opaque_array(
        {.extent = {.width = 4, .height = 2}, .is_surface_load_store = true});
    const SurfaceObject surface = SurfaceObject::create(array);
    const auto write = kernel("write_2d").as<void(unsigned long long, int, int)>();
    write(stream(), {.grid = {1, 2}, .block = 32}, surface, 4, 2);
    Floats result(8);
    array.copy_to_host(result, stream());
    stream().sync();
    EXPECT_EQ(result, FOUR_BY_TWO);
}

TEST_F(TextureOnDriver, closed_objects_are_refused_as_arguments) {
    const OpaqueArray array = device().create_opaque_array(
        {.extent = {.width = 4, .height = 2}, .is_surface_load_store = true});
    SurfaceObject surface = SurfaceObject::create(array);
    surface.close();
    expect_error<ClosedError>(
        [&] { launch(stream(), {.grid = 1, .block = 1}, kernel("write_2d"), surface, 4, 2); },
        {"SurfaceObject", "closed"});
    TextureObject image = texture(array);
    image.close();
    expect_error<ClosedError>(
        [&] { launch(stream(), {.grid = 1, .block = 1}, kernel("fetch"), image, 0ULL, 1); },
        {"TextureObject", "closed"});
}

TEST_F(TextureOnDriver, textures_and_surfaces_go_during_captures_of_every_mode) {
    const OpaqueArray array = device().create_opaque_array(
        {.extent = {.width = 4, .height = 2}, .is_surface_load_store = true});
    const Buffer out = floats(1);
    stream().sync();
    for (const CaptureMode mode :
         {CaptureMode::Global, CaptureMode::ThreadLocal, CaptureMode::Relaxed}) {
        for (const bool is_own_thread : {true, false}) {
            std::optional<SurfaceObject> surface = SurfaceObject::create(array);
            std::optional<TextureObject> image = texture(array);
            GraphBuilder builder = device().create_graph_builder();
            builder.begin_building(mode);
            out.fill(std::uint8_t{0}, builder.stream());
            const auto drop = [&] {
                surface.reset();
                image.reset();
            };
            if (is_own_thread) {
                drop();
            } else {
                std::thread(drop).join();
            }
            builder.end_building();
            EXPECT_NO_THROW(static_cast<void>(builder.complete()))
                << "mode " << static_cast<int>(mode) << ", own thread " << is_own_thread;
        }
    }
}

TEST_F(TextureOnDriver, graphs_keep_textures_and_surfaces_alive) {
    const Buffer out = floats(1);
    std::optional<Graph> captured;
    std::optional<Graph> built;
    {
        OpaqueArray array = device().create_opaque_array(
            {.extent = {.width = 4, .height = 2}, .is_surface_load_store = true});
        array.copy_from_host(FOUR_BY_TWO, stream());
        stream().sync();
        SurfaceObject surface = SurfaceObject::create(array);
        TextureObject image = texture(array);
        const Buffer x = upload(Floats{1.5F});
        const Buffer y = upload(Floats{1.5F});
        stream().sync();
        GraphBuilder builder = device().create_graph_builder();
        builder.begin_building();
        launch(builder.stream(), {.grid = 2, .block = 4}, kernel("add_2d"), surface, 100.0F, 4);
        launch(builder.stream(), {.grid = 1, .block = 1}, kernel("read_2d"), image, x, y, out, 1);
        builder.end_building();
        captured = builder.complete();
        GraphDefinition definition;
        definition.launch({.grid = 2, .block = 4}, kernel("add_2d"), surface, 1000.0F, 4)
            .launch({.grid = 1, .block = 1}, kernel("read_2d"), image, x, y, out, 1);
        built = definition.instantiate();
        surface.close();
        image.close();
        array.close();
    }
    captured->launch(stream());
    EXPECT_EQ(download<float>(out), (Floats{111}));
    built->launch(stream());
    EXPECT_EQ(download<float>(out), (Floats{1111}));
    captured.reset();
    built.reset();
}

} // namespace cuprum
