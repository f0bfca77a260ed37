// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

#include <memory>

namespace cuprum::detail {

/// Tells whether a host function of a stream is running on the calling thread: the driver must not
/// be called.
[[nodiscard]] CUPRUM_API bool is_in_host_function() noexcept;

/// Keeps an object that a host function gave up, whose end calls the driver, until another thread
/// synchronises a stream or launches a host function.
CUPRUM_API void keep_for_later(std::shared_ptr<void> object);

} // namespace cuprum::detail
