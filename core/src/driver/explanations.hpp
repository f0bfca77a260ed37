// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda.h>

#include <string>
#include <string_view>
#include <vector>

namespace cuprum::driver {

/// Returns the name of a result code, or null if this library does not know it. Needs no driver.
[[nodiscard]] const char* known_name(CUresult code) noexcept;

/// Returns the name of a result code, such as "CUDA_ERROR_INVALID_VALUE". Asks the driver for codes
/// newer than this library.
[[nodiscard]] std::string name_of(CUresult code);

/// Returns what a code means and what to do: this library's sentence for common codes, else the
/// driver's text.
[[nodiscard]] std::string explanation_of(CUresult code);

/// Returns how to go on after failed work on the device has made a context unusable.
[[nodiscard]] std::string way_out_of_fault();

/// Notes that the program enabled peer access, which does not cover memory of pools: errors about
/// addresses say so from now on.
void note_peer_access() noexcept;

/// Notes a failure of work on the device. Returns the call that reported the same failure before,
/// empty if none did. The driver returns a failure from nearly every later call.
[[nodiscard]] std::string reported_before(int code, const std::string& call,
                                          const std::vector<std::string>& in_flight,
                                          std::string_view driver_log);

/// Forgets the failure, since a reset of the device ended it.
void forget_fault() noexcept;

} // namespace cuprum::driver
