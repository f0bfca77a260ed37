// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What kernels print. As on a device, the output is buffered and written when a kernel ends: a call
// that waits for a kernel returns after its output appears.

#pragma once

#include <string_view>

namespace cuprum::emulator::builtins {

/// Appends to the output; the text of one call stays together. Blocks only if the buffer is full.
void write_output(std::string_view text);

/// Writes the buffered output to the standard output and flushes it.
void flush_output() noexcept;

} // namespace cuprum::emulator::builtins
