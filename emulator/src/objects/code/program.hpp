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

/// The code of a module or library, independent of any context. Kernels are compiled once. Each
/// context fills in the addresses of its variables (passes::place_symbols).
class Program {
public:
    using Kernels = std::vector<std::shared_ptr<const bytecode::Kernel>>;
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

    /// Returns all kernels in the order of the source.
    [[nodiscard]] const Kernels& kernels() const noexcept { return kernels_; }

    /// Where kernels stand in kernels().
    struct Places {
        std::unordered_map<std::string_view, std::size_t> by_name; // the kernels hold the names
        std::unordered_map<std::uint64_t, std::size_t> by_address; // as kernels see them
    };

    /// Returns the places of the kernels, which modules keep.
    [[nodiscard]] const std::shared_ptr<const Places>& places() const noexcept { return places_; }

    /// Returns the address of a function that the initial value of a variable names.
    [[nodiscard]] std::uint64_t function_address(const std::string& name) const {
        return functions_.at(name);
    }

private:
    Program() = default;

    std::vector<passes::GlobalVariable> variables_;
    Symbols functions_; // those that initial values name
    Kernels kernels_;
    std::shared_ptr<const Places> places_;
};

} // namespace cuprum::emulator
