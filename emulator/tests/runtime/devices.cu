// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Devices: properties, choosing, contexts shared with the driver API, resetting.

#include "check.hpp"

#include <cstring>
#include <thread>

// What CUDA deprecates is checked too.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace {

__global__ void fill(int* values) {
    values[threadIdx.x] = 1;
}

void properties_are_the_attributes() {
    int count = 0;
    int runtime = 0;
    int driver = 0;
    OK(cudaGetDeviceCount(&count));
    EXPECT(count >= 1);
    OK(cudaRuntimeGetVersion(&runtime));
    OK(cudaDriverGetVersion(&driver));
    EXPECT(runtime == CUDART_VERSION && driver >= runtime);
    cudaDeviceProp properties{};
    OK(cudaGetDeviceProperties(&properties, 0));
    EXPECT(std::strlen(properties.name) > 0 && properties.warpSize == 32);
    EXPECT(properties.totalGlobalMem > 0 && properties.multiProcessorCount > 0);
    int value = 0;
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0));
    EXPECT(value == properties.maxThreadsPerBlock && value == 1024);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
    EXPECT(value == properties.major);
    EXPECT(properties.maxGridSize[0] == 2147483647 && properties.maxThreadsDim[2] == 64);
    RETURNS(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, count));
    int chosen = -1;
    OK(cudaChooseDevice(&chosen, &properties));
    EXPECT(chosen >= 0 && chosen < count);
    char bus[32] = {};
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    OK(cudaDeviceGetByPCIBusId(&chosen, bus));
    EXPECT(chosen == 0);
    cudaGetLastError();
}

void every_thread_has_a_device() {
    int count = 0;
    OK(cudaGetDeviceCount(&count));
    const int last = count - 1;
    OK(cudaSetDevice(last));
    std::thread([] {
        int device = -1;
        OK(cudaGetDevice(&device));
        EXPECT(device == 0);
    }).join();
    int device = -1;
    OK(cudaGetDevice(&device));
    EXPECT(device == last);
    int* values = nullptr;
    OK(cudaMalloc(&values, 32 * sizeof(int)));
    cudaPointerAttributes about{};
    OK(cudaPointerGetAttributes(&about, values));
    EXPECT(about.device == last);
    fill<<<1, 32>>>(values);
    int first = 0;
    OK(cudaMemcpy(&first, values, sizeof first, cudaMemcpyDeviceToHost));
    EXPECT(first == 1);
    OK(cudaFree(values));
    OK(cudaSetDevice(0));
}

void peers_reach_each_other() {
    int count = 0;
    OK(cudaGetDeviceCount(&count));
    if (count < 2) {
        return;
    }
    int can = 0;
    OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    if (can == 0) {
        return;
    }
    int* there = nullptr;
    OK(cudaSetDevice(1));
    OK(cudaMalloc(&there, 32 * sizeof(int)));
    OK(cudaSetDevice(0));
    RETURNS(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(0, 0));
    OK(cudaDeviceEnablePeerAccess(1, 0));
    RETURNS(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
    cudaGetLastError();
    fill<<<1, 32>>>(there);
    int first = 0;
    OK(cudaMemcpy(&first, there, sizeof first, cudaMemcpyDefault));
    EXPECT(first == 1);
    int* here = nullptr;
    OK(cudaMalloc(&here, 32 * sizeof(int)));
    OK(cudaMemcpyPeer(here, 0, there, 1, 32 * sizeof(int)));
    OK(cudaDeviceDisablePeerAccess(1));
    OK(cudaFree(here));
    OK(cudaFree(there));
}

void limits_are_kept() {
    std::size_t bytes = 0;
    OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 21));
    OK(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
    EXPECT(bytes >= (1 << 21));
}

void a_reset_device_serves_again() {
    int* values = nullptr;
    OK(cudaMalloc(&values, 32 * sizeof(int)));
    OK(cudaDeviceReset());
    OK(cudaMalloc(&values, 32 * sizeof(int)));
    fill<<<1, 32>>>(values);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(values));
}

void a_device_is_initialised_beside_the_current_one() {
    int* values = nullptr;
    OK(cudaSetDevice(0));
    OK(cudaMalloc(&values, 32 * sizeof(int)));
    std::thread([] { OK(cudaDeviceReset()); }).join();
    int count = 0;
    OK(cudaGetDeviceCount(&count));
    OK(cudaInitDevice(count - 1, 0, 0)); // must not hide that the context of device 0 was reset
    OK(cudaMalloc(&values, 32 * sizeof(int)));
    fill<<<1, 32>>>(values);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(values));
}

void devices_and_flags_that_mean_nothing_are_refused() {
    int* first = nullptr;
    int* second = nullptr;
    OK(cudaMalloc(&first, 64));
    OK(cudaMalloc(&second, 64));
    RETURNS(cudaErrorInvalidDevice, cudaMemcpyPeer(first, 99, second, -7, 64));
    RETURNS(cudaErrorInvalidDevice, cudaMemcpyPeer(first, 0, second, 99, 64));
    RETURNS(cudaErrorInvalidDevice, cudaMemcpyPeerAsync(first, -1, second, 0, 64, nullptr));
    OK(cudaMemcpyPeer(first, 99, second, -7, 0));
    int on_stack[16] = {};
    RETURNS(cudaErrorInvalidValue, cudaMemcpyPeer(first, 0, on_stack, 0, sizeof on_stack));
    cudaMemcpy3DPeerParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(second, 64, 64, 1);
    copy.dstPtr = make_cudaPitchedPtr(first, 64, 64, 1);
    copy.extent = make_cudaExtent(64, 1, 1);
    OK(cudaMemcpy3DPeer(&copy));
    copy.dstDevice = -1;
    RETURNS(cudaErrorInvalidDevice, cudaMemcpy3DPeer(&copy));
    copy.dstDevice = 0;
    copy.srcDevice = 99;
    RETURNS(cudaErrorInvalidDevice, cudaMemcpy3DPeerAsync(&copy, nullptr));
    const auto* const kernel = reinterpret_cast<const void*>(fill);
    for (const int value : {-1, 4, 77}) {
        RETURNS(cudaErrorInvalidValue,
                cudaFuncSetCacheConfig(kernel, static_cast<cudaFuncCache>(value)));
        RETURNS(cudaErrorInvalidValue, cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(value)));
        RETURNS(cudaErrorInvalidValue,
                cudaFuncSetSharedMemConfig(kernel, static_cast<cudaSharedMemConfig>(value)));
        RETURNS(cudaErrorInvalidValue,
                cudaDeviceSetSharedMemConfig(static_cast<cudaSharedMemConfig>(value)));
    }
    OK(cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferEqual));
    for (const unsigned flags : {3U, 5U, 6U, 7U, 256U}) {
        RETURNS(cudaErrorInvalidValue, cudaSetDeviceFlags(flags));
    }
    for (const unsigned flags : {cudaDeviceScheduleYield, cudaDeviceMapHost, 0}) {
        OK(cudaSetDeviceFlags(flags));
    }
    int twice[] = {0, 0};
    OK(cudaSetValidDevices(twice, 1));
    RETURNS(cudaErrorInvalidValue, cudaSetValidDevices(twice, 2));
    OK(cudaFree(first));
    OK(cudaFree(second));
    cudaGetLastError();
}

void the_driver_is_reached() {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, cudaEnableDefault, &found));
    EXPECT(found == cudaDriverEntryPointSuccess && function != nullptr);
}

} // namespace

int main() {
    properties_are_the_attributes();
    every_thread_has_a_device();
    peers_reach_each_other();
    limits_are_kept();
    a_reset_device_serves_again();
    a_device_is_initialised_beside_the_current_one();
    devices_and_flags_that_mean_nothing_are_refused();
    the_driver_is_reached();
    return EXIT_SUCCESS;
}
