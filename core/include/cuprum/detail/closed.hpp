// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

namespace cuprum {
class Event;
class Stream;
} // namespace cuprum

namespace cuprum::detail {

/// Throws ClosedError for an object of this class. Apart, so that a check costs its callers one
/// comparison and no more code than a call.
[[noreturn, gnu::cold]] CUPRUM_API void raise_closed(const char* class_name);

/// Throws ClosedError for an object that went with the reset of its device.
[[noreturn, gnu::cold]] CUPRUM_API void raise_lost(const char* class_name);

/// Tells whether an object went with the reset of its device. It can be dropped or closed, but not
/// be used.
[[nodiscard]] CUPRUM_API bool is_lost(const Stream& stream) noexcept;
[[nodiscard]] CUPRUM_API bool is_lost(const Event& event) noexcept;

} // namespace cuprum::detail
