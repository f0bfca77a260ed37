// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic and comparisons on f16, bf16 and pairs of them.

#include "interp/handlers/half_common.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

using U = std::uint32_t;

/// Returns the exact sum of a product and a number, rounded to odd in double precision. Rounding it
/// once more to 16 bits then equals rounding the exact value.
[[gnu::always_inline]] inline double sum_to_odd(double product, double c) {
    const double sum = product + c;
    const double part = sum - product;
    const double error = (product - (sum - part)) + (c - part);
    const std::uint64_t bits = bits_from(sum);
    const bool is_inexact = error != 0 && sum - sum == 0;
    if (is_inexact && (bits & 1) == 0) {
        // Move towards the error: one step up in magnitude if the signs agree, down if not.
        return double_from((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
    }
    return sum;
}

/// Returns whether a number rounds to 11 bits below the smallest normal f16. It is then flushed,
/// even if the coarser grid of subnormal numbers would round it up to that number.
[[gnu::always_inline]] inline bool is_tiny(double value) {
    constexpr double least = 0x1p-14 - 0x1p-26;
    return value < least && value > -least;
}

template <bool BFLOAT, bool FLUSHES>
[[gnu::always_inline]] inline U fuse(U a, U b, U c) {
    using F = HalfFormat<BFLOAT>;
    const double product = static_cast<double>(F::widen(a)) * static_cast<double>(F::widen(b));
    const double sum = sum_to_odd(product, static_cast<double>(F::widen(c)));
    if (sum != sum) {
        return HALF_NAN;
    }
    if (FLUSHES && is_tiny(sum)) {
        return static_cast<U>(bits_from(sum) >> 48 & 0x8000u);
    }
    constexpr Encoding to{.exponent_bits = BFLOAT ? 8 : 5,
                          .fraction_bits = BFLOAT ? 7 : 10,
                          .rounding = Rounding::Nearest,
                          .rounds_away = false,
                          .has_infinity = true,
                          .largest = BFLOAT ? 0x7f7fu : 0x7bffu};
    bool overflows = false;
    const U magnitude = encode_magnitude(sum, to, overflows);
    const U sign = static_cast<U>(bits_from(sum) >> 48 & 0x8000u);
    return sign | (overflows ? to.largest + 1 : magnitude);
}

template <bool BFLOAT>
[[gnu::always_inline]] inline bool is_nan(U a) {
    return (a & 0x7fffu) > (BFLOAT ? 0x7f80u : 0x7c00u);
}

template <bool BFLOAT>
[[gnu::always_inline]] inline U flush_half(U a) {
    return (a & (BFLOAT ? 0x7f80u : 0x7c00u)) == 0 ? a & 0x8000u : a;
}

/// Computes min and max by the order of the bits, which equals the order of the numbers once signs
/// are folded.
template <bool BFLOAT, bool MAX, bool KEEPS_NAN, bool XORSIGN>
[[gnu::always_inline]] inline U extreme(U a, U b) {
    const U sign = (a ^ b) & 0x8000u;
    if (XORSIGN) {
        a &= 0x7fffu;
        b &= 0x7fffu;
    }
    const bool a_nan = is_nan<BFLOAT>(a);
    const bool b_nan = is_nan<BFLOAT>(b);
    if ((a_nan && b_nan) || (KEEPS_NAN && (a_nan || b_nan))) {
        return HALF_NAN;
    }
    const U x = (a & 0x8000u) != 0 ? 0x7fffu - (a & 0x7fffu) : a + 0x8000u;
    const U y = (b & 0x8000u) != 0 ? 0x7fffu - (b & 0x7fffu) : b + 0x8000u;
    const bool takes_a = b_nan || (!a_nan && (MAX ? x > y : x < y));
    const U result = takes_a ? a : b;
    return XORSIGN ? result | sign : result;
}

template <FloatOp OP, bool BFLOAT, bool FLUSHES>
[[gnu::always_inline]] inline U compute(U a, U b, U c) {
    using F = HalfFormat<BFLOAT>;
    if constexpr (FLUSHES) {
        a = flush_half<BFLOAT>(a);
        b = flush_half<BFLOAT>(b);
        c = flush_half<BFLOAT>(c);
    }
    U result = 0;
    switch (OP) {
    case FloatOp::Add:
        result = F::narrow(F::widen(a) + F::widen(b));
        break;
    case FloatOp::Sub:
        result = F::narrow(F::widen(a) - F::widen(b));
        break;
    case FloatOp::Mul:
        result = F::narrow(F::widen(a) * F::widen(b));
        if (FLUSHES && is_tiny(static_cast<double>(F::widen(a) * F::widen(b)))) {
            result &= 0x8000u;
        }
        break;
    case FloatOp::Fma:
        result = fuse<BFLOAT, FLUSHES>(a, b, c);
        break;
    case FloatOp::Neg:
        return is_nan<BFLOAT>(a) ? HALF_NAN : a ^ 0x8000u;
    case FloatOp::Abs:
        return is_nan<BFLOAT>(a) ? HALF_NAN : a & 0x7fffu;
    case FloatOp::Ex2:
        result = F::narrow(static_cast<float>(__builtin_exp2(static_cast<double>(F::widen(a)))));
        break;
    case FloatOp::Tanh:
        result = F::narrow(static_cast<float>(__builtin_tanh(static_cast<double>(F::widen(a)))));
        break;
    default:
        break;
    }
    return FLUSHES ? flush_half<BFLOAT>(result) : result;
}

template <bool BFLOAT>
[[gnu::always_inline]] inline U clamp_half(U value, bool is_saturating, bool is_relu) {
    constexpr U one = BFLOAT ? 0x3f80u : 0x3c00u;
    if (is_relu) {
        // A NaN stays a NaN; -0 and everything below becomes +0.
        return is_nan<BFLOAT>(value) ? HALF_NAN : (value & 0x8000u) != 0 ? 0 : value;
    }
    if (is_saturating) {
        return is_nan<BFLOAT>(value) || (value & 0x8000u) != 0 ? 0 : value > one ? one : value;
    }
    return value;
}

constexpr std::uint16_t SATURATES = 1;
constexpr std::uint16_t RELU = 2;
constexpr std::uint16_t OUT_OF_BOUNDS = 4;

/// Returns whether a value is the NaN, of either sign, that tensor copies write for out-of-bounds
/// elements.
[[gnu::always_inline]] inline bool is_out_of_bounds(U a) {
    constexpr U out_of_bounds = 0x7ff7;
    return (a & 0x7fffu) == out_of_bounds;
}

/// Arithmetic on 1 or 2 values per lane. NOTE: it does not use `tag`. Variants are template
/// parameters, so that form and handler cannot disagree.
template <FloatOp OP, bool BFLOAT, bool PAIR, bool FLUSHES, unsigned FLAGS>
struct Arithmetic {
    static U one(U a, U b, U c) {
        if ((FLAGS & OUT_OF_BOUNDS) != 0 && (is_out_of_bounds(a) || is_out_of_bounds(b))) {
            return 0; // whatever the addend is
        }
        return clamp_half<BFLOAT>(
            compute<OP, BFLOAT, FLUSHES>(a & 0xffffu, b & 0xffffu, c & 0xffffu),
            (FLAGS & SATURATES) != 0, (FLAGS & RELU) != 0);
    }

    static U apply(U a, U b, U c) {
        if constexpr (PAIR) {
            return one(a, b, c) | one(a >> 16, b >> 16, c >> 16) << 16;
        } else {
            return one(a, b, c);
        }
    }

    static U apply(U a, U b) { return apply(a, b, U{0}); }

    static U apply(U a) { return apply(a, U{0}, U{0}); }
};

template <bool BFLOAT, bool PAIR, bool FLUSHES, bool MAX, bool KEEPS_NAN, bool XORSIGN>
struct Extreme {
    static U one(U a, U b) {
        a &= 0xffffu;
        b &= 0xffffu;
        if constexpr (FLUSHES) {
            a = flush_half<BFLOAT>(a);
            b = flush_half<BFLOAT>(b);
        }
        return extreme<BFLOAT, MAX, KEEPS_NAN, XORSIGN>(a, b);
    }

    static U apply(U a, U b) { return PAIR ? one(a, b) | one(a >> 16, b >> 16) << 16 : one(a, b); }
};

template <FloatOp OP, bool BFLOAT, bool PAIR, bool FLUSHES, unsigned FLAGS>
constexpr Handler arithmetic() {
    using A = Arithmetic<OP, BFLOAT, PAIR, FLUSHES, FLAGS>;
    if constexpr (OP == FloatOp::Fma) {
        return map_lanes<A, U, U, U, U>;
    } else if constexpr (OP == FloatOp::Neg || OP == FloatOp::Abs || OP == FloatOp::Ex2 ||
                         OP == FloatOp::Tanh) {
        return map_lanes<A, U, U>;
    } else {
        return map_lanes<A, U, U, U>;
    }
}

template <FloatOp OP, bool BFLOAT, bool PAIR>
Handler select_flags(const FloatForm& form) {
    if (form.is_saturating && form.is_relu) {
        return nullptr;
    }
    if (form.flushes) {
        return form.is_saturating ? arithmetic<OP, BFLOAT, PAIR, true, SATURATES>()
               : form.is_relu     ? arithmetic<OP, BFLOAT, PAIR, true, RELU>()
                                  : arithmetic<OP, BFLOAT, PAIR, true, 0>();
    }
    return form.is_saturating ? arithmetic<OP, BFLOAT, PAIR, false, SATURATES>()
           : form.is_relu     ? arithmetic<OP, BFLOAT, PAIR, false, RELU>()
                              : arithmetic<OP, BFLOAT, PAIR, false, 0>();
}

/// Selects a handler of fma.oob.
template <bool BFLOAT, bool PAIR>
Handler select_guarded(const FloatForm& form) {
    if (form.is_saturating || form.flushes) {
        return nullptr;
    }
    return form.is_relu ? arithmetic<FloatOp::Fma, BFLOAT, PAIR, false, RELU | OUT_OF_BOUNDS>()
                        : arithmetic<FloatOp::Fma, BFLOAT, PAIR, false, OUT_OF_BOUNDS>();
}

template <FloatOp OP, bool BFLOAT, bool PAIR>
Handler select_plain(const FloatForm& form) {
    if (form.is_saturating || form.is_relu) {
        return nullptr;
    }
    return form.flushes ? arithmetic<OP, BFLOAT, PAIR, true, 0>()
                        : arithmetic<OP, BFLOAT, PAIR, false, 0>();
}

template <bool BFLOAT, bool PAIR, bool FLUSHES, bool MAX>
Handler select_extreme(const FloatForm& form) {
    if (form.keeps_nan) {
        return form.is_xorsign
                   ? map_lanes<Extreme<BFLOAT, PAIR, FLUSHES, MAX, true, true>, U, U, U>
                   : map_lanes<Extreme<BFLOAT, PAIR, FLUSHES, MAX, true, false>, U, U, U>;
    }
    return form.is_xorsign ? map_lanes<Extreme<BFLOAT, PAIR, FLUSHES, MAX, false, true>, U, U, U>
                           : map_lanes<Extreme<BFLOAT, PAIR, FLUSHES, MAX, false, false>, U, U, U>;
}

template <bool BFLOAT, bool PAIR>
Handler select_op(const FloatForm& form) {
    switch (form.op) {
    case FloatOp::Add:
        return select_flags<FloatOp::Add, BFLOAT, PAIR>(form);
    case FloatOp::Sub:
        return select_flags<FloatOp::Sub, BFLOAT, PAIR>(form);
    case FloatOp::Mul:
        return select_flags<FloatOp::Mul, BFLOAT, PAIR>(form);
    case FloatOp::Fma:
        return form.is_oob ? select_guarded<BFLOAT, PAIR>(form)
                           : select_flags<FloatOp::Fma, BFLOAT, PAIR>(form);
    case FloatOp::Neg:
        return select_plain<FloatOp::Neg, BFLOAT, PAIR>(form);
    case FloatOp::Abs:
        return select_plain<FloatOp::Abs, BFLOAT, PAIR>(form);
    case FloatOp::Ex2:
        return select_plain<FloatOp::Ex2, BFLOAT, PAIR>(form);
    case FloatOp::Tanh:
        return select_plain<FloatOp::Tanh, BFLOAT, PAIR>(form);
    case FloatOp::Min:
        return form.flushes ? select_extreme<BFLOAT, PAIR, true, false>(form)
                            : select_extreme<BFLOAT, PAIR, false, false>(form);
    case FloatOp::Max:
        return form.flushes ? select_extreme<BFLOAT, PAIR, true, true>(form)
                            : select_extreme<BFLOAT, PAIR, false, true>(form);
    default:
        return nullptr;
    }
}

// ---- comparisons -------------------------------------------------------------------------------

bool compare_values(Compare op, float a, float b) {
    const bool is_unordered = a != a || b != b;
    switch (op) {
    case Compare::Eq:
        return a == b;
    case Compare::Ne:
        return !is_unordered && a != b;
    case Compare::Lt:
        return a < b;
    case Compare::Le:
        return a <= b;
    case Compare::Gt:
        return a > b;
    case Compare::Ge:
        return a >= b;
    case Compare::Equ:
        return is_unordered || a == b;
    case Compare::Neu:
        return is_unordered || a != b;
    case Compare::Ltu:
        return is_unordered || a < b;
    case Compare::Leu:
        return is_unordered || a <= b;
    case Compare::Gtu:
        return is_unordered || a > b;
    case Compare::Geu:
        return is_unordered || a >= b;
    case Compare::Num:
        return !is_unordered;
    case Compare::Nan:
        return is_unordered;
    }
    return false;
}

template <bool BFLOAT>
std::uint32_t compare_half(const WarpContext& warp, const Instruction* at, unsigned shift) {
    const auto op = static_cast<Compare>(at->tag >> 8 & 15);
    const bool flushes = (at->tag >> 12 & 1) != 0;
    const auto* const a = lanes_of<U>(warp, at->src[0]);
    const auto* const b = lanes_of<U>(warp, at->src[1]);
    std::uint32_t result = 0;
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        U x = a[lane] >> shift & 0xffffu;
        U y = b[lane] >> shift & 0xffffu;
        if (flushes) {
            x = flush_half<BFLOAT>(x);
            y = flush_half<BFLOAT>(y);
        }
        const bool holds =
            compare_values(op, HalfFormat<BFLOAT>::widen(x), HalfFormat<BFLOAT>::widen(y));
        result |= static_cast<std::uint32_t>(holds) << lane;
    }
    return result;
}

std::uint32_t combine(const WarpContext& warp, const Instruction* at, std::uint32_t result) {
    const auto how = static_cast<Combine>(at->tag & 3);
    if (how == Combine::None) {
        return result;
    }
    const std::uint32_t other =
        predicate_of(warp, at->src[2]) ^ (0u - static_cast<std::uint32_t>(at->tag >> 2 & 1));
    return how == Combine::And  ? result & other
           : how == Combine::Or ? result | other
                                : result ^ other;
}

template <bool BFLOAT, bool PAIR, bool PREDICATE>
const Instruction* compare_halves(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const std::uint32_t low = compare_half<BFLOAT>(warp, at, 0);
    const std::uint32_t high = PAIR ? compare_half<BFLOAT>(warp, at, 16) : ~low;
    const std::uint32_t first = combine(warp, at, low);
    const std::uint32_t second = combine(warp, at, high);
    if constexpr (PREDICATE) {
        write_predicate(warp, at->dst[0], first, mask);
        if (at->dst_count == 2) {
            write_predicate(warp, at->dst[1], second, mask);
        }
    } else {
        const auto value = static_cast<U>(at->immediate);
        auto* const to = lanes_of<U>(warp, at->dst[0]);
        for_each_lane(mask, [&](unsigned lane) {
            const U lower = (first >> lane & 1) != 0 ? value : 0;
            const U upper = (second >> lane & 1) != 0 ? value : 0;
            to[lane] = PAIR ? (lower & 0xffffu) | (upper & 0xffff0000u) : lower;
        });
    }
    return at + 1;
}

template <bool BFLOAT, bool PAIR>
Handler select_comparison(const CompareForm& form) {
    return form.result == CompareResult::Predicate ? compare_halves<BFLOAT, PAIR, true>
                                                   : compare_halves<BFLOAT, PAIR, false>;
}

} // namespace

Handler select_half(const FloatForm& form) {
    if (form.rounding != Rounding::Nearest) {
        return nullptr;
    }
    switch (form.type) {
    case ptx::Type::F16:
        return select_op<false, false>(form);
    case ptx::Type::F16x2:
        return select_op<false, true>(form);
    case ptx::Type::BF16:
        return select_op<true, false>(form);
    case ptx::Type::BF16x2:
        return select_op<true, true>(form);
    default:
        return nullptr;
    }
}

Handler select_half_compare(const CompareForm& form) {
    switch (form.type) {
    case ptx::Type::F16:
        return select_comparison<false, false>(form);
    case ptx::Type::F16x2:
        return select_comparison<false, true>(form);
    case ptx::Type::BF16:
        return select_comparison<true, false>(form);
    case ptx::Type::BF16x2:
        return select_comparison<true, true>(form);
    default:
        return nullptr;
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
