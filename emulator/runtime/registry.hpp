// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What nvcc's host code announces before main: fat binaries, and which host addresses stand for
// which kernels and variables in them.
//
// A fat binary becomes a CUlibrary when something in it is first used, so a program whose code
// cannot be loaded gets its error from the call that needed it. A CUlibrary belongs to no context,
// as a kernel named by its host stub does not.

#pragma once

#include "runtime.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace cuprum::runtime {

/// One registered fat binary, and the library made of it.
class FatBinary {
public:
    explicit FatBinary(const void* wrapper) : wrapper_(wrapper) {}

    FatBinary(const FatBinary&) = delete;
    FatBinary& operator=(const FatBinary&) = delete;
    ~FatBinary();

    /// Loads it if it has not been, and returns its library.
    cudaError_t library(CUlibrary* result);

    /// Gives the library back. What is used of it afterwards fails as after the process's end.
    void unload();

    /// Notes a managed variable, whose address goes to `*host` once the library is loaded.
    void add_managed(void** host, std::string name);

    /// Loads it if it has managed variables, which the host may touch without any call.
    cudaError_t publish_managed();

private:
    struct Managed {
        void** host;
        std::string name;
    };

    cudaError_t load();

    const void* wrapper_;
    std::mutex mutex_;
    CUlibrary library_ = nullptr;
    cudaError_t status_ = cudaErrorUnknown;
    bool is_loaded_ = false;
    std::vector<Managed> managed_;
};

/// The kernels and variables of all fat binaries, by the host address that stands for them.
class Registry {
public:
    /// Returns the only one, which is never destroyed: it serves functions that run at exit.
    static Registry& instance();

    /// Gives all libraries back, while the driver still takes them.
    void unload_all();

    FatBinary* add(const void* wrapper);
    void remove(FatBinary* binary);
    void add_kernel(FatBinary* binary, const void* host, std::string name);
    void add_variable(FatBinary* binary, const void* host, std::string name, std::size_t size,
                      bool is_managed);

    /// Finds the kernel of a host stub; cudaErrorInvalidDeviceFunction if `host` is none.
    cudaError_t kernel(const void* host, CUkernel* result);

    /// Finds where a variable is in the current context; cudaErrorInvalidSymbol if `host` is none.
    cudaError_t variable(const void* host, CUdeviceptr* result, std::size_t* size);

private:
    struct Kernel {
        FatBinary* binary;
        std::string name;
        CUkernel handle = nullptr;
    };

    struct Variable {
        FatBinary* binary;
        std::string name;
        std::size_t size;
        bool is_managed;
    };

    std::mutex mutex_;
    std::vector<std::unique_ptr<FatBinary>> binaries_;
    std::unordered_map<const void*, Kernel> kernels_;
    std::unordered_map<const void*, Variable> variables_;
};

} // namespace cuprum::runtime
