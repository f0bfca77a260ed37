// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/table.hpp"

#include <cuprum/detail/closed.hpp>
#include <cuprum/error.hpp>

#include <memory>

namespace cuprum::detail {

/// A driver object that may be gone before its state is: see ContextState::reset_count.
template <typename State>
concept BoundToContext = requires(const State& state) { state.is_lost(); };

/// Returns what a handle shares, be it only to give it up.
/// @throws ClosedError, naming the class, if it was closed.
template <typename State>
[[nodiscard]] inline State& unclosed(const std::shared_ptr<State>& state, const char* what) {
    if (state == nullptr) [[unlikely]] {
        raise_closed(what);
    }
    return *state;
}

/// Sees to it that what is about to be used did not go with a reset. Costs one load while there was
/// none.
/// @throws ClosedError, naming the class.
template <BoundToContext State>
inline void check_not_lost(const State& held, const char* what) {
    if (driver::detail::process_flags.was_reset.load(std::memory_order_relaxed) && held.is_lost())
        [[unlikely]] {
        raise_lost(what);
    }
}

/// Returns what a handle shares, to use it.
/// @throws ClosedError, naming the class, if it was closed or went with the reset of its device.
template <typename State>
[[nodiscard]] inline State& open(const std::shared_ptr<State>& state, const char* what) {
    State& held = unclosed(state, what);
    if constexpr (BoundToContext<State>) {
        check_not_lost(held, what);
    }
    return held;
}

} // namespace cuprum::detail
