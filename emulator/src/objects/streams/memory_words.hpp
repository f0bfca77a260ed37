// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Words of memory that streams and graphs write and wait for.

#pragma once

#include "objects/process/origin.hpp"

#include <cuda.h>

namespace cuprum::emulator {

/// Checks one operation as work of a device; throws INVALID_VALUE.
void check_word_operation(const CUstreamBatchMemOpParams& item, int device);

/// Returns whether an operation waits, so that it may take long.
[[nodiscard]] bool is_wait(const CUstreamBatchMemOpParams& item) noexcept;

/// Returns whether what an operation waits for is there. A report that its memory is gone names
/// `by`, the call that enqueued it, if there is one.
///
/// @throws DriverError ILLEGAL_ADDRESS.
[[nodiscard]] bool is_reached(const CUstreamBatchMemOpParams& item, const Origin& by = {});

/// Does an operation that does not wait.
///
/// @throws DriverError ILLEGAL_ADDRESS.
void perform(const CUstreamBatchMemOpParams& item, const Origin& by = {});

} // namespace cuprum::emulator
