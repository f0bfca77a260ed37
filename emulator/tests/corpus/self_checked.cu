// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that check their own results. Each counts the wrong values and stores the line of the
// first failed check.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/std/atomic>

namespace cg = cooperative_groups;

struct Findings { unsigned checked, wrong, line, thread; };

#define EXPECT(condition) check(findings, condition, __LINE__)

__device__ void check(Findings* findings, bool is_right, int line) {
    atomicAdd(&findings->checked, 1);
    if (!is_right && atomicAdd(&findings->wrong, 1) == 0) {
        findings->line = line;
        findings->thread = threadIdx.x;
    }
}

struct __align__(16) Body { float3 at; float mass; int id; short tags[3]; };

__constant__ float4 rows[4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}};
__constant__ double2 pairs[3] = {{1, 2}, {3, 4}, {5, 6}};

/// Reads vectors and structures: all lanes at one address, each half of a warp at one address, and
/// each lane at its own.
extern "C" __global__ void whole_vectors(Findings* findings, Body* bodies) {
    __shared__ float4 tile[128];
    const int t = threadIdx.x;
    bodies += blockIdx.x * blockDim.x;
    Body own;
    own.at = make_float3(t, 2 * t, -t);
    own.mass = 1 + t % 3;
    own.id = t;
    own.tags[0] = own.tags[1] = 1;
    own.tags[2] = -3;
    bodies[t] = own;
    tile[t] = make_float4(t, t + 1, t + 2, t % 3);
    __syncthreads();
    float along = 0, weight = 0, shared = 0;
    for (int i = 0; i < blockDim.x; ++i) {
        const Body body = bodies[i];
        along += body.at.y - body.at.x + body.at.z;
        weight += body.mass;
        const float4 row = tile[i];
        shared += row.y - row.x + row.z - i + row.w;
        EXPECT(body.id == i && body.tags[2] == -3);
    }
    EXPECT(along == 0);
    EXPECT(weight == 255);
    EXPECT(shared == 128 + 128 * 2 + 127);
    const float4 half_warp = tile[t / 16 + 3];
    EXPECT(half_warp.x == t / 16 + 3 && half_warp.w == (t / 16 + 3) % 3);
    const float4 row = rows[blockIdx.x % 4];
    const float first = blockIdx.x % 4 * 4;
    EXPECT(row.x == first + 1 && row.y == first + 2 && row.z == first + 3 && row.w == first + 4);
    const double2 pair = pairs[blockIdx.x % 3];
    EXPECT(pair.x + 1 == pair.y && pair.y == 2 * (blockIdx.x % 3 + 1));
}

/// Tiles of several warps, whose barriers are in memory that the system reserves.
extern "C" __global__ void __launch_bounds__(512) tiles_of_warps(Findings* findings) {
    __shared__ cg::block_tile_memory<512> memory;
    __shared__ int words[512];
    words[threadIdx.x] = threadIdx.x;
    const auto block = cg::this_thread_block(memory);
    const auto tile = cg::tiled_partition<128>(block);
    const int first = threadIdx.x / 128 * 128;
    for (int round = 0; round < 5; ++round) {
        const int sum = cg::reduce(tile, static_cast<int>(threadIdx.x) + round, cg::plus<int>());
        EXPECT(sum == 128 * (first + round) + 127 * 64);
        tile.sync(); // the next tile uses the same memory, and lanes need not continue together
        EXPECT(tile.shfl(static_cast<int>(threadIdx.x), 77) == first + 77);
        tile.sync();
        EXPECT(tile.any(threadIdx.x == 300) == (first == 256));
        tile.sync();
        EXPECT(cg::inclusive_scan(tile, 1) == static_cast<int>(tile.thread_rank()) + 1);
        tile.sync();
    }
    EXPECT(tile.meta_group_size() == 4);
    EXPECT(words[threadIdx.x] == static_cast<int>(threadIdx.x));
}

/// Groups of lanes with the same label, and their collective operations.
extern "C" __global__ void labelled(Findings* findings) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const unsigned lane = warp.thread_rank();
    const auto label_of = [](unsigned lane) { return lane * 7 % 5; };
    const auto group = cg::labeled_partition(warp, label_of(lane));
    unsigned sum = 0, size = 0, rank = 0;
    for (unsigned other = 0; other < 32; ++other) {
        if (label_of(other) == label_of(lane)) {
            sum += other;
            ++size;
            rank += other < lane;
        }
    }
    EXPECT(cg::reduce(group, lane, cg::plus<unsigned>()) == sum);
    EXPECT(group.size() == size && group.thread_rank() == rank);
    if (lane % 2 == 1) {
        // The members of this group are not defined.
        const auto odd = cg::coalesced_threads();
        const unsigned most = cg::reduce(odd, lane, cg::greater<unsigned>());
        const unsigned last = odd.shfl(lane, odd.size() - 1);
        const unsigned before = cg::exclusive_scan(odd, 1u);
        EXPECT(most == last && last % 2 == 1);
        EXPECT(before == odd.thread_rank());
    }
}

struct Narrow {
    unsigned char bytes[4];
    short halves[2];
    double real;
    int maximum, blocks;
};

/// Objects of every size through cuda::atomic_ref.
extern "C" __global__ void references(Findings* findings, Narrow* all) {
    const int threads = gridDim.x * blockDim.x;
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    constexpr auto DEVICE = cuda::thread_scope_device;
    cuda::atomic_ref<unsigned char, DEVICE> byte(all->bytes[1]);
    cuda::atomic_ref<short, DEVICE> half(all->halves[1]);
    cuda::atomic_ref<double, DEVICE> real(all->real);
    cuda::std::atomic_ref<int> maximum(all->maximum);
    byte.fetch_add(1);
    half.fetch_sub(2, cuda::memory_order_relaxed);
    real.fetch_add(0.5);
    for (int seen = maximum.load(); seen < t && !maximum.compare_exchange_weak(seen, t);) {
    }
    __shared__ bool is_last;
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::atomic_ref<int, DEVICE> blocks(all->blocks);
        is_last = blocks.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) {
        EXPECT(byte.load() == static_cast<unsigned char>(threads));
        EXPECT(half.load() == static_cast<short>(-2 * threads));
        EXPECT(real.load() == threads * 0.5);
        EXPECT(maximum.load() == threads - 1);
        EXPECT(all->bytes[0] == 0 && all->bytes[2] == 0 && all->halves[0] == 0);
    }
}
