// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "stream/deferred_release.hpp"

#include <functional>
#include <utility>

namespace cuprum::detail {

/// A function that a stream calls once, on a thread of the driver. It is destroyed later, by a
/// thread that may call the driver: what it captured may need that.
struct HostFunction final : DeferredRelease {
    explicit HostFunction(std::function<void()> called) noexcept : function(std::move(called)) {}

    std::function<void()> function;
};

/// Calls a HostFunction and defers its release. Reports what it throws as a warning. The driver
/// calls this.
void call_host_function(void* function) noexcept;

} // namespace cuprum::detail
