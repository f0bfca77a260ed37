// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/warning.hpp>

#include <string_view>

namespace cuprum::detail {

/// Sends a warning to the handler, or to stderr if there is none. Never throws.
///
/// NOTE: hold no lock while calling it: a handler may wait for a lock of its own, such as Python's.
void warn(WarningKind kind, std::string_view message) noexcept;

} // namespace cuprum::detail
