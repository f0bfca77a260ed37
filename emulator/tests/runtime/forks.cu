// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A forked child cannot use CUDA, but it can exit, whatever other threads did in that moment.

#include "check.hpp"

#include <unistd.h>

#include <atomic>
#include <sys/wait.h>
#include <thread>

namespace {

__device__ int variable;

__global__ void set(int value) {
    variable = value;
}

std::atomic<bool> is_over{false};

/// Looks kernels, variables and streams up without a pause.
void use() {
    while (!is_over) {
        cudaFuncAttributes attributes{};
        OK(cudaFuncGetAttributes(&attributes, set));
        void* address = nullptr;
        OK(cudaGetSymbolAddress(&address, variable));
        set<<<1, 1>>>(1);
    }
}

} // namespace

int main() {
    constexpr int children = 100;
    constexpr unsigned longest_s = 60;
    set<<<1, 1, 0, cudaStreamPerThread>>>(1);
    OK(cudaDeviceSynchronize());
    std::thread threads[] = {std::thread(use), std::thread(use)};
    for (int index = 0; index < children; ++index) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::alarm(longest_s); // ends a child that hangs
            std::exit(EXIT_SUCCESS);
        }
        int status = -1;
        EXPECT(::waitpid(child, &status, 0) == child);
        EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
    }
    is_over = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
    OK(cudaDeviceSynchronize());
    return EXIT_SUCCESS;
}
