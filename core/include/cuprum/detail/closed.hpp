// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

namespace cuprum::detail {

/// Throws ClosedError for an object of this class. Apart, so that a check costs its callers one
/// comparison and no more code than a call.
[[noreturn, gnu::cold]] CUPRUM_API void raise_closed(const char* class_name);

} // namespace cuprum::detail
