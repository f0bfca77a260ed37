// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Words of memory that streams and graphs write and wait for.

#pragma once

#include <cuda.h>

namespace cuprum::emulator {

/// Checks one operation as work of a device; throws INVALID_VALUE.
void check_word_operation(const CUstreamBatchMemOpParams& item, int device);

/// Returns whether an operation waits, so that it may take long.
[[nodiscard]] bool is_wait(const CUstreamBatchMemOpParams& item) noexcept;

/// Returns whether what an operation waits for is there.
[[nodiscard]] bool is_reached(const CUstreamBatchMemOpParams& item);

/// Does an operation that does not wait.
void perform(const CUstreamBatchMemOpParams& item);

} // namespace cuprum::emulator
