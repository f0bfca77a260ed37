// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Selects handlers of the current instruction-set level by form.

#pragma once

#include "bytecode/instruction.hpp"

#include <span>

namespace cuprum::emulator {

/// Returns the handler of an instruction for plain registers; nullptr if there is none at this
/// level, and for Family::Fixed, whose handlers belong to no level.
[[nodiscard]] bytecode::Handler plain_handler(const bytecode::Form& form);

/// Returns the handler of an instruction for linear registers; nullptr if there is none.
[[nodiscard]] bytecode::Handler linear_handler(const bytecode::Form& form);

/// Returns the handler that runs two loads and a multiply-add; nullptr if there is none. `first`
/// has the variant that fuse_loads has chosen.
[[nodiscard]] bytecode::Handler fused_handler(const bytecode::Form& first,
                                              const bytecode::Form& second);

/// Returns the handler that runs two f32 instructions (Variant::FusedPair).
[[nodiscard]] bytecode::Handler pair_handler(const bytecode::Instruction& first,
                                             const bytecode::Instruction& second);

/// Returns the handler that runs the first instruction of `code` for all warps of a block; nullptr
/// if the warps must run it alone.
[[nodiscard]] bytecode::LockstepHandler
lockstep_handler(std::span<const bytecode::Instruction> code);

/// Returns whether the emulated device can run a form.
[[nodiscard]] inline bool is_supported(const bytecode::Form& form) {
    return form.family() == bytecode::Family::Fixed || plain_handler(form) != nullptr;
}

} // namespace cuprum::emulator
