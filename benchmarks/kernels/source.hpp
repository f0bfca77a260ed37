// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// The kernels that the device runs, in CUDA C++.
constexpr const char* SOURCE = R"(
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
extern "C" __global__ void tiled(const float* a, const float* b, float* c, int n) {
    __shared__ float at[16][16], bt[16][16];
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        at[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        bt[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += at[threadIdx.y][i] * bt[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
extern "C" __global__ void mandelbrot(int* out, int size, int limit) {
    const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    const float cx = -2.0f + 3.0f * px / size, cy = -1.5f + 3.0f * py / size;
    float x = 0, y = 0;
    int n = 0;
    while (n < limit && x * x + y * y < 4.0f) {
        const float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        ++n;
    }
    out[py * size + px] = n;
}
extern "C" __global__ void reduce(const float* data, float* out, int n) {
    __shared__ float sums[8];
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += data[i];
    for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) { for (int i = 1; i < 8; ++i) v += sums[i]; atomicAdd(out, v); }
}
extern "C" __global__ void histogram(const unsigned char* data, unsigned* bins, int n) {
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
extern "C" __global__ void read_memory(const float* from, float* to, int size) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    to[y * size + x] = from[y * size + x];
}
extern "C" __global__ void read_texture(cudaTextureObject_t from, float* to, int size) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    to[y * size + x] = tex2D<float>(from, x + 0.75f, y + 0.25f);
}
extern "C" __global__ void read_rotated(cudaTextureObject_t from, float* to, int size) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    to[y * size + x] = tex2D<float>(from, 0.8f * x + 0.6f * y, 0.8f * y - 0.6f * x);
}
// Coordinates from 0 to 1, and a step beyond both ends.
extern "C" __global__ void read_normalized(cudaTextureObject_t from, float* to, int size) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    to[y * size + x] = tex2D<float>(from, (x - 15.25f) / 1024, (y - 15.75f) / 1024);
}
// 64 rows of each slice.
extern "C" __global__ void read_volume(cudaTextureObject_t from, float* to, int size) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    to[y * size + x] = tex3D<float>(from, x + 0.75f, y % 64 + 0.25f, y / 64 + 0.625f);
}
extern "C" __global__ void read_level(cudaTextureObject_t from, float* to, int size) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    to[y * size + x] = tex2DLod<float>(from, (x + 0.75f) / 1024, (y + 0.25f) / 1024, 1);
}
extern "C" __global__ void read_texture4(cudaTextureObject_t from, float* to, int size) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    const float4 texel = tex2D<float4>(from, x + 0.75f, y + 0.25f);
    to[y * size + x] = texel.x + texel.y + texel.z + texel.w;
}
extern "C" __global__ void read_rotated4(cudaTextureObject_t from, float* to, int size) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    const float4 texel = tex2D<float4>(from, 0.8f * x + 0.6f * y, 0.8f * y - 0.6f * x);
    to[y * size + x] = texel.x + texel.y + texel.z + texel.w;
}
extern "C" __global__ void fetch_texture(cudaTextureObject_t from, float* to, int size) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    to[y * size + x] = tex1Dfetch<float>(from, y * size + x);
}
extern "C" __global__ void read_surface(cudaSurfaceObject_t from, float* to, int size) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    to[y * size + x] = surf2Dread<float>(from, x * 4, y);
}
extern "C" __global__ void write_surface(cudaSurfaceObject_t to, const float* from, int size) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    surf2Dwrite(from[y * size + x], to, x * 4, y);
}
)";
