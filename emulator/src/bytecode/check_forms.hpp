// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bytecode/form.hpp"

namespace cuprum::emulator::bytecode {

/// Returns whether an instruction belongs to the checks (check/handlers.hpp).
///
/// It stands beside the PTX instruction that it checks and shares its text, but has no effect that
/// the kernel could notice. Whatever judges instructions by their effects must ask for it first.
[[nodiscard]] inline bool is_check(const Form& form) {
    return form.family() == Family::Fixed && form.as<FixedOp>() >= FixedOp::CheckAccess &&
           form.as<FixedOp>() <= FixedOp::CheckOrderProducts;
}

} // namespace cuprum::emulator::bytecode
