// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Warp-level operations, atomics and cooperative groups.

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void shuffles(int* out) {
    int v = out[threadIdx.x];
    v += __shfl_xor_sync(0xffffffffu, v, 16);
    v += __shfl_down_sync(0xffffffffu, v, 8);
    v += __shfl_sync(0xffffffffu, v, 3, 8);
    v += __popc(__ballot_sync(0xffffffffu, v > 3)) + __any_sync(0xffffffffu, v) + __activemask();
#if __CUDA_ARCH__ >= 700
    v += __match_any_sync(0xffffffffu, v);
    int all = 0;
    v += __match_all_sync(0xffffffffu, v, &all) + all;
#endif
#if __CUDA_ARCH__ >= 800
    v += __reduce_add_sync(0xffffffffu, v);
#endif
    __syncwarp();
    out[threadIdx.x] = v + __syncthreads_count(v) + __syncthreads_or(v);
}

extern "C" __global__ void atomics(int* i, unsigned long long* u, float* f, double* d) {
    atomicAdd(i, 1);
    atomicMax(i + 1, 5);
    atomicCAS(i + 2, 1, 2);
    atomicExch(i + 3, 9);
    atomicAdd(u, 1ull);
    atomicAdd(f, 1.0f);
    atomicAdd(d, 1.0);
    atomicAdd_system(i + 4, 3);
    atomicAnd_block(i + 5, 3);
    __threadfence();
    __threadfence_system();
}

extern "C" __global__ void groups(int* out) {
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<16>(block);
    const auto active = cg::coalesced_threads();
    int v = tile.shfl_down(out[threadIdx.x], 1) + active.size();
    tile.sync();
    block.sync();
    cg::this_grid().sync();
    out[threadIdx.x] = v;
}
