// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>

namespace cuprum {
class Buffer;
class Stream;
} // namespace cuprum

namespace cuprum::detail {

/// Holds back later work on one stream until what another holds now is done: for streams that are
/// known by their handles only. Null is the legacy default stream. Returns at once.
/// @throws CUDAError, also if both are default streams and no context is current.
CUPRUM_API void order_streams(CUstream consumer, CUstream producer);

/// Holds back later work on a stream until what the stream that a buffer will be freed on holds now
/// is done; false if there is none. A default stream is the one of the buffer's context, whatever
/// is current; another thread's cannot be named, and the legacy default stream stands in for it.
CUPRUM_API bool order_after(CUstream consumer, const Buffer& memory);

/// Returns whether work on a stream joins a stream capture.
[[nodiscard]] CUPRUM_API bool is_capturing(CUstream stream);
[[nodiscard]] CUPRUM_API bool is_capturing(const Stream& stream);

} // namespace cuprum::detail
