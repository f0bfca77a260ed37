// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

namespace cuprum {
class Event;
class Stream;
} // namespace cuprum

namespace cuprum::detail {

/// Throws ClosedError for an object of this class. It is a separate function, so that a check adds
/// only a comparison and a call to its callers.
[[noreturn, gnu::cold]] CUPRUM_API void raise_closed(const char* class_name);

/// Throws ClosedError for an object that a reset of its device destroyed.
[[noreturn, gnu::cold]] CUPRUM_API void raise_lost(const char* class_name);

/// Returns whether a reset of its device destroyed an object. Such an object can be dropped or
/// closed, but not used.
[[nodiscard]] CUPRUM_API bool is_lost(const Stream& stream) noexcept;
[[nodiscard]] CUPRUM_API bool is_lost(const Event& event) noexcept;

} // namespace cuprum::detail
