// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

#include <memory>

namespace cuprum::detail {

/// Returns whether the calling thread runs a host function of a stream: it must not call the
/// driver.
[[nodiscard]] CUPRUM_API bool is_in_host_function() noexcept;

/// Marks the calling thread as running a host function, for a scope.
class CUPRUM_API HostFunctionScope {
public:
    [[nodiscard]] HostFunctionScope() noexcept;
    ~HostFunctionScope();
    HostFunctionScope(const HostFunctionScope&) = delete;
    HostFunctionScope& operator=(const HostFunctionScope&) = delete;
};

/// Keeps a share of an object until a thread that may call the driver releases it: the next one
/// that synchronises or launches a host function.
CUPRUM_API void defer_release(std::shared_ptr<void> object);

/// Returns whether a synchronisation would release something, for callers that skip the wait.
[[nodiscard]] CUPRUM_API bool has_deferred_releases() noexcept;

/// Sets a function that is called whenever a graph has given something up that waits for its
/// release. It runs on any thread, possibly inside the driver, so it must not call CUDA. Null sets
/// none.
CUPRUM_API void set_payload_hook(void (*hook)() noexcept) noexcept;

/// Returns whether something that a graph gave up waits for its release, or for the end of a
/// launch.
[[nodiscard]] CUPRUM_API bool has_released_payloads() noexcept;

/// Releases what graphs have given up and no launch uses. Does not wait for streams.
CUPRUM_API void release_payloads() noexcept;

} // namespace cuprum::detail
