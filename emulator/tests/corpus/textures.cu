// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Texture and surface objects.

extern "C" __global__ void sample(cudaTextureObject_t t, cudaSurfaceObject_t s, float4* out) {
    const float x = threadIdx.x * 0.25f;
    out[0] = tex1D<float4>(t, x);
    out[1] = tex2D<float4>(t, x, x + 1);
    out[2] = tex3D<float4>(t, x, x + 1, x + 2);
    out[3] = tex2DLod<float4>(t, x, x, 1.0f);
    out[4] = tex2DLayered<float4>(t, x, x, 2);
    out[5] = texCubemap<float4>(t, x, x, x);
    out[6] = tex2Dgather<float4>(t, x, x, 1);
    out[7] = tex1Dfetch<float4>(t, 5);
    float4 v = surf2Dread<float4>(s, threadIdx.x * 16, 1);
    surf2Dwrite(v, s, threadIdx.x * 16, 2);
    surf3Dwrite(v, s, threadIdx.x * 16, 2, 1, cudaBoundaryModeZero);
}
