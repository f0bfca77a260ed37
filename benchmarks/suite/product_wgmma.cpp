// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A product of matrices in half precision with wgmma: tiles of 64 x 64 in swizzled shared
// memory.

#include "suite/suite.hpp"

#include <memory>
#include <vector>

namespace {

constexpr const char* SOURCE = R"(
__device__ unsigned place(unsigned row, unsigned piece) { return row * 128 + ((piece ^ row & 7) << 4); }
extern "C" __global__ void __launch_bounds__(128)
product(const uint4* a, const uint4* b, float* c, int n) {
    // b is stored by columns.
    __shared__ __align__(1024) unsigned char memory[2 * 8192];
    const unsigned t = threadIdx.x, base = (unsigned)__cvta_generic_to_shared(memory);
    const unsigned long long layout = 1ull << 62 | 64ull << 32 | 1ull << 16;
    float d[32];
    for (int i = 0; i < 32; ++i) d[i] = 0;
    for (int k = 0; k < n; k += 64) {
        for (unsigned i = t; i < 64 * 8; i += 128) {
            *(uint4*)(memory + place(i / 8, i % 8)) = a[(blockIdx.y * 64 + i / 8) * (n / 8) + k / 8 + i % 8];
            *(uint4*)(memory + 8192 + place(i / 8, i % 8)) = b[(blockIdx.x * 64 + i / 8) * (n / 8) + k / 8 + i % 8];
        }
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int i = 0; i < 4; ++i)
            asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                         "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
                         "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                         "%32, %33, 1, 1, 1, 0, 0;"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
                           "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
                           "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
                           "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
                           "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]),
                           "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                         : "l"(layout | (base + 32 * i) >> 4), "l"(layout | (base + 8192 + 32 * i) >> 4));
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    const unsigned y = blockIdx.y * 64 + t / 32 * 16 + t % 32 / 4, x = blockIdx.x * 64 + t % 4 * 2;
    for (int j = 0; j < 8; ++j)
        for (int h = 0; h < 2; ++h)
            *(float2*)(c + (y + 8 * h) * n + x + 8 * j) = make_float2(d[4 * j + 2 * h], d[4 * j + 2 * h + 1]);
}
)";

void native(const _Float16* a, const _Float16* b, float* c, float* wide, int n) {
#pragma omp parallel
    {
#pragma omp for
        for (int k = 0; k < n; ++k) {
            for (int x = 0; x < n; ++x) {
                wide[k * n + x] = static_cast<float>(b[x * n + k]);
            }
        }
#pragma omp for
        for (int y = 0; y < n; ++y) {
            for (int k = 0; k < n; ++k) {
                const auto factor = static_cast<float>(a[y * n + k]);
                for (int x = 0; x < n; ++x) {
                    c[y * n + x] += factor * wide[k * n + x];
                }
            }
        }
    }
}

void prepare(suite::Bench& bench) {
    const unsigned n = 512;
    const auto a = bench.input<_Float16>(n * n, suite::random_float);
    const auto b =
        bench.input<_Float16>(n * n, [](std::size_t i) { return suite::random_float(~i); });
    const auto c = bench.output<float>(n * n);
    bench.device = [=, &bench] { bench.launch("product", {n / 64, n / 64}, {128}, a, b, c, n); };
    bench.native = [=, wide = std::make_shared<std::vector<float>>(n * n)] {
        native(a.host, b.host, c.host, wide->data(), n);
    };
}

const suite::Entry ENTRY({.name = "product_wgmma",
                          .difference = "converts b to single precision first",
                          .source = SOURCE,
                          .tolerance = 1e-4,
                          .prepare = prepare,
                          .arch = "sm_90a"});

} // namespace
