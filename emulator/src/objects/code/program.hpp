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
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace cuprum::emulator {

/// Returns the driver's result code for an image without usable PTX.
[[nodiscard]] CUresult code_of(ImageProblem problem) noexcept;

/// Returns the driver's result code for PTX that is refused.
[[nodiscard]] CUresult code_of(ptx::Problem problem) noexcept;

/// Returns the contents of a file. Throws FILE_NOT_FOUND.
[[nodiscard]] std::string read_file(const char* path);

/// The code of a module or library, independent of any context: parsed, and ready to be compiled.
class Program {
public:
    using Kernels = std::vector<std::shared_ptr<const bytecode::Kernel>>;
    using Symbols = std::unordered_map<std::string, std::uint64_t>;

    /// Finds the PTX in an image and parses it for a device of compute capability `sm`.
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

    /// Compiles all kernels with the variables at these addresses.
    ///
    /// @throws DriverError as load() does.
    [[nodiscard]] Kernels compile(const Symbols& addresses, const JitOptions& options) const;

    /// Compiles all kernels with placeholder addresses for the variables. This finds everything
    /// that cannot run, and collects what programs can query about a kernel without a context.
    [[nodiscard]] Kernels compile_unplaced(const JitOptions& options) const;

    /// Returns the value that a relocation to a function stores. Throws INVALID_PTX.
    [[nodiscard]] std::uint64_t function_address(const std::string& name) const;

    /// Frees the tree, which takes many times the memory of the text. Later users parse the text
    /// again.
    void release_tree() const;

private:
    Program(std::shared_ptr<const ptx::Module> tree, std::uint32_t sm)
        : source_(tree->source), sm_(sm), tree_(std::move(tree)) {}

    [[nodiscard]] std::shared_ptr<const ptx::Module> tree() const;

    std::shared_ptr<const std::string> source_;
    std::uint32_t sm_;
    std::vector<passes::GlobalVariable> variables_;
    mutable std::mutex mutex_;                        // guards tree_
    mutable std::shared_ptr<const ptx::Module> tree_; // nullptr after release_tree()
};

} // namespace cuprum::emulator
