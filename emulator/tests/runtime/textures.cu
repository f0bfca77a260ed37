// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that read textures and write surfaces.

#include "check.hpp"

#include <cmath>
#include <vector>

namespace {

constexpr int WIDTH = 64;
constexpr int HEIGHT = 32;

__global__ void blur(cudaTextureObject_t in, cudaSurfaceObject_t out) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= WIDTH || y >= HEIGHT) {
        return;
    }
    float sum = 0;
    for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
            sum += tex2D<float>(in, static_cast<float>(x + dx) + 0.5F,
                                static_cast<float>(y + dy) + 0.5F);
        }
    }
    surf2Dwrite(sum / 9.0F, out, x * static_cast<int>(sizeof(float)), y);
}

__global__ void fetch(cudaTextureObject_t in, int* out, int count) {
    const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (index < count) {
        out[index] = 2 * tex1Dfetch<int>(in, index);
    }
}

void pictures_are_blurred() {
    std::vector<float> picture(WIDTH * HEIGHT);
    for (std::size_t index = 0; index < picture.size(); ++index) {
        picture[index] = static_cast<float>(index * 37 % 101);
    }
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t in = nullptr;
    cudaArray_t out = nullptr;
    OK(cudaMallocArray(&in, &format, WIDTH, HEIGHT));
    OK(cudaMallocArray(&out, &format, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
    constexpr std::size_t row = WIDTH * sizeof(float);
    OK(cudaMemcpy2DToArray(in, 0, 0, picture.data(), row, row, HEIGHT, cudaMemcpyHostToDevice));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = in;
    cudaTextureDesc how{};
    how.addressMode[0] = cudaAddressModeClamp;
    how.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t texture = 0;
    OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    resource.res.array.array = out;
    cudaSurfaceObject_t surface = 0;
    OK(cudaCreateSurfaceObject(&surface, &resource));
    blur<<<dim3(WIDTH / 16, HEIGHT / 8), dim3(16, 8)>>>(texture, surface);
    OK(cudaGetLastError());
    std::vector<float> result(picture.size());
    OK(cudaMemcpy2DFromArray(result.data(), row, out, 0, 0, row, HEIGHT, cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT; ++y) {
        for (int x = 0; x < WIDTH; ++x) {
            float sum = 0;
            for (int dy = -1; dy <= 1; ++dy) {
                for (int dx = -1; dx <= 1; ++dx) {
                    const int nx = std::min(std::max(x + dx, 0), WIDTH - 1);
                    const int ny = std::min(std::max(y + dy, 0), HEIGHT - 1);
                    sum += picture[static_cast<std::size_t>(ny * WIDTH + nx)];
                }
            }
            EXPECT(std::fabs(result[static_cast<std::size_t>(y * WIDTH + x)] - sum / 9) < 1e-4F);
        }
    }
    OK(cudaDestroyTextureObject(texture));
    OK(cudaDestroySurfaceObject(surface));
    OK(cudaFreeArray(in));
    OK(cudaFreeArray(out));
}

void linear_memory_is_fetched() {
    constexpr int count = 1000;
    std::vector<int> values(count);
    for (int index = 0; index < count; ++index) {
        values[static_cast<std::size_t>(index)] = index - 500;
    }
    int* in = nullptr;
    int* out = nullptr;
    OK(cudaMalloc(&in, count * sizeof(int)));
    OK(cudaMalloc(&out, count * sizeof(int)));
    OK(cudaMemcpy(in, values.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = in;
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = count * sizeof(int);
    const cudaTextureDesc how{};
    cudaTextureObject_t texture = 0;
    OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    fetch<<<4, 256>>>(texture, out, count);
    std::vector<int> result(count);
    OK(cudaMemcpy(result.data(), out, count * sizeof(int), cudaMemcpyDeviceToHost));
    for (std::size_t index = 0; index < result.size(); ++index) {
        EXPECT(result[index] == 2 * values[index]);
    }
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFree(in));
    OK(cudaFree(out));
}

} // namespace

int main() {
    pictures_are_blurred();
    linear_memory_is_fetched();
    return 0;
}
