// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A program that the tests let run with the rights of another user. It loads a stand-in and the
// emulated driver by their paths, uses both, and prints what the variables of its caller achieved.

#include <cuda.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <sys/auxv.h>

int main(int count, char** arguments) {
    if (count != 4) {
        return EXIT_FAILURE;
    }
    void* const compiler = ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    void* const driver = ::dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL);
    if (compiler == nullptr || driver == nullptr) {
        std::printf("%s\n", ::dlerror());
        return EXIT_FAILURE;
    }
    int major = 0;
    int minor = 0;
    reinterpret_cast<int (*)(int*, int*)>(::dlsym(compiler, "nvrtcVersion"))(&major, &minor);
    reinterpret_cast<decltype(&cuInit)>(::dlsym(driver, "cuInit"))(0);
    const bool is_loaded = ::dlopen(arguments[3], RTLD_NOW | RTLD_NOLOAD) != nullptr;
    std::printf("%s: the chosen library is %s\n",
                ::getauxval(AT_SECURE) != 0 ? "privileged" : "plain",
                is_loaded ? "loaded" : "not loaded");
    return EXIT_SUCCESS;
}
