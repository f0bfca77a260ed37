// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/table.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/detail/closed.hpp>
#include <cuprum/error.hpp>

#include <memory>

namespace cuprum::detail {

/// A state whose driver object a device reset can destroy: see ContextState::reset_count.
template <typename State>
concept BoundToContext = requires(const State& state) { state.is_lost(); };

/// Returns the state that a handle shares, without checking for resets.
/// @throws ClosedError, naming the class, if it was closed.
template <typename State>
[[nodiscard]] inline State& unclosed(const std::shared_ptr<State>& state, const char* what) {
    if (state == nullptr) [[unlikely]] {
        raise_closed(what);
    }
    return *state;
}

/// Returns the driver's handle of an object, which compares and hashes by it; null once it is
/// closed.
template <typename T>
[[nodiscard]] inline auto handle_or_null(const T& object) noexcept {
    const auto& state = Access::state(object);
    return state == nullptr ? nullptr : state->handle;
}

/// Checks that no device reset destroyed an object. Costs one load until the first reset.
/// @throws ClosedError, naming the class.
template <BoundToContext State>
inline void check_not_lost(const State& held, const char* what) {
    if (driver::detail::process_flags.was_reset.load(std::memory_order_relaxed) && held.is_lost())
        [[unlikely]] {
        raise_lost(what);
    }
}

/// Returns the state that a handle shares, to use it.
/// @throws ClosedError, naming the class, if it was closed, or destroyed by a device reset.
template <typename State>
[[nodiscard]] inline State& open(const std::shared_ptr<State>& state, const char* what) {
    State& held = unclosed(state, what);
    if constexpr (BoundToContext<State>) {
        check_not_lost(held, what);
    }
    return held;
}

} // namespace cuprum::detail
