// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Asynchronous copies, barriers, clusters and tensor memory access.

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#if !defined(__CUDACC_RTC__)
#include <cuda.h>
#endif
namespace cg = cooperative_groups;

extern "C" __global__ void staged(const int* in, int* out) {
    __shared__ int tile[256];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
    }
    __syncthreads();
    cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int), bar);
    bar.arrive_and_wait();
    out[threadIdx.x] = tile[255 - threadIdx.x];
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) clustered(int* out) {
    __shared__ int mine;
    const auto cluster = cg::this_cluster();
    mine = threadIdx.x;
    cluster.sync();
    out[threadIdx.x] = *cluster.map_shared_rank(&mine, cluster.block_rank() ^ 1);
    cluster.sync();
}

extern "C" __global__ void tensor_copy(const __grid_constant__ char4 unused, const void* map, int* out) {
    alignas(128) __shared__ int tile[64];
    alignas(8) __shared__ unsigned long long bar;
    const unsigned bar_at = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
    const unsigned tile_at = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar_at), "r"(1));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar_at), "r"(256));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
                     ::"r"(tile_at), "l"(map), "r"(bar_at), "r"(0), "r"(1) : "memory");
    }
    asm volatile("{\n .reg .pred P1;\nWAIT_%=: mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
                 "@!P1 bra WAIT_%=;\n}" ::"r"(bar_at), "r"(0) : "memory");
    out[threadIdx.x] = tile[threadIdx.x] + unused.x;
}
#endif
