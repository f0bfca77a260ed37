// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Compares real kernels with native code. Each kernel runs in turns on the device that Cuprum uses
// and as the same algorithm in native, vectorised code on all cores. With CUPRUM_EMULATOR_ISA=v3,
// both sides use AVX2. Texture fetches and surface accesses are compared with plain loads on the
// same device.
//
//   emulator_kernels [--turns N] [--only PREFIX] [--device-only] [--graph]     writes JSON
//
// With --graph, each kernel is the only node of a graph.

#include "kernels/native.hpp"
#include "kernels/pictures.hpp"
#include "kernels/products.hpp"
#include "kernels/source.hpp"
#include "kernels/turns.hpp"

#include <cuprum/cuprum.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

/// The options of the command line.
struct Options {
    int turns = 9;
    std::string only;
    bool is_device_only = false;
    bool uses_graphs = false;
};

Options read_options(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--device-only") {
            options.is_device_only = true;
        } else if (name == "--graph") {
            options.uses_graphs = true;
        } else if (name == "--turns" && i + 1 < argc) {
            options.turns = std::atoi(argv[++i]);
        } else if (name == "--only" && i + 1 < argc) {
            options.only = argv[++i];
        } else {
            std::fprintf(stderr,
                         "usage: emulator_kernels [--turns N] [--only PREFIX] [--device-only] "
                         "[--graph]\n");
            std::exit(2);
        }
    }
    return options;
}

/// Returns the native side for the instruction-set level that the emulated device uses.
const native::Kernels& native_kernels() {
#if defined(__x86_64__)
    const char* const level = std::getenv("CUPRUM_EMULATOR_ISA");
    if (level != nullptr && std::string(level) == "v3") {
        return native::FOR_AVX2;
    }
#endif
    return native::FOR_THIS_MACHINE;
}

/// Measures kernels one after the other and collects the output.
class Report {
public:
    explicit Report(Options options) : options_(std::move(options)) {}

    void compare(const std::string& name, const std::function<void()>& device,
                 const std::function<void()>& native) {
        if (!name.starts_with(options_.only)) {
            return;
        }
        turns::Times device_times;
        turns::Times native_times;
        device(); // the first run touches memory and loads code
        if (!options_.is_device_only) {
            native();
        }
        for (int turn = 0; turn < options_.turns; ++turn) {
            turns::take(device_times, device);
            if (!options_.is_device_only) {
                turns::take(native_times, native);
            }
        }
        text_ += (text_.empty() ? "" : ",\n") + (" \"" + name) +
                 "\": {\"device\": " + turns::json(device_times) +
                 ", \"native\": " + turns::json(native_times) + "}";
    }

    void print() const { std::printf("{\n%s\n}\n", text_.c_str()); }

private:
    Options options_;
    std::string text_;
};

} // namespace

int main(int argc, char** argv) {
    const Options options = read_options(argc, argv);
    Report report(options);
    const native::Kernels& native = native_kernels();
    const cuprum::Device device(0);
    const auto stream = device.create_stream();
    const auto code = cuprum::Program(SOURCE).compile(cuprum::CodeType::Ptx);
    constexpr int LARGE = 1 << 24;
    constexpr int N = 512;
    constexpr int SIZE = 1024;
    constexpr int LIMIT = 256;

    std::vector<float> x(LARGE, 1.0F);
    std::vector<float> y(LARGE, 2.0F);
    std::vector<float> c(static_cast<std::size_t>(N) * N);
    std::vector<int> picture(static_cast<std::size_t>(SIZE) * SIZE);
    std::vector<unsigned char> bytes(LARGE);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<unsigned char>(i * 2654435761U >> 13);
    }
    std::vector<unsigned> bins(256);
    const auto dx = device.allocate(x.size() * sizeof(float), stream);
    const auto dy = device.allocate(y.size() * sizeof(float), stream);
    const auto dc = device.allocate(c.size() * sizeof(float), stream);
    const auto dpicture = device.allocate(picture.size() * sizeof(int), stream);
    const auto dbytes = device.allocate(bytes.size(), stream);
    const auto dbins = device.allocate(bins.size() * sizeof(unsigned), stream);
    dx.copy_from_host(x, stream);
    dy.copy_from_host(y, stream);
    dbytes.copy_from_host(bytes, stream);
    dc.fill(std::uint8_t{0}, stream);
    dbins.fill(std::uint8_t{0}, stream);

    const auto run_loaded = [&](const cuprum::Kernel& loaded, const cuprum::LaunchConfig& config,
                                auto... arguments) -> std::function<void()> {
        if (options.uses_graphs) {
            cuprum::GraphBuilder builder = stream.create_graph_builder();
            builder.begin_building();
            cuprum::launch(builder, config, loaded, arguments...);
            const cuprum::Graph graph = builder.end_building().complete();
            return [&stream, graph] {
                graph.launch(stream);
                stream.sync();
            };
        }
        return [&stream, config, loaded, arguments...] {
            cuprum::launch(stream, config, loaded, arguments...);
            stream.sync();
        };
    };
    const auto run = [&](const char* kernel, const cuprum::LaunchConfig& config,
                         auto... arguments) {
        return run_loaded(code.get_kernel(kernel), config, arguments...);
    };
    report.compare("saxpy_16M",
                   run("saxpy", {.grid = LARGE / 256, .block = 256}, 1.5F, dx, dy, LARGE),
                   [&] { native.saxpy(1.5F, x.data(), y.data(), LARGE); });
    report.compare("matmul_512",
                   run("matmul", {.grid = {N / 32, N / 8}, .block = {32, 8}}, dx, dy, dc, N),
                   [&] { native.matmul(x.data(), y.data(), c.data(), N); });
    report.compare("matmul_512_tiled",
                   run("tiled", {.grid = {N / 16, N / 16}, .block = {16, 16}}, dx, dy, dc, N),
                   [&] { native.matmul(x.data(), y.data(), c.data(), N); });
    if (device.compute_capability().major == 9) { // wgmma needs exactly this architecture
        const auto products =
            cuprum::Program(products_source(), {.arch = "sm_90a"}).compile(cuprum::CodeType::Ptx);
        const auto halves = device.allocate<std::uint16_t>(std::size_t{N} * N, stream);
        halves.copy_from(std::vector<std::uint16_t>(std::size_t{N} * N, 0x3555), stream);
        const auto map = [&](std::int64_t rows) {
            return cuprum::TensorMapDescriptor::tiled(
                {halves, {N, N}}, {.box_dim = {rows, 64},
                                   .data_type = cuprum::TensorMapDataType::Float16,
                                   .swizzle = cuprum::TensorMapSwizzle::Bytes128});
        };
        const auto multiply = [&] { native.matmul(x.data(), y.data(), c.data(), N); };
        const cuprum::LaunchConfig config{
            .grid = {N / 256, N / 64}, .block = 128, .shmem_size = 2 * PRODUCT_STAGE_BYTES};
        report.compare(
            "half_512_mma",
            run_loaded(products.get_kernel("mma_product"), config, halves, halves, dc, N),
            multiply);
        report.compare(
            "half_512_wgmma",
            run_loaded(products.get_kernel("wgmma_product"), config, map(64), map(256), dc, N),
            multiply);
    }
    report.compare(
        "mandelbrot_1024",
        run("mandelbrot", {.grid = {SIZE / 32, SIZE / 8}, .block = {32, 8}}, dpicture, SIZE, LIMIT),
        [&] { native.mandelbrot(picture.data(), SIZE, LIMIT); });
    volatile float sum = 0;
    report.compare("reduce_16M", run("reduce", {.grid = 256, .block = 256}, dx, dc, LARGE),
                   [&] { sum = native.reduce(x.data(), LARGE); });
    report.compare("histogram_16M",
                   run("histogram", {.grid = 256, .block = 256}, dbytes, dbins, LARGE),
                   [&] { native.histogram(bytes.data(), bins.data(), LARGE); });
    // Reading a picture through a texture, compared with a plain load on the same device.
    using cuprum::AddressMode;
    using cuprum::FilterMode;
    const cuprum::LaunchConfig rows{.grid = {SIZE / 256, SIZE}, .block = 256};
    const auto load = run("read_memory", rows, dx, dy, SIZE);
    const auto compare_texture =
        [&](const char* name, const char* kernel, const cuprum::OpaqueArray& picture,
            FilterMode filter, AddressMode mode = AddressMode::Clamp, bool is_normalized = false) {
            const auto texture =
                pictures::texture(picture, pictures::options(filter, mode, is_normalized));
            report.compare(name, run(kernel, rows, texture, dy, SIZE), load);
        };
    const auto floats = pictures::make<float>(device, stream, SIZE, 1);
    const auto floats4 = pictures::make<float>(device, stream, SIZE, 4);
    const auto bytes1 = pictures::make<std::uint8_t>(device, stream, SIZE, 1);
    const auto bytes4 = pictures::make<std::uint8_t>(device, stream, SIZE, 4);
    const auto halves1 = pictures::make<pictures::Half>(device, stream, SIZE, 1);
    const auto halves4 = pictures::make<pictures::Half>(device, stream, SIZE, 4);
    compare_texture("texture_point_1024", "read_texture", floats, FilterMode::Point);
    compare_texture("texture_linear_1024", "read_texture", floats, FilterMode::Linear);
    compare_texture("texture_rotated_1024", "read_rotated", floats, FilterMode::Linear);
    compare_texture("texture_float4_1024", "read_texture4", floats4, FilterMode::Linear);
    compare_texture("texture_byte_1024", "read_texture", bytes1, FilterMode::Linear);
    compare_texture("texture_byte4_point_1024", "read_texture4", bytes4, FilterMode::Point);
    compare_texture("texture_byte4_1024", "read_texture4", bytes4, FilterMode::Linear);
    compare_texture("texture_byte4_rotated_1024", "read_rotated4", bytes4, FilterMode::Linear);
    compare_texture("texture_half_point_1024", "read_texture", halves1, FilterMode::Point);
    compare_texture("texture_half_1024", "read_texture", halves1, FilterMode::Linear);
    compare_texture("texture_half4_1024", "read_texture4", halves4, FilterMode::Linear);
    for (const auto& [name, mode] :
         {std::pair("wrap", AddressMode::Wrap), std::pair("mirror", AddressMode::Mirror),
          std::pair("border", AddressMode::Border)}) {
        const std::string texture = std::string("texture_") + name;
        compare_texture((texture + "_point_1024").c_str(), "read_normalized", floats,
                        FilterMode::Point, mode, true);
        compare_texture((texture + "_1024").c_str(), "read_normalized", floats, FilterMode::Linear,
                        mode, true);
    }
    const auto volume = pictures::make_volume(device, stream, SIZE);
    compare_texture("texture_volume_point_1024", "read_volume", volume, FilterMode::Point);
    compare_texture("texture_volume_1024", "read_volume", volume, FilterMode::Linear);
    const auto levels = cuprum::ResourceDescriptor::from_mipmapped_array(
        pictures::make_levels(device, stream, SIZE));
    for (const FilterMode filter : {FilterMode::Point, FilterMode::Linear}) {
        cuprum::TextureObjectOptions options = pictures::options(filter, AddressMode::Clamp, true);
        options.max_mipmap_level_clamp = 1;
        report.compare(
            filter == FilterMode::Point ? "texture_level_point_1024" : "texture_level_1024",
            run("read_level", rows, cuprum::TextureObject::create(levels, options), dy, SIZE),
            load);
    }
    const auto table = cuprum::TextureObject::create(
        cuprum::ResourceDescriptor::from_linear(dx, {.size_bytes = SIZE * SIZE * sizeof(float)}));
    report.compare("texture_fetch_1024", run("fetch_texture", rows, table, dy, SIZE), load);
    const auto surface =
        cuprum::SurfaceObject::create(cuprum::ResourceDescriptor::from_opaque_array(floats));
    report.compare("surface_load_1024", run("read_surface", rows, surface, dy, SIZE), load);
    report.compare("surface_store_1024", run("write_surface", rows, surface, dx, SIZE), load);
    std::fprintf(stderr, "device: %s\n", device.name().c_str());
    report.print();
}
