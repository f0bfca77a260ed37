// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// f32 and f64 arithmetic in the directed rounding modes. These are rare. So the processor's
// rounding direction is changed around 32 lanes, instead of using error-free transforms.

#include "interp/handlers/float_common.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

template <FloatOp OP, typename T>
[[gnu::always_inline]] inline T compute(T a, T b, T c) {
    switch (OP) {
    case FloatOp::Add:
        return a + b;
    case FloatOp::Sub:
        return a - b;
    case FloatOp::Mul:
        return a * b;
    case FloatOp::Fma:
        return fused(a, b, c);
    case FloatOp::Div:
        return a / b;
    case FloatOp::Rcp:
        return T{1} / a;
    default:
        return root(a);
    }
}

template <FloatOp OP, typename T, bool FLUSHES, bool SATURATES, Rounding ROUNDING>
const Instruction* rounded(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
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
        const RoundingScope scope(ROUNDING, FLUSHES);
        for (unsigned i = 0; i < WARP_SIZE; ++i) {
            T x = a[i];
            T y = b[i];
            T z = c[i];
            if constexpr (FLUSHES) {
                x = flush(x);
                y = flush(y);
                z = flush(z);
            }
            result[i] = compute<OP, T>(x, y, z);
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
        result[i] = SATURATES ? saturate(value) : canonical(value);
    }
    store_lanes<T>(locate(warp, at->dst[0]), result, mask);
    return at + 1;
}

template <FloatOp OP, Rounding ROUNDING>
Handler select_flags(const FloatForm& form) {
    if (form.type == ptx::Type::F64) {
        return form.flushes || form.is_saturating ? nullptr
                                                  : rounded<OP, double, false, false, ROUNDING>;
    }
    if (form.flushes) {
        return form.is_saturating ? rounded<OP, float, true, true, ROUNDING>
                                  : rounded<OP, float, true, false, ROUNDING>;
    }
    return form.is_saturating ? rounded<OP, float, false, true, ROUNDING>
                              : rounded<OP, float, false, false, ROUNDING>;
}

template <FloatOp OP>
Handler select_direction(const FloatForm& form) {
    switch (form.rounding) {
    case Rounding::Down:
        return select_flags<OP, Rounding::Down>(form);
    case Rounding::Up:
        return select_flags<OP, Rounding::Up>(form);
    case Rounding::Zero:
        return select_flags<OP, Rounding::Zero>(form);
    default:
        return nullptr;
    }
}

} // namespace

Handler select_rounded(const FloatForm& form) {
    switch (form.op) {
    case FloatOp::Add:
        return select_direction<FloatOp::Add>(form);
    case FloatOp::Sub:
        return select_direction<FloatOp::Sub>(form);
    case FloatOp::Mul:
        return select_direction<FloatOp::Mul>(form);
    case FloatOp::Fma:
        return select_direction<FloatOp::Fma>(form);
    case FloatOp::Div:
        return select_direction<FloatOp::Div>(form);
    case FloatOp::Rcp:
        return select_direction<FloatOp::Rcp>(form);
    case FloatOp::Sqrt:
        return select_direction<FloatOp::Sqrt>(form);
    default:
        return nullptr;
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
