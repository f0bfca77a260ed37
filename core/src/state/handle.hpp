// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/closed.hpp>
#include <cuprum/error.hpp>

#include <memory>

namespace cuprum::detail {

/// Returns what a handle shares.
/// @throws ClosedError, naming the class, if it was closed.
template <typename State>
[[nodiscard]] inline State& open(const std::shared_ptr<State>& state, const char* what) {
    if (state == nullptr) [[unlikely]] {
        raise_closed(what);
    }
    return *state;
}

} // namespace cuprum::detail
