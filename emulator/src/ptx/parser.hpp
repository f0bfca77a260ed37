// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ptx/diagnostics.hpp"
#include "ptx/tree.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace cuprum::emulator::ptx {

/// Parses one PTX module, which keeps `source`.
///
/// The input is untrusted: nesting, sizes and counts are bounded. Errors go to `diagnostics`,
/// several of them rather than only the first. Returns nothing if there was any.
[[nodiscard]] std::optional<Module> parse(std::shared_ptr<const std::string> source,
                                          Diagnostics& diagnostics);

[[nodiscard]] inline std::optional<Module> parse(std::string source, Diagnostics& diagnostics) {
    return parse(std::make_shared<const std::string>(std::move(source)), diagnostics);
}

} // namespace cuprum::emulator::ptx
