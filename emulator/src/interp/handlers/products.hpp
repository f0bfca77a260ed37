// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the handlers of loads with multiply-adds share, for one warp and for all warps of a block.

#pragma once

#include "bytecode/fused_forms.hpp"
#include "interp/handlers/float_common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

/// Returns a chunk of loaded lanes.
[[gnu::always_inline]] inline Vector<float> fetch_lanes(const std::byte* from, bool is_uniform,
                                                        unsigned chunk) {
    return is_uniform ? broadcast<float>(*reinterpret_cast<const Aliased<float>::Value*>(from))
                      : load<float>(from, chunk);
}

/// Computes a multiply-add of two loaded values and its other source. A NaN is not canonical yet.
template <FusedRole ROLE>
[[gnu::always_inline]] inline Vector<float> combine(Vector<float> first, Vector<float> second,
                                                    Vector<float> other) {
    if constexpr (ROLE == FusedRole::Product) {
        return fused(first, second, other);
    } else if constexpr (ROLE == FusedRole::AddsSecond) {
        return fused(first, other, second);
    } else {
        return fused(second, other, first);
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
