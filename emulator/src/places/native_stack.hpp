// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cuprum::emulator::places {

/// Writes the addresses of the calls that the current thread is in, the innermost first and this
/// library's own left out. Returns how many there are. Reads the stack through the unwinder alone.
[[nodiscard]] std::size_t capture_native(std::span<std::uintptr_t> frames) noexcept;

/// Names frames as "in load(int)+0x1c (/home/me/app+0x11f5)": function, and the place in the file
/// that addr2line -e takes; without a symbol as "at /home/me/app+0x11f5".
///
/// At most `most` are returned, from the program's own code as far as can be told: those of
/// Cuprum, of the system's libraries and of the Python interpreter are left out, and for a caller
/// who knows the place in Python (`is_python`) those of packages that were installed for it.
[[nodiscard]] std::vector<std::string> name_native(std::span<const std::uintptr_t> frames,
                                                   std::size_t most, bool is_python);

} // namespace cuprum::emulator::places
