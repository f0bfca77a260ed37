// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "program/program_state.hpp"

namespace cuprum::detail {

/// Returns a linker that holds a program's PTX.
[[nodiscard]] Linker linker_for(const ProgramState& state);

/// Compiles a program in PTX.
/// @throws LinkerError with log and options.
[[nodiscard]] Compiled compile_ptx(const ProgramState& state, CodeType target);

} // namespace cuprum::detail
