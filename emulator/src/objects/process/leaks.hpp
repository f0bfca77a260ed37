// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace cuprum::emulator {

/// Lists the objects and the memory that the program has not released, by kind, each with the call
/// that made it. Empty if there are none.
///
/// Primary contexts, default pools and objects of a module or library are not listed.
[[nodiscard]] std::string list_leaks();

} // namespace cuprum::emulator
