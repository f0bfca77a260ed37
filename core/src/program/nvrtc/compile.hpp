// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "program/program_state.hpp"

#include <span>
#include <string>

namespace cuprum::detail {

/// Compiles a program in C++. If `keeps_debug_source`, a program that is compiled for debuggers
/// gets a source file.
/// @throws NVRTCError with log, options and advice.
[[nodiscard]] Compiled compile_cxx(ProgramState& state, CodeType target,
                                   std::span<const std::string> name_expressions,
                                   bool keeps_debug_source);

} // namespace cuprum::detail
