// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What kernels print. It is gathered and written when a kernel ends, as a device would: a call that
// waits for a kernel returns after its output.

#pragma once

#include <string_view>

namespace cuprum::emulator::builtins {

/// Adds to the output; one call's text stays together. Blocks only when much has been gathered.
void write_output(std::string_view text);

/// Writes what has been gathered to the standard output and flushes that.
void flush_output() noexcept;

} // namespace cuprum::emulator::builtins
