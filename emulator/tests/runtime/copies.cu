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

__global__ void wait_a_while(long long cycles) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

/// What lies in host memory after a call that must not return before it is done.
void host_memory_is_done_when_a_call_returns() {
    constexpr std::size_t bytes = 4 << 20; // more than what the emulated device copies at once
    constexpr long long cycles = 20'000'000;
    char* device = nullptr;
    char* pinned = nullptr;
    char* other = nullptr;
    char* managed = nullptr;
    OK(cudaMalloc(&device, bytes));
    OK(cudaMallocHost(&pinned, bytes));
    OK(cudaMallocHost(&other, bytes));
    OK(cudaMallocManaged(&managed, bytes));
    OK(cudaMemset(device, 7, bytes));
    std::fill(other, other + bytes, 9);
    cudaStream_t stream = nullptr;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const auto expect = [&](const char* memory, char value) {
        EXPECT(memory[0] == value && memory[bytes / 2] == value && memory[bytes - 1] == value);
    };
    wait_a_while<<<1, 1>>>(cycles);
    OK(cudaMemset(pinned, 3, bytes));
    expect(pinned, 3);
    wait_a_while<<<1, 1>>>(cycles);
    OK(cudaMemset2D(pinned, bytes / 4, 4, bytes / 4, 4));
    expect(pinned, 4);
    wait_a_while<<<1, 1>>>(cycles);
    OK(cudaMemset(managed, 5, bytes));
    expect(managed, 5);
    wait_a_while<<<1, 1>>>(cycles);
    OK(cudaMemcpy(pinned, device, bytes, cudaMemcpyDeviceToDevice));
    expect(pinned, 7);
    wait_a_while<<<1, 1, 0, stream>>>(cycles);
    OK(cudaMemcpyAsync(pinned, other, bytes, cudaMemcpyHostToHost, stream));
    expect(pinned, 9);
    wait_a_while<<<1, 1, 0, stream>>>(cycles);
    OK(cudaMemcpyAsync(managed, device, bytes, cudaMemcpyDeviceToHost, stream));
    expect(managed, 7);
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(device));
    OK(cudaFree(managed));
    OK(cudaFreeHost(pinned));
    OK(cudaFreeHost(other));
}

void a_copy_of_nothing_has_any_direction() {
    char* memory = nullptr;
    OK(cudaMalloc(&memory, 64));
    const auto none = static_cast<cudaMemcpyKind>(77);
    OK(cudaMemcpy(memory, nullptr, 0, none));
    OK(cudaMemcpy2D(memory, 0, nullptr, 0, 0, 4, none));
    RETURNS(cudaErrorInvalidMemcpyDirection, cudaMemcpy(memory, memory + 32, 16, none));
    OK(cudaMemset3D(make_cudaPitchedPtr(nullptr, 0, 0, 0), 1, make_cudaExtent(0, 4, 4)));
    const auto whole = make_cudaExtent(16, 2, 1);
    RETURNS(cudaErrorInvalidValue, cudaMemset3D(make_cudaPitchedPtr(memory, 16, 16, 1), 1, whole));
    RETURNS(cudaErrorInvalidValue, cudaMemset3D(make_cudaPitchedPtr(memory, 8, 8, 2), 1, whole));
    char* managed = memory;
    OK(cudaMallocManaged(&managed, 0));
    EXPECT(managed == nullptr);
    OK(cudaFree(memory));
    cudaGetLastError();
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
    host_memory_is_done_when_a_call_returns();
    a_copy_of_nothing_has_any_direction();
    rows_and_slices_are_copied();
    pointers_describe_themselves();
    pools_allocate_in_stream_order();
    return EXIT_SUCCESS;
}
