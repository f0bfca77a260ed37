// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What nvcc's host code registers before main: fat binaries, and the host addresses that represent
// their kernels and variables.
//
// A fat binary becomes a CUlibrary when something in it is first used. If the code cannot be
// loaded, the call that needs it returns the error. A CUlibrary belongs to no context, and neither
// does a kernel identified by its host stub.

#pragma once

#include "runtime.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace cuprum::runtime {

/// A registered fat binary and the library created from it.
class FatBinary {
public:
    explicit FatBinary(const void* wrapper) : wrapper_(wrapper) {}

    FatBinary(const FatBinary&) = delete;
    FatBinary& operator=(const FatBinary&) = delete;
    ~FatBinary();

    /// Loads the library unless it is loaded, and returns it.
    cudaError_t library(CUlibrary* result);

    /// Unloads the library. Later uses fail as they do at process exit.
    void unload();

    /// Adds a managed variable. Its address is written to `*host` once the library is loaded.
    void add_managed(void** host, std::string name);

    /// Loads the library if it has managed variables, because the host may access these without a
    /// call.
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

/// The kernels and variables of all fat binaries, by the host addresses that represent them.
class Registry {
public:
    /// Returns the only instance. It is never destroyed, because functions that run at exit use it.
    static Registry& instance();

    /// Unloads all libraries while the driver still works.
    void unload_all();

    FatBinary* add(const void* wrapper);
    void remove(FatBinary* binary);
    void add_kernel(FatBinary* binary, const void* host, std::string name);
    void add_variable(FatBinary* binary, const void* host, std::string name, std::size_t size,
                      bool is_managed);

    /// Finds the kernel of a host stub. Returns cudaErrorInvalidDeviceFunction if `host` is not
    /// one.
    cudaError_t kernel(const void* host, CUkernel* result);

    /// Returns the host stub of a function, or the function's handle if it has none.
    const void* host_of(CUfunction function);

    /// Finds the address of a variable in the current context. Returns cudaErrorInvalidSymbol if
    /// `host` is not a variable.
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
