// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

#include <functional>
#include <string_view>

namespace cuprum {

/// What a warning is about.
enum class WarningKind {
    Release,        // a driver object could not be released; it may leak
    Degraded,       // something works in a lesser way than asked for
    Deprecated,     // a form that will go away
    EmulatedDevice, // no GPU was found, the emulated device is used
    HostFunction,   // a function that a stream called threw
};

/// Receives every warning of the library. Must not throw; may be called from any thread, also from
/// destructors.
using WarningHandler = std::function<void(WarningKind kind, std::string_view message)>;

/// Replaces the warning handler and returns the previous one. Without a handler, warnings are
/// written to stderr, one line each.
CUPRUM_API WarningHandler set_warning_handler(WarningHandler handler);

} // namespace cuprum
