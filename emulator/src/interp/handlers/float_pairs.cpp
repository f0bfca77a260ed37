// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Two f32 instructions in one handler, if only the second reads the result of the first. The result
// does not go through a register: a store and a load would take as long as the arithmetic. A NaN in
// it need not become canonical. It makes the second result a NaN too, or a comparison false.

#include "interp/handlers/compare_lanes.hpp"
#include "interp/handlers/float_common.hpp"
#include "interp/handlers/lockstep_lanes.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

constexpr bool is_comparison(FloatPairUse use) {
    return use >= FloatPairUse::Less;
}

constexpr bool is_multiply_add(FloatPairUse use) {
    return use == FloatPairUse::Scaled || use == FloatPairUse::Summed;
}

template <FloatOp FIRST>
[[gnu::always_inline]] inline Vector<float> compute_first(Vector<float> a, Vector<float> b) {
    if constexpr (FIRST == FloatOp::Add) {
        return a + b;
    } else if constexpr (FIRST == FloatOp::Sub) {
        return a - b;
    } else {
        return a * b;
    }
}

/// Computes the second result from the first, and from the other sources of the second.
template <FloatPairUse USE>
[[gnu::always_inline]] inline Vector<float> compute_second(Vector<float> first, Vector<float> c,
                                                           Vector<float> d) {
    switch (USE) {
    case FloatPairUse::Added:
        return first + c;
    case FloatPairUse::Reduced:
        return first - c;
    case FloatPairUse::Subtracted:
        return c - first;
    case FloatPairUse::Multiplied:
        return first * c;
    case FloatPairUse::Scaled:
        return fused(first, c, d);
    default:
        return fused(c, d, first);
    }
}

constexpr Compare comparison_of(FloatPairUse use) {
    return use == FloatPairUse::Less         ? Compare::Lt
           : use == FloatPairUse::NotGreater ? Compare::Le
           : use == FloatPairUse::Greater    ? Compare::Gt
                                             : Compare::Ge;
}

/// Returns the first source of the second instruction that is not the result of the first.
template <FloatPairUse USE>
[[gnu::always_inline]] inline Operand third_source(const Instruction* second) {
    return second->src[USE == FloatPairUse::Subtracted || USE == FloatPairUse::Summed ? 0 : 1];
}

/// Returns the other source of a multiply-add that is not the result of the first instruction.
template <FloatPairUse USE>
[[gnu::always_inline]] inline Operand fourth_source(const Instruction* second) {
    return second->src[USE == FloatPairUse::Scaled ? 2 : 1];
}

/// Runs both instructions for the lanes of `mask` of a warp. `to` is the destination of the second.
template <FloatOp FIRST, FloatPairUse USE>
[[gnu::always_inline]] inline void compute_pair(std::byte* to, std::uint32_t mask,
                                                const std::byte* a, const std::byte* b,
                                                const std::byte* c, const std::byte* d) {
    Vector<float> results[CHUNKS<float>];
    std::uint32_t holds = 0;
    for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
        const Vector<float> first =
            compute_first<FIRST>(load<float>(a, chunk), load<float>(b, chunk));
        if constexpr (is_comparison(USE)) {
            holds |= compare_bits<comparison_of(USE), float>(first, load<float>(c, chunk))
                     << chunk * LANES<float>;
        } else {
            results[chunk] =
                compute_second<USE>(first, load<float>(c, chunk), load<float>(d, chunk));
        }
    }
    if constexpr (is_comparison(USE)) {
        auto* const slot = reinterpret_cast<Aliased<std::uint32_t>::Value*>(to);
        *slot = (*slot & ~mask) | (holds & mask);
        return;
    }
    store_canonical(to, results, mask);
}

template <FloatOp FIRST, FloatPairUse USE>
const Instruction* run_pair(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const std::byte* const c = locate(warp, third_source<USE>(at + 1));
    compute_pair<FIRST, USE>(locate(warp, at[1].dst[0]), mask, locate(warp, at->src[0]),
                             locate(warp, at->src[1]), c,
                             is_multiply_add(USE) ? locate(warp, fourth_source<USE>(at + 1)) : c);
    return at + 2;
}

template <FloatOp FIRST, FloatPairUse USE>
const Instruction* run_pair_block(Lockstep& block, const Instruction* at) {
    using whole::WarpSource;
    const Operand to = at[1].dst[0];
    WarpSource a(block, at->src[0]);
    WarpSource b(block, at->src[1]);
    WarpSource c(block, third_source<USE>(at + 1));
    if constexpr (is_multiply_add(USE)) {
        WarpSource d(block, fourth_source<USE>(at + 1));
        whole::for_each_warp_of(
            block, to,
            [](std::byte* place, const std::byte* from_a, const std::byte* from_b,
               const std::byte* from_c, const std::byte* from_d) __attribute__((always_inline)) {
                compute_pair<FIRST, USE>(place, FULL_MASK, from_a, from_b, from_c, from_d);
            },
            a, b, c, d);
    } else {
        whole::for_each_warp_of(
            block, to,
            [](std::byte* place, const std::byte* from_a, const std::byte* from_b,
               const std::byte* from_c) __attribute__((always_inline)) {
                compute_pair<FIRST, USE>(place, FULL_MASK, from_a, from_b, from_c, from_c);
            },
            a, b, c);
    }
    return at + 2;
}

/// Calls `found.operator()<FIRST, USE>()` for a form, and returns the result.
template <FloatOp FIRST, typename Found>
auto select_use(FloatPairUse use, Found found) {
    using Use = FloatPairUse;
    switch (use) {
    case Use::Added:
        return found.template operator()<FIRST, Use::Added>();
    case Use::Reduced:
        return found.template operator()<FIRST, Use::Reduced>();
    case Use::Subtracted:
        return found.template operator()<FIRST, Use::Subtracted>();
    case Use::Multiplied:
        return found.template operator()<FIRST, Use::Multiplied>();
    case Use::Scaled:
        return found.template operator()<FIRST, Use::Scaled>();
    case Use::Summed:
        return found.template operator()<FIRST, Use::Summed>();
    case Use::Less:
        return found.template operator()<FIRST, Use::Less>();
    case Use::NotGreater:
        return found.template operator()<FIRST, Use::NotGreater>();
    case Use::Greater:
        return found.template operator()<FIRST, Use::Greater>();
    default:
        return found.template operator()<FIRST, Use::NotLess>();
    }
}

template <typename Found>
auto select_pair(const FloatPairForm& form, Found found) {
    switch (form.first) {
    case FloatOp::Add:
        return select_use<FloatOp::Add>(form.use, found);
    case FloatOp::Sub:
        return select_use<FloatOp::Sub>(form.use, found);
    default:
        return select_use<FloatOp::Mul>(form.use, found);
    }
}

} // namespace

Handler select_float_pair(const FloatPairForm& form) {
    return select_pair(
        form, []<FloatOp FIRST, FloatPairUse USE>() -> Handler { return run_pair<FIRST, USE>; });
}

bytecode::LockstepHandler select_lockstep_float_pair(const FloatPairForm& form) {
    return select_pair(form, []<FloatOp FIRST, FloatPairUse USE>() -> bytecode::LockstepHandler {
        return run_pair_block<FIRST, USE>;
    });
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
