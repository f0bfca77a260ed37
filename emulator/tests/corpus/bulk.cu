// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Bulk copies, bulk reductions and asynchronous stores to other blocks, through the library.

#pragma nv_diag_suppress static_var_with_dynamic_init
#include <cuda/barrier>
#include <cuda/ptx>

#include <cooperative_groups.h>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int WORDS = 256;

/// Copies a tile in, changes it and copies it out again.
extern "C" __global__ void there_and_back(const int* in, int* out) {
    __shared__ alignas(128) int tile[WORDS];
    __shared__ Barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    Barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(tile, in + blockIdx.x * WORDS,
                                      cuda::aligned_size_t<16>(sizeof(tile)), bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile));
    } else {
        token = bar.arrive();
    }
    bar.wait(cuda::std::move(token));
    tile[threadIdx.x] = tile[threadIdx.x] * 3 + 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * WORDS, tile,
                           sizeof(tile));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
    __syncthreads();
}

/// Adds the values of every block to one array.
extern "C" __global__ void summed(int* total, unsigned* highest) {
    __shared__ alignas(128) int tile[WORDS];
    __shared__ alignas(128) unsigned peaks[WORDS];
    tile[threadIdx.x] = static_cast<int>((blockIdx.x + 1) * threadIdx.x);
    peaks[threadIdx.x] = (blockIdx.x * 37 + threadIdx.x * 11) % 101;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, total, tile,
                                  sizeof(tile));
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_max, highest, peaks,
                                  sizeof(peaks));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}

/// Every block of a cluster sends a word to each thread of the next, which waits at its barrier.
extern "C" __global__ void __cluster_dims__(4, 1, 1) sent_around(int* out) {
    __shared__ alignas(16) int inbox[32];
    __shared__ alignas(8) cuda::std::uint64_t bar;
    const auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                       sizeof(inbox));
    }
    cluster.sync();
    const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    ptx::st_async(cluster.map_shared_rank(&inbox[threadIdx.x], next),
                  static_cast<int>(blockIdx.x * 1000 + threadIdx.x),
                  cluster.map_shared_rank(&bar, next));
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
    }
    out[blockIdx.x * 32 + threadIdx.x] = inbox[threadIdx.x];
    cluster.sync();
}
