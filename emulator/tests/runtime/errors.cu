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

void an_error_survives_a_reset() {
    RETURNS(cudaErrorInvalidDevice, cudaSetDevice(99));
    OK(cudaDeviceReset());
    RETURNS(cudaErrorInvalidDevice, cudaGetLastError());
    OK(cudaGetLastError());
}

void a_fault_stays_with_the_context() {
    write_to<<<1, 1>>>(reinterpret_cast<int*>(16));
    OK(cudaGetLastError()); // the launch itself succeeded
    RETURNS(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    RETURNS(cudaErrorIllegalAddress, cudaPeekAtLastError());
    RETURNS(cudaErrorIllegalAddress, cudaGetLastError());
    OK(cudaGetLastError()); // the thread forgets the error; the context does not
    void* memory = nullptr;
    RETURNS(cudaErrorIllegalAddress, cudaMalloc(&memory, 16));
    RETURNS(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    std::thread([] {
        OK(cudaGetLastError());
        void* other = nullptr;
        RETURNS(cudaErrorIllegalAddress, cudaMalloc(&other, 16));
        RETURNS(cudaErrorIllegalAddress, cudaGetLastError());
        OK(cudaDeviceReset());
        OK(cudaGetLastError());
    }).join();
    RETURNS(cudaErrorIllegalAddress, cudaGetLastError()); // of the last call of this thread
    OK(cudaGetLastError());
}

} // namespace

int main() {
    an_error_is_kept_until_it_is_asked_for();
    a_launch_that_cannot_be_is_refused();
    codes_have_names();
    too_much_memory_is_refused();
    an_error_survives_a_reset();
    a_fault_stays_with_the_context();
    return EXIT_SUCCESS;
}
