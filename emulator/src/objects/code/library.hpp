// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/code/function.hpp"
#include "objects/code/module.hpp"
#include "objects/code/program.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cuprum::emulator {

class Library;

/// A kernel of a library, independent of any context.
class LibraryKernel final : public Object {
public:
    LibraryKernel(const std::shared_ptr<Library>& library,
                  std::shared_ptr<const bytecode::Kernel> kernel)
        : library_(library), kernel_(std::move(kernel)) {}

    /// Returns the library. Throws INVALID_HANDLE if it has been unloaded.
    [[nodiscard]] std::shared_ptr<Library> library() const;

    /// Returns what is known about the kernel without a context.
    [[nodiscard]] const bytecode::Kernel& kernel() const noexcept { return *kernel_; }

    /// Returns the kernel in a context. Loads the library there on first use.
    [[nodiscard]] std::shared_ptr<Function> function(const std::shared_ptr<Context>& context);

    /// Returns the attributes for one device. The kernel's functions on that device fall back to
    /// them.
    [[nodiscard]] std::shared_ptr<FunctionAttributes> attributes(int device);

private:
    std::weak_ptr<Library> library_;
    std::shared_ptr<const bytecode::Kernel> kernel_;
    std::mutex mutex_;                      // guards the members below
    std::weak_ptr<Function> last_function_; // in the context used last; makes launches quick
    const Context* last_context_ = nullptr;
    std::uint64_t last_life_ = 0;
    std::map<int, std::shared_ptr<FunctionAttributes>> attributes_; // by device
};

/// A program that belongs to no context. It is loaded into each context on first use there.
class Library final : public Object, public std::enable_shared_from_this<Library> {
public:
    /// Makes a library from a program.
    [[nodiscard]] static std::shared_ptr<Library> create(std::shared_ptr<const Program> program);

    /// Invalidates the handles of the library, its kernels and its modules.
    void unload();

    /// Drops the module of a context that is being destroyed.
    void forget(const Context& context);

    /// Returns the library's module in a context, loading it on first use.
    [[nodiscard]] std::shared_ptr<Module> module(const std::shared_ptr<Context>& context);

    /// Returns a kernel by name. Throws NOT_FOUND and lists the kernels that exist.
    [[nodiscard]] std::shared_ptr<LibraryKernel> kernel(const std::string& name) const;

    [[nodiscard]] const std::vector<std::shared_ptr<LibraryKernel>>& kernels() const noexcept {
        return kernels_;
    }

private:
    explicit Library(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

    std::shared_ptr<const Program> program_;
    std::vector<std::shared_ptr<LibraryKernel>> kernels_;
    std::mutex mutex_; // guards modules_
    std::map<const Context*, std::shared_ptr<Module>> modules_;
};

} // namespace cuprum::emulator
