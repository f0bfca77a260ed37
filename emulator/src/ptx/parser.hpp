// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ptx/diagnostics.hpp"
#include "ptx/tree.hpp"

#include <optional>
#include <string>

namespace cuprum::emulator::ptx {

/// Parses one PTX module.
///
/// The input is untrusted: nesting, sizes and counts are bounded, and whatever is wrong with it
/// ends in `diagnostics`. Collects several errors rather than stopping at the first; returns
/// nothing when there was any.
[[nodiscard]] std::optional<Module> parse(std::string source, Diagnostics& diagnostics);

} // namespace cuprum::emulator::ptx
