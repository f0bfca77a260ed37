// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic and comparisons on f16, bf16 and pairs of them.

#include "interp/handlers/compare_lanes.hpp"
#include "interp/handlers/functions.hpp"
#include "interp/handlers/rows.hpp"
#include "interp/handlers/select.hpp"
#include "rows/float.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

using U = std::uint32_t;
using Halves = Vector<U>; // one in each lane, in the lower 16 bits

/// Sixteen-bit lanes as two vectors that have as many lanes as a vector of doubles.
struct Parts {
    Narrow<U> part[2];
};

/// Applies a function of doubles, rounded to a bit pattern of 16 bits, to all lanes.
template <bool BFLOAT, typename Body>
[[gnu::always_inline]] inline Halves in_double(Body body, Halves a, Halves b, Halves c) {
    using F = HalfFormat<BFLOAT>;
    const auto widen = [](Narrow<U> bits) __attribute__((always_inline)) {
        return convert<double>(F::widen(bits));
    };
    const auto x = cast<Parts>(a);
    const auto y = cast<Parts>(b);
    const auto z = cast<Parts>(c);
    Parts result;
    for (unsigned i = 0; i < 2; ++i) {
        result.part[i] = body(widen(x.part[i]), widen(y.part[i]), widen(z.part[i]));
    }
    return cast<Halves>(result);
}

/// Computes a product of bf16 and a sum. The product may exceed the range of floats.
[[gnu::always_inline]] inline Narrow<U> fuse_bfloats(Vector<double> a, Vector<double> b,
                                                     Vector<double> c) {
    const Vector<double> sum = sum_to_odd(a * b, c);
    constexpr Encoding to{.exponent_bits = 8,
                          .fraction_bits = 7,
                          .rounding = Rounding::Nearest,
                          .rounds_away = false};
    using Bits = Vector<std::uint64_t>;
    constexpr std::uint64_t infinity = 0x7f80;
    const Bits magnitude = encode_magnitude(sum, to);
    const Bits limited = select(magnitude > infinity, Bits{} + infinity, magnitude);
    const Bits result = limited | (cast<Bits>(sum) >> 48 & 0x8000u);
    return convert<U>(select(sum != sum, Bits{} + HALF_NAN, result));
}

/// Returns where a number rounds to 11 bits below the smallest normal f16. It is then flushed, even
/// if the coarser grid of subnormal numbers would round it up to that number.
[[gnu::always_inline]] inline auto is_tiny(Vector<float> value) {
    constexpr float least = 0x1p-14f - 0x1p-26f;
    return (value < least) & (value > -least);
}

/// Products of two f16 are exact as floats, and so is the error of the sum.
template <bool BFLOAT, bool FLUSHES>
[[gnu::always_inline]] inline Halves fuse(Halves a, Halves b, Halves c) {
    if constexpr (BFLOAT) {
        return in_double<true>(fuse_bfloats, a, b, c);
    } else {
        const Vector<float> sum = sum_to_odd(half_to_float(a) * half_to_float(b), half_to_float(c));
        const Halves result = float_to_half(sum);
        return FLUSHES ? select(is_tiny(sum), result & 0x8000u, result) : result;
    }
}

template <bool BFLOAT>
[[gnu::always_inline]] inline auto is_nan(Halves a) {
    return (a & 0x7fffu) > (BFLOAT ? 0x7f80u : 0x7c00u);
}

template <bool BFLOAT>
[[gnu::always_inline]] inline Halves flush_half(Halves a) {
    return select((a & (BFLOAT ? 0x7f80u : 0x7c00u)) == 0, a & 0x8000u, a);
}

/// Computes min and max by the order of the bits, which equals the order of the numbers once signs
/// are folded.
template <bool BFLOAT, bool MAX, bool KEEPS_NAN, bool XORSIGN>
[[gnu::always_inline]] inline Halves extreme(Halves a, Halves b) {
    const Halves sign = (a ^ b) & 0x8000u;
    if constexpr (XORSIGN) {
        a &= 0x7fffu;
        b &= 0x7fffu;
    }
    const auto a_nan = is_nan<BFLOAT>(a);
    const auto b_nan = is_nan<BFLOAT>(b);
    const Halves x = select((a & 0x8000u) != 0, 0x7fffu - (a & 0x7fffu), a + 0x8000u);
    const Halves y = select((b & 0x8000u) != 0, 0x7fffu - (b & 0x7fffu), b + 0x8000u);
    const auto takes_a = b_nan | (~a_nan & (MAX ? x > y : x < y));
    const Halves result = select(takes_a, a, b) | (XORSIGN ? sign : Halves{});
    return select(KEEPS_NAN ? a_nan | b_nan : a_nan & b_nan, Halves{} + HALF_NAN, result);
}

/// Rounds 2^x or tanh(x) of doubles to 16 bits.
template <FloatOp OP, bool BFLOAT>
[[gnu::always_inline]] inline Halves approximate(Halves a) {
    const auto body = [](Vector<double> x, Vector<double>,
                         Vector<double>) __attribute__((always_inline)) {
        const Vector<double> value = OP == FloatOp::Ex2 ? exp2_of(x) : tanh_of(x);
        return HalfFormat<BFLOAT>::narrow(convert<float>(value));
    };
    return in_double<BFLOAT>(body, a, a, a);
}

template <FloatOp OP, bool BFLOAT, bool FLUSHES>
[[gnu::always_inline]] inline Halves compute(Halves a, Halves b, Halves c) {
    using F = HalfFormat<BFLOAT>;
    if constexpr (FLUSHES) {
        a = flush_half<BFLOAT>(a);
        b = flush_half<BFLOAT>(b);
        c = flush_half<BFLOAT>(c);
    }
    Halves result{};
    if constexpr (OP == FloatOp::Neg || OP == FloatOp::Abs) {
        return select(is_nan<BFLOAT>(a), Halves{} + HALF_NAN,
                      OP == FloatOp::Neg ? a ^ 0x8000u : a & 0x7fffu);
    } else if constexpr (OP == FloatOp::Add) {
        result = F::narrow(F::widen(a) + F::widen(b));
    } else if constexpr (OP == FloatOp::Sub) {
        result = F::narrow(F::widen(a) - F::widen(b));
    } else if constexpr (OP == FloatOp::Mul) {
        const Vector<float> product = F::widen(a) * F::widen(b);
        result = F::narrow(product);
        if constexpr (FLUSHES) {
            result = select(is_tiny(product), result & 0x8000u, result);
        }
    } else if constexpr (OP == FloatOp::Fma) {
        result = fuse<BFLOAT, FLUSHES>(a, b, c);
    } else {
        result = approximate<OP, BFLOAT>(a);
    }
    return FLUSHES ? flush_half<BFLOAT>(result) : result;
}

template <bool BFLOAT, bool SATURATES, bool RELU>
[[gnu::always_inline]] inline Halves clamp_half(Halves value) {
    constexpr U one = BFLOAT ? 0x3f80u : 0x3c00u;
    const auto is_negative = (value & 0x8000u) != 0;
    if constexpr (RELU) {
        // A NaN stays a NaN; -0 and everything below becomes +0.
        return select(is_nan<BFLOAT>(value), Halves{} + HALF_NAN,
                      select(is_negative, Halves{}, value));
    } else if constexpr (SATURATES) {
        return select(is_nan<BFLOAT>(value) | is_negative, Halves{},
                      select(value > one, Halves{} + one, value));
    } else {
        return value;
    }
}

/// Returns where a value is the NaN, of either sign, that tensor copies write for out-of-bounds
/// elements.
[[gnu::always_inline]] inline auto is_out_of_bounds(Halves a) {
    constexpr U out_of_bounds = 0x7ff7;
    return (a & 0x7fffu) == out_of_bounds;
}

/// Arithmetic on 1 or 2 values per lane. NOTE: it does not use `tag`. Variants are template
/// parameters, so that form and handler cannot disagree.
template <FloatForm FORM>
struct Arithmetic {
    static constexpr bool PAIR = FORM.type == ptx::Type::F16x2 || FORM.type == ptx::Type::BF16x2;
    static constexpr bool BFLOAT = FORM.type == ptx::Type::BF16 || FORM.type == ptx::Type::BF16x2;

    [[gnu::always_inline]] static Halves one(Halves a, Halves b, Halves c) {
        if constexpr (FORM.op == FloatOp::Min || FORM.op == FloatOp::Max) {
            if constexpr (FORM.flushes) {
                a = flush_half<BFLOAT>(a);
                b = flush_half<BFLOAT>(b);
            }
            return extreme < BFLOAT, FORM.op == FloatOp::Max, FORM.keeps_nan,
                   FORM.is_xorsign > (a, b);
        } else {
            const Halves value = clamp_half<BFLOAT, FORM.is_saturating, FORM.is_relu>(
                compute<FORM.op, BFLOAT, FORM.flushes>(a, b, c));
            if constexpr (FORM.is_oob) { // whatever the addend is
                return select(is_out_of_bounds(a) | is_out_of_bounds(b), Halves{}, value);
            } else {
                return value;
            }
        }
    }

    template <typename T>
    [[gnu::always_inline]] static Halves apply(Halves a, Halves b = Halves{}, Halves c = Halves{}) {
        const Halves low = one(a & 0xffffu, b & 0xffffu, c & 0xffffu);
        if constexpr (PAIR) {
            return low | one(a >> 16, b >> 16, c >> 16) << 16;
        } else {
            return low;
        }
    }
};

struct Choose {
    template <FloatForm FORM>
    static constexpr Handler handler() {
        constexpr bool is_unary = FORM.op == FloatOp::Neg || FORM.op == FloatOp::Abs ||
                                  FORM.op == FloatOp::Ex2 || FORM.op == FloatOp::Tanh;
        return map_vectors < Arithmetic<FORM>, U, is_unary ? 1 : FORM.op == FloatOp::Fma ? 3 : 2 > ;
    }
};

// ---- comparisons -------------------------------------------------------------------------------

template <Compare OP, bool BFLOAT>
std::uint32_t compare_half(const WarpContext& warp, const Instruction* at, unsigned shift) {
    using F = HalfFormat<BFLOAT>;
    const bool flushes = (at->tag >> 12 & 1) != 0;
    const std::byte* const a = locate(warp, at->src[0]);
    const std::byte* const b = locate(warp, at->src[1]);
    std::uint32_t result = 0;
    for (unsigned chunk = 0; chunk < CHUNKS<U>; ++chunk) {
        Halves x = load<U>(a, chunk) >> shift & 0xffffu;
        Halves y = load<U>(b, chunk) >> shift & 0xffffu;
        if (flushes) {
            x = flush_half<BFLOAT>(x);
            y = flush_half<BFLOAT>(y);
        }
        result |= compare_bits<OP, float>(F::widen(x), F::widen(y)) << (chunk * LANES<U>);
    }
    return result;
}

using Comparison = std::uint32_t (*)(const WarpContext&, const Instruction*, unsigned);

template <bool BFLOAT, Compare... OPS>
Comparison comparison_of(Compare op) {
    constexpr Comparison table[] = {compare_half<OPS, BFLOAT>...}; // in the order of Compare
    return table[static_cast<unsigned>(op)];
}

template <bool BFLOAT>
Comparison comparison_of(const Instruction* at) {
    using C = Compare;
    return comparison_of<BFLOAT, C::Eq, C::Ne, C::Lt, C::Le, C::Gt, C::Ge, C::Equ, C::Neu, C::Ltu,
                         C::Leu, C::Gtu, C::Geu, C::Num, C::Nan>(
        static_cast<Compare>(at->tag >> 8 & 15));
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
    const Comparison compare = comparison_of<BFLOAT>(at);
    const std::uint32_t low = compare(warp, at, 0);
    const std::uint32_t high = PAIR ? compare(warp, at, 16) : ~low;
    const std::uint32_t first = combine(warp, at, low);
    const std::uint32_t second = combine(warp, at, high);
    if constexpr (PREDICATE) {
        write_predicate(warp, at->dst[0], first, mask);
        if (at->dst_count == 2) {
            write_predicate(warp, at->dst[1], second, mask);
        }
    } else {
        const auto value = static_cast<U>(at->immediate);
        std::byte* const to = locate(warp, at->dst[0]);
        for (unsigned chunk = 0; chunk < CHUNKS<U>; ++chunk) {
            const auto lower = cast<Halves>(expand<U>(first, chunk));
            const auto upper = cast<Halves>(expand<U>(second, chunk));
            store_masked<U>(to, chunk,
                            PAIR ? (lower & value & 0xffffu) | (upper & value & 0xffff0000u)
                                 : lower & value,
                            mask);
        }
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
    return RowHandlers<rows::HALF_ROWS, Choose>::find(form);
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
