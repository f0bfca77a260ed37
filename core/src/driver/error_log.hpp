// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Drivers since CUDA 12.9 log what is wrong with a call. Each thread keeps the messages until the
// error for the failed call is made, which takes them.

#pragma once

#include "driver/library.hpp"

#include <cuda.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace cuprum::driver {

/// Subscribes to the driver's log, once. Does nothing if it has none.
void attach_error_log(const DriverLibrary& driver) noexcept;

/// Keeps one message of the log for the calling thread. The driver calls this.
void keep_message(void* data, CUlogLevel level, char* message, std::size_t length) noexcept;

/// Returns the messages of the last failed call on the calling thread, one per line, and drops
/// everything up to them. Empty if that call was another function than `call`.
[[nodiscard]] std::string take_error_log(std::string_view call);

} // namespace cuprum::driver
