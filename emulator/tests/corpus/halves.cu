// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Narrow floating-point types and tensor-core fragments.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <mma.h>

extern "C" __global__ void halves(__half* h, __half2* h2, __nv_bfloat16* b, __nv_fp8_e4m3* q, float* f) {
    h[0] = __hfma(h[1], h[2], h[3]);
    h2[0] = __hmul2(h2[1], h2[2]);
    b[0] = __hadd(b[1], b[2]);
    q[0] = __nv_fp8_e4m3(f[0]);
    f[1] = float(q[1]) + __half2float(hexp(h[4])) + __expf(f[2]) + __sinf(f[3]) + rsqrtf(f[4]) + powf(f[5], f[6]);
}

extern "C" __global__ void fragments(const __half* a, const __half* b, float* c) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    fill_fragment(fc, 0.0f);
    load_matrix_sync(fa, a, 16);
    load_matrix_sync(fb, b, 16);
    mma_sync(fc, fa, fb, fc);
    store_matrix_sync(c, fc, 16, mem_row_major);
}
