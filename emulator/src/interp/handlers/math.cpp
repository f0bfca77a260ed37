// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reciprocals, roots and the approximate functions.
//
// A GPU computes the approximate ones in its own tables, to about 1 or 2 units in the last place;
// here they are computed in double precision and rounded once, which stays inside those bounds and
// is never bit-equal on purpose.

#include "interp/handlers/float_common.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

template <FloatOp OP>
float evaluate(float a) {
    switch (OP) {
    case FloatOp::Rcp:
        return 1.0f / a;
    case FloatOp::Sqrt:
        return root(a);
    case FloatOp::Rsqrt:
        return static_cast<float>(1.0 / root(static_cast<double>(a)));
    case FloatOp::Sin:
        return static_cast<float>(__builtin_sin(static_cast<double>(a)));
    case FloatOp::Cos:
        return static_cast<float>(__builtin_cos(static_cast<double>(a)));
    case FloatOp::Lg2:
        return static_cast<float>(__builtin_log2(static_cast<double>(a)));
    case FloatOp::Ex2:
        return static_cast<float>(__builtin_exp2(static_cast<double>(a)));
    default:
        return static_cast<float>(__builtin_tanh(static_cast<double>(a)));
    }
}

template <FloatOp OP>
double evaluate(double a) {
    switch (OP) {
    case FloatOp::Rcp:
        return 1.0 / a;
    case FloatOp::Sqrt:
        return root(a);
    default:
        return 1.0 / root(a);
    }
}

template <FloatOp OP, typename T, bool FLUSHES>
struct Function {
    static T apply(T a) {
        if constexpr (FLUSHES) {
            return canonical(flush(evaluate<OP>(flush(a))));
        } else {
            return canonical(evaluate<OP>(a));
        }
    }
};

/// Library calls: only for the lanes that ask.
template <FloatOp OP, bool FLUSHES>
const Instruction* call_library(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto* const from = lanes_of<float>(warp, at->src[0]);
    auto* const to = lanes_of<float>(warp, at->dst[0]);
    for_each_lane(
        mask, [&](unsigned lane) { to[lane] = Function<OP, float, FLUSHES>::apply(from[lane]); });
    return at + 1;
}

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: only the upper halves count.
template <FloatOp OP>
struct UpperHalf {
    static double apply(double a) {
        const double truncated = double_from(bits_from(a) & 0xffffffff00000000u);
        const bool is_subnormal = (bits_from(truncated) & 0x7ff0000000000000u) == 0;
        const double input =
            is_subnormal ? double_from(bits_from(truncated) & 0x8000000000000000u) : truncated;
        const double result = evaluate<OP>(input);
        if (result != result) {
            return double_from(0x7fffffff00000000u);
        }
        return double_from(bits_from(result) & 0xffffffff00000000u);
    }
};

template <FloatOp OP>
Handler select_vectorised(const FloatForm& form) {
    if (form.type == ptx::Type::F64) {
        return form.flushes ? map_lanes<UpperHalf<OP>, double, double>
                            : map_lanes<Function<OP, double, false>, double, double>;
    }
    return form.flushes ? map_lanes<Function<OP, float, true>, float, float>
                        : map_lanes<Function<OP, float, false>, float, float>;
}

template <FloatOp OP>
Handler select_library(const FloatForm& form) {
    if (form.type != ptx::Type::F32) {
        return nullptr;
    }
    return form.flushes ? call_library<OP, true> : call_library<OP, false>;
}

} // namespace

Handler select_math(const FloatForm& form) {
    switch (form.op) {
    case FloatOp::Rcp:
        return select_vectorised<FloatOp::Rcp>(form);
    case FloatOp::Sqrt:
        return select_vectorised<FloatOp::Sqrt>(form);
    case FloatOp::Rsqrt:
        return select_vectorised<FloatOp::Rsqrt>(form);
    case FloatOp::Sin:
        return select_library<FloatOp::Sin>(form);
    case FloatOp::Cos:
        return select_library<FloatOp::Cos>(form);
    case FloatOp::Lg2:
        return select_library<FloatOp::Lg2>(form);
    case FloatOp::Ex2:
        return select_library<FloatOp::Ex2>(form);
    case FloatOp::Tanh:
        return select_library<FloatOp::Tanh>(form);
    default:
        return nullptr;
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
