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

/// A kernel of a library, in whichever context it is used.
class LibraryKernel final : public Object {
public:
    LibraryKernel(const std::shared_ptr<Library>& library,
                  std::shared_ptr<const bytecode::Kernel> kernel)
        : library_(library), kernel_(std::move(kernel)) {}

    /// Returns the library; throws INVALID_HANDLE once it is unloaded.
    [[nodiscard]] std::shared_ptr<Library> library() const;

    /// Returns what is known of the kernel without a context.
    [[nodiscard]] const bytecode::Kernel& kernel() const noexcept { return *kernel_; }

    /// Returns the kernel in a context, loading the library there if need be.
    [[nodiscard]] std::shared_ptr<Function> function(const std::shared_ptr<Context>& context);

    /// Returns the settings for one device; its functions there fall back on them.
    [[nodiscard]] std::shared_ptr<FunctionAttributes> attributes(int device);

private:
    std::weak_ptr<Library> library_;
    std::shared_ptr<const bytecode::Kernel> kernel_;
    std::mutex mutex_;                      // of what follows
    std::weak_ptr<Function> last_function_; // of the context used last: launches find it quickly
    const Context* last_context_ = nullptr;
    std::uint64_t last_life_ = 0;
    std::map<int, std::shared_ptr<FunctionAttributes>> attributes_; // by device
};

/// A program that is not tied to a context; it is loaded into each one when first used there.
class Library final : public Object, public std::enable_shared_from_this<Library> {
public:
    /// Makes a library of a program; refuses at once what cannot run.
    [[nodiscard]] static std::shared_ptr<Library> create(std::shared_ptr<const Program> program,
                                                         const JitOptions& options);

    /// Ends the life of the library's handle, its kernels' and its modules'.
    void unload();

    /// Drops the module of a context that is going away.
    void forget(const Context& context);

    /// Returns the library's module in a context, loading it on first use.
    [[nodiscard]] std::shared_ptr<Module> module(const std::shared_ptr<Context>& context);

    /// Returns a kernel by name; throws NOT_FOUND, naming the kernels there are.
    [[nodiscard]] std::shared_ptr<LibraryKernel> kernel(const std::string& name) const;

    [[nodiscard]] const std::vector<std::shared_ptr<LibraryKernel>>& kernels() const noexcept {
        return kernels_;
    }

private:
    explicit Library(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

    std::shared_ptr<const Program> program_;
    Program::Kernels unplaced_;
    std::vector<std::shared_ptr<LibraryKernel>> kernels_;
    std::mutex mutex_; // of modules_
    std::map<const Context*, std::shared_ptr<Module>> modules_;
};

} // namespace cuprum::emulator
