// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A program without any reference to Cuprum. Loads libcuda.so.1 by its name, prints the name of
// device 0 and its own arguments, and exits with 7.

#include <cuda.h>

#include <dlfcn.h>

#include <cstdio>

int main(int count, char** arguments) {
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        return 1;
    }
    auto* init = reinterpret_cast<decltype(&cuInit)>(::dlsym(library, "cuInit"));
    auto* get_name =
        reinterpret_cast<decltype(&cuDeviceGetName)>(::dlsym(library, "cuDeviceGetName"));
    char name[128] = {};
    if (init(0) != CUDA_SUCCESS || get_name(name, sizeof name, 0) != CUDA_SUCCESS) {
        return 2;
    }
    std::printf("%s\n", name);
    for (int index = 1; index < count; ++index) {
        std::printf("[%s]\n", arguments[index]);
    }
    return 7;
}
