// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Memory of every kind, and copies and fills in all their forms.

#include "check.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

constexpr int COUNT = 1000;
constexpr std::size_t BYTES = COUNT * sizeof(int);

std::vector<int> numbers() {
    std::vector<int> result(COUNT);
    std::iota(result.begin(), result.end(), 1);
    return result;
}

void copies_go_in_every_direction() {
    const std::vector<int> in = numbers();
    std::vector<int> out(COUNT);
    int* first = nullptr;
    int* second = nullptr;
    OK(cudaMalloc(&first, BYTES));
    OK(cudaMalloc(&second, BYTES));
    OK(cudaMemcpy(first, in.data(), BYTES, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(second, first, BYTES, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy(out.data(), second, BYTES, cudaMemcpyDeviceToHost));
    EXPECT(out == in);
    out.assign(COUNT, 0);
    OK(cudaMemcpy(out.data(), in.data(), BYTES, cudaMemcpyHostToHost));
    EXPECT(out == in);
    out.assign(COUNT, 0);
    OK(cudaMemset(second, 0, BYTES));
    OK(cudaMemcpy(second, in.data(), BYTES, cudaMemcpyDefault));
    OK(cudaMemcpy(out.data(), second, BYTES, cudaMemcpyDefault));
    EXPECT(out == in);
    OK(cudaMemcpyPeer(first, 0, second, 0, BYTES));
    OK(cudaMemcpy(first, in.data(), 0, cudaMemcpyHostToDevice));
    RETURNS(cudaErrorInvalidMemcpyDirection,
            cudaMemcpy(first, in.data(), BYTES, static_cast<cudaMemcpyKind>(9)));
    RETURNS(cudaErrorInvalidValue, cudaMemcpy(nullptr, in.data(), BYTES, cudaMemcpyHostToDevice));
    OK(cudaFree(first));
    OK(cudaFree(second));
    OK(cudaFree(nullptr));
}

void copies_follow_a_stream() {
    cudaStream_t stream = nullptr;
    int* host = nullptr;
    int* device = nullptr;
    OK(cudaStreamCreate(&stream));
    OK(cudaMallocHost(&host, BYTES));
    OK(cudaMalloc(&device, BYTES));
    std::iota(host, host + COUNT, 7);
    OK(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice, stream));
    OK(cudaStreamSynchronize(stream));
    std::fill(host, host + COUNT, 0);
    OK(cudaMemcpyAsync(host, device, BYTES, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(host[0] == 7 && host[COUNT - 1] == COUNT + 6);
    OK(cudaMemsetAsync(device, 0x11, BYTES, stream));
    OK(cudaMemcpyAsync(host, device, BYTES, cudaMemcpyDefault, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(host[5] == 0x11111111);
    OK(cudaFree(device));
    OK(cudaFreeHost(host));
    OK(cudaStreamDestroy(stream));
}

void rows_and_slices_are_copied() {
    constexpr std::size_t width = 24;
    constexpr std::size_t height = 5;
    constexpr std::size_t depth = 3;
    char* device = nullptr;
    std::size_t pitch = 0;
    OK(cudaMallocPitch(&device, &pitch, width, height));
    EXPECT(pitch >= width);
    std::vector<char> in(width * height, 'a');
    in[width] = 'b';
    std::vector<char> out(in.size());
    OK(cudaMemcpy2D(device, pitch, in.data(), width, width, height, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(out.data(), width, device, pitch, width, height, cudaMemcpyDeviceToHost));
    EXPECT(out == in);
    OK(cudaMemset2D(device, pitch, 'c', 4, height));
    OK(cudaMemcpy2DAsync(out.data(), width, device, pitch, width, height, cudaMemcpyDefault,
                         nullptr));
    OK(cudaStreamSynchronize(nullptr));
    EXPECT(out[0] == 'c' && out[3] == 'c' && out[4] == 'a' && out[width] == 'c');
    RETURNS(cudaErrorInvalidPitchValue,
            cudaMemcpy2D(device, 1, in.data(), width, width, height, cudaMemcpyHostToDevice));
    OK(cudaFree(device));

    cudaPitchedPtr box{};
    const cudaExtent extent = make_cudaExtent(width, height, depth);
    OK(cudaMalloc3D(&box, extent));
    OK(cudaMemset3D(box, 'x', extent));
    OK(cudaMemset3D(box, 'y', make_cudaExtent(width, 1, depth)));
    std::vector<char> all(width * height * depth);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = box;
    copy.dstPtr = make_cudaPitchedPtr(all.data(), width, width, height);
    copy.extent = extent;
    copy.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&copy));
    EXPECT(all[0] == 'y' && all[width] == 'x' && all[width * height] == 'y' && all.back() == 'x');
    OK(cudaFree(box.ptr));
}

void pointers_describe_themselves() {
    int on_stack = 0;
    int* device = nullptr;
    int* host = nullptr;
    int* managed = nullptr;
    void* mapped = nullptr;
    cudaPointerAttributes about{};
    OK(cudaMalloc(&device, BYTES));
    OK(cudaHostAlloc(&host, BYTES, cudaHostAllocMapped));
    OK(cudaMallocManaged(&managed, BYTES));
    OK(cudaPointerGetAttributes(&about, device));
    EXPECT(about.type == cudaMemoryTypeDevice && about.devicePointer == device &&
           about.device == 0);
    OK(cudaPointerGetAttributes(&about, host));
    EXPECT(about.type == cudaMemoryTypeHost && about.hostPointer == host);
    OK(cudaPointerGetAttributes(&about, managed));
    EXPECT(about.type == cudaMemoryTypeManaged);
    OK(cudaPointerGetAttributes(&about, &on_stack));
    EXPECT(about.type == cudaMemoryTypeUnregistered);
    OK(cudaHostGetDevicePointer(&mapped, host, 0));
    EXPECT(mapped != nullptr);
    std::vector<int> own(4096);
    OK(cudaHostRegister(own.data(), own.size() * sizeof(int), cudaHostRegisterDefault));
    OK(cudaPointerGetAttributes(&about, own.data()));
    EXPECT(about.type == cudaMemoryTypeHost);
    OK(cudaHostUnregister(own.data()));
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    OK(cudaMemGetInfo(&free_bytes, &total_bytes));
    EXPECT(free_bytes > 0 && free_bytes <= total_bytes);
    OK(cudaFree(device));
    OK(cudaFree(managed));
    OK(cudaFreeHost(host));
}

void pools_allocate_in_stream_order() {
    cudaStream_t stream = nullptr;
    cudaMemPool_t pool = nullptr;
    int* memory = nullptr;
    std::uint64_t threshold = 1 << 20;
    std::uint64_t used = 0;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaMallocAsync(&memory, BYTES, stream));
    OK(cudaMemsetAsync(memory, 0, BYTES, stream));
    OK(cudaFreeAsync(memory, stream));
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    OK(cudaMemPoolCreate(&pool, &properties));
    OK(cudaMallocFromPoolAsync(&memory, BYTES, pool, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT(used >= BYTES);
    OK(cudaFreeAsync(memory, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemPoolTrimTo(pool, 0));
    OK(cudaMemPoolDestroy(pool));
    OK(cudaStreamDestroy(stream));
}

} // namespace

int main() {
    copies_go_in_every_direction();
    copies_follow_a_stream();
    rows_and_slices_are_copied();
    pointers_describe_themselves();
    pools_allocate_in_stream_order();
    return EXIT_SUCCESS;
}
