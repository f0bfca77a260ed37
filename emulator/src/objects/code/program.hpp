// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bytecode/kernel.hpp"
#include "image/image.hpp"
#include "objects/code/jit_options.hpp"
#include "passes/compile.hpp"
#include "ptx/diagnostics.hpp"
#include "ptx/tree.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cuprum::emulator {

/// Returns the driver's result code for an image without usable PTX.
[[nodiscard]] CUresult code_of(ImageProblem problem) noexcept;

/// Returns the driver's result code for PTX that is refused.
[[nodiscard]] CUresult code_of(ptx::Problem problem) noexcept;

/// Returns the contents of a file. Throws FILE_NOT_FOUND.
[[nodiscard]] std::string read_file(const char* path);

/// The kernels of a program in the order of the source, by name and by address.
class KernelList {
public:
    using Kernel = std::shared_ptr<const bytecode::Kernel>;

    KernelList() = default;
    KernelList(std::vector<Kernel> kernels, const passes::FunctionAddresses& addresses);

    [[nodiscard]] std::size_t size() const noexcept { return kernels_.size(); }

    [[nodiscard]] const Kernel& operator[](std::size_t index) const { return kernels_[index]; }

    [[nodiscard]] auto begin() const noexcept { return kernels_.begin(); }

    [[nodiscard]] auto end() const noexcept { return kernels_.end(); }

    /// Returns the index of a kernel, or nothing.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;

    /// Returns the index of the kernel that has this address in kernels of the module, or nothing.
    [[nodiscard]] std::optional<std::size_t> find_at(std::uint64_t address) const;

    /// Returns the first names as a list for an error message: "a, b, c".
    [[nodiscard]] std::string names() const;

private:
    std::vector<Kernel> kernels_;
    std::unordered_map<std::string_view, std::size_t> by_name_;
    std::unordered_map<std::uint64_t, std::size_t> by_address_;
};

/// The code of a module or library, independent of any context. Kernels are compiled once. Each
/// context fills in the addresses of its variables (passes::place_symbols).
class Program {
public:
    using Symbols = std::unordered_map<std::string, std::uint64_t>;

    /// Finds the PTX in an image, and compiles it for a device of compute capability `sm`.
    ///
    /// @throws DriverError with the matching code. The error log gives the reason.
    [[nodiscard]] static std::shared_ptr<const Program> load(const void* image,
                                                             std::optional<std::size_t> size,
                                                             std::uint32_t sm,
                                                             const JitOptions& options);

    /// Reads a file and loads it. Throws FILE_NOT_FOUND.
    [[nodiscard]] static std::shared_ptr<const Program>
    load_file(const char* path, std::uint32_t sm, const JitOptions& options);

    /// Returns the variables that need memory in each context.
    [[nodiscard]] const std::vector<passes::GlobalVariable>& variables() const noexcept {
        return variables_;
    }

    [[nodiscard]] const std::shared_ptr<const KernelList>& kernels() const noexcept {
        return kernels_;
    }

    /// Returns the address of a function that the initial value of a variable names.
    [[nodiscard]] std::uint64_t function_address(const std::string& name) const {
        return functions_.at(name);
    }

private:
    Program() = default;

    std::vector<passes::GlobalVariable> variables_;
    Symbols functions_; // those that initial values name
    std::shared_ptr<const KernelList> kernels_;
};

} // namespace cuprum::emulator
