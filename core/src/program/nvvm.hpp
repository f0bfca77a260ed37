// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "libraries/nvvm.hpp"

#include <cuprum/program.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace cuprum::nvvm {

/// Returns CUDA's library of mathematical functions as bitcode. Reads it once, from beside libNVVM,
/// from Python's packages or from the toolkit.
/// @throws LibraryNotFoundError that lists where it was searched for.
[[nodiscard]] const std::string& libdevice();

/// One compilation: an nvvmProgram that lives as long as this object.
class Compilation {
public:
    /// Every error of this object holds the options.
    [[nodiscard]] explicit Compilation(std::vector<std::string> options);
    ~Compilation();
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

    /// Adds IR, as text or bitcode. `name` is its name in the log.
    void add(const std::string& code, const std::string& name);
    /// Adds IR of which the result contains only the parts that are used.
    void add_library(const std::string& code, const std::string& name);

    /// Verifies, compiles and returns the log.
    /// @throws NVVMError with log and options.
    std::string run();

    /// Returns PTX, without its final NUL, or LTO-IR. Call it after run().
    [[nodiscard]] std::vector<std::byte> result() const;

    [[nodiscard]] nvvmProgram get() const noexcept { return program_; }

private:
    void check(nvvmResult status, const char* call) const;
    [[nodiscard]] std::string log() const;

    nvvmProgram program_ = nullptr;
    std::vector<std::string> options_;
};

/// Returns the versions of libNVVM and of its IR, such as "2.0, IR 2.0".
[[nodiscard]] std::string version();

/// Returns a program's options as libNVVM takes them for a target, PTX or LTO-IR.
/// @throws UnsupportedOptionError that lists the options libNVVM does not have.
[[nodiscard]] std::vector<std::string> flags_of(const ProgramOptions& options, CodeType target);

} // namespace cuprum::nvvm
