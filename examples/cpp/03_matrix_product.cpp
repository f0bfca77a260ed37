// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Multiplies matrices with tiles in shared memory and barriers. The kernel is a template, found by
// its name expression.

#include <cuprum/cuprum.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr const char* SOURCE = R"(
template <int TILE>
__global__ void multiply(const float* a, const float* b, float* c, int n) {
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        a_tile[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
)";

} // namespace

int main() {
    constexpr int N = 128;
    constexpr unsigned TILE = 16;
    const cuprum::Device device;
    const auto stream = device.create_stream();
    const std::vector<std::string> names{"multiply<16>"};
    const auto multiply = cuprum::Program(SOURCE)
                              .compile(cuprum::CodeType::Ptx, names)
                              .get_kernel("multiply<16>")
                              .as<void(const float*, const float*, float*, int)>();

    std::vector<float> a(N * N);
    std::vector<float> b(N * N);
    for (int i = 0; i < N * N; ++i) {
        a[static_cast<std::size_t>(i)] = static_cast<float>(i % 13);
        b[static_cast<std::size_t>(i)] = static_cast<float>(i % 7);
    }
    const auto bytes = a.size() * sizeof(float);
    const auto a_buffer = device.allocate(bytes, stream);
    const auto b_buffer = device.allocate(bytes, stream);
    const auto c_buffer = device.allocate(bytes, stream);
    a_buffer.copy_from_host(a, stream);
    b_buffer.copy_from_host(b, stream);
    multiply(stream, {.grid = {N / TILE, N / TILE}, .block = {TILE, TILE}}, a_buffer, b_buffer,
             c_buffer, N);
    std::vector<float> c(a.size());
    c_buffer.copy_to_host(c, stream);
    stream.sync();

    for (std::size_t row = 0; row < N; ++row) {
        for (std::size_t column = 0; column < N; ++column) {
            float expected = 0;
            for (std::size_t k = 0; k < N; ++k) {
                expected += a[row * N + k] * b[k * N + column];
            }
            // With small integers every partial sum is exact in float.
            if (c[row * N + column] != expected) {
                std::printf("wrong at %zu, %zu: %f, not %f\n", row, column, c[row * N + column],
                            expected);
                return 1;
            }
        }
    }
    std::printf("%d x %d product exact, c[1][2] = %.0f\n", N, N, c[N + 2]);
}
