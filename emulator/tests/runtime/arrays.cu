// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Arrays, mipmaps, and the descriptors of texture and surface objects.

#include "check.hpp"

#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace {

std::vector<std::uint8_t> numbers(std::size_t count) {
    std::vector<std::uint8_t> result(count);
    std::iota(result.begin(), result.end(), std::uint8_t{1});
    return result;
}

cudaArray_t make(const cudaChannelFormatDesc& format, std::size_t width, std::size_t height) {
    cudaArray_t array = nullptr;
    OK(cudaMallocArray(&array, &format, width, height));
    return array;
}

bool is_same(const cudaChannelFormatDesc& one, const cudaChannelFormatDesc& other) {
    return one.x == other.x && one.y == other.y && one.z == other.z && one.w == other.w &&
           one.f == other.f;
}

void formats_come_back_as_they_went() {
    const cudaChannelFormatDesc formats[] = {
        cudaCreateChannelDesc<float>(),
        cudaCreateChannelDesc<float4>(),
        cudaCreateChannelDesc<uchar4>(),
        cudaCreateChannelDesc<short2>(),
        cudaCreateChannelDesc<unsigned int>(),
        cudaCreateChannelDescHalf2(),
        cudaCreateChannelDesc<cudaChannelFormatKindUnsignedNormalized8X4>(),
        cudaCreateChannelDesc<cudaChannelFormatKindSignedNormalized16X2>(),
        cudaCreateChannelDesc<cudaChannelFormatKindUnsignedBlockCompressed1>(),
        cudaCreateChannelDesc<cudaChannelFormatKindUnsignedBlockCompressed6H>(),
        cudaCreateChannelDesc<cudaChannelFormatKindSignedBlockCompressed4>(),
        cudaCreateChannelDesc<cudaChannelFormatKindUnsignedNormalized1010102>(),
    };
    for (const auto& format : formats) {
        const cudaArray_t array = make(format, 16, 8);
        cudaChannelFormatDesc found{};
        OK(cudaGetChannelDesc(&found, array));
        EXPECT(is_same(found, format));
        cudaExtent extent{};
        unsigned flags = 99;
        OK(cudaArrayGetInfo(&found, &extent, &flags, array));
        EXPECT(is_same(found, format));
        EXPECT(extent.width == 16 && extent.height == 8 && extent.depth == 0);
        EXPECT(flags == cudaArrayDefault);
        OK(cudaFreeArray(array));
    }
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc three =
        cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindSigned);
    EXPECT(cudaMallocArray(&array, &three, 16, 8) != cudaSuccess);
    const cudaChannelFormatDesc odd =
        cudaCreateChannelDesc(24, 0, 0, 0, cudaChannelFormatKindSigned);
    EXPECT(cudaMallocArray(&array, &odd, 16, 8) != cudaSuccess);
    (void)cudaGetLastError();
    OK(cudaFreeArray(nullptr));
}

void rectangles_go_to_their_place() {
    const cudaArray_t array = make(cudaCreateChannelDesc<unsigned char>(), 8, 4);
    const auto zeros = std::vector<std::uint8_t>(32);
    OK(cudaMemcpy2DToArray(array, 0, 0, zeros.data(), 8, 8, 4, cudaMemcpyHostToDevice));
    const auto values = numbers(12);
    OK(cudaMemcpy2DToArray(array, 3, 1, values.data(), 6, 4, 2, cudaMemcpyHostToDevice));
    std::vector<std::uint8_t> back(32);
    OK(cudaMemcpy2DFromArray(back.data(), 8, array, 0, 0, 8, 4, cudaMemcpyDeviceToHost));
    for (std::size_t index = 0; index < back.size(); ++index) {
        const std::size_t x = index % 8;
        const std::size_t y = index / 8;
        const bool is_inside = (y == 1 || y == 2) && x >= 3 && x < 7;
        EXPECT(back[index] == (is_inside ? values[(y - 1) * 6 + x - 3] : 0));
    }
    RETURNS(cudaErrorInvalidValue,
            cudaMemcpy2DToArray(array, 5, 0, values.data(), 6, 4, 1, cudaMemcpyHostToDevice));
    RETURNS(cudaErrorInvalidPitchValue,
            cudaMemcpy2DToArray(array, 0, 0, values.data(), 3, 4, 2, cudaMemcpyHostToDevice));
    const cudaArray_t other = make(cudaCreateChannelDesc<unsigned char>(), 8, 4);
    OK(cudaMemcpy2DArrayToArray(other, 0, 0, array, 3, 1, 4, 2, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy2DFromArray(back.data(), 4, other, 0, 0, 4, 2, cudaMemcpyDeviceToHost));
    EXPECT(back[0] == 1 && back[3] == 4 && back[4] == 7 && back[7] == 10);
    OK(cudaFreeArray(array));
    OK(cudaFreeArray(other));
}

void streams_copy_arrays() {
    const cudaArray_t array = make(cudaCreateChannelDesc<unsigned char>(), 8, 4);
    cudaStream_t stream = nullptr;
    OK(cudaStreamCreate(&stream));
    const auto values = numbers(32);
    std::vector<std::uint8_t> back(32);
    OK(cudaMemcpy2DToArrayAsync(array, 0, 0, values.data(), 8, 8, 4, cudaMemcpyHostToDevice,
                                stream));
    OK(cudaMemcpy2DFromArrayAsync(back.data(), 8, array, 0, 0, 8, 4, cudaMemcpyDeviceToHost,
                                  stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(back == values);
    OK(cudaStreamDestroy(stream));
    OK(cudaFreeArray(array));
}

void volumes_count_texels() {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
    cudaArray_t array = nullptr;
    OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(4, 3, 2), 0));
    std::vector<float2> values(24);
    for (std::size_t index = 0; index < values.size(); ++index) {
        values[index] = make_float2(static_cast<float>(index), -static_cast<float>(index));
    }
    cudaMemcpy3DParms in{};
    in.srcPtr = make_cudaPitchedPtr(values.data(), 4 * sizeof(float2), 4, 3);
    in.dstArray = array;
    in.extent = make_cudaExtent(4, 3, 2);
    in.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&in));
    float2 texel[2]{};
    cudaMemcpy3DParms out{};
    out.srcArray = array;
    out.srcPos = make_cudaPos(2, 1, 1); // in texels
    out.dstPtr = make_cudaPitchedPtr(texel, 2 * sizeof(float2), 2, 1);
    out.extent = make_cudaExtent(2, 1, 1);
    out.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&out));
    EXPECT(texel[0].x == 18 && texel[1].y == -19);
    out.srcPos = make_cudaPos(3, 1, 1);
    RETURNS(cudaErrorInvalidValue, cudaMemcpy3D(&out));
    OK(cudaFreeArray(array));
}

void mipmaps_have_levels() {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
    cudaMipmappedArray_t mipmap = nullptr;
    OK(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(16, 8, 0), 3));
    cudaArray_t level = nullptr;
    OK(cudaGetMipmappedArrayLevel(&level, mipmap, 2));
    cudaExtent extent{};
    OK(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
    EXPECT(extent.width == 4 && extent.height == 2);
    RETURNS(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(&level, mipmap, 3));
    OK(cudaFreeMipmappedArray(mipmap));
    OK(cudaFreeMipmappedArray(nullptr));
}

void objects_give_their_descriptors_back() {
    const cudaArray_t array = make(cudaCreateChannelDesc<float>(), 8, 4);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc texture{};
    texture.addressMode[0] = cudaAddressModeMirror;
    texture.filterMode = cudaFilterModeLinear;
    texture.normalizedCoords = 1;
    texture.maxAnisotropy = 4;
    texture.mipmapLevelBias = 0.5F;
    cudaTextureObject_t object = 0;
    OK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
    cudaResourceDesc found{};
    OK(cudaGetTextureObjectResourceDesc(&found, object));
    EXPECT(found.resType == cudaResourceTypeArray && found.res.array.array == array);
    cudaTextureDesc how{};
    OK(cudaGetTextureObjectTextureDesc(&how, object));
    EXPECT(how.addressMode[0] == cudaAddressModeMirror && how.filterMode == cudaFilterModeLinear);
    EXPECT(how.normalizedCoords == 1 && how.maxAnisotropy == 4 && how.mipmapLevelBias == 0.5F);
    EXPECT(how.readMode == cudaReadModeElementType);
    OK(cudaDestroyTextureObject(object));
    EXPECT(cudaGetTextureObjectResourceDesc(&found, object) == cudaErrorInvalidValue);
    (void)cudaGetLastError();

    float* memory = nullptr;
    OK(cudaMalloc(&memory, 4096));
    resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc<float2>();
    resource.res.linear.sizeInBytes = 4096;
    OK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
    OK(cudaGetTextureObjectResourceDesc(&found, object));
    EXPECT(found.res.linear.devPtr == memory && found.res.linear.sizeInBytes == 4096);
    EXPECT(is_same(found.res.linear.desc, cudaCreateChannelDesc<float2>()));
    OK(cudaDestroyTextureObject(object));
    resource.res.linear.devPtr = memory + 1;
    EXPECT(cudaCreateTextureObject(&object, &resource, &texture, nullptr) != cudaSuccess);
    (void)cudaGetLastError();

    std::size_t width = 0;
    const cudaChannelFormatDesc quad = cudaCreateChannelDesc<float4>();
    OK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &quad, 0));
    EXPECT(width >= 1 << 27);

    cudaArray_t canvas = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    OK(cudaMallocArray(&canvas, &format, 8, 4, cudaArraySurfaceLoadStore));
    resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = canvas;
    cudaSurfaceObject_t surface = 0;
    OK(cudaCreateSurfaceObject(&surface, &resource));
    OK(cudaGetSurfaceObjectResourceDesc(&found, surface));
    EXPECT(found.res.array.array == canvas);
    OK(cudaDestroySurfaceObject(surface));
    OK(cudaFreeArray(canvas));
    OK(cudaFree(memory));
    OK(cudaFreeArray(array));
}

// CUDA deprecates these, but programs still use them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

void counts_of_bytes_go_on_in_the_next_row() {
    const cudaArray_t array = make(cudaCreateChannelDesc<unsigned char>(), 8, 4);
    const auto values = numbers(40);
    OK(cudaMemcpyToArray(array, 0, 0, values.data(), 32, cudaMemcpyHostToDevice));
    std::vector<std::uint8_t> back(32);
    OK(cudaMemcpyFromArray(back.data(), array, 0, 0, 32, cudaMemcpyDeviceToHost));
    EXPECT(std::memcmp(back.data(), values.data(), 32) == 0);
    OK(cudaMemcpyFromArray(back.data(), array, 5, 1, 14, cudaMemcpyDeviceToHost));
    EXPECT(std::memcmp(back.data(), values.data() + 13, 14) == 0);
    const cudaArray_t other = make(cudaCreateChannelDesc<unsigned char>(), 8, 4);
    OK(cudaMemcpyArrayToArray(other, 0, 1, array, 0, 2, 16, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpyFromArray(back.data(), other, 0, 1, 16, cudaMemcpyDeviceToHost));
    EXPECT(std::memcmp(back.data(), values.data() + 16, 16) == 0);
    EXPECT(cudaMemcpyToArray(array, 0, 0, values.data(), 33, cudaMemcpyHostToDevice) !=
           cudaSuccess);
    (void)cudaGetLastError();
    OK(cudaFreeArray(array));
    OK(cudaFreeArray(other));
}

#pragma GCC diagnostic pop

} // namespace

int main() {
    formats_come_back_as_they_went();
    rectangles_go_to_their_place();
    streams_copy_arrays();
    volumes_count_texels();
    mipmaps_have_levels();
    objects_give_their_descriptors_back();
    counts_of_bytes_go_on_in_the_next_row();
    return 0;
}
