// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "passes/build.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cuprum::emulator::passes {

/// How often the code of a kernel reads and writes its registers, and where it jumps to. Valid
/// while passes only move instructions between jump targets.
class Uses {
public:
    explicit Uses(KernelBuild& build);

    /// Returns whether an operand is a register with one writer and one reader.
    [[nodiscard]] bool is_used_once(bytecode::Operand operand) const;

    /// Returns whether code may jump to an instruction.
    [[nodiscard]] bool is_target(std::size_t index) const { return is_target_[index]; }

private:
    std::vector<std::uint32_t> reads_;
    std::vector<std::uint32_t> writes_;
    std::vector<bool> is_target_;
};

} // namespace cuprum::emulator::passes
