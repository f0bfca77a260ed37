// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Products of half-precision matrices on the tensor cores of compute capability 9.0: with mma.sync,
// and with wgmma and tensor copies. Both use tiles of 64 x 256 x 64 in swizzled shared memory and
// 128 threads.

#pragma once

#include <string>

constexpr unsigned PRODUCT_STAGE_BYTES = (64 + 256) * 64 * 2; // the tiles of A and B

/// Returns the kernels mma_product and wgmma_product, in CUDA C++ for compute_90a: c = a * b, where
/// `b` is stored by columns and `n` is a multiple of 256. wgmma_product takes maps of `a` and `b`
/// with boxes of 64 and 256 rows of 64 halves, a swizzle of 128 bytes, and memory for two stages.
inline std::string products_source() {
    std::string source = R"(
__device__ unsigned place(unsigned row, unsigned piece) { return row * 128 + ((piece ^ row & 7) << 4); }
__device__ void load_tiles(unsigned char* memory, const uint4* a, const uint4* b, int n, int k) {
    const unsigned row = blockIdx.y * 64, column = blockIdx.x * 256;
    for (unsigned i = threadIdx.x; i < 64 * 8; i += 128)
        *(uint4*)(memory + place(i / 8, i % 8)) = a[(row + i / 8) * (n / 8) + k / 8 + i % 8];
    for (unsigned i = threadIdx.x; i < 256 * 8; i += 128)
        *(uint4*)(memory + 8192 + place(i / 8, i % 8)) = b[(column + i / 8) * (n / 8) + k / 8 + i % 8];
}
__device__ void store_tile(const float* d, float* c, int n) {
    const unsigned t = threadIdx.x, row = blockIdx.y * 64 + t / 32 * 16 + t % 32 / 4;
    const unsigned column = blockIdx.x * 256 + t % 4 * 2;
    for (int j = 0; j < 32; ++j)
        for (int h = 0; h < 2; ++h)
            *(float2*)(c + (row + 8 * h) * n + column + 8 * j) =
                make_float2(d[4 * j + 2 * h], d[4 * j + 2 * h + 1]);
}
struct alignas(64) Map { char bytes[128]; };
__device__ void load_stage(unsigned to, unsigned gate, const Map& a, const Map& b, int k) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(gate), "r"(40960) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 :: "r"(to), "l"(&a), "r"(k), "r"(blockIdx.y * 64), "r"(gate) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 :: "r"(to + 8192), "l"(&b), "r"(k), "r"(blockIdx.x * 256), "r"(gate) : "memory");
}
extern "C" __global__ void __launch_bounds__(128)
wgmma_product(const __grid_constant__ Map a, const __grid_constant__ Map b, float* c, int n) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ unsigned long long gates[2];
    float d[128];
    for (int i = 0; i < 128; ++i) d[i] = 0;
    const unsigned base = (unsigned)__cvta_generic_to_shared(memory);
    const unsigned gate = (unsigned)__cvta_generic_to_shared(gates);
    const unsigned long long layout = 1ull << 62 | 64ull << 32 | 1ull << 16;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;\nmbarrier.init.shared.b64 [%0+8], 1;\n"
                     "fence.proxy.async;" :: "r"(gate) : "memory");
        load_stage(base, gate, a, b, 0);
    }
    __syncthreads();
    for (int k = 0; k < n; k += 64) {
        const unsigned stage = k / 64 % 2, next = 1 - stage;
        if (threadIdx.x == 0 && k + 64 < n)
            load_stage(base + next * 40960, gate + 8 * next, a, b, k + 64);
        asm volatile("{\n.reg .pred done;\nagain:\n"
                     "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n@!done bra again;\n}"
                     :: "r"(gate + 8 * stage), "r"(k / 128 % 2) : "memory");
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int i = 0; i < 4; ++i) {
            const unsigned at = base + stage * 40960 + 32 * i;
            asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
                         "{@NAMES}, %128, %129, 1, 1, 1, 0, 0;"
                         : @OPERANDS : "l"(layout | at >> 4), "l"(layout | (at + 8192) >> 4));
        }
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    store_tile(d, c, n);
}
extern "C" __global__ void __launch_bounds__(128)
mma_product(const uint4* a, const uint4* b, float* c, int n) {
    extern __shared__ __align__(1024) unsigned char memory[];
    float d[128];
    for (int i = 0; i < 128; ++i) d[i] = 0;
    const unsigned base = (unsigned)__cvta_generic_to_shared(memory);
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int k = 0; k < n; k += 64) {
        load_tiles(memory, a, b, n, k);
        __syncthreads();
        for (int i = 0; i < 4; ++i) {
            unsigned x[4];
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                         : "r"(base + place(warp * 16 + lane % 16, 2 * i + lane / 16)));
#pragma unroll
            for (int j = 0; j < 32; j += 2) {
                unsigned y[4];
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3])
                             : "r"(base + 8192 +
                                   place(j * 8 + lane % 8 + lane / 16 * 8, 2 * i + lane / 8 % 2)));
                for (int s = 0; s < 2; ++s)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                                 : "+f"(d[4 * (j + s)]), "+f"(d[4 * (j + s) + 1]),
                                   "+f"(d[4 * (j + s) + 2]), "+f"(d[4 * (j + s) + 3])
                                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * s]),
                                   "r"(y[2 * s + 1]));
            }
        }
        __syncthreads();
    }
    store_tile(d, c, n);
}
)";
    constexpr int REGISTERS = 128;
    std::string names;
    std::string operands;
    for (int i = 0; i < REGISTERS; ++i) {
        const std::string comma = i == 0 ? "" : ", ";
        names += comma + "%" + std::to_string(i);
        operands += comma + "\"+f\"(d[" + std::to_string(i) + "])";
    }
    source.replace(source.find("@NAMES"), 6, names);
    source.replace(source.find("@OPERANDS"), 9, operands);
    return source;
}
