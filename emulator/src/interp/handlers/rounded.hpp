// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// f32 and f64 arithmetic in the directed rounding modes. These are rare. So the processor's
// rounding direction is changed around 32 lanes, instead of using error-free transforms.

#pragma once

#include "interp/handlers/float_common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

template <FloatForm FORM>
const Instruction* rounded(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    using T = FloatOf<FORM.type>;
    constexpr FloatOp OP = FORM.op;
    constexpr bool FLUSHES = FORM.flushes;
    constexpr unsigned count = OP == FloatOp::Fma                          ? 3
                               : OP == FloatOp::Rcp || OP == FloatOp::Sqrt ? 1
                                                                           : 2;
    const auto* const a = lanes_of<T>(warp, at->src[0]);
    const auto* const b = count > 1 ? lanes_of<T>(warp, at->src[1]) : a;
    const auto* const c = count > 2 ? lanes_of<T>(warp, at->src[2]) : a;
    alignas(VECTOR_BYTES) T result[WARP_SIZE];
    {
        // Whether a result counts as subnormal depends on the rounded value before it is
        // denormalised. The flushing of x86 sees that; other processors flush by other rules.
        const RoundingScope scope(FORM.rounding, FLUSHES);
        for (unsigned i = 0; i < WARP_SIZE; ++i) {
            T x = a[i];
            T y = b[i];
            T z = c[i];
            if constexpr (FLUSHES) {
                x = flush(x);
                y = flush(y);
                z = flush(z);
            }
            result[i] = compute<OP>(x, y, z);
#if !defined(__x86_64__)
            if constexpr (FLUSHES) {
                result[i] = flush_smallest_normal<OP>(result[i], x, y, z);
            }
#endif
        }
        scope.keep(result);
    }
    for (unsigned i = 0; i < WARP_SIZE; ++i) {
        T value = result[i];
        if constexpr (FLUSHES) {
            value = flush(value);
        }
        result[i] = FORM.is_saturating ? saturate(value) : canonical(value);
    }
    store_lanes<T>(locate(warp, at->dst[0]), result, mask);
    return at + 1;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
