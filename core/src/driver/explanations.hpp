// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/library.hpp"

#include <cuda.h>

#include <cstddef>
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

/// Returns whether a code reports failed work on the device rather than a failed call.
[[nodiscard]] bool is_about_device_work(int code) noexcept;

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

// Drivers since CUDA 12.9 log what is wrong with a call. Each thread keeps the messages until the
// error for the failed call is made, which takes them.

/// Subscribes to the driver's log, once. Does nothing if it has none.
void attach_error_log(const DriverLibrary& driver) noexcept;

/// Keeps one message of the log for the calling thread. The driver calls this.
void keep_message(void* data, CUlogLevel level, char* message, std::size_t length) noexcept;

/// Returns the messages of the last failed call on the calling thread, one per line, and drops
/// everything up to them. Empty if that call was another function than `call`.
[[nodiscard]] std::string take_error_log(std::string_view call);

} // namespace cuprum::driver
