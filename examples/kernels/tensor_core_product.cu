// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// C = A * transpose(B) on tensor cores of compute capability 9.0. A is M x K and B is N x K, both
// in half precision with K innermost; C is M x N in single precision. One block computes a tile of
// 128 x 128. docs/guide/tensor_core_product.md explains it.
//
//   warpgroup 0     one thread loads tiles of A and B with TMA into a ring of stages
//   warpgroups 1-2  multiply: each computes 64 rows with wgmma, straight from shared memory
//
// Each stage has two barriers. `full` completes when the bytes of both tiles have arrived; `empty`
// completes when the eight consumer warps have finished reading.

constexpr int TILE_M = 128;
constexpr int TILE_N = 128;
constexpr int TILE_K = 64; // 128 bytes, the width of the swizzle
constexpr int STAGES = 4;
constexpr int CONSUMER_WARPS = 8;

constexpr int A_BYTES = TILE_M * TILE_K * 2;
constexpr int B_BYTES = TILE_N * TILE_K * 2;
constexpr int STAGE_BYTES = A_BYTES + B_BYTES;

struct alignas(64) TensorMap {
    char bytes[128];
};

__device__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// ---- barriers

__device__ void initialize(unsigned long long* barrier, int arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(arrivals));
}

__device__ void arrive(unsigned long long* barrier) {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

__device__ void arrive_and_expect(unsigned long long* barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
}

__device__ void wait(unsigned long long* barrier, int parity) {
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}\n" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

// ---- tensor copies

__device__ void load(void* target, const TensorMap& map, int x, int y, unsigned long long* full) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(target)),
                 "l"(&map), "r"(x), "r"(y), "r"(shared_address(full))
                 : "memory");
}

__device__ void store(const TensorMap& map, int x, int y, const void* source) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
            &map),
        "r"(x), "r"(y), "r"(shared_address(source))
        : "memory");
}

// ---- products

// Describes a tile in shared memory: rows of 128 bytes, swizzled, eight rows every 1024 bytes.
__device__ unsigned long long matrix(const void* tile) {
    constexpr unsigned long long SWIZZLE_128B = 1ull << 62;
    constexpr unsigned long long EIGHT_ROWS = 1024ull >> 4 << 32;
    constexpr unsigned long long UNUSED_STRIDE = 1ull << 16;
    return SWIZZLE_128B | EIGHT_ROWS | UNUSED_STRIDE | (shared_address(tile) & 0x3ffff) >> 4;
}

#define FOUR(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)

// sums += 64 x 16 of A times 128 x 16 of B.
__device__ void multiply(float (&sums)[64], unsigned long long a, unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                 "%64, %65, 1, 1, 1, 0, 0;"
                 : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)
                 : "l"(a), "l"(b));
}

__device__ void produce(const TensorMap& a, const TensorMap& b, int row, int column, int steps,
                        char* stages, unsigned long long* full, unsigned long long* empty) {
    for (int step = 0; step < steps; ++step) {
        const int stage = step % STAGES;
        const int round = step / STAGES;
        wait(&empty[stage], (round & 1) ^ 1); // the first round passes at once
        arrive_and_expect(&full[stage], STAGE_BYTES);
        char* tile = stages + stage * STAGE_BYTES;
        load(tile, a, step * TILE_K, row, &full[stage]);
        load(tile + A_BYTES, b, step * TILE_K, column, &full[stage]);
    }
}

__device__ void consume(float (&sums)[64], int group, int steps, const char* stages,
                        unsigned long long* full, unsigned long long* empty) {
    for (int step = 0; step < steps; ++step) {
        const int stage = step % STAGES;
        wait(&full[stage], step / STAGES & 1);
        const char* tile = stages + stage * STAGE_BYTES;
        const unsigned long long a = matrix(tile + group * (A_BYTES / 2));
        const unsigned long long b = matrix(tile + A_BYTES);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int k = 0; k < TILE_K / 16; ++k) {
            multiply(sums, a + k * 2, b + k * 2); // 32 bytes further, in units of 16
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        // The products of the previous step are complete: its stage can be filled again.
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (step > 0 && threadIdx.x % 32 == 0) {
            arrive(&empty[(step - 1) % STAGES]);
        }
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

extern "C" __global__ void __launch_bounds__(384)
    product(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
            const __grid_constant__ TensorMap c, int steps) {
    extern __shared__ __align__(1024) char memory[];
    char* stages = memory;
    float* result = reinterpret_cast<float*>(memory + STAGES * STAGE_BYTES);
    __shared__ unsigned long long full[STAGES];
    __shared__ unsigned long long empty[STAGES];

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            initialize(&full[stage], 1);
            initialize(&empty[stage], CONSUMER_WARPS);
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();

    const int row = blockIdx.y * TILE_M;
    const int column = blockIdx.x * TILE_N;
    const int warpgroup = threadIdx.x / 128;
    if (warpgroup == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            produce(a, b, row, column, steps, stages, full, empty);
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int group = warpgroup - 1;
    float sums[64] = {};
    consume(sums, group, steps, stages, full, empty);

    // A thread holds pairs of columns of two rows that are eight apart.
    const int thread = threadIdx.x % 128;
    const int first_row = group * 64 + thread / 32 * 16 + thread % 32 / 4;
    for (int pair = 0; pair < TILE_N / 8; ++pair) {
        float* target = result + first_row * TILE_N + pair * 8 + thread % 4 * 2;
        target[0] = sums[pair * 4];
        target[1] = sums[pair * 4 + 1];
        target[8 * TILE_N] = sums[pair * 4 + 2];
        target[8 * TILE_N + 1] = sums[pair * 4 + 3];
    }
    // Make the writes visible to the copy, which belongs to another proxy.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("bar.sync %0, 128;" ::"r"(warpgroup) : "memory");
    if (thread == 0) {
        store(c, column, row + group * 64, result + group * 64 * TILE_N);
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
