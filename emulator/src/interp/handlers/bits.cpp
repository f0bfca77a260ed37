// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Bitwise operations, shifts, bit fields and predicate logic.
//
// Shift amounts are unsigned and clamped: a shift by the width or more leaves zeros or copies of
// the sign. x86 would use the amount modulo the width.

#include "interp/handlers/common.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

using U = std::uint32_t;
using UL = std::uint64_t;

struct And {
    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> b) {
        return a & b;
    }
};

struct Or {
    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> b) {
        return a | b;
    }
};

struct Xor {
    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> b) {
        return a ^ b;
    }
};

struct Not {
    template <typename T>
    static Vector<T> apply(Vector<T> a) {
        return ~a;
    }
};

template <unsigned BITS>
struct Cnot {
    template <typename T>
    static Vector<T> apply(Vector<T> a) {
        if constexpr (BITS == 16) {
            a &= broadcast<T>(0xffff);
        }
        return reinterpret_cast<Vector<T>>(a == 0) & broadcast<T>(1);
    }
};

struct Shl32 {
    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> n) {
        return n < 32 ? a << (n & 31) : Vector<T>{};
    }
};

template <unsigned BITS>
struct ShrUnsigned32 {
    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> n) {
        if constexpr (BITS == 16) {
            a &= broadcast<T>(0xffff);
        }
        return n < 32 ? a >> (n & 31) : Vector<T>{};
    }
};

template <unsigned BITS>
struct ShrSigned32 {
    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> n) {
        using S = Vector<std::int32_t>;
        auto value = reinterpret_cast<S>(a);
        if constexpr (BITS == 16) {
            value = (value << 16) >> 16;
        }
        const Vector<T> amount = n < 31 ? n : broadcast<T>(31);
        return reinterpret_cast<Vector<T>>(value >> reinterpret_cast<S>(amount));
    }
};

struct Shl64 {
    static UL apply(UL a, U n) { return n < 64 ? a << (n & 63) : 0; }
};

struct ShrUnsigned64 {
    static UL apply(UL a, U n) { return n < 64 ? a >> (n & 63) : 0; }
};

struct ShrSigned64 {
    static UL apply(UL a, U n) {
        return static_cast<UL>(static_cast<std::int64_t>(a) >> (n < 63 ? n : 63));
    }
};

template <bool LEFT, bool WRAP>
struct Funnel {
    static U apply(U a, U b, U n) {
        const UL both = UL{b} << 32 | a;
        const U amount = WRAP ? n & 31 : (n < 32 ? n : 32);
        return static_cast<U>(LEFT ? (both << amount) >> 32 : both >> amount);
    }
};

template <typename T>
U count_leading_zeros(T value) {
    if constexpr (sizeof(T) == 4) {
        return value == 0 ? 32 : static_cast<U>(__builtin_clz(value));
    } else {
        return value == 0 ? 64 : static_cast<U>(__builtin_clzll(value));
    }
}

template <typename T>
struct Popc {
    static U apply(T a) {
        return static_cast<U>(sizeof(T) == 4 ? __builtin_popcount(static_cast<U>(a))
                                             : __builtin_popcountll(a));
    }
};

template <typename T>
struct Clz {
    static U apply(T a) { return count_leading_zeros(a); }
};

template <typename T, bool SIGNED, bool SHIFT>
struct Bfind {
    static U apply(T a) {
        if (SIGNED && (a >> (sizeof(T) * 8 - 1)) != 0) {
            a = ~a;
        }
        if (a == 0) {
            return 0xffffffffu;
        }
        const U zeros = count_leading_zeros(a);
        return SHIFT ? zeros : static_cast<U>(sizeof(T) * 8 - 1) - zeros;
    }
};

template <typename T>
struct Brev {
    static T apply(T a) {
        constexpr T ones = static_cast<T>(~T{0});
        a = (a & ones / 3) << 1 | (a >> 1 & ones / 3);
        a = (a & ones / 5) << 2 | (a >> 2 & ones / 5);
        a = (a & ones / 17) << 4 | (a >> 4 & ones / 17);
        if constexpr (sizeof(T) == 4) {
            return __builtin_bswap32(a);
        } else {
            return __builtin_bswap64(a);
        }
    }
};

/// Returns a value with the lowest `count` bits set, or all bits if `count` exceeds the width.
template <typename T>
T low_ones(U count) {
    return count >= sizeof(T) * 8 ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << count) - 1);
}

/// Reads a position or length. Only 8 bits count, but on a GPU the 64-bit forms clamp instead of
/// wrapping.
template <typename T>
U field_operand(U value) {
    return sizeof(T) == 4 ? value & 0xff : (value < 255 ? value : 255);
}

template <typename T, bool SIGNED>
struct Bfe {
    static T apply(T a, U position, U length) {
        constexpr U width = sizeof(T) * 8;
        const U pos = field_operand<T>(position);
        const U len = field_operand<T>(length);
        const T ones = low_ones<T>(len);
        T result = (pos < width ? a >> pos : T{0}) & ones;
        if (SIGNED && len != 0) {
            const U last = pos + len - 1;
            const U sign = last < width ? last : width - 1;
            if ((a >> sign & 1) != 0) {
                const U kept = pos < width ? (len < width - pos ? len : width - pos) : 0;
                result |= static_cast<T>(~low_ones<T>(kept));
            }
        }
        return result;
    }
};

template <typename T>
struct Bfi {
    static T apply(T a, T b, U position, U length) {
        constexpr U width = sizeof(T) * 8;
        const U pos = field_operand<T>(position);
        if (pos >= width) {
            return b;
        }
        const T field = static_cast<T>(low_ones<T>(field_operand<T>(length)) << pos);
        return (b & ~field) | (static_cast<T>(a << pos) & field);
    }
};

template <bool CLAMP>
struct Bmsk {
    static U apply(U a, U b) {
        const U start = a & 31;
        const U end = start + (b & 31);
        const U from = CLAMP && a >= 32 ? 0 : 0xffffffffu << start;
        const bool reaches_top = end >= 32 || (CLAMP && (a >= 32 || b >= 32));
        return from & ~(reaches_top ? 0 : 0xffffffffu << (end & 31));
    }
};

struct Fns {
    static U apply(U value, U base, std::int32_t offset) {
        if (base > 31) {
            return 0xffffffffu;
        }
        if (offset == 0) {
            return (value >> base & 1) != 0 ? base : 0xffffffffu;
        }
        const int step = offset > 0 ? 1 : -1;
        // Count in 64 bits: -INT_MIN is a valid count that finds nothing.
        std::int64_t left = offset > 0 ? std::int64_t{offset} : -std::int64_t{offset};
        for (int position = static_cast<int>(base); position >= 0 && position < 32;
             position += step) {
            if ((value >> position & 1) != 0 && --left == 0) {
                return static_cast<U>(position);
            }
        }
        return 0xffffffffu;
    }
};

template <bool CLAMP, bool SIGNED>
struct Szext {
    static U apply(U a, U b) {
        const U bits = b & 31;
        const bool is_whole = CLAMP && b >= 32;
        const U above = is_whole ? 0 : 0xffffffffu << bits;
        const bool is_negative =
            SIGNED && bits != 0 && !is_whole && (a >> ((bits - 1) & 31) & 1) != 0;
        return (a & ~above) | (is_negative ? above : 0);
    }
};

template <PrmtMode MODE>
struct Prmt {
    static U apply(U a, U b, U selector) {
        const UL both = UL{b} << 32 | a;
        U result = 0;
        for (U i = 0; i < 4; ++i) {
            result |= one(both, selector, i) << (8 * i);
        }
        return result;
    }

    static U one(UL both, U selector, U i) {
        const U k = selector & 3;
        U from = 0;
        if constexpr (MODE == PrmtMode::Index) {
            const U nibble = selector >> (4 * i) & 15;
            const U byte = static_cast<U>(both >> (8 * (nibble & 7))) & 0xff;
            return (nibble & 8) != 0 ? ((byte & 0x80) != 0 ? 0xff : 0) : byte;
        } else if constexpr (MODE == PrmtMode::F4e) {
            from = k + i;
        } else if constexpr (MODE == PrmtMode::B4e) {
            from = (k + 8 - i) & 7;
        } else if constexpr (MODE == PrmtMode::Rc8) {
            from = k;
        } else if constexpr (MODE == PrmtMode::Ecl) {
            from = i > k ? i : k;
        } else if constexpr (MODE == PrmtMode::Ecr) {
            from = i < k ? i : k;
        } else {
            from = (k & 1) * 2 + (i & 1);
        }
        return static_cast<U>(both >> (8 * from)) & 0xff;
    }
};

/// Applies an operation to all lanes as map_lanes does, with the four sources of bfi.
template <typename T>
const Instruction* insert_bits(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    alignas(VECTOR_BYTES) T result[WARP_SIZE];
    const auto* const a = lanes_of<T>(warp, at->src[0]);
    const auto* const b = lanes_of<T>(warp, at->src[1]);
    const auto* const position = lanes_of<U>(warp, at->src[2]);
    const auto* const length = lanes_of<U>(warp, at->src[3]);
    for (unsigned i = 0; i < WARP_SIZE; ++i) {
        result[i] = Bfi<T>::apply(a[i], b[i], position[i], length[i]);
    }
    store_lanes<T>(locate(warp, at->dst[0]), result, mask);
    return at + 1;
}

template <BitsOp OP>
const Instruction* combine_predicates(WarpContext& warp, const Instruction* at,
                                      std::uint32_t mask) {
    const std::uint32_t a =
        predicate_of(warp, at->src[0]) ^ (0u - static_cast<std::uint32_t>(at->tag & 1));
    if constexpr (OP == BitsOp::PredicateNot) {
        write_predicate(warp, at->dst[0], ~a, mask);
    } else {
        const std::uint32_t b =
            predicate_of(warp, at->src[1]) ^ (0u - static_cast<std::uint32_t>(at->tag >> 1 & 1));
        const std::uint32_t result = OP == BitsOp::PredicateAnd  ? a & b
                                     : OP == BitsOp::PredicateOr ? a | b
                                                                 : a ^ b;
        write_predicate(warp, at->dst[0], result, mask);
    }
    return at + 1;
}

Handler select_prmt(PrmtMode mode) {
    switch (mode) {
    case PrmtMode::Index:
        return map_lanes<Prmt<PrmtMode::Index>, U, U, U, U>;
    case PrmtMode::F4e:
        return map_lanes<Prmt<PrmtMode::F4e>, U, U, U, U>;
    case PrmtMode::B4e:
        return map_lanes<Prmt<PrmtMode::B4e>, U, U, U, U>;
    case PrmtMode::Rc8:
        return map_lanes<Prmt<PrmtMode::Rc8>, U, U, U, U>;
    case PrmtMode::Ecl:
        return map_lanes<Prmt<PrmtMode::Ecl>, U, U, U, U>;
    case PrmtMode::Ecr:
        return map_lanes<Prmt<PrmtMode::Ecr>, U, U, U, U>;
    case PrmtMode::Rc16:
        return map_lanes<Prmt<PrmtMode::Rc16>, U, U, U, U>;
    }
    return nullptr;
}

Handler select_shift(const BitsForm& form) {
    switch (form.op) {
    case BitsOp::Shl:
        return form.bits == 64 ? map_lanes<Shl64, UL, UL, U> : map_vectors<Shl32, U, 2>;
    case BitsOp::ShrUnsigned:
        return form.bits == 64   ? map_lanes<ShrUnsigned64, UL, UL, U>
               : form.bits == 16 ? map_vectors<ShrUnsigned32<16>, U, 2>
                                 : map_vectors<ShrUnsigned32<32>, U, 2>;
    default:
        return form.bits == 64   ? map_lanes<ShrSigned64, UL, UL, U>
               : form.bits == 16 ? map_vectors<ShrSigned32<16>, U, 2>
                                 : map_vectors<ShrSigned32<32>, U, 2>;
    }
}

template <typename T>
Handler select_field(BitsOp op) {
    switch (op) {
    case BitsOp::Popc:
        return map_lanes<Popc<T>, U, T>;
    case BitsOp::Clz:
        return map_lanes<Clz<T>, U, T>;
    case BitsOp::BfindUnsigned:
        return map_lanes<Bfind<T, false, false>, U, T>;
    case BitsOp::BfindSigned:
        return map_lanes<Bfind<T, true, false>, U, T>;
    case BitsOp::BfindUnsignedShift:
        return map_lanes<Bfind<T, false, true>, U, T>;
    case BitsOp::BfindSignedShift:
        return map_lanes<Bfind<T, true, true>, U, T>;
    case BitsOp::Brev:
        return map_lanes<Brev<T>, T, T>;
    case BitsOp::BfeUnsigned:
        return map_lanes<Bfe<T, false>, T, T, U, U>;
    case BitsOp::BfeSigned:
        return map_lanes<Bfe<T, true>, T, T, U, U>;
    case BitsOp::Bfi:
        return insert_bits<T>;
    default:
        return nullptr;
    }
}

template <typename T>
Handler select_logic(const BitsForm& form) {
    switch (form.op) {
    case BitsOp::And:
        return map_vectors<And, T, 2>;
    case BitsOp::Or:
        return map_vectors<Or, T, 2>;
    case BitsOp::Xor:
        return map_vectors<Xor, T, 2>;
    case BitsOp::Not:
        return map_vectors<Not, T, 1>;
    case BitsOp::Cnot:
        return form.bits == 16 ? map_vectors<Cnot<16>, T, 1> : map_vectors<Cnot<32>, T, 1>;
    default:
        return nullptr;
    }
}

Handler select_word(const BitsForm& form) {
    switch (form.op) {
    case BitsOp::FunnelLeftWrap:
        return map_lanes<Funnel<true, true>, U, U, U, U>;
    case BitsOp::FunnelLeftClamp:
        return map_lanes<Funnel<true, false>, U, U, U, U>;
    case BitsOp::FunnelRightWrap:
        return map_lanes<Funnel<false, true>, U, U, U, U>;
    case BitsOp::FunnelRightClamp:
        return map_lanes<Funnel<false, false>, U, U, U, U>;
    case BitsOp::BmskClamp:
        return map_lanes<Bmsk<true>, U, U, U>;
    case BitsOp::BmskWrap:
        return map_lanes<Bmsk<false>, U, U, U>;
    case BitsOp::Fns:
        return map_lanes<Fns, U, U, U, std::int32_t>;
    case BitsOp::Prmt:
        return select_prmt(form.mode);
    case BitsOp::SzextClampUnsigned:
        return map_lanes<Szext<true, false>, U, U, U>;
    case BitsOp::SzextClampSigned:
        return map_lanes<Szext<true, true>, U, U, U>;
    case BitsOp::SzextWrapUnsigned:
        return map_lanes<Szext<false, false>, U, U, U>;
    case BitsOp::SzextWrapSigned:
        return map_lanes<Szext<false, true>, U, U, U>;
    default:
        return nullptr;
    }
}

} // namespace

Handler select_bits(const BitsForm& form) {
    switch (form.op) {
    case BitsOp::Lop3:
        return select_lop3(form);
    case BitsOp::PredicateAnd:
        return combine_predicates<BitsOp::PredicateAnd>;
    case BitsOp::PredicateOr:
        return combine_predicates<BitsOp::PredicateOr>;
    case BitsOp::PredicateXor:
        return combine_predicates<BitsOp::PredicateXor>;
    case BitsOp::PredicateNot:
        return combine_predicates<BitsOp::PredicateNot>;
    case BitsOp::And:
    case BitsOp::Or:
    case BitsOp::Xor:
    case BitsOp::Not:
    case BitsOp::Cnot:
        return form.bits == 64 ? select_logic<UL>(form) : select_logic<U>(form);
    case BitsOp::Shl:
    case BitsOp::ShrUnsigned:
    case BitsOp::ShrSigned:
        return select_shift(form);
    case BitsOp::Popc:
    case BitsOp::Clz:
    case BitsOp::BfindUnsigned:
    case BitsOp::BfindSigned:
    case BitsOp::BfindUnsignedShift:
    case BitsOp::BfindSignedShift:
    case BitsOp::Brev:
    case BitsOp::BfeUnsigned:
    case BitsOp::BfeSigned:
    case BitsOp::Bfi:
        return form.bits == 64 ? select_field<UL>(form.op) : select_field<U>(form.op);
    default:
        return select_word(form);
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
