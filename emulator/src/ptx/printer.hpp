// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ptx/tree.hpp"

#include <string>

namespace cuprum::emulator::ptx {

/// Returns a module as PTX text.
///
/// Parsing the text gives the same tree again, except for locations. Comments, pragmas, debug
/// sections and the notation of constants are lost, because the tree does not hold them.
[[nodiscard]] std::string to_text(const Module& module);

/// Returns one variable as it is declared, without the semicolon.
[[nodiscard]] std::string to_text(const Variable& variable);

/// Returns one instruction on one line, with its guard and its semicolon.
[[nodiscard]] std::string to_text(const Instruction& instruction);

} // namespace cuprum::emulator::ptx
