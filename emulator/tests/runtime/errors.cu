// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Errors, and how long they persist. The last one makes the context unusable.

#include "check.hpp"

#include <cstring>
#include <thread>

namespace {

__global__ void write_to(int* where) {
    *where = 1;
}

void not_a_kernel() {}

void an_error_is_kept_until_it_is_asked_for() {
    OK(cudaGetLastError());
    RETURNS(cudaErrorInvalidDevice, cudaSetDevice(99));
    RETURNS(cudaErrorInvalidDevice, cudaPeekAtLastError());
    std::thread([] { OK(cudaGetLastError()); }).join(); // each thread has its own last error
    OK(cudaDeviceSynchronize());
    RETURNS(cudaErrorInvalidDevice, cudaGetLastError());
    OK(cudaGetLastError());
}

void a_launch_that_cannot_be_is_refused() {
    write_to<<<1, 4096>>>(nullptr);
    RETURNS(cudaErrorInvalidConfiguration, cudaGetLastError());
    write_to<<<0, 32>>>(nullptr);
    RETURNS(cudaErrorInvalidConfiguration, cudaGetLastError());
    RETURNS(cudaErrorInvalidDeviceFunction,
            cudaLaunchKernel(reinterpret_cast<const void*>(not_a_kernel), dim3(1), dim3(1), nullptr,
                             0, nullptr));
    RETURNS(cudaErrorInvalidDeviceFunction, cudaGetLastError());
    OK(cudaDeviceSynchronize());
}

void codes_have_names() {
    EXPECT(std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    EXPECT(std::strlen(cudaGetErrorString(cudaErrorInvalidSymbol)) > 0);
    EXPECT(std::strcmp(cudaGetErrorName(static_cast<cudaError_t>(4242)),
                       "unrecognized error code") == 0);
}

void too_much_memory_is_refused() {
    void* memory = nullptr;
    RETURNS(cudaErrorMemoryAllocation, cudaMalloc(&memory, std::size_t{1} << 50));
    EXPECT(memory == nullptr);
    RETURNS(cudaErrorMemoryAllocation, cudaGetLastError());
    OK(cudaMalloc(&memory, 0));
    EXPECT(memory == nullptr);
}

void a_fault_stays() {
    write_to<<<1, 1>>>(reinterpret_cast<int*>(16));
    OK(cudaGetLastError()); // the launch itself succeeded
    RETURNS(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    RETURNS(cudaErrorIllegalAddress, cudaGetLastError());
    void* memory = nullptr;
    RETURNS(cudaErrorIllegalAddress, cudaMalloc(&memory, 16));
    RETURNS(cudaErrorIllegalAddress, cudaDeviceSynchronize());
}

} // namespace

int main() {
    an_error_is_kept_until_it_is_asked_for();
    a_launch_that_cannot_be_is_refused();
    codes_have_names();
    too_much_memory_is_refused();
    a_fault_stays();
    return EXIT_SUCCESS;
}
