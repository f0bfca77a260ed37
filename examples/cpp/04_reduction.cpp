// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Sums a vector: warp shuffles inside a block, one atomic per block.

#include <cuprum/cuprum.hpp>

#include <cstdio>
#include <vector>

int main() {
    const cuprum::Device device;
    const auto stream = device.create_stream();
    const auto sum = cuprum::Program(R"(
        extern "C" __global__ void sum(const int* data, int n, unsigned long long* total) {
            __shared__ long long warp_sums[32];
            long long value = 0;
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
                value += data[i];
            }
            for (int offset = 16; offset > 0; offset /= 2) {
                value += __shfl_down_sync(0xffffffffu, value, offset);
            }
            if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
            __syncthreads();
            if (threadIdx.x < 32) {
                value = threadIdx.x < blockDim.x / 32 ? warp_sums[threadIdx.x] : 0;
                for (int offset = 16; offset > 0; offset /= 2) {
                    value += __shfl_down_sync(0xffffffffu, value, offset);
                }
                if (threadIdx.x == 0) atomicAdd(total, (unsigned long long)value);
            }
        })")
                         .compile(cuprum::CodeType::Cubin)
                         .get_kernel("sum")
                         .as<void(const int*, int, unsigned long long*)>();

    constexpr int COUNT = 1'000'000;
    std::vector<int> data(COUNT);
    long long expected = 0;
    for (int i = 0; i < COUNT; ++i) {
        data[static_cast<std::size_t>(i)] = i % 1001 - 300;
        expected += i % 1001 - 300;
    }
    const auto data_buffer = device.allocate(data.size() * sizeof(int), stream);
    const auto total_buffer = device.allocate(sizeof(long long), stream);
    data_buffer.copy_from_host(data, stream);
    total_buffer.fill(std::uint8_t{0}, stream);
    sum(stream, {.grid = 64, .block = 256}, data_buffer, COUNT, total_buffer);

    std::vector<long long> total(1);
    total_buffer.copy_to_host(total, stream);
    stream.sync();
    std::printf("sum of %d numbers: %lld, expected %lld\n", COUNT, total[0], expected);
    return total[0] == expected ? 0 : 1;
}
