// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/program.hpp>

#include <string>
#include <vector>

namespace cuprum::nvvm {

/// Returns a program's options as libNVVM takes them for a target, PTX or LTO-IR.
/// @throws UnsupportedOptionError that lists the options libNVVM does not have.
[[nodiscard]] std::vector<std::string> flags_of(const ProgramOptions& options, CodeType target);

} // namespace cuprum::nvvm
