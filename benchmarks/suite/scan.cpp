// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// An inclusive prefix sum in three kernels: sums of blocks, their scan, and the scan of each
// block.

#include "suite/suite.hpp"

#include <vector>

namespace {

constexpr const char* SOURCE = R"(
__device__ int scan_block(int v, int* warps, int* all) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int o = 1; o < 32; o *= 2) {
        const int other = __shfl_up_sync(~0u, v, o);
        if (lane >= o) v += other;
    }
    if (lane == 31) warps[warp] = v;
    __syncthreads();
    if (warp == 0) {
        int w = warps[lane];
        for (int o = 1; o < 32; o *= 2) {
            const int other = __shfl_up_sync(~0u, w, o);
            if (lane >= o) w += other;
        }
        warps[lane] = w;
    }
    __syncthreads();
    *all = warps[31];
    return v + (warp == 0 ? 0 : warps[warp - 1]);
}
extern "C" __global__ void sum_blocks(const int* from, int* sums) {
    __shared__ int warps[32];
    int all;
    scan_block(from[blockIdx.x * 1024 + threadIdx.x], warps, &all);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}
extern "C" __global__ void scan_sums(int* sums, int n) {
    __shared__ int warps[32];
    int before = 0, all;
    for (int first = 0; first < n; first += 1024) {
        const int i = first + threadIdx.x;
        const int v = scan_block(i < n ? sums[i] : 0, warps, &all);
        if (i < n) sums[i] = before + v;
        before += all;
        __syncthreads();
    }
}
extern "C" __global__ void scan_blocks(const int* from, const int* sums, int* to) {
    __shared__ int warps[32];
    int all;
    const int i = blockIdx.x * 1024 + threadIdx.x;
    const int v = scan_block(from[i], warps, &all);
    to[i] = v + (blockIdx.x == 0 ? 0 : sums[blockIdx.x - 1]);
}
)";

void native(const int* from, int* to, int n) {
    constexpr int PART = 1 << 14;
    std::vector<int> sums(static_cast<std::size_t>(n / PART));
#pragma omp parallel for
    for (int part = 0; part < n / PART; ++part) {
        int sum = 0;
        for (int i = part * PART; i < (part + 1) * PART; ++i) {
            sum += from[i];
        }
        sums[static_cast<std::size_t>(part)] = sum;
    }
    for (std::size_t part = 1; part < sums.size(); ++part) {
        sums[part] += sums[part - 1];
    }
#pragma omp parallel for
    for (int part = 0; part < n / PART; ++part) {
        int sum = part == 0 ? 0 : sums[static_cast<std::size_t>(part - 1)];
        for (int i = part * PART; i < (part + 1) * PART; ++i) {
            sum += from[i];
            to[i] = sum;
        }
    }
}

void prepare(suite::Bench& bench) {
    const unsigned n = 1 << 23;
    const auto from =
        bench.input<int>(n, [](std::size_t i) { return suite::random_bits(i) % 100; });
    const auto sums = bench.scratch<int>(n / 1024);
    const auto to = bench.output<int>(n);
    bench.device = [=, &bench] {
        bench.launch("sum_blocks", {n / 1024}, {1024}, from, sums);
        bench.launch("scan_sums", {1}, {1024}, sums, n / 1024);
        bench.launch("scan_blocks", {n / 1024}, {1024}, from, sums, to);
    };
    bench.native = [=] { native(from.host, to.host, n); };
}

const suite::Entry ENTRY({.name = "scan",
                          .difference = "a running sum instead of shuffles",
                          .source = SOURCE,
                          .prepare = prepare});

} // namespace
