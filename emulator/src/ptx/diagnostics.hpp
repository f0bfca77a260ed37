// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ptx/tree.hpp"

#include <string>
#include <vector>

namespace cuprum::emulator::ptx {

/// What kind of refusal a diagnostic is: it decides the driver's result code.
enum class Problem : std::uint8_t {
    Syntax,      // CUDA_ERROR_INVALID_PTX
    Unsupported, // CUDA_ERROR_NOT_SUPPORTED: real PTX that this device does not run
    Version,     // CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    Target,      // CUDA_ERROR_NO_BINARY_FOR_GPU: PTX for a newer device than this one
};

/// One complaint about a module.
struct Diagnostic {
    Problem problem = Problem::Syntax;
    Location location;
    std::string message; // "unknown instruction 'fooo.f32'"
};

/// Collects complaints, up to a bound, in source order.
class Diagnostics {
public:
    static constexpr std::size_t MAX_COUNT = 20;

    /// Records a complaint; repeated ones, and any once MAX_COUNT is reached, are dropped.
    void report(Problem problem, Location location, std::string message);

    [[nodiscard]] bool is_empty() const noexcept { return items_.empty(); }

    [[nodiscard]] bool is_full() const noexcept { return items_.size() >= MAX_COUNT; }

    [[nodiscard]] const std::vector<Diagnostic>& items() const noexcept { return items_; }

    /// Returns all complaints as text, one per line: "ptx:12:5: error: unknown instruction
    /// 'fooo.f32'".
    [[nodiscard]] std::string to_text() const;

private:
    std::vector<Diagnostic> items_;
};

} // namespace cuprum::emulator::ptx
