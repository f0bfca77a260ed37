// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// f32 and f64 arithmetic.

#include "rows/float.hpp"

#include "interp/handlers/rounded.hpp"
#include "interp/handlers/rows.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

template <typename T>
constexpr UnsignedLike<T> SIGN_BIT = UnsignedLike<T>{1} << (sizeof(T) * 8 - 1);

/// Computes with the flushing of PTX.
///
/// PTX flushes a result if its 24 bits, with unlimited exponent, lie below the smallest normal
/// number. This includes results that would round up to that number. The rounded result does not
/// show which case it is, so the few lanes that end up there are computed again.
template <FloatOp OP>
[[gnu::noinline]] Vector<float> compute_flushed(Vector<float> a, Vector<float> b, Vector<float> c) {
#if defined(__x86_64__)
    Vector<float> values[4] = {a, b, c, {}};
    const RoundingScope scope(Rounding::Nearest, true);
    scope.keep(values);
    values[3] = compute<OP>(values[0], values[1], values[2]);
    scope.keep(values);
    return values[3];
#else
    Vector<float> result = compute<OP>(a, b, c);
    for (unsigned i = 0; i < LANES<float>; ++i) {
        result[i] = flush_smallest_normal<OP>(result[i], a[i], b[i], c[i]);
    }
    return result;
#endif
}

/// The operations add, sub, mul, fma and div. A NaN is not canonical yet.
template <FloatForm FORM>
struct Arithmetic {
    static constexpr FloatOp OP = FORM.op;

    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> b) {
        return apply<T>(a, b, Vector<T>{});
    }

    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> b, Vector<T> c) {
        Vector<T> result;
        if constexpr (FORM.flushes) {
            using V = Vector<std::uint32_t>;
            a = flush(a);
            b = flush(b);
            c = flush(c);
            result = flush(compute<OP>(a, b, c));
            if constexpr (OP != FloatOp::Add && OP != FloatOp::Sub) {
                const V magnitude = reinterpret_cast<V>(result) & 0x7fffffffu;
                if (sign_bits<std::int32_t>(magnitude == 0x00800000u) != 0) [[unlikely]] {
                    result = flush(compute_flushed<OP>(a, b, c));
                }
            }
        } else {
            result = compute<OP>(a, b, c);
        }
        return FORM.is_saturating ? saturate(result) : result;
    }
};

/// dst[0] = Op(src[0 .. COUNT)), all floats. Makes NaNs canonical.
template <typename Op, unsigned COUNT>
const Instruction* map_floats(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    std::byte* const to = locate(warp, at->dst[0]);
    const std::byte* const a = locate(warp, at->src[0]);
    const std::byte* const b = locate(warp, at->src[1]);
    const std::byte* const c = COUNT > 2 ? locate(warp, at->src[2]) : a;
    Vector<float> results[CHUNKS<float>];
    for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
        if constexpr (COUNT == 2) {
            results[chunk] =
                Op::template apply<float>(load<float>(a, chunk), load<float>(b, chunk));
        } else {
            results[chunk] = Op::template apply<float>(load<float>(a, chunk), load<float>(b, chunk),
                                                       load<float>(c, chunk));
        }
    }
    store_canonical(to, results, mask);
    return at + 1;
}

template <FloatForm FORM>
struct SignChange {
    template <typename T>
    static Vector<T> apply(Vector<T> a) {
        using V = Vector<UnsignedLike<T>>;
        if constexpr (FORM.flushes) {
            a = flush(a);
        }
        V bits = reinterpret_cast<V>(a);
        if constexpr (FORM.op == FloatOp::Neg) {
            bits ^= broadcast<UnsignedLike<T>>(SIGN_BIT<T>);
            if constexpr (std::is_same_v<T, double>) { // a GPU keeps the sign of a NaN
                return a != a ? a : reinterpret_cast<Vector<T>>(bits);
            }
        } else {
            bits &= ~broadcast<UnsignedLike<T>>(SIGN_BIT<T>);
        }
        return canonical(reinterpret_cast<Vector<T>>(bits));
    }
};

struct CopySign {
    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> b) {
        using V = Vector<UnsignedLike<T>>;
        const V sign = broadcast<UnsignedLike<T>>(SIGN_BIT<T>);
        return reinterpret_cast<Vector<T>>((reinterpret_cast<V>(a) & sign) |
                                           (reinterpret_cast<V>(b) & ~sign));
    }
};

/// Minimum and maximum of two or three values; -0 is less than +0.
template <FloatForm FORM>
struct Extreme {
    static constexpr bool MAX = FORM.op == FloatOp::Max;

    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> b) {
        using V = Vector<UnsignedLike<T>>;
        if constexpr (FORM.flushes) {
            a = flush(a);
            b = flush(b);
        }
        const V sign = broadcast<UnsignedLike<T>>(SIGN_BIT<T>);
        const V result_sign = (reinterpret_cast<V>(a) ^ reinterpret_cast<V>(b)) & sign;
        if constexpr (FORM.is_xorsign) {
            a = reinterpret_cast<Vector<T>>(reinterpret_cast<V>(a) & ~sign);
            b = reinterpret_cast<Vector<T>>(reinterpret_cast<V>(b) & ~sign);
        }
        const V x = reinterpret_cast<V>(a);
        const V y = reinterpret_cast<V>(b);
        const Vector<T> equal = reinterpret_cast<Vector<T>>(MAX ? x & y : x | y);
        Vector<T> result = MAX ? (a > b ? a : b) : (a < b ? a : b);
        result = a == b ? equal : result;
        // Unordered lanes remain. Their `result` is b, which is right if only a is a NaN.
        result = b != b ? a : result;
        if constexpr (FORM.keeps_nan) {
            result = a != a ? a : result;
            result = b != b ? b : result;
        }
        if constexpr (FORM.is_xorsign) {
            result = reinterpret_cast<Vector<T>>(reinterpret_cast<V>(result) | result_sign);
        }
        return canonical(result);
    }

    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> b, Vector<T> c) {
        return apply<T>(apply<T>(a, b), c);
    }
};

/// The operation div.approx. If |b| exceeds 2^126 its reciprocal is flushed, so the quotient is 0,
/// or NaN if a is infinite.
template <bool FLUSHES>
struct ApproximateQuotient {
    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> b) {
        using V = Vector<std::uint32_t>;
        if constexpr (FLUSHES) {
            a = flush(a);
            b = flush(b);
        }
        const V bits = reinterpret_cast<V>(b);
        const V zero = bits & broadcast<std::uint32_t>(SIGN_BIT<float>);
        const V magnitude = bits & ~broadcast<std::uint32_t>(SIGN_BIT<float>);
        const auto is_large = (magnitude > broadcast<std::uint32_t>(0x7e800000u)) &
                              (magnitude < broadcast<std::uint32_t>(0x7f800000u));
        Vector<T> result = is_large ? a * reinterpret_cast<Vector<T>>(zero) : a / b;
        if constexpr (FLUSHES) {
            result = flush(result);
            const V result_magnitude = reinterpret_cast<V>(result) & 0x7fffffffu;
            if (sign_bits<std::int32_t>(result_magnitude == 0x00800000u) != 0) [[unlikely]] {
                result = is_large ? result : flush(compute_flushed<FloatOp::Div>(a, b, b));
            }
        }
        return canonical(result);
    }
};

template <FloatOp OP, typename T>
const Instruction* test(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    using U = UnsignedLike<T>;
    constexpr U exponent =
        sizeof(T) == 4 ? static_cast<U>(0x7f800000u) : static_cast<U>(0x7ff0000000000000u);
    const auto* const bits = lanes_of<U>(warp, at->src[0]);
    std::uint32_t result = 0;
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        const U magnitude = bits[lane] & ~SIGN_BIT<T>;
        bool holds = false;
        switch (OP) {
        case FloatOp::TestFinite:
            holds = magnitude < exponent;
            break;
        case FloatOp::TestInfinite:
            holds = magnitude == exponent;
            break;
        case FloatOp::TestNumber:
            holds = magnitude <= exponent;
            break;
        case FloatOp::TestNotANumber:
            holds = magnitude > exponent;
            break;
        case FloatOp::TestNormal:
            // Zero counts as normal.
            holds = magnitude < exponent && (magnitude == 0 || (magnitude & exponent) != 0);
            break;
        default:
            holds = magnitude != 0 && (magnitude & exponent) == 0;
            break;
        }
        result |= static_cast<std::uint32_t>(holds) << lane;
    }
    write_predicate(warp, at->dst[0], result, mask);
    return at + 1;
}

struct Choose {
    template <FloatForm FORM>
    static constexpr Handler handler() {
        using T = FloatOf<FORM.type>;
        constexpr unsigned sources = FORM.op == FloatOp::Fma ? 3 : FORM.source_count;
        if constexpr (FORM.rounding != Rounding::Nearest) {
            return rounded<FORM>;
        } else if constexpr (FORM.is_approximate) {
            return map_vectors<ApproximateQuotient<FORM.flushes>, T, sources>;
        } else if constexpr (FORM.op <= FloatOp::Div) {
            if constexpr (sizeof(T) == 8 || FORM.is_saturating) {
                return map_vectors<Arithmetic<FORM>, T, sources>;
            } else {
                return map_floats<Arithmetic<FORM>, sources>;
            }
        } else if constexpr (FORM.op == FloatOp::Neg || FORM.op == FloatOp::Abs) {
            return map_vectors<SignChange<FORM>, T, 1>;
        } else if constexpr (FORM.op == FloatOp::CopySign) {
            return map_vectors<CopySign, T, sources>;
        } else if constexpr (FORM.op == FloatOp::Min || FORM.op == FloatOp::Max) {
            return map_vectors<Extreme<FORM>, T, sources>;
        } else {
            return test<FORM.op, T>;
        }
    }
};

} // namespace

Handler select_float(const FloatForm& form) {
    if (const Handler handler = RowHandlers<rows::FLOAT_ROWS, Choose>::find(form)) {
        return handler;
    }
    const Handler function = select_function(form);
    return function != nullptr ? function : select_half(form);
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
