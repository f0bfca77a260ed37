// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace cuprum::emulator {

/// Lists the objects and the memory that the program has made and not given back, by kind, each
/// with the call that made it. Empty when there are none.
///
/// Primary contexts, default pools and what belongs to a module or library are not counted.
[[nodiscard]] std::string list_leaks();

} // namespace cuprum::emulator
