// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Sorts keys by four bits at a time: counts per block, a scan, and stable scattering.

#include "suite/suite.hpp"

#include <array>
#include <utility>

namespace {

constexpr const char* SOURCE = R"(
// A block sorts 1024 keys, four of each thread. Counts of a digit stand before those of the next.
extern "C" __global__ void count(const unsigned* keys, unsigned* counts, int shift) {
    __shared__ unsigned bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < 4; ++i)
        atomicAdd(&bins[keys[blockIdx.x * 1024 + i * 256 + threadIdx.x] >> shift & 15], 1u);
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}
extern "C" __global__ void scan(unsigned* counts, int n) {
    __shared__ unsigned warps[32];
    unsigned before = 0;
    for (int first = 0; first < n; first += 1024) {
        const int i = first + threadIdx.x;
        const unsigned mine = i < n ? counts[i] : 0;
        unsigned v = mine;
        for (int o = 1; o < 32; o *= 2) {
            const unsigned other = __shfl_up_sync(~0u, v, o);
            if (threadIdx.x % 32 >= o) v += other;
        }
        if (threadIdx.x % 32 == 31) warps[threadIdx.x / 32] = v;
        __syncthreads();
        unsigned sum = 0, all = 0;
        for (int w = 0; w < 32; ++w) { if (w < threadIdx.x / 32) sum += warps[w]; all += warps[w]; }
        if (i < n) counts[i] = before + sum + v - mine;
        before += all;
        __syncthreads();
    }
}
extern "C" __global__ void scatter(const unsigned* from, unsigned* to, const unsigned* counts, int shift) {
    __shared__ unsigned places[8][16];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane < 16) places[warp][lane] = 0;
    __syncwarp();
    unsigned keys[4], ranks[4];
    for (int i = 0; i < 4; ++i) {
        keys[i] = from[blockIdx.x * 1024 + warp * 128 + i * 32 + lane];
        const unsigned digit = keys[i] >> shift & 15;
        unsigned same = ~0u;
        for (int b = 0; b < 4; ++b) {
            const unsigned votes = __ballot_sync(~0u, digit >> b & 1);
            same &= digit >> b & 1 ? votes : ~votes;
        }
        ranks[i] = places[warp][digit] + __popc(same & ((1u << lane) - 1));
        __syncwarp();
        if (same >> lane == 1) places[warp][digit] += __popc(same);
        __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        unsigned sum = counts[threadIdx.x * gridDim.x + blockIdx.x];
        for (int w = 0; w < 8; ++w) { const unsigned n = places[w][threadIdx.x]; places[w][threadIdx.x] = sum; sum += n; }
    }
    __syncthreads();
    for (int i = 0; i < 4; ++i) to[places[warp][keys[i] >> shift & 15] + ranks[i]] = keys[i];
}
)";

/// Sorts by eight bits at a time; `parts` pieces are counted and scattered by a thread each.
void native(std::uint32_t* keys, std::uint32_t* other, int n) {
    constexpr int PARTS = 8;
    std::array<std::array<std::uint32_t, 256>, PARTS> places;
    for (int shift = 0; shift < 32; shift += 8) {
#pragma omp parallel for
        for (int part = 0; part < PARTS; ++part) {
            places[part].fill(0);
            for (int i = n / PARTS * part; i < n / PARTS * (part + 1); ++i) {
                ++places[part][keys[i] >> shift & 255];
            }
        }
        std::uint32_t sum = 0;
        for (int digit = 0; digit < 256; ++digit) {
            for (auto& part : places) {
                sum += std::exchange(part[digit], sum);
            }
        }
#pragma omp parallel for
        for (int part = 0; part < PARTS; ++part) {
            for (int i = n / PARTS * part; i < n / PARTS * (part + 1); ++i) {
                other[places[part][keys[i] >> shift & 255]++] = keys[i];
            }
        }
        std::swap(keys, other);
    }
}

void prepare(suite::Bench& bench) {
    const unsigned n = 1 << 20;
    const unsigned blocks = n / 1024;
    const auto keys = bench.output<std::uint32_t>(n, suite::random_bits);
    const auto other = bench.scratch<std::uint32_t>(n);
    const auto counts = bench.scratch<std::uint32_t>(16 * blocks);
    bench.device = [=, &bench] {
        auto from = keys;
        auto to = other;
        for (int shift = 0; shift < 32; shift += 4) {
            bench.launch("count", {blocks}, {256}, from, counts, shift);
            bench.launch("scan", {1}, {1024}, counts, 16 * blocks);
            bench.launch("scatter", {blocks}, {256}, from, to, counts, shift);
            std::swap(from, to);
        }
    };
    bench.native = [=] { native(keys.host, other.host, n); };
}

const suite::Entry ENTRY({.name = "radix_sort",
                          .difference = "four passes of eight bits instead of eight of four",
                          .source = SOURCE,
                          .prepare = prepare});

} // namespace
