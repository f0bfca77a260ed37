// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bit>
#include <cstdint>

namespace cuprum::emulator {

/// Calls `visit` for every lane in a mask, lowest first.
template <typename Visit>
void for_each_lane(std::uint32_t mask, Visit visit) {
    for (; mask != 0; mask &= mask - 1) {
        visit(static_cast<std::uint32_t>(std::countr_zero(mask)));
    }
}

/// A lane's value in storage that may have held values of other types.
template <typename T>
struct Aliased {
    typedef T Value __attribute__((may_alias));
};

} // namespace cuprum::emulator
