// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic on linear registers (passes/find_linear.cpp): one operation on base and steps instead
// of one per lane. If that is impossible, the plain handler runs. This happens if lanes are
// missing, if both factors of a product differ between lanes, or if a sum may wrap before it is
// widened.

#include "interp/handlers/linear.hpp"

#include "interp/handlers/linear_selection.hpp"
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

template <typename T>
[[gnu::noinline]] const Instruction* compare_settled(WarpContext& warp, const Instruction* at,
                                                     std::uint32_t mask) {
    settle<UnsignedLike<T>>(warp, at->src[0]);
    settle<UnsignedLike<T>>(warp, at->src[1]);
    return at->plain(warp, at, mask);
}

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
    return compare_with_zero<OP>(least, most);
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

/// The handlers of a warp.
struct WarpHandlers {
    using Handler = bytecode::Handler;
    using Arithmetic = Ops;

    template <typename Op, typename D, typename A, typename B = void, typename C = void>
    static constexpr Handler COMPUTE = compute_linear<Op, D, A, B, C>;

    template <Compare OP, typename T>
    static constexpr Handler COMPARE = compare_linear<OP, T>;
};

using Selection = LinearSelection<WarpHandlers>;

} // namespace

Handler select_linear_integer(const IntegerForm& form) {
    return HAS_LINEAR_HANDLERS ? Selection::of_integer(form) : nullptr;
}

Handler select_linear_bits(const BitsForm& form) {
    return HAS_LINEAR_HANDLERS ? Selection::of_bits(form) : nullptr;
}

Handler select_linear_move(const MoveForm& form) {
    return HAS_LINEAR_HANDLERS ? Selection::of_move(form) : nullptr;
}

Handler select_linear_convert(const ConvertForm& form) {
    return HAS_LINEAR_HANDLERS ? Selection::of_convert(form) : nullptr;
}

Handler select_linear_compare(const CompareForm& form) {
    return HAS_LINEAR_HANDLERS ? Selection::of_compare(form) : nullptr;
}

Handler select_spread(Width width) {
    return width == Width::B64 ? spread<UL> : spread<U>;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
