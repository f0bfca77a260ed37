// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A matrix product on Hopper's tensor cores: TMA loads a ring of tiles while wgmma multiplies.

#include <cuprum/cuprum.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int M = 200; // no multiples of a tile: TMA fills the rest with zeros
constexpr int N = 260;
constexpr int K = 328;
constexpr int TILE = 128;
constexpr int STEP = 64;
constexpr int STAGES = 4;
constexpr std::size_t SHARED_BYTES = STAGES * 2 * TILE * STEP * 2 + TILE * TILE * 4;

/// Returns a small integer as half-precision number.
std::uint16_t half(int value) {
    constexpr std::uint16_t BITS[] = {0x0000, 0x3c00, 0x4000, 0x4200, 0x4400}; // 0 to 4
    return value < 0 ? BITS[-value] | 0x8000 : BITS[value];
}

std::string read(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error("cannot read " + path.string());
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

constexpr unsigned tiles(int count, int size) {
    return static_cast<unsigned>((count + size - 1) / size);
}

void run() {
    const cuprum::Device device;
    if (device.compute_capability().major != 9) {
        std::puts("needs compute capability 9.0: skipped");
        return;
    }
    const cuprum::Stream stream = device.create_stream();
    const cuprum::Program program(
        read(CUPRUM_SOURCE_FOLDER "/examples/kernels/tensor_core_product.cu"),
        {.arch = "sm_90a", .std = "c++17"});
    using cuprum::TensorMapDescriptor;
    const auto product =
        program.compile(cuprum::CodeType::Cubin)
            .get_kernel("product")
            .as<void(TensorMapDescriptor, TensorMapDescriptor, TensorMapDescriptor, int)>();

    std::vector<std::uint16_t> a(M * K);
    std::vector<std::uint16_t> b(N * K);
    const auto a_value = [](int row, int k) { return (row * 7 + k * 3) % 9 - 4; };
    const auto b_value = [](int column, int k) { return (column * 5 + k * 2) % 9 - 4; };
    for (int k = 0; k < K; ++k) {
        for (int row = 0; row < M; ++row) {
            a[static_cast<std::size_t>(row * K + k)] = half(a_value(row, k));
        }
        for (int column = 0; column < N; ++column) {
            b[static_cast<std::size_t>(column * K + k)] = half(b_value(column, k));
        }
    }
    const auto a_memory = device.allocate<std::uint16_t>(M * K, stream);
    const auto b_memory = device.allocate<std::uint16_t>(N * K, stream);
    const auto c_memory = device.allocate<float>(M * N, stream);
    a_memory.copy_from(a, stream);
    b_memory.copy_from(b, stream);

    // A map says where a tensor lies and which box one copy moves. A and B are swizzled, as wgmma
    // reads them.
    const cuprum::TensorMapDescriptorOptions tile{.box_dim = {TILE, STEP},
                                                  .data_type = cuprum::TensorMapDataType::Float16,
                                                  .swizzle = cuprum::TensorMapSwizzle::Bytes128};
    const auto a_map = TensorMapDescriptor::tiled({a_memory, {M, K}}, tile);
    const auto b_map = TensorMapDescriptor::tiled({b_memory, {N, K}}, tile);
    const auto c_map =
        TensorMapDescriptor::tiled({c_memory, {M, N}}, {.box_dim = {TILE / 2, TILE}});
    std::cout << a_map << '\n' << c_map << '\n';

    product(
        stream,
        {.grid = {tiles(N, TILE), tiles(M, TILE)}, .block = 3 * 128, .shmem_size = SHARED_BYTES},
        a_map, b_map, c_map, static_cast<int>(tiles(K, STEP)));

    const std::vector<float> c = c_memory.to_vector(stream);
    for (int row = 0; row < M; ++row) {
        for (int column = 0; column < N; ++column) {
            int expected = 0;
            for (int k = 0; k < K; ++k) {
                expected += a_value(row, k) * b_value(column, k);
            }
            if (c[static_cast<std::size_t>(row * N + column)] != static_cast<float>(expected)) {
                throw std::runtime_error("wrong element at row " + std::to_string(row) +
                                         ", column " + std::to_string(column));
            }
        }
    }
    std::printf("%d x %d x %d: all %d elements are exact\n", M, N, K, M * N);
}

} // namespace

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
