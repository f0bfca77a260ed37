// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/program.hpp>

#include <string>
#include <vector>

namespace cuprum::nvrtc {

/// Returns a program's options as NVRTC takes them.
/// @throws std::invalid_argument that names a bad value.
[[nodiscard]] std::vector<std::string> flags_of(const ProgramOptions& options);

} // namespace cuprum::nvrtc
