// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Functions of LTO-IR that PTX calls. NVIDIA's nvJitLink sees only the LTO-IR here, so it would
// remove them as unused.

#pragma once

#include <set>
#include <string>
#include <string_view>

namespace cuprum::emulator::compilers {

/// Returns the functions that PTX declares and does not define, without those of the device.
[[nodiscard]] std::set<std::string> external_functions(std::string_view ptx);

/// Returns LTO-IR that uses the functions, or nothing if NVRTC does not compile it. `major` is the
/// version of CUDA, `sm` the device, such as 90.
[[nodiscard]] std::string use_of(const std::set<std::string>& functions, int major, unsigned sm);

/// Returns PTX in which other modules can call the functions. nvJitLink makes them private.
[[nodiscard]] std::string with_visible(std::string_view ptx,
                                       const std::set<std::string>& functions);

} // namespace cuprum::emulator::compilers
