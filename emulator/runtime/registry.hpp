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

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace cuprum::runtime {

/// A registered fat binary and the library created from it. The registry's mutex guards it.
struct FatBinary {
    struct Managed {
        void** host; ///< where the host finds the address of the variable
        std::string name;
    };

    enum class State { Fresh, Loading, Loaded };

    const void* wrapper = nullptr;
    State state = State::Fresh;
    std::thread::id loader;      // Loading
    CUlibrary library = nullptr; // Loaded
    cudaError_t status = cudaErrorUnknown;
    std::vector<Managed> managed;
    std::vector<const void*> hosts; // of its kernels and variables
};

/// The kernels and variables of all fat binaries, by the host addresses that represent them.
///
/// No call of the driver is made under the mutex: it may load code, which takes seconds, and calls
/// the program's log callbacks, which may call this library. A fork waits for the mutex, so that a
/// child can register, unregister and exit.
class Registry {
public:
    /// Returns the only instance. It is never destroyed, because functions that run at exit use it.
    static Registry& instance();

    /// Unloads all libraries while the driver still works. Later uses fail.
    void unload_all();

    FatBinary* add(const void* wrapper);
    void remove(FatBinary* binary);
    void add_kernel(FatBinary* binary, const void* host, std::string name);
    void add_variable(FatBinary* binary, const void* host, std::string name, std::size_t size);

    /// Adds a managed variable. Its address is written to `*host` once the library is loaded.
    void add_managed(FatBinary* binary, void** host, const std::string& name, std::size_t size);

    /// Loads a library if it has managed variables, because the host may access these without a
    /// call.
    cudaError_t publish_managed(FatBinary* binary);

    /// Finds the kernel of a host stub. Returns cudaErrorInvalidDeviceFunction if `host` is not
    /// one.
    cudaError_t kernel(const void* host, CUkernel* result);

    /// Returns the host stub of a function, or the function's handle if it has none.
    const void* host_of(CUfunction function);

    /// Finds the address of a variable in the current context. Returns cudaErrorInvalidSymbol if
    /// `host` is not a variable.
    cudaError_t variable(const void* host, CUdeviceptr* result, std::size_t* size);

private:
    using Binary = std::shared_ptr<FatBinary>;

    struct Kernel {
        Binary binary;
        std::string name;
        CUkernel handle = nullptr;
    };

    struct Variable {
        Binary binary;
        std::string name;
        std::size_t size;
        bool is_managed;
    };

    Registry();

    /// Loads the library of a fat binary unless it is loaded, and returns it.
    cudaError_t library(const Binary& binary, CUlibrary* result);

    /// Returns the share of a binary's handle. The mutex must be held.
    [[nodiscard]] Binary share_of(const FatBinary* binary) const;

    /// Makes later uses of a binary fail and returns its library. The mutex must be held.
    [[nodiscard]] CUlibrary close(FatBinary& binary);

    void begin_anew_in_child() noexcept;

    std::mutex mutex_;
    std::condition_variable loaded_;
    std::unordered_map<const FatBinary*, Binary> binaries_;
    std::unordered_map<const void*, Kernel> kernels_;
    std::unordered_map<const void*, Variable> variables_;
};

} // namespace cuprum::runtime
