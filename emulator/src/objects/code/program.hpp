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
#include <unordered_map>
#include <vector>

namespace cuprum::emulator {

/// Returns the driver's code for an image that gives no PTX.
[[nodiscard]] CUresult code_of(ImageProblem problem) noexcept;

/// Returns the driver's code for PTX that is refused.
[[nodiscard]] CUresult code_of(ptx::Problem problem) noexcept;

/// Returns what is in a file; throws FILE_NOT_FOUND.
[[nodiscard]] std::string read_file(const char* path);

/// The code of a module or library, independent of context: parsed, ready to be compiled.
class Program {
public:
    using Kernels = std::vector<std::shared_ptr<const bytecode::Kernel>>;
    using Symbols = std::unordered_map<std::string, std::uint64_t>;

    /// Finds the PTX in an image and parses it for a device of compute capability `sm`.
    ///
    /// @throws DriverError with the code that fits; the complaints are in the error log.
    [[nodiscard]] static std::shared_ptr<const Program> load(const void* image,
                                                             std::optional<std::size_t> size,
                                                             std::uint32_t sm,
                                                             const JitOptions& options);

    /// Reads a file and loads it; throws FILE_NOT_FOUND.
    [[nodiscard]] static std::shared_ptr<const Program>
    load_file(const char* path, std::uint32_t sm, const JitOptions& options);

    /// Returns the variables that an instance must have memory for.
    [[nodiscard]] const std::vector<passes::GlobalVariable>& variables() const noexcept {
        return variables_;
    }

    /// Compiles all kernels with the variables at these addresses.
    ///
    /// @throws DriverError as load() does.
    [[nodiscard]] Kernels compile(const Symbols& addresses, const JitOptions& options) const;

    /// Compiles all kernels with the variables nowhere: enough to know them, and to refuse what
    /// cannot run.
    [[nodiscard]] Kernels compile_unplaced(const JitOptions& options) const;

    /// Returns what a relocation that names a function stores; throws INVALID_PTX.
    [[nodiscard]] std::uint64_t function_address(const std::string& name) const;

private:
    Program(ptx::Module module, std::uint32_t sm) : module_(std::move(module)), sm_(sm) {}

    ptx::Module module_;
    std::uint32_t sm_;
    std::vector<passes::GlobalVariable> variables_;
};

} // namespace cuprum::emulator
