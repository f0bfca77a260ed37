// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Barriers and pipelines in shared memory, through the library. test_compiled_pipelines.cpp
// describes what each kernel computes.

#pragma nv_diag_suppress static_var_with_dynamic_init
#include <cuda/barrier>
#include <cuda/pipeline>

#include <cooperative_groups.h>

#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;

extern "C" __global__ void staged(const int* in, int* out) {
    __shared__ int tile[256];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
    }
    __syncthreads();
    cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int), bar);
    bar.arrive_and_wait();
    out[threadIdx.x] = tile[255 - threadIdx.x];
}

extern "C" __global__ void phases(const int* in, int* out, int rounds) {
    __shared__ int tile[256];
    __shared__ cuda::barrier<cuda::thread_scope_block> ready, taken;
    if (threadIdx.x == 0) {
        init(&ready, 1 + (blockDim.x - 32));
        init(&taken, 1 + blockDim.x - 32);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int r = 0; r < rounds; ++r) {
            for (int i = threadIdx.x; i < 256; i += 32) {
                tile[i] = in[i] + r;
            }
            __syncwarp();
            if (threadIdx.x == 0) {
                (void)ready.arrive();
                taken.arrive_and_wait();
            }
            __syncwarp();
        }
    } else {
        int sum = 0;
        for (int r = 0; r < rounds; ++r) {
            ready.arrive_and_wait();
            sum += tile[threadIdx.x];
            (void)taken.arrive();
        }
        out[threadIdx.x] = sum;
    }
}

extern "C" __global__ void dropping(int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int total;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        total = 0;
    }
    __syncthreads();
    for (int r = 0; r < 8; ++r) {
        if (threadIdx.x / 16 == r) {
            bar.arrive_and_drop();
            return;
        }
        atomicAdd(&total, 1);
        bar.arrive_and_wait();
        out[r] = total;
        bar.arrive_and_wait();
    }
}

extern "C" __global__ void pipelined(const int* in, int* out, int batches) {
    __shared__ int tile[2][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    pipe.producer_acquire();
    cuda::memcpy_async(block, tile[0], in, sizeof(int) * 128, pipe);
    pipe.producer_commit();
    int sum = 0;
    for (int b = 1; b <= batches; ++b) {
        if (b < batches) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[b & 1], in + b * 128, sizeof(int) * 128, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += tile[(b - 1) & 1][127 - threadIdx.x];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void thread_pipelined(const int4* in, int* out, int batches) {
    __shared__ int4 tile[2][128];
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[0][threadIdx.x], in + threadIdx.x, cuda::aligned_size_t<16>(16), pipe);
    pipe.producer_commit();
    int sum = 0;
    for (int b = 1; b <= batches; ++b) {
        if (b < batches) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[b & 1][threadIdx.x], in + b * 128 + threadIdx.x,
                               cuda::aligned_size_t<16>(16), pipe);
            pipe.producer_commit();
            cuda::pipeline_consumer_wait_prior<1>(pipe);
        } else {
            cuda::pipeline_consumer_wait_prior<0>(pipe);
        }
        int4 v = tile[(b - 1) & 1][threadIdx.x];
        sum += v.x + v.y + v.z + v.w;
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void partitioned(const int* in, int* out, int batches) {
    __shared__ int tile[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto role =
        block.thread_rank() < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    if (role == cuda::pipeline_role::producer) {
        for (int b = 0; b < batches; ++b) {
            pipe.producer_acquire();
            for (int i = 0; i < 2; ++i) {
                cuda::memcpy_async(&tile[b & 1][threadIdx.x + 32 * i],
                                   in + b * 64 + threadIdx.x + 32 * i, sizeof(int), pipe);
            }
            pipe.producer_commit();
        }
    } else {
        int sum = 0;
        for (int b = 0; b < batches; ++b) {
            pipe.consumer_wait();
            sum += tile[b & 1][threadIdx.x - 32] * (b + 1);
            pipe.consumer_release();
        }
        out[threadIdx.x - 32] = sum;
    }
}

extern "C" __global__ void grouped(const int* in, int* out) {
    extern __shared__ int dyn[];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, dyn, in, sizeof(int) * blockDim.x);
    cg::wait(block);
    out[threadIdx.x] = dyn[blockDim.x - 1 - threadIdx.x];
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) neighbours(int* out) {
    __shared__ int mine[64];
    __shared__ int total;
    const auto cluster = cg::this_cluster();
    const unsigned other = cluster.block_rank() ^ 1;
    mine[threadIdx.x] = static_cast<int>(blockIdx.x * 100 + threadIdx.x);
    if (threadIdx.x == 0) {
        total = 0;
    }
    cluster.sync();
    const int seen = cluster.map_shared_rank(mine, other)[threadIdx.x];
    atomicAdd(cluster.map_shared_rank(&total, other), 1);
    cluster.sync();
    out[blockIdx.x * blockDim.x + threadIdx.x] = seen * 1000 + total;
}
#endif
