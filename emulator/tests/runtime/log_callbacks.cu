// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A log callback may call the runtime, also when it is told that code could not be loaded. This
// program is compiled for a device that is not there.

#include "check.hpp"

#include <thread>

namespace {

__device__ int variable;

__global__ void set(int value) {
    variable = value;
}

int calls = 0;

void on_log(void* /*data*/, cudaLogLevel /*level*/, char* /*text*/, std::size_t /*bytes*/) {
    if (++calls != 1) {
        return; // of what this function itself does
    }
    cudaFuncAttributes attributes{};
    EXPECT(cudaFuncGetAttributes(&attributes, set) != cudaSuccess);
    void* address = nullptr;
    EXPECT(cudaGetSymbolAddress(&address, variable) != cudaSuccess);
    std::thread([] {
        int count = 0;
        OK(cudaGetDeviceCount(&count));
        RETURNS(cudaErrorInvalidDeviceFunction,
                cudaLaunchKernel(&count, dim3(1), dim3(1), nullptr, 0, nullptr));
    }).join();
}

} // namespace

int main() {
    OK(cudaFree(nullptr));
    cudaLogsCallbackHandle handle{};
    OK(cudaLogsRegisterCallback(on_log, nullptr, &handle));
    cudaFuncAttributes attributes{};
    EXPECT(cudaFuncGetAttributes(&attributes, set) != cudaSuccess);
    EXPECT(calls > 0);
    OK(cudaLogsUnregisterCallback(handle));
    return EXIT_SUCCESS;
}
