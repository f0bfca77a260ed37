// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Checks for the programs in this folder. Each is an ordinary CUDA program that returns 0 if all
// checks hold. It does not use Cuprum, so it also runs on a GPU with NVIDIA's own runtime library.

#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

inline void check_call(cudaError_t status, cudaError_t expected, const char* text, int line) {
    if (status != expected) {
        std::printf("line %d: %s returned %s (%s), expected %s\n", line, text,
                    cudaGetErrorName(status), cudaGetErrorString(status),
                    cudaGetErrorName(expected));
        std::exit(EXIT_FAILURE);
    }
}

inline void check_that(bool holds, const char* text, int line) {
    if (!holds) {
        std::printf("line %d: not so: %s\n", line, text);
        std::exit(EXIT_FAILURE);
    }
}

#define RETURNS(expected, call) check_call(call, expected, #call, __LINE__)
#define OK(call) RETURNS(cudaSuccess, call)
#define EXPECT(condition) check_that(condition, #condition, __LINE__)
