// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reciprocals, roots and the approximate functions.
//
// A GPU computes the approximate functions with tables, to about 1 or 2 units in the last place.
// Here they are computed in double precision and rounded once. The results stay inside those
// bounds, but are not meant to be bit-equal to a GPU's.

#include "interp/handlers/functions.hpp"
#include "interp/handlers/rounded.hpp"
#include "interp/handlers/rows.hpp"
#include "interp/handlers/select.hpp"
#include "rows/float.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

template <FloatOp OP, typename T>
[[gnu::always_inline]] inline T evaluate(T a) {
    if constexpr (OP == FloatOp::Rsqrt) {
        return static_cast<T>(1.0 / root(static_cast<double>(a)));
    } else {
        return compute<OP>(a, a, a);
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

/// The operations rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64. Only the upper halves count.
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
        const bool is_flushed = (bits_from(result) & 0x7ff0000000000000u) == 0;
        return double_from(bits_from(result) &
                           (is_flushed ? 0x8000000000000000u : 0xffffffff00000000u));
    }
};

/// The approximate functions of f32, in double precision.
template <FloatOp OP, bool FLUSHES>
const Instruction* approximate(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    using Input = NarrowOf<float>::Memory;
    Narrow<float> results[CHUNKS<double>];
    const auto* const from = reinterpret_cast<const Input*>(locate(warp, at->src[0]));
    for (unsigned chunk = 0; chunk < CHUNKS<double>; ++chunk) {
        const Narrow<float> single = from[chunk];
        const auto x = convert<double>(FLUSHES ? flush_lanes(single) : single);
        const Vector<double> value = OP == FloatOp::Sin   ? sine_of<false>(x)
                                     : OP == FloatOp::Cos ? sine_of<true>(x)
                                     : OP == FloatOp::Lg2 ? log2_of(x)
                                     : OP == FloatOp::Ex2 ? exp2_of(x)
                                                          : tanh_of(x);
        const auto result = convert<float>(value);
        const auto flushed = FLUSHES ? flush_lanes(result) : result;
        results[chunk] =
            select(flushed != flushed, Narrow<float>{} + float_from(CANONICAL_NAN), flushed);
    }
    store_lanes<float>(locate(warp, at->dst[0]), reinterpret_cast<const float*>(results), mask);
    return at + 1;
}

struct Choose {
    template <FloatForm FORM>
    static constexpr Handler handler() {
        using T = FloatOf<FORM.type>;
        constexpr bool is_function =
            FORM.op != FloatOp::Rcp && FORM.op != FloatOp::Sqrt && FORM.op != FloatOp::Rsqrt;
        if constexpr (FORM.rounding != Rounding::Nearest) {
            return rounded<FORM>;
        } else if constexpr (is_function) {
            return approximate<FORM.op, FORM.flushes>;
        } else if constexpr (sizeof(T) == 8 && FORM.flushes) {
            return map_lanes<UpperHalf<FORM.op>, T, T>;
        } else {
            return map_lanes<Function<FORM.op, T, FORM.flushes>, T, T>;
        }
    }
};

} // namespace

Handler select_function(const FloatForm& form) {
    return RowHandlers<rows::FUNCTION_ROWS, Choose>::find(form);
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
