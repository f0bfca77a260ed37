// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Drivers since CUDA 12.9 write to a log what they found wrong with a call. It is kept for each
// thread until the error that the call returns is made, and becomes part of that.

#pragma once

#include "driver/library.hpp"

#include <cuda.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace cuprum::driver {

/// Asks a driver for its log, once; does nothing if it has none.
void attach_error_log(const DriverLibrary& driver) noexcept;

/// Keeps one message of the log, for the calling thread. The driver calls it.
void keep_message(void* data, CUlogLevel level, char* message, std::size_t length) noexcept;

/// Returns what the last failed call of the calling thread wrote, a message a line, and forgets
/// that and everything before it. Nothing, if that was another function than `call`.
[[nodiscard]] std::string take_error_log(std::string_view call);

} // namespace cuprum::driver
