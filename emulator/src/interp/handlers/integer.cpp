// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Integer arithmetic. All operations wrap; none traps.
//
// Division by zero gives all ones for the quotient and the remainder, as NVIDIA's own code
// sequences do. PTX leaves it undefined. The most negative number divided by -1 is itself.

#include "interp/handlers/common.hpp"
#include "interp/handlers/select.hpp"

#include <limits>

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

struct Add {
    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> b) {
        return a + b;
    }
};

struct Sub {
    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> b) {
        return a - b;
    }
};

struct Mul {
    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> b) {
        return a * b;
    }
};

struct Mad {
    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> b, Vector<T> c) {
        return a * b + c;
    }
};

struct Neg {
    template <typename T>
    static Vector<T> apply(Vector<T> a) {
        return Vector<T>{} - a;
    }
};

/// Vector operations on values whose upper bits must be extended first.
template <typename I>
struct Extended {
    struct Min {
        template <typename T>
        static Vector<T> apply(Vector<T> a, Vector<T> b) {
            a = I::extend(a);
            b = I::extend(b);
            return a < b ? a : b;
        }
    };

    struct Max {
        template <typename T>
        static Vector<T> apply(Vector<T> a, Vector<T> b) {
            a = I::extend(a);
            b = I::extend(b);
            return a > b ? a : b;
        }
    };

    struct Abs {
        template <typename T>
        static Vector<T> apply(Vector<T> a) {
            using U = Vector<UnsignedLike<T>>;
            a = I::extend(a);
            const U sign = reinterpret_cast<U>(a < 0);
            return reinterpret_cast<Vector<T>>((reinterpret_cast<U>(a) ^ sign) - sign);
        }
    };

    struct MulHi16 {
        template <typename T>
        static Vector<T> apply(Vector<T> a, Vector<T> b) {
            return (I::extend(a) * I::extend(b)) >> 16;
        }
    };

    struct MulWide16 {
        template <typename T>
        static Vector<T> apply(Vector<T> a, Vector<T> b) {
            return I::extend(a) * I::extend(b);
        }
    };

    struct MadHi16 {
        template <typename T>
        static Vector<T> apply(Vector<T> a, Vector<T> b, Vector<T> c) {
            using U = Vector<UnsignedLike<T>>;
            return reinterpret_cast<Vector<T>>(
                reinterpret_cast<U>((I::extend(a) * I::extend(b)) >> 16) + reinterpret_cast<U>(c));
        }
    };

    struct MadWide16 {
        template <typename T>
        static Vector<T> apply(Vector<T> a, Vector<T> b, Vector<T> c) {
            using U = Vector<UnsignedLike<T>>;
            return reinterpret_cast<Vector<T>>(reinterpret_cast<U>(I::extend(a) * I::extend(b)) +
                                               reinterpret_cast<U>(c));
        }
    };
};

std::int32_t clamp_to_s32(std::int64_t value) {
    value = value > INT32_MAX ? INT32_MAX : value;
    return static_cast<std::int32_t>(value < INT32_MIN ? INT32_MIN : value);
}

struct AddSaturated {
    static std::int32_t apply(std::int32_t a, std::int32_t b) {
        return clamp_to_s32(std::int64_t{a} + b);
    }
};

struct AddSaturatedUnsigned {
    static std::uint32_t apply(std::uint32_t a, std::uint32_t b) {
        return a + b < a ? UINT32_MAX : a + b;
    }
};

struct SubSaturated {
    static std::int32_t apply(std::int32_t a, std::int32_t b) {
        return clamp_to_s32(std::int64_t{a} - b);
    }
};

/// Types of twice the width, for products.
template <typename T>
struct Doubled;

template <>
struct Doubled<std::uint32_t> {
    using Type = std::uint64_t;
};

template <>
struct Doubled<std::int32_t> {
    using Type = std::int64_t;
};

__extension__ typedef unsigned __int128 Unsigned128;
__extension__ typedef __int128 Signed128;

template <>
struct Doubled<std::uint64_t> {
    using Type = Unsigned128;
};

template <>
struct Doubled<std::int64_t> {
    using Type = Signed128;
};

template <typename T>
T high_product(T a, T b) {
    using D = typename Doubled<T>::Type;
    return static_cast<T>((static_cast<D>(a) * static_cast<D>(b)) >> (sizeof(T) * 8));
}

template <typename T>
struct MulHi {
    static T apply(T a, T b) { return high_product(a, b); }
};

/// mul.wide of 32 bits, a vector at a time.
template <typename T>
const Instruction* multiply_wide(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    using D = typename Doubled<T>::Type;
    typedef T Half __attribute__((vector_size(VECTOR_BYTES / 2), aligned(4), may_alias));
    const auto* const a = reinterpret_cast<const Half*>(locate(warp, at->src[0]));
    const auto* const b = reinterpret_cast<const Half*>(locate(warp, at->src[1]));
    [[maybe_unused]] constexpr bool is_signed = T(-1) < T(0);
    Vector<D> result[CHUNKS<D>]; // all of it before the first store: a slot may overlap another
    for (unsigned chunk = 0; chunk < CHUNKS<D>; ++chunk) {
        // The products read the low half of each 64 bits, so how sources are extended is free.
#if defined(__AVX512F__)
        constexpr __mmask8 all = 0xff;
        const __m512i p = _mm512_maskz_cvtepu32_epi64(all, reinterpret_cast<__m256i>(a[chunk]));
        const __m512i q = _mm512_maskz_cvtepu32_epi64(all, reinterpret_cast<__m256i>(b[chunk]));
        result[chunk] = reinterpret_cast<Vector<D>>(is_signed ? _mm512_maskz_mul_epi32(all, p, q)
                                                              : _mm512_maskz_mul_epu32(all, p, q));
#elif defined(__AVX2__)
        const __m256i p = _mm256_cvtepu32_epi64(reinterpret_cast<__m128i>(a[chunk]));
        const __m256i q = _mm256_cvtepu32_epi64(reinterpret_cast<__m128i>(b[chunk]));
        result[chunk] = reinterpret_cast<Vector<D>>(is_signed ? _mm256_mul_epi32(p, q)
                                                              : _mm256_mul_epu32(p, q));
#else
        result[chunk] = __builtin_convertvector(a[chunk], Vector<D>) *
                        __builtin_convertvector(b[chunk], Vector<D>);
#endif
    }
    store_lanes<D>(locate(warp, at->dst[0]), reinterpret_cast<const D*>(result), mask);
    return at + 1;
}

template <typename T>
struct MadHi {
    static T apply(T a, T b, T c) {
        using U = UnsignedLike<T>;
        return static_cast<T>(static_cast<U>(high_product(a, b)) + static_cast<U>(c));
    }
};

struct MadHiSaturated {
    static std::int32_t apply(std::int32_t a, std::int32_t b, std::int32_t c) {
        return clamp_to_s32(std::int64_t{high_product(a, b)} + c);
    }
};

template <typename T>
struct MadWide {
    using D = typename Doubled<T>::Type;

    static D apply(T a, T b, D c) {
        using U = UnsignedLike<D>;
        return static_cast<D>(static_cast<U>(static_cast<D>(a) * b) + static_cast<U>(c));
    }
};

template <typename T>
std::int64_t product24(T a, T b) {
    if constexpr (T(-1) < T(0)) {
        return std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(a) << 8) >> 8} *
               (static_cast<std::int32_t>(static_cast<std::uint32_t>(b) << 8) >> 8);
    } else {
        return static_cast<std::int64_t>(std::uint64_t{a & 0xffffffu} * (b & 0xffffffu));
    }
}

template <typename T, bool HIGH>
struct Mul24 {
    static T apply(T a, T b) { return static_cast<T>(product24(a, b) >> (HIGH ? 16 : 0)); }
};

template <typename T, bool HIGH>
struct Mad24 {
    static T apply(T a, T b, T c) {
        return static_cast<T>(static_cast<std::uint32_t>(product24(a, b) >> (HIGH ? 16 : 0)) +
                              static_cast<std::uint32_t>(c));
    }
};

struct Mad24HiSaturated {
    static std::int32_t apply(std::int32_t a, std::int32_t b, std::int32_t c) {
        return clamp_to_s32((product24(a, b) >> 16) + c);
    }
};

/// Divides 32-bit values in double precision. This is exact and, unlike idiv, vectorises.
template <typename I, bool REMAINDER>
struct Divide32 {
    using T = typename I::Storage;

    static T apply(T a, T b) {
        using U = std::uint32_t;
        a = I::extend(a);
        b = I::extend(b);
        const T divisor = b == 0 ? T{1} : b;
        const double quotient = static_cast<double>(a) / static_cast<double>(divisor);
        // Convert through 64 bits, because INT_MIN / -1 does not fit 32.
        const T result = static_cast<T>(static_cast<std::int64_t>(quotient));
        const T value = REMAINDER ? static_cast<T>(static_cast<U>(a) -
                                                   static_cast<U>(result) * static_cast<U>(divisor))
                                  : result;
        return b == 0 ? static_cast<T>(-1) : value;
    }
};

template <typename T, bool REMAINDER>
struct Divide64 {
    static T apply(T a, T b) {
        if (b == 0) {
            return static_cast<T>(-1);
        }
        if (T(-1) < T(0) && b == static_cast<T>(-1)) {
            return REMAINDER ? T{0}
                             : static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(a));
        }
        return REMAINDER ? a % b : a / b;
    }
};

template <typename I>
struct Sad {
    using T = typename I::Storage;

    static T apply(T a, T b, T c) {
        using U = UnsignedLike<T>;
        a = I::extend(a);
        b = I::extend(b);
        const U difference =
            a < b ? static_cast<U>(b) - static_cast<U>(a) : static_cast<U>(a) - static_cast<U>(b);
        return static_cast<T>(static_cast<U>(c) + difference);
    }
};

/// Carry-less products: sums are exclusive ors.
template <bool HIGH>
struct CarrylessMad {
    static std::uint64_t apply(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
        std::uint64_t result = c;
        for (unsigned i = 0; i < 64; ++i) {
            const std::uint64_t chosen = std::uint64_t{0} - (b >> i & 1);
            // Shifting by 64 is undefined, so the high half shifts in two steps.
            result ^= chosen & (HIGH ? a >> 1 >> (63 - i) : a << i);
        }
        return result;
    }
};

/// Two 16-bit or four 8-bit values in a lane.
template <typename Part, IntegerOp OP, bool SATURATES = false>
struct Packed {
    static constexpr unsigned BITS = sizeof(Part) * 8;
    static constexpr std::uint32_t MASK = (1u << BITS) - 1;

    static std::uint32_t apply(std::uint32_t a, std::uint32_t b) {
        std::uint32_t result = 0;
        for (unsigned shift = 0; shift < 32; shift += BITS) {
            result |= one(a >> shift & MASK, b >> shift & MASK) << shift;
        }
        return result;
    }

    static std::uint32_t apply(std::uint32_t a) { return apply(0, a); }

    static std::uint32_t one(std::uint32_t a, std::uint32_t b) {
        const auto x = static_cast<std::int32_t>(static_cast<Part>(a));
        const auto y = static_cast<std::int32_t>(static_cast<Part>(b));
        std::int32_t result = 0;
        if constexpr (OP == IntegerOp::Add) {
            result = x + y;
        } else if constexpr (OP == IntegerOp::Sub || OP == IntegerOp::Neg) {
            result = x - y;
        } else if constexpr (OP == IntegerOp::Min || OP == IntegerOp::MinRelu) {
            result = x < y ? x : y;
        } else {
            result = x > y ? x : y;
        }
        if constexpr (OP == IntegerOp::MinRelu || OP == IntegerOp::MaxRelu) {
            result = result < 0 ? 0 : result;
        }
        if constexpr (SATURATES) {
            constexpr std::int32_t LOWEST = std::numeric_limits<Part>::min();
            constexpr std::int32_t HIGHEST = std::numeric_limits<Part>::max();
            result = result < LOWEST ? LOWEST : result > HIGHEST ? HIGHEST : result;
        }
        return static_cast<std::uint32_t>(result) & MASK;
    }
};

template <bool MAX>
struct ClampedToZero {
    static std::int32_t apply(std::int32_t a, std::int32_t b) {
        const std::int32_t result = (MAX ? a > b : a < b) ? a : b;
        return result < 0 ? 0 : result;
    }
};

template <typename Part>
Handler select_packed(IntegerOp op) {
    using U = std::uint32_t;
    constexpr bool is_byte = sizeof(Part) == 1;
    constexpr bool is_signed = Part(-1) < Part(0);
    switch (op) {
    case IntegerOp::Add:
        return map_lanes<Packed<Part, IntegerOp::Add>, U, U, U>;
    case IntegerOp::Sub:
        return is_byte ? map_lanes<Packed<Part, IntegerOp::Sub>, U, U, U> : nullptr;
    case IntegerOp::Neg:
        return is_byte && is_signed ? map_lanes<Packed<Part, IntegerOp::Neg>, U, U> : nullptr;
    case IntegerOp::Min:
        return map_lanes<Packed<Part, IntegerOp::Min>, U, U, U>;
    case IntegerOp::Max:
        return map_lanes<Packed<Part, IntegerOp::Max>, U, U, U>;
    case IntegerOp::MinRelu:
        return is_signed ? map_lanes<Packed<Part, IntegerOp::MinRelu>, U, U, U> : nullptr;
    case IntegerOp::MaxRelu:
        return is_signed ? map_lanes<Packed<Part, IntegerOp::MaxRelu>, U, U, U> : nullptr;
    default:
        return nullptr;
    }
}

template <typename Part>
Handler select_packed_saturating(IntegerOp op) {
    using U = std::uint32_t;
    switch (op) {
    case IntegerOp::Add:
        return map_lanes<Packed<Part, IntegerOp::Add, true>, U, U, U>;
    case IntegerOp::Sub:
        return sizeof(Part) == 1 ? map_lanes<Packed<Part, IntegerOp::Sub, true>, U, U, U> : nullptr;
    default:
        return nullptr;
    }
}

Handler select_packed(const IntegerForm& form) {
    switch (form.type) {
    case ptx::Type::S16:
        return form.is_saturating ? select_packed_saturating<std::int16_t>(form.op)
                                  : select_packed<std::int16_t>(form.op);
    case ptx::Type::U16:
        return form.is_saturating ? select_packed_saturating<std::uint16_t>(form.op)
                                  : select_packed<std::uint16_t>(form.op);
    case ptx::Type::S8:
        return form.is_saturating ? select_packed_saturating<std::int8_t>(form.op)
                                  : select_packed<std::int8_t>(form.op);
    default:
        return form.is_saturating ? select_packed_saturating<std::uint8_t>(form.op)
                                  : select_packed<std::uint8_t>(form.op);
    }
}

Handler select_saturating(const IntegerForm& form) {
    using S = std::int32_t;
    using U = std::uint32_t;
    if (form.type == ptx::Type::U32 && form.op == IntegerOp::Add) {
        return map_lanes<AddSaturatedUnsigned, U, U, U>;
    }
    if (form.type != ptx::Type::S32) {
        return nullptr;
    }
    switch (form.op) {
    case IntegerOp::Add:
        return map_lanes<AddSaturated, S, S, S>;
    case IntegerOp::Sub:
        return map_lanes<SubSaturated, S, S, S>;
    case IntegerOp::MadHi:
        return map_lanes<MadHiSaturated, S, S, S, S>;
    case IntegerOp::Mad24Hi:
        return map_lanes<Mad24HiSaturated, S, S, S, S>;
    default:
        return nullptr;
    }
}

/// Selects operations that work the same for signed and unsigned types, because the low half of a
/// result does not depend on the upper bits.
template <typename U>
Handler select_wrapping(IntegerOp op) {
    switch (op) {
    case IntegerOp::Add:
        return map_vectors<Add, U, 2>;
    case IntegerOp::Sub:
        return map_vectors<Sub, U, 2>;
    case IntegerOp::MulLo:
        return map_vectors<Mul, U, 2>;
    case IntegerOp::MadLo:
        return map_vectors<Mad, U, 3>;
    case IntegerOp::Neg:
        return map_vectors<Neg, U, 1>;
    default:
        return nullptr;
    }
}

template <typename I>
Handler select_common(IntegerOp op) {
    using T = typename I::Storage;
    switch (op) {
    case IntegerOp::Min:
        return map_vectors<typename Extended<I>::Min, T, 2>;
    case IntegerOp::Max:
        return map_vectors<typename Extended<I>::Max, T, 2>;
    case IntegerOp::Sad:
        return map_lanes<Sad<I>, T, T, T, T>;
    case IntegerOp::Abs:
        if constexpr (I::is_signed) {
            return map_vectors<typename Extended<I>::Abs, T, 1>;
        } else {
            return nullptr;
        }
    default:
        return select_wrapping<UnsignedLike<T>>(op);
    }
}

template <typename I>
Handler select16(IntegerOp op) {
    using T = typename I::Storage;
    switch (op) {
    case IntegerOp::MulHi:
        return map_vectors<typename Extended<I>::MulHi16, T, 2>;
    case IntegerOp::MulWide:
        return map_vectors<typename Extended<I>::MulWide16, T, 2>;
    case IntegerOp::MadHi:
        return map_vectors<typename Extended<I>::MadHi16, T, 3>;
    case IntegerOp::MadWide:
        return map_vectors<typename Extended<I>::MadWide16, T, 3>;
    case IntegerOp::Div:
        return map_lanes<Divide32<I, false>, T, T, T>;
    case IntegerOp::Rem:
        return map_lanes<Divide32<I, true>, T, T, T>;
    default:
        return select_common<I>(op);
    }
}

template <typename I>
Handler select32(IntegerOp op) {
    using T = typename I::Storage;
    using D = typename Doubled<T>::Type;
    switch (op) {
    case IntegerOp::MulHi:
        return map_lanes<MulHi<T>, T, T, T>;
    case IntegerOp::MulWide:
        return multiply_wide<T>;
    case IntegerOp::MadHi:
        return map_lanes<MadHi<T>, T, T, T, T>;
    case IntegerOp::MadWide:
        return map_lanes<MadWide<T>, D, T, T, D>;
    case IntegerOp::Mul24Lo:
        return map_lanes<Mul24<T, false>, T, T, T>;
    case IntegerOp::Mul24Hi:
        return map_lanes<Mul24<T, true>, T, T, T>;
    case IntegerOp::Mad24Lo:
        return map_lanes<Mad24<T, false>, T, T, T, T>;
    case IntegerOp::Mad24Hi:
        return map_lanes<Mad24<T, true>, T, T, T, T>;
    case IntegerOp::Div:
        return map_lanes<Divide32<I, false>, T, T, T>;
    case IntegerOp::Rem:
        return map_lanes<Divide32<I, true>, T, T, T>;
    case IntegerOp::MinRelu:
        return I::is_signed
                   ? map_lanes<ClampedToZero<false>, std::int32_t, std::int32_t, std::int32_t>
                   : nullptr;
    case IntegerOp::MaxRelu:
        return I::is_signed
                   ? map_lanes<ClampedToZero<true>, std::int32_t, std::int32_t, std::int32_t>
                   : nullptr;
    default:
        return select_common<I>(op);
    }
}

template <typename I>
Handler select64(IntegerOp op) {
    using T = typename I::Storage;
    switch (op) {
    case IntegerOp::MulHi:
        return map_lanes<MulHi<T>, T, T, T>;
    case IntegerOp::MadHi:
        return map_lanes<MadHi<T>, T, T, T, T>;
    case IntegerOp::CarrylessMadLo:
        return I::is_signed ? nullptr : map_lanes<CarrylessMad<false>, T, T, T, T>;
    case IntegerOp::CarrylessMadHi:
        return I::is_signed ? nullptr : map_lanes<CarrylessMad<true>, T, T, T, T>;
    case IntegerOp::Div:
        return map_lanes<Divide64<T, false>, T, T, T>;
    case IntegerOp::Rem:
        return map_lanes<Divide64<T, true>, T, T, T>;
    default:
        return select_common<I>(op);
    }
}

// ---- dp4a, dp2a --------------------------------------------------------------------------------

template <bool SIGNED>
std::int32_t byte_of(std::uint32_t value, unsigned index) {
    const std::uint32_t byte = value >> (8 * index) & 0xffu;
    return SIGNED ? static_cast<std::int8_t>(byte) : static_cast<std::int32_t>(byte);
}

template <bool SIGNED>
std::int32_t half_of(std::uint32_t value, unsigned index) {
    const std::uint32_t half = value >> (16 * index) & 0xffffu;
    return SIGNED ? static_cast<std::int16_t>(half) : static_cast<std::int32_t>(half);
}

template <bool A, bool B>
struct Dot4 {
    static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        for (unsigned i = 0; i < 4; ++i) {
            c += static_cast<std::uint32_t>(byte_of<A>(a, i) * byte_of<B>(b, i));
        }
        return c;
    }
};

template <bool A, bool B, bool HIGH>
struct Dot2 {
    static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        for (unsigned i = 0; i < 2; ++i) {
            c += static_cast<std::uint32_t>(half_of<A>(a, i) * byte_of<B>(b, i + (HIGH ? 2 : 0)));
        }
        return c;
    }
};

const Instruction* dot4(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    using U = std::uint32_t;
    switch (at->tag & 3) {
    case 0:
        return map_lanes<Dot4<false, false>, U, U, U, U>(warp, at, mask);
    case 1:
        return map_lanes<Dot4<true, false>, U, U, U, U>(warp, at, mask);
    case 2:
        return map_lanes<Dot4<false, true>, U, U, U, U>(warp, at, mask);
    default:
        return map_lanes<Dot4<true, true>, U, U, U, U>(warp, at, mask);
    }
}

template <bool HIGH>
const Instruction* dot2_half(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    using U = std::uint32_t;
    switch (at->tag & 3) {
    case 0:
        return map_lanes<Dot2<false, false, HIGH>, U, U, U, U>(warp, at, mask);
    case 1:
        return map_lanes<Dot2<true, false, HIGH>, U, U, U, U>(warp, at, mask);
    case 2:
        return map_lanes<Dot2<false, true, HIGH>, U, U, U, U>(warp, at, mask);
    default:
        return map_lanes<Dot2<true, true, HIGH>, U, U, U, U>(warp, at, mask);
    }
}

const Instruction* dot2(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return (at->tag & 4) != 0 ? dot2_half<true>(warp, at, mask) : dot2_half<false>(warp, at, mask);
}

} // namespace

Handler select_integer(const IntegerForm& form) {
    if (form.is_packed) {
        return select_packed(form);
    }
    if (form.is_saturating) {
        return select_saturating(form);
    }
    switch (form.type) {
    case ptx::Type::U16:
        return select16<U16>(form.op);
    case ptx::Type::S16:
        return select16<S16>(form.op);
    case ptx::Type::U32:
        return select32<U32>(form.op);
    case ptx::Type::S32:
        return select32<S32>(form.op);
    case ptx::Type::U64:
        return select64<U64>(form.op);
    case ptx::Type::S64:
        return select64<S64>(form.op);
    default:
        return nullptr;
    }
}

Handler select_dot(const DotForm& form) {
    return form.is_four_way ? dot4 : dot2;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
