// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "jit/plugin.hpp"

#include <string>

namespace cuprum::emulator::jit {

/// Returns the compiler, which is opened at the first call. Returns null if it cannot be used.
[[nodiscard]] const Plugin* plugin();

/// Returns why plugin() returns null, or an empty string.
[[nodiscard]] std::string plugin_problem();

/// Returns what differs between builds of the compiler; empty if that is unknown.
[[nodiscard]] const std::string& plugin_build();

} // namespace cuprum::emulator::jit
