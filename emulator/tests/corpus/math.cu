// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The language's mathematical functions, which the compiler inlines.

extern "C" __global__ void singles(const float* in, float* out) {
    const float x = in[threadIdx.x];
    float* const mine = out + threadIdx.x * 16;
    mine[0] = sinf(x);
    mine[1] = cosf(x);
    mine[2] = tanf(x * 0.25f);
    mine[3] = expf(x);
    mine[4] = logf(x);
    mine[5] = powf(x, 1.7f);
    mine[6] = sqrtf(x);
    mine[7] = cbrtf(x);
    mine[8] = tanhf(x);
    mine[9] = erff(x);
    mine[10] = atan2f(x, 2.0f);
    mine[11] = asinhf(x);
    mine[12] = log1pf(x);
    mine[13] = expm1f(x);
    mine[14] = lgammaf(x);
    mine[15] = fmodf(x * 100.0f, 3.0f);
}

extern "C" __global__ void doubles(const double* in, double* out) {
    const double x = in[threadIdx.x];
    double* const mine = out + threadIdx.x * 12;
    mine[0] = sin(x);
    mine[1] = cos(x);
    mine[2] = exp(x);
    mine[3] = log(x);
    mine[4] = pow(x, 1.7);
    mine[5] = sqrt(x);
    mine[6] = cbrt(x);
    mine[7] = tanh(x);
    mine[8] = erf(x);
    mine[9] = atan2(x, 2.0);
    mine[10] = tgamma(x);
    mine[11] = fmod(x * 100.0, 3.0);
}

extern "C" __global__ void exact_functions(const float* in, const double* wide, float* out, double* far) {
    const float x = in[threadIdx.x];
    const double y = wide[threadIdx.x];
    float* const mine = out + threadIdx.x * 12;
    mine[0] = __fadd_rz(x, 1.1f);
    mine[1] = __fmul_ru(x, 1.1f);
    mine[2] = __fmaf_rd(x, x, 1.1f);
    mine[3] = __fdiv_rn(x, 3.3f);
    mine[4] = __fsqrt_rn(fabsf(x));
    mine[5] = __frcp_ru(x);
    mine[6] = floorf(x);
    mine[7] = rintf(x);
    mine[8] = truncf(x);
    mine[9] = fmaf(x, x, x);
    mine[10] = __saturatef(x);
    mine[11] = __double2float_rd(y);
    double* const there = far + threadIdx.x * 6;
    there[0] = __dadd_ru(y, 1.1);
    there[1] = __dmul_rz(y, 1.1);
    there[2] = __fma_rn(y, y, 1.1);
    there[3] = y / 3.3;
    there[4] = sqrt(fabs(y));
    there[5] = 1.0 / y;
}

extern "C" __global__ void rough(const float* in, float* out) {
    const float x = in[threadIdx.x];
    float* const mine = out + threadIdx.x * 8;
    mine[0] = __sinf(x);
    mine[1] = __cosf(x);
    mine[2] = __expf(x);
    mine[3] = __logf(x);
    mine[4] = __powf(x, 1.7f);
    mine[5] = rsqrtf(x);
    mine[6] = __fdividef(x, 3.3f);
    mine[7] = __tanf(x * 0.25f);
}
