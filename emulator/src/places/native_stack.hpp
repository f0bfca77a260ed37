// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cuprum::emulator::places {

/// Writes the addresses of the current thread's calls, innermost first, without this library's own.
/// Returns how many there are. Uses only the unwinder.
[[nodiscard]] std::size_t capture_native(std::span<std::uintptr_t> frames) noexcept;

/// Names frames as "in load(int)+0x1c (/home/me/app+0x11f5)": the function, and the place in the
/// file in the form that addr2line -e takes. A frame without a symbol is "at /home/me/app+0x11f5".
///
/// Returns at most `most` frames, as far as possible from the program's own code. Leaves out frames
/// of Cuprum, the system's libraries and the Python interpreter. If `is_python` is set, the Python
/// line is known, and frames of installed Python packages are left out too.
[[nodiscard]] std::vector<std::string> name_native(std::span<const std::uintptr_t> frames,
                                                   std::size_t most, bool is_python);

/// Names the library that calls the driver: "cuBLAS (libcublasLt.so.13)", "libmine.so" or "the
/// Python package cupy". Returns an empty string if it is the program itself, or not known.
[[nodiscard]] std::string calling_library();

/// Returns the file that calls the driver directly, as the loader names it; empty if not known.
[[nodiscard]] std::string calling_file();

} // namespace cuprum::emulator::places
