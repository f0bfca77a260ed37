// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic on linear registers (passes/find_linear.cpp): one operation on base and steps instead
// of one per lane. If that is impossible, the plain handler runs. This happens if lanes are
// missing, if both factors of a product differ between lanes, or if a sum may wrap before it is
// widened.

#include "interp/handlers/linear.hpp"

#include "interp/handlers/linear_arithmetic.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

template <typename T>
[[gnu::noinline]] void spread_lanes(std::byte* lanes) {
    auto* const head = reinterpret_cast<Aliased<std::uint64_t>::Value*>(lanes - HEAD_BYTES);
    constexpr unsigned count = LANES<T>;
    // Lane-number bits that are constant in a chunk add a scalar to it; the others add a vector.
    Vector<T> first = broadcast<T>(static_cast<T>(head[0]));
    for (unsigned bit = 0; 1u << bit < count; ++bit) {
        const Vector<T> is_set = (iota<T>() >> static_cast<T>(bit)) & 1;
        first += is_set * static_cast<T>(head[FIRST_STEP + bit]);
    }
    for (unsigned chunk = 0; chunk < CHUNKS<T>; ++chunk) {
        T offset = 0;
        for (unsigned bit = 0; bit < bytecode::LinearHead::STEP_COUNT; ++bit) {
            if ((chunk * count >> bit & 1) != 0) {
                offset += static_cast<T>(head[FIRST_STEP + bit]);
            }
        }
        store<T>(lanes, chunk, first + offset);
    }
    head[HAS_LANES] = 1;
}

template void spread_lanes<std::uint32_t>(std::byte*);
template void spread_lanes<std::uint64_t>(std::byte*);

namespace {

using U = std::uint32_t;
using UL = std::uint64_t;

/// The threads of one warp.
struct Warp {
    static constexpr unsigned STEPS = STEP_BITS;

    [[gnu::always_inline]] static Head places(UL base, UL step) {
        return Head{base, step, step, step, step, step, 0, 0};
    }
};

using Ops = HeadArithmetic<Warp>;

/// dst[0] of D = Op(src[0] of A, src[1] of B, src[2] of C), all linear.
template <typename Op, typename D, typename A, typename B, typename C>
[[gnu::noinline]] const Instruction* compute_lanes(WarpContext& warp, const Instruction* at,
                                                   std::uint32_t mask) {
    settle<A>(warp, at->src[0]);
    if constexpr (!__is_same(B, void)) {
        settle<B>(warp, at->src[1]);
    }
    if constexpr (!__is_same(C, void)) {
        settle<C>(warp, at->src[2]);
    }
    give_up_head<D>(warp, at->dst[0], mask);
    return at->plain(warp, at, mask);
}

template <typename Op, typename D, typename A, typename B = void, typename C = void>
const Instruction* compute_linear(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    if (mask == FULL_MASK) [[likely]] {
        Head a;
        Head b{};
        Head c{};
        bool is_linear = read_linear<A>(warp, at->src[0], a);
        if constexpr (!__is_same(B, void)) {
            is_linear = is_linear && read_linear<B>(warp, at->src[1], b);
        }
        if constexpr (!__is_same(C, void)) {
            is_linear = is_linear && read_linear<C>(warp, at->src[2], c);
        }
        Head result;
        if (is_linear && Op::apply(a, b, c, result)) [[likely]] {
            write_linear<D>(warp, at->dst[0], result);
            return at + 1;
        }
    }
    return compute_lanes<Op, D, A, B, C>(warp, at, mask);
}

template <Compare OP, typename T>
[[gnu::always_inline]] inline bool compare_numbers(T a, T b) {
    switch (OP) {
    case Compare::Eq:
        return a == b;
    case Compare::Ne:
        return a != b;
    case Compare::Lt:
        return a < b;
    case Compare::Le:
        return a <= b;
    case Compare::Gt:
        return a > b;
    default:
        return a >= b;
    }
}

template <typename T>
[[gnu::noinline]] const Instruction* compare_settled(WarpContext& warp, const Instruction* at,
                                                     std::uint32_t mask) {
    settle<UnsignedLike<T>>(warp, at->src[0]);
    settle<UnsignedLike<T>>(warp, at->src[1]);
    return at->plain(warp, at, mask);
}

/// The result of a comparison if it is the same in all lanes.
enum class Everywhere : std::uint8_t { Unknown, No, Yes };

/// Compares two 32-bit values that differ between lanes. One may still be less in all lanes.
template <Compare OP, typename T>
[[gnu::always_inline]] inline Everywhere compare_ranges(Head a, Head b) {
    constexpr bool is_signed = T(-1) < T(0);
    if (!Ops::widen<is_signed>(a, a) || !Ops::widen<is_signed>(b, b)) {
        return Everywhere::Unknown;
    }
    const Head difference = a - b;
    const UL all = sum_of_steps(difference);
    // Steps are rarely negative.
    const UL below =
        has_negative_steps(difference) ? sum_of_steps(negative_part(difference)) : UL{0};
    const auto least = static_cast<std::int64_t>(difference[0] + below);
    const auto most = static_cast<std::int64_t>(difference[0] + all - below);
    if (most < 0) {
        return compare_numbers<OP, int>(0, 1) ? Everywhere::Yes : Everywhere::No;
    }
    if (least > 0) {
        return compare_numbers<OP, int>(1, 0) ? Everywhere::Yes : Everywhere::No;
    }
    constexpr bool is_split_at_zero = OP == Compare::Lt || OP == Compare::Ge;
    if (is_split_at_zero && least >= 0) {
        return OP == Compare::Ge ? Everywhere::Yes : Everywhere::No;
    }
    return Everywhere::Unknown;
}

/// Performs setp if the comparison holds in all lanes or in none.
template <Compare OP, typename T>
const Instruction* compare_linear(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    Head a;
    Head b;
    if (at->tag == 0 && at->dst_count == 1 && read_linear<UnsignedLike<T>>(warp, at->src[0], a) &&
        read_linear<UnsignedLike<T>>(warp, at->src[1], b)) [[likely]] {
        auto result = Everywhere::Unknown;
        if (is_uniform(a | b)) {
            const bool holds = compare_numbers<OP, T>(static_cast<T>(a[0]), static_cast<T>(b[0]));
            result = holds ? Everywhere::Yes : Everywhere::No;
        } else if constexpr (sizeof(T) == 4) {
            result = compare_ranges<OP, T>(a, b);
        }
        if (result != Everywhere::Unknown) {
            write_predicate(warp, at->dst[0], result == Everywhere::Yes ? FULL_MASK : 0, mask);
            return at + 1;
        }
    }
    return compare_settled<T>(warp, at, mask);
}

template <typename T>
const Instruction* spread(WarpContext& warp, const Instruction* at, std::uint32_t /*mask*/) {
    settle<T>(warp, at->src[0]);
    return at + 1;
}

template <typename T>
Handler select_compare_of(Compare compare) {
    switch (compare) {
    case Compare::Eq:
        return compare_linear<Compare::Eq, T>;
    case Compare::Ne:
        return compare_linear<Compare::Ne, T>;
    case Compare::Lt:
        return compare_linear<Compare::Lt, T>;
    case Compare::Le:
        return compare_linear<Compare::Le, T>;
    case Compare::Gt:
        return compare_linear<Compare::Gt, T>;
    case Compare::Ge:
        return compare_linear<Compare::Ge, T>;
    default:
        return nullptr;
    }
}

template <typename T>
Handler select_integer_of(IntegerOp op) {
    switch (op) {
    case IntegerOp::Add:
        return compute_linear<Ops::Add, T, T, T>;
    case IntegerOp::Sub:
        return compute_linear<Ops::Sub, T, T, T>;
    case IntegerOp::MulLo:
        return compute_linear<Ops::Mul, T, T, T>;
    case IntegerOp::MadLo:
        return compute_linear<Ops::Mad, T, T, T, T>;
    default:
        return nullptr;
    }
}

template <typename T>
Handler select_bits_of(BitsOp op) {
    using S = SignedLike<T>;
    switch (op) {
    case BitsOp::And:
        return compute_linear<Ops::Uniform<Ops::And>, T, T, T>;
    case BitsOp::Or:
        return compute_linear<Ops::Uniform<Ops::Or>, T, T, T>;
    case BitsOp::Xor:
        return compute_linear<Ops::Uniform<Ops::Xor>, T, T, T>;
    case BitsOp::Shl:
        return compute_linear<Ops::ShiftLeft<sizeof(T) * 8>, T, T, U>;
    case BitsOp::ShrUnsigned:
        return compute_linear<Ops::Uniform<Ops::ShiftRight<T>>, T, T, U>;
    case BitsOp::ShrSigned:
        return compute_linear<Ops::Uniform<Ops::ShiftRight<S>>, T, T, U>;
    default:
        return nullptr;
    }
}

} // namespace

Handler select_linear_integer(const IntegerForm& form) {
    const bool is_signed = form.type == ptx::Type::S32;
    if (!HAS_LINEAR_HANDLERS || form.is_saturating || form.is_packed) {
        return nullptr;
    }
    if (form.type == ptx::Type::U64 || form.type == ptx::Type::S64) {
        return select_integer_of<UL>(form.op);
    }
    if (form.type != ptx::Type::U32 && !is_signed) {
        return nullptr;
    }
    if (form.op == IntegerOp::MulWide) {
        return is_signed ? compute_linear<Ops::MulWide<true>, UL, U, U>
                         : compute_linear<Ops::MulWide<false>, UL, U, U>;
    }
    if (form.op == IntegerOp::MadWide) {
        return is_signed ? compute_linear<Ops::MadWide<true>, UL, U, U, UL>
                         : compute_linear<Ops::MadWide<false>, UL, U, U, UL>;
    }
    return select_integer_of<U>(form.op);
}

Handler select_linear_bits(const BitsForm& form) {
    if (!HAS_LINEAR_HANDLERS) {
        return nullptr;
    }
    return form.bits == 64   ? select_bits_of<UL>(form.op)
           : form.bits == 32 ? select_bits_of<U>(form.op)
                             : nullptr;
}

Handler select_linear_move(const MoveForm& form) {
    if (!HAS_LINEAR_HANDLERS || form.op != MoveOp::Copy) {
        return nullptr;
    }
    return form.width == Width::B64   ? compute_linear<Ops::Copy, UL, UL>
           : form.width == Width::B32 ? compute_linear<Ops::Copy, U, U>
                                      : nullptr;
}

Handler select_linear_convert(const ConvertForm& form) {
    if (!HAS_LINEAR_HANDLERS) {
        return nullptr;
    }
    const bool is_wide = form.to == Format::U64 || form.to == Format::S64;
    if (is_wide && form.from == Format::S32) {
        return compute_linear<Ops::Widen<true>, UL, U>;
    }
    if (is_wide && form.from == Format::U32) {
        return compute_linear<Ops::Widen<false>, UL, U>;
    }
    const bool is_narrow = form.to == Format::U32 || form.to == Format::S32;
    if (is_narrow && (form.from == Format::U64 || form.from == Format::S64)) {
        return compute_linear<Ops::Copy, U, UL>;
    }
    return nullptr;
}

Handler select_linear_compare(const CompareForm& form) {
    if (!HAS_LINEAR_HANDLERS || form.result != CompareResult::Predicate) {
        return nullptr;
    }
    switch (form.type) {
    case ptx::Type::U32:
        return select_compare_of<U>(form.compare);
    case ptx::Type::S32:
        return select_compare_of<std::int32_t>(form.compare);
    case ptx::Type::U64:
        return select_compare_of<UL>(form.compare);
    case ptx::Type::S64:
        return select_compare_of<std::int64_t>(form.compare);
    default:
        return nullptr;
    }
}

Handler select_spread(Width width) {
    return width == Width::B64 ? spread<UL> : spread<U>;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
