// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Cooperative groups: tiles, coalesced and labeled groups, scans, grids and clusters.

#include <cooperative_groups.h>

#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

template <unsigned SIZE>
__device__ void use_tile(const int* in, int* out) {
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<SIZE>(block);
    const int value = in[block.thread_rank()];
    int* const mine = out + block.thread_rank() * 8;
    mine[0] = static_cast<int>(tile.thread_rank() + 1000 * tile.meta_group_rank());
    mine[1] = cg::reduce(tile, value, cg::plus<int>());
    mine[2] = cg::reduce(tile, value, cg::greater<int>());
    mine[3] = cg::inclusive_scan(tile, value);
    mine[4] = cg::exclusive_scan(tile, value, cg::bit_xor<int>());
    mine[5] = static_cast<int>(tile.ballot(value & 1));
    mine[6] = tile.shfl(value, (tile.thread_rank() + 1) % SIZE) + tile.shfl_xor(value, SIZE / 2);
    mine[7] = static_cast<int>(tile.match_any(value % 3)) + tile.any(value == 7) * 1000000;
}

extern "C" __global__ void tiles(const int* in, int* out) {
    const int stride = blockDim.x * 8;
    use_tile<4>(in, out);
    use_tile<8>(in, out + stride);
    use_tile<16>(in, out + 2 * stride);
    use_tile<32>(in, out + 3 * stride);
}

extern "C" __global__ void coalesced(const int* in, int* out) {
    const auto block = cg::this_thread_block();
    const unsigned rank = block.thread_rank();
    const int value = in[rank];
    if (value % 3 != 0) {
        const auto active = cg::coalesced_threads();
        out[rank] = static_cast<int>(active.thread_rank() * 100 + active.size());
        out[rank + blockDim.x] = active.shfl(value, active.size() - 1);
        out[rank + 2 * blockDim.x] = cg::reduce(active, value, cg::plus<int>());
    }
    const auto warp = cg::tiled_partition<32>(block);
    warp.sync();
    const auto labeled = cg::labeled_partition(warp, value % 5);
    out[rank + 3 * blockDim.x] = cg::reduce(labeled, value, cg::plus<int>());
    const auto halves = cg::binary_partition(warp, value > 50);
    out[rank + 4 * blockDim.x] = static_cast<int>(halves.size() * 100 + halves.thread_rank());
}

/// In each round, every block adds the previous value of its right neighbour.
extern "C" __global__ void grid_ring(int* cells, int rounds) {
    const auto grid = cg::this_grid();
    for (int round = 0; round < rounds; ++round) {
        const int next = (blockIdx.x + 1) % gridDim.x;
        const int sum = cells[blockIdx.x] + cells[next];
        grid.sync();
        if (threadIdx.x == 0) {
            cells[blockIdx.x] = sum % 1009;
        }
        grid.sync();
    }
    if (grid.thread_rank() == grid.size() - 1) {
        cells[gridDim.x] = static_cast<int>(grid.num_threads());
    }
}

#if __CUDA_ARCH__ >= 900
/// Sums a table that is spread over the blocks of a cluster.
extern "C" __global__ void cluster_sum(const int* in, int* out) {
    __shared__ int part[32];
    __shared__ int arrived;
    const auto cluster = cg::this_cluster();
    part[threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x];
    if (threadIdx.x == 0) {
        arrived = 0;
    }
    cluster.sync();
    int sum = 0;
    for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank) {
        sum += cluster.map_shared_rank(part, rank)[threadIdx.x];
        atomicAdd(cluster.map_shared_rank(&arrived, rank), 1);
    }
    cluster.barrier_arrive();
    cluster.barrier_wait();
    int* const mine = out + (blockIdx.x * 32 + threadIdx.x) * 3;
    mine[0] = sum;
    mine[1] = arrived;
    mine[2] = static_cast<int>(cluster.block_rank() * 100 + cluster.query_shared_rank(
                                   cluster.map_shared_rank(part, cluster.num_blocks() - 1)));
}
#endif
