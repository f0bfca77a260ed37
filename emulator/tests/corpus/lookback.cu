// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A scan over the whole device in one pass. Each tile publishes its sum and looks back at the sums
// of earlier tiles, which run at the same time.

#include <cub/agent/single_pass_scan_operators.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

constexpr int THREADS = 128;
constexpr int ITEMS = 4;
constexpr int TILE = THREADS * ITEMS;

struct Add {
    __device__ unsigned operator()(unsigned a, unsigned b) const { return a + b; }
};

using State = cub::ScanTileState<unsigned>;
using Prefix = cub::TilePrefixCallbackOp<unsigned, Add, State>;

extern "C" __global__ void prepare(void* storage, unsigned long long bytes, int tiles) {
    State state;
    state.Init(tiles, storage, bytes);
    state.InitializeStatus(tiles);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    scan(void* storage, unsigned long long bytes, int tiles, const unsigned* in, unsigned* out) {
    using Load = cub::BlockLoad<unsigned, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<unsigned, THREADS, ITEMS, cub::BLOCK_STORE_TRANSPOSE>;
    using Scan = cub::BlockScan<unsigned, THREADS>;
    __shared__ union {
        Load::TempStorage load;
        Store::TempStorage store;
        struct {
            Scan::TempStorage scan;
            Prefix::TempStorage prefix;
        } work;
    } shared;
    State state;
    state.Init(tiles, storage, bytes);
    const int tile = blockIdx.x;
    unsigned items[ITEMS];
    Load(shared.load).Load(in + tile * TILE, items);
    __syncthreads();
    if (tile == 0) {
        unsigned total = 0;
        Scan(shared.work.scan).InclusiveScan(items, items, Add(), total);
        if (threadIdx.x == 0) {
            state.SetInclusive(0, total);
        }
    } else {
        Prefix prefix(state, shared.work.prefix, Add(), tile);
        Scan(shared.work.scan).InclusiveScan(items, items, Add(), prefix);
    }
    __syncthreads();
    Store(shared.store).Store(out + tile * TILE, items);
}
