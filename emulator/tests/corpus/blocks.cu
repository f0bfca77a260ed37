// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// CUB block and warp primitives.

#include <cub/block/block_exchange.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

constexpr int THREADS = 128;

struct Less {
    __device__ bool operator()(int a, int b) const { return a < b; }
};

struct Largest {
    __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

extern "C" __global__ void __launch_bounds__(THREADS) scan(const int* in, int* out, int* totals) {
    using Scan = cub::BlockScan<int, THREADS>;
    using Raking = cub::BlockScan<int, THREADS, cub::BLOCK_SCAN_RAKING>;
    __shared__ union {
        Scan::TempStorage scan;
        Raking::TempStorage raking;
    } storage;
    int items[4];
    for (int i = 0; i < 4; ++i) {
        items[i] = in[threadIdx.x * 4 + i];
    }
    int total = 0;
    int sums[4];
    Scan(storage.scan).ExclusiveSum(items, sums, total);
    __syncthreads();
    int highest[4];
    Raking(storage.raking).InclusiveScan(items, highest, Largest());
    for (int i = 0; i < 4; ++i) {
        out[threadIdx.x * 4 + i] = sums[i];
        out[4 * THREADS + threadIdx.x * 4 + i] = highest[i];
    }
    totals[threadIdx.x] = total;
}

extern "C" __global__ void __launch_bounds__(THREADS) sort(unsigned* keys, int* values, float* reals) {
    using Sort = cub::BlockRadixSort<unsigned, THREADS, 4, int>;
    using SortReals = cub::BlockRadixSort<float, THREADS, 4>;
    __shared__ union {
        Sort::TempStorage sort;
        SortReals::TempStorage reals;
    } storage;
    unsigned k[4];
    int v[4];
    float r[4];
    for (int i = 0; i < 4; ++i) {
        k[i] = keys[threadIdx.x * 4 + i];
        v[i] = static_cast<int>(threadIdx.x * 4 + i);
        r[i] = reals[threadIdx.x * 4 + i];
    }
    Sort(storage.sort).Sort(k, v);
    __syncthreads();
    SortReals(storage.reals).SortDescending(r);
    for (int i = 0; i < 4; ++i) {
        keys[threadIdx.x * 4 + i] = k[i];
        values[threadIdx.x * 4 + i] = v[i];
        reals[threadIdx.x * 4 + i] = r[i];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) merge_sort(int* keys) {
    using Sort = cub::BlockMergeSort<int, THREADS, 3>;
    __shared__ Sort::TempStorage storage;
    int k[3];
    for (int i = 0; i < 3; ++i) {
        k[i] = keys[threadIdx.x * 3 + i];
    }
    Sort(storage).Sort(k, Less());
    for (int i = 0; i < 3; ++i) {
        keys[threadIdx.x * 3 + i] = k[i];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) reduce(const int* in, int* out, double* real) {
    using Reduce = cub::BlockReduce<int, THREADS>;
    using Raking = cub::BlockReduce<double, THREADS, cub::BLOCK_REDUCE_RAKING>;
    using Warp = cub::WarpReduce<int>;
    using Narrow = cub::WarpReduce<int, 8>;
    using WarpScan = cub::WarpScan<int>;
    __shared__ union {
        Reduce::TempStorage reduce;
        Raking::TempStorage raking;
        Warp::TempStorage warp[4];
        Narrow::TempStorage narrow[16];
        WarpScan::TempStorage scan[4];
    } storage;
    const int t = static_cast<int>(threadIdx.x);
    const int value = in[t];
    const int sum = Reduce(storage.reduce).Sum(value);
    __syncthreads();
    const int partial = Reduce(storage.reduce).Reduce(value, Largest(), 77);
    __syncthreads();
    const double total = Raking(storage.raking).Sum(value * 0.5);
    __syncthreads();
    const int warp = Warp(storage.warp[t / 32]).Sum(value);
    __syncthreads();
    const int segmented = Warp(storage.warp[t / 32]).HeadSegmentedSum(value, t % 5 == 0);
    __syncthreads();
    const int narrow = Narrow(storage.narrow[t / 8]).Reduce(value, Largest());
    __syncthreads();
    int scanned = 0;
    WarpScan(storage.scan[t / 32]).ExclusiveSum(value, scanned);
    if (t == 0) {
        out[0] = sum;
        out[1] = partial;
        real[0] = total;
    }
    if (t % 32 == 0) {
        out[2 + t / 32] = warp;
    }
    if (t % 8 == 0) {
        out[6 + t / 8] = narrow;
    }
    out[32 + t] = scanned;
    out[160 + t] = (t % 32) % 5 == 0 && t < 32 ? segmented : 0;
}
