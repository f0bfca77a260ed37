// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// CUB block and warp primitives.

#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>

extern "C" __global__ void __launch_bounds__(128) scan(int* data) {
    using Scan = cub::BlockScan<int, 128>;
    using Reduce = cub::BlockReduce<float, 128>;
    using Sort = cub::BlockRadixSort<unsigned, 128, 4>;
    __shared__ union { Scan::TempStorage s; Reduce::TempStorage r; Sort::TempStorage o; } storage;
    int value = data[threadIdx.x];
    int total = 0;
    Scan(storage.s).ExclusiveSum(value, value, total);
    __syncthreads();
    float sum = Reduce(storage.r).Sum(value * 1.0f);
    __syncthreads();
    unsigned keys[4] = {unsigned(value), 3u, 2u, 1u};
    Sort(storage.o).Sort(keys);
    data[threadIdx.x] = value + total + int(sum) + int(keys[0]);
}
