// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Matrix products on tensor cores: with the fragments of CUDA C++, and with the instructions.
// Values are small integers, so that no sum is ever rounded.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

/// c = a b + c with a in row-major and b in column-major order.
template <int M, int N, int K, typename Element, typename T, typename Sum>
__device__ void product(const T* a, const T* b, Sum* c) {
    wmma::fragment<wmma::matrix_a, M, N, K, Element, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, Element, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> fc;
    wmma::load_matrix_sync(fa, a, K);
    wmma::load_matrix_sync(fb, b, K);
    wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; ++i) {
        fc.x[i] = fc.x[i] + fc.x[i];
    }
    wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}

extern "C" __global__ void wmma_half(const __half* a, const __half* b, float* c) {
    product<16, 16, 16, __half>(a, b, c);
}

extern "C" __global__ void wmma_half_narrow(const __half* a, const __half* b, __half* c) {
    product<32, 8, 16, __half>(a, b, c);
}

extern "C" __global__ void wmma_bytes(const signed char* a, const signed char* b, int* c) {
    product<8, 32, 16, signed char>(a, b, c);
}

extern "C" __global__ void wmma_unsigned_bytes(const unsigned char* a, const unsigned char* b, int* c) {
    product<16, 16, 16, unsigned char>(a, b, c);
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void wmma_bfloat(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
    product<16, 16, 16, __nv_bfloat16>(a, b, c);
}

extern "C" __global__ void wmma_tf32(const float* a, const float* b, float* c) {
    product<16, 16, 8, wmma::precision::tf32>(a, b, c);
}

extern "C" __global__ void wmma_double(const double* a, const double* b, double* c) {
    product<8, 8, 4, double>(a, b, c);
}

/// Returns the words of a row-major matrix that lane `lane` holds of a 16x8-byte-wide fragment pair.
__device__ unsigned word(const void* matrix, int row, int row_bytes, int at) {
    return *reinterpret_cast<const unsigned*>(static_cast<const char*>(matrix) + row * row_bytes + at);
}

/// d = a b of 16x8xK, where a row of K elements has 32 bytes; a is row-major, b column-major.
#define MULTIPLY_32_BYTES(NAME, INSTRUCTION, SUM, CONSTRAINT)                                      \
    extern "C" __global__ void NAME(const void* a, const void* b, SUM* d) {                        \
        const int group = threadIdx.x / 4, quad = threadIdx.x % 4 * 4;                             \
        const unsigned a0 = word(a, group, 32, quad), a1 = word(a, group + 8, 32, quad);           \
        const unsigned a2 = word(a, group, 32, quad + 16), a3 = word(a, group + 8, 32, quad + 16); \
        const unsigned b0 = word(b, group, 32, quad), b1 = word(b, group, 32, quad + 16);          \
        SUM d0, d1, d2, d3;                                                                        \
        asm volatile("mma.sync.aligned." INSTRUCTION " {%0, %1, %2, %3}, {%4, %5, %6, %7}, "       \
                     "{%8, %9}, {%10, %10, %10, %10};"                                             \
                     : "=" CONSTRAINT(d0), "=" CONSTRAINT(d1), "=" CONSTRAINT(d2),                 \
                       "=" CONSTRAINT(d3)                                                          \
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1),                       \
                       CONSTRAINT(static_cast<SUM>(0)));                                           \
        SUM* const row = d + group * 8 + quad / 2;                                                 \
        row[0] = d0;                                                                               \
        row[1] = d1;                                                                               \
        row[64] = d2;                                                                              \
        row[65] = d3;                                                                              \
    }

MULTIPLY_32_BYTES(mma_half, "m16n8k16.row.col.f32.f16.f16.f32", float, "f")
MULTIPLY_32_BYTES(mma_bfloat, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "f")
MULTIPLY_32_BYTES(mma_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "f")
MULTIPLY_32_BYTES(mma_bytes, "m16n8k32.row.col.s32.s8.s8.s32", int, "r")
MULTIPLY_32_BYTES(mma_nibbles, "m16n8k64.row.col.s32.u4.u4.s32", int, "r")
#if __CUDA_ARCH__ >= 890
MULTIPLY_32_BYTES(mma_e4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32", float, "f")
#endif

extern "C" __global__ void mma_double(const double* a, const double* b, double* d) {
    const int group = threadIdx.x / 4, quad = threadIdx.x % 4;
    double d0, d1;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %4};"
                 : "=d"(d0), "=d"(d1)
                 : "d"(a[group * 4 + quad]), "d"(b[group * 4 + quad]), "d"(0.0));
    d[group * 8 + quad * 2] = d0;
    d[group * 8 + quad * 2 + 1] = d1;
}

/// Moves four 8x8 matrices through ldmatrix, transposed, and movmatrix.
extern "C" __global__ void fragments(const unsigned short* in, unsigned* out) {
    __shared__ alignas(16) unsigned short tile[32 * 8];
    for (int i = threadIdx.x; i < 256; i += 32) {
        tile[i] = in[i];
    }
    __syncwarp();
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x * 8));
    unsigned r0, r1, r2, r3, moved;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
                 : "r"(at));
    out[threadIdx.x] = r0 ^ r3;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
                 : "r"(at));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(r2));
    out[32 + threadIdx.x] = r1;
    out[64 + threadIdx.x] = moved;
}
#endif
