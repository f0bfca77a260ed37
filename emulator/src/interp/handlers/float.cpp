// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// f32 and f64 arithmetic that rounds to nearest or does not round.

#include "interp/handlers/float_common.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

template <typename T>
constexpr UnsignedLike<T> SIGN_BIT = UnsignedLike<T>{1} << (sizeof(T) * 8 - 1);

template <FloatOp OP, typename V>
[[gnu::always_inline]] inline V compute(V a, V b, V c) {
    if constexpr (OP == FloatOp::Add) {
        return a + b;
    } else if constexpr (OP == FloatOp::Sub) {
        return a - b;
    } else if constexpr (OP == FloatOp::Mul) {
        return a * b;
    } else if constexpr (OP == FloatOp::Fma) {
        return fused(a, b, c);
    } else {
        return a / b;
    }
}

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
template <FloatOp OP, bool FLUSHES, bool SATURATES>
struct Arithmetic {
    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> b) {
        return apply<T>(a, b, Vector<T>{});
    }

    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> b, Vector<T> c) {
        Vector<T> result;
        if constexpr (FLUSHES) {
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
        return SATURATES ? saturate(result) : result;
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

template <FloatOp OP, bool FLUSHES>
struct SignChange {
    template <typename T>
    static Vector<T> apply(Vector<T> a) {
        using V = Vector<UnsignedLike<T>>;
        if constexpr (FLUSHES) {
            a = flush(a);
        }
        V bits = reinterpret_cast<V>(a);
        if constexpr (OP == FloatOp::Neg) {
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
template <bool MAX, bool FLUSHES, bool KEEPS_NAN, bool XORSIGN>
struct Extreme {
    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> b) {
        using V = Vector<UnsignedLike<T>>;
        if constexpr (FLUSHES) {
            a = flush(a);
            b = flush(b);
        }
        const V sign = broadcast<UnsignedLike<T>>(SIGN_BIT<T>);
        const V result_sign = (reinterpret_cast<V>(a) ^ reinterpret_cast<V>(b)) & sign;
        if constexpr (XORSIGN) {
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
        if constexpr (KEEPS_NAN) {
            result = a != a ? a : result;
            result = b != b ? b : result;
        }
        if constexpr (XORSIGN) {
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

template <FloatOp OP, unsigned COUNT>
Handler select_arithmetic(const FloatForm& form) {
    if (form.type == ptx::Type::F64) {
        return form.flushes || form.is_saturating
                   ? nullptr
                   : map_vectors<Arithmetic<OP, false, false>, double, COUNT>;
    }
    if (form.flushes) {
        return form.is_saturating ? map_vectors<Arithmetic<OP, true, true>, float, COUNT>
                                  : map_floats<Arithmetic<OP, true, false>, COUNT>;
    }
    return form.is_saturating ? map_vectors<Arithmetic<OP, false, true>, float, COUNT>
                              : map_floats<Arithmetic<OP, false, false>, COUNT>;
}

template <FloatOp OP>
Handler select_sign(const FloatForm& form) {
    if (form.type == ptx::Type::F64) {
        return map_vectors<SignChange<OP, false>, double, 1>;
    }
    return form.flushes ? map_vectors<SignChange<OP, true>, float, 1>
                        : map_vectors<SignChange<OP, false>, float, 1>;
}

template <bool MAX, bool FLUSHES, unsigned COUNT>
Handler select_extreme32(const FloatForm& form) {
    if (form.keeps_nan) {
        return form.is_xorsign ? map_vectors<Extreme<MAX, FLUSHES, true, true>, float, COUNT>
                               : map_vectors<Extreme<MAX, FLUSHES, true, false>, float, COUNT>;
    }
    return form.is_xorsign ? map_vectors<Extreme<MAX, FLUSHES, false, true>, float, COUNT>
                           : map_vectors<Extreme<MAX, FLUSHES, false, false>, float, COUNT>;
}

template <bool MAX>
Handler select_extreme(const FloatForm& form) {
    if (form.type == ptx::Type::F64) {
        return map_vectors<Extreme<MAX, false, false, false>, double, 2>;
    }
    if (form.source_count == 3) {
        return form.flushes ? select_extreme32<MAX, true, 3>(form)
                            : select_extreme32<MAX, false, 3>(form);
    }
    return form.flushes ? select_extreme32<MAX, true, 2>(form)
                        : select_extreme32<MAX, false, 2>(form);
}

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

template <FloatOp OP>
Handler select_test(const FloatForm& form) {
    return form.type == ptx::Type::F64 ? test<OP, double> : test<OP, float>;
}

} // namespace

Handler select_float(const FloatForm& form) {
    if (form.rounding != Rounding::Nearest) {
        return select_rounded(form);
    }
    switch (form.op) {
    case FloatOp::Add:
        return select_arithmetic<FloatOp::Add, 2>(form);
    case FloatOp::Sub:
        return select_arithmetic<FloatOp::Sub, 2>(form);
    case FloatOp::Mul:
        return select_arithmetic<FloatOp::Mul, 2>(form);
    case FloatOp::Fma:
        return select_arithmetic<FloatOp::Fma, 3>(form);
    case FloatOp::Div:
        if (form.is_approximate) {
            return form.flushes ? map_vectors<ApproximateQuotient<true>, float, 2>
                                : map_vectors<ApproximateQuotient<false>, float, 2>;
        }
        return select_arithmetic<FloatOp::Div, 2>(form);
    case FloatOp::Neg:
        return select_sign<FloatOp::Neg>(form);
    case FloatOp::Abs:
        return select_sign<FloatOp::Abs>(form);
    case FloatOp::Min:
        return select_extreme<false>(form);
    case FloatOp::Max:
        return select_extreme<true>(form);
    case FloatOp::CopySign:
        return form.type == ptx::Type::F64 ? map_vectors<CopySign, double, 2>
                                           : map_vectors<CopySign, float, 2>;
    case FloatOp::TestFinite:
        return select_test<FloatOp::TestFinite>(form);
    case FloatOp::TestInfinite:
        return select_test<FloatOp::TestInfinite>(form);
    case FloatOp::TestNumber:
        return select_test<FloatOp::TestNumber>(form);
    case FloatOp::TestNotANumber:
        return select_test<FloatOp::TestNotANumber>(form);
    case FloatOp::TestNormal:
        return select_test<FloatOp::TestNormal>(form);
    case FloatOp::TestSubnormal:
        return select_test<FloatOp::TestSubnormal>(form);
    default:
        return select_math(form);
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
