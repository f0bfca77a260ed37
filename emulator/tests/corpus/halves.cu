// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic, comparisons, conversions and functions of 16-bit floating-point numbers.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void half_arithmetic(const __half* a, const __half* b, __half* out) {
    const int t = static_cast<int>(threadIdx.x);
    const __half x = a[t], y = b[t];
    __half* const mine = out + t * 12;
    mine[0] = __hadd(x, y);
    mine[1] = __hsub(x, y);
    mine[2] = __hmul(x, y);
    mine[3] = __hfma(x, y, x);
    mine[4] = __hdiv(x, y);
    mine[5] = __hmin(x, y);
    mine[6] = __hmax(x, y);
    mine[7] = __hneg(__habs(x));
    mine[8] = __hadd_sat(x, y);
    const __half2 both = __hfma2(__halves2half2(x, y), __halves2half2(y, x), __halves2half2(x, x));
    mine[9] = __low2half(both);
    mine[10] = __high2half(both);
    mine[11] = hsqrt(__habs(x));
}

extern "C" __global__ void half_comparisons(const __half* a, const __half* b, int* out) {
    const int t = static_cast<int>(threadIdx.x);
    const __half x = a[t], y = b[t];
    const __half2 u = __halves2half2(x, y), v = __halves2half2(y, y);
    out[t] = __heq(x, y) | __hlt(x, y) << 1 | __hge(x, y) << 2 | __hneu(x, y) << 3 |
             __hisnan(x) << 4 | __hbge2(u, v) << 5 | (__half2int_rn(__hlt2(u, v).x) << 6);
}

extern "C" __global__ void half_conversions(const float* in, unsigned short* out, int* whole) {
    const int t = static_cast<int>(threadIdx.x);
    const float x = in[t];
    unsigned short* const mine = out + t * 6;
    mine[0] = __half_as_ushort(__float2half_rn(x));
    mine[1] = __half_as_ushort(__float2half_rz(x));
    mine[2] = __half_as_ushort(__float2half_ru(x));
    mine[3] = __half_as_ushort(__float2half_rd(x));
    mine[4] = __bfloat16_as_ushort(__float2bfloat16_rn(x));
    mine[5] = __bfloat16_as_ushort(__float2bfloat16_rz(x));
    whole[t * 2] = __half2int_rz(__float2half(x));
    whole[t * 2 + 1] = __half2int_rn(__float2half(x));
}

extern "C" __global__ void half_functions(const __half* in, float* out) {
    const int t = static_cast<int>(threadIdx.x);
    const __half x = in[t];
    float* const mine = out + t * 8;
    mine[0] = __half2float(hexp(x));
    mine[1] = __half2float(hlog(x));
    mine[2] = __half2float(hsin(x));
    mine[3] = __half2float(hcos(x));
    mine[4] = __half2float(hrcp(x));
    mine[5] = __half2float(hrsqrt(x));
    mine[6] = __half2float(hexp2(x));
    mine[7] = __half2float(hfloor(x)) + __half2float(hceil(x)) + __half2float(hrint(x));
}

extern "C" __global__ void bfloat_arithmetic(const __nv_bfloat16* a, const __nv_bfloat16* b,
                                             __nv_bfloat16* out) {
    const int t = static_cast<int>(threadIdx.x);
    const __nv_bfloat16 x = a[t], y = b[t];
    __nv_bfloat16* const mine = out + t * 8;
    mine[0] = __hadd(x, y);
    mine[1] = __hsub(x, y);
    mine[2] = __hmul(x, y);
    mine[3] = __hfma(x, y, x);
    mine[4] = __hmin(x, y);
    mine[5] = __hmax(x, y);
    mine[6] = __hneg(x);
    const __nv_bfloat162 both = __hadd2(__halves2bfloat162(x, y), __halves2bfloat162(y, y));
    mine[7] = __high2bfloat16(both);
}
