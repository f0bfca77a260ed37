// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda.h>

namespace cuprum::driver {

/// Returns whether a handle means the legacy default stream, which null does too.
[[nodiscard]] inline bool is_legacy_default_stream(CUstream stream) noexcept {
    return stream == nullptr || stream == CU_STREAM_LEGACY;
}

/// Returns whether a handle means a default stream of whichever context is current.
[[nodiscard]] inline bool is_default_stream(CUstream stream) noexcept {
    return is_legacy_default_stream(stream) || stream == CU_STREAM_PER_THREAD;
}

} // namespace cuprum::driver
