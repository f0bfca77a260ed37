// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

namespace cuprum {

class Event;
class Stream;

namespace detail {

/// Records an event as `Stream::record` does, unless it is one that other processes know: says no
/// then. One step for bindings, which let such events be recorded once only.
/// @throws ClosedError, CUDAError.
[[nodiscard]] CUPRUM_API bool record_unless_shared(const Stream& stream, const Event& event);

} // namespace detail

} // namespace cuprum
