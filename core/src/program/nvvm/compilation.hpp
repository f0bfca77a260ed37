// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "libraries/nvvm/table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cuprum::nvvm {

/// One compilation: an nvvmProgram that lives as long as this object.
class Compilation {
public:
    /// The options are those of every error from here on.
    [[nodiscard]] explicit Compilation(std::vector<std::string> options);
    ~Compilation();
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

    /// Adds IR, as text or bitcode. `name` is what the log calls it.
    void add(const std::string& code, const std::string& name);
    /// Adds IR of which only what is used gets into the result.
    void add_library(const std::string& code, const std::string& name);

    /// Verifies, compiles and returns the log.
    /// @throws NVVMError with log and options.
    std::string run();

    /// Returns PTX, without its final NUL, or LTO-IR. After run().
    [[nodiscard]] std::vector<std::byte> result() const;

    [[nodiscard]] nvvmProgram get() const noexcept { return program_; }

private:
    void check(nvvmResult status, const char* call) const;
    [[nodiscard]] std::string log() const;

    nvvmProgram program_ = nullptr;
    std::vector<std::string> options_;
};

/// Returns libNVVM's version and that of the IR it takes, such as "2.0, IR 2.0".
[[nodiscard]] std::string version();

} // namespace cuprum::nvvm
