// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Registers and unregisters fat binaries as the host code of nvcc does. Programs such as PyTorch
// have thousands of them.

#include "support/scaling.hpp"

#include <dlfcn.h>

#include <vector>

namespace {

template <typename Function>
Function* function(const char* name) {
    static void* const library = ::dlopen(CUPRUM_RUNTIME, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << ::dlerror();
    void* const found = ::dlsym(library, name);
    EXPECT_NE(found, nullptr) << name;
    return reinterpret_cast<Function*>(found);
}

TEST(Registration, scales_with_the_number_of_binaries) {
    auto* const add = function<void**(void*)>("__cudaRegisterFatBinary");
    auto* const remove = function<void(void**)>("__cudaUnregisterFatBinary");
    auto* const add_kernel = function<void(void**, const char*, char*, const char*, int, void*,
                                           void*, void*, void*, int*)>("__cudaRegisterFunction");
    cuprum::emulator::test::expect_scales(1000, [&](std::size_t count) {
        std::vector<char> hosts(count); // an address for each kernel
        std::vector<void**> handles;
        for (char& host : hosts) {
            handles.push_back(add(&host));
            add_kernel(handles.back(), &host, nullptr, "kernel", -1, nullptr, nullptr, nullptr,
                       nullptr, nullptr);
        }
        for (void** const handle : handles) {
            remove(handle);
        }
    });
}

} // namespace
