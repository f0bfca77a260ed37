// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Conversions from and to floating-point numbers of 8, 6 and 4 bits.

#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

__device__ float widen(__half_raw value) { return __half2float(__half(value)); }

/// Widens every code; one launch of 256 threads.
extern "C" __global__ void widened(float* out) {
    const auto code = static_cast<unsigned char>(threadIdx.x);
    float* const mine = out + threadIdx.x * 6;
    mine[0] = widen(__nv_cvt_fp8_to_halfraw(code, __NV_E4M3));
    mine[1] = widen(__nv_cvt_fp8_to_halfraw(code, __NV_E5M2));
    mine[2] = widen(__nv_cvt_fp6_to_halfraw(code & 63, __NV_E2M3));
    mine[3] = widen(__nv_cvt_fp6_to_halfraw(code & 63, __NV_E3M2));
    mine[4] = widen(__nv_cvt_fp4_to_halfraw(code & 15, __NV_E2M1));
    __nv_fp8_e8m0 scale;
    scale.__x = code;
    mine[5] = static_cast<float>(scale);
}

/// Narrows the inputs, with and without saturation.
extern "C" __global__ void narrowed(const float* in, unsigned char* out) {
    const float value = in[threadIdx.x];
    unsigned char* const mine = out + threadIdx.x * 8;
    mine[0] = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
    mine[1] = __nv_cvt_float_to_fp8(value, __NV_NOSAT, __NV_E4M3);
    mine[2] = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E5M2);
    mine[3] = __nv_cvt_halfraw_to_fp8(__float2half(value), __NV_SATFINITE, __NV_E5M2);
    mine[4] = __nv_cvt_float_to_fp6(value, __NV_E2M3, cudaRoundNearest);
    mine[5] = __nv_cvt_float_to_fp6(value, __NV_E3M2, cudaRoundNearest);
    mine[6] = __nv_cvt_float_to_fp4(value, __NV_E2M1, cudaRoundNearest);
    mine[7] = __nv_cvt_float_to_e8m0(value, __NV_SATFINITE, cudaRoundPosInf);
}
