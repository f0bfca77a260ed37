// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "program/program_state.hpp"

#include <memory>

namespace cuprum::detail {

/// Returns a compilation that holds a program's modules and was not run yet.
[[nodiscard]] std::unique_ptr<nvvm::Compilation> start_nvvm(const ProgramState& state,
                                                            CodeType target);

/// Compiles a program in NVVM IR.
/// @throws NVVMError with log and options.
[[nodiscard]] Compiled compile_nvvm(const ProgramState& state, CodeType target);

} // namespace cuprum::detail
