// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ptx/tree.hpp"

#include <string>
#include <vector>

namespace cuprum::emulator::ptx {

/// Why a module is refused; the driver's result code follows from it.
enum class Problem : std::uint8_t {
    Syntax,      // CUDA_ERROR_INVALID_PTX
    Unsupported, // CUDA_ERROR_NOT_SUPPORTED: real PTX that this device does not run
    Target,      // CUDA_ERROR_INVALID_PTX: PTX for a newer device than this one
    Memory,      // CUDA_ERROR_OUT_OF_MEMORY: the variables need more than the device has
};

/// One error in a module.
struct Diagnostic {
    Problem problem = Problem::Syntax;
    Location location;
    std::string message; // "unknown instruction 'fooo.f32'"
};

/// The errors of a module in source order, at most MAX_COUNT.
class Diagnostics {
public:
    static constexpr std::size_t MAX_COUNT = 20;

    /// Records an error. Drops repeated ones, and all once MAX_COUNT is reached.
    void report(Problem problem, Location location, std::string message);

    [[nodiscard]] bool is_empty() const noexcept { return items_.empty(); }

    [[nodiscard]] bool is_full() const noexcept { return items_.size() >= MAX_COUNT; }

    [[nodiscard]] const std::vector<Diagnostic>& items() const noexcept { return items_; }

    /// Returns all errors as text, one per line: "ptx:12:5: error: unknown instruction
    /// 'fooo.f32'".
    [[nodiscard]] std::string to_text() const;

private:
    std::vector<Diagnostic> items_;
};

} // namespace cuprum::emulator::ptx
