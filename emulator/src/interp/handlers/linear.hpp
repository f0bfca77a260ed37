// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Linear registers as handlers see them: base and steps as one vector, and the conversion to plain
// lanes if a value is not linear.

#pragma once

#include "interp/handlers/common.hpp"
#include "interp/handlers/linear_head.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

/// Whether this level has linear handlers. If a head needs more than two hardware registers, it
/// costs more than it saves.
#if defined(__AVX2__)
constexpr bool HAS_LINEAR_HANDLERS = true;
#else
constexpr bool HAS_LINEAR_HANDLERS = false;
#endif

constexpr unsigned HEAD_BYTES = sizeof(bytecode::LinearHead);
constexpr unsigned HAS_LANES = 6;
constexpr unsigned IS_VARIED = VARIED_PLACE;
constexpr unsigned FIRST_STEP = 1;

static_assert(sizeof(Head) == HEAD_BYTES);

/// Returns the head of a linear register, as words.
[[gnu::always_inline]] inline Aliased<std::uint64_t>::Value* head_of(const WarpContext& warp,
                                                                     Operand operand) {
    // Bank 0 holds the registers, so the bits of the operand are the offset.
    return reinterpret_cast<Aliased<std::uint64_t>::Value*>(
        *reinterpret_cast<std::byte* const*>(&warp.banks) + operand.bits - HEAD_BYTES);
}

[[gnu::always_inline]] inline bool is_linear_operand(Operand operand) {
    return operand.bits >> Operand::OFFSET_BITS == 0;
}

[[gnu::always_inline]] inline bool is_uniform(Head value) {
    return (nonzero_places(value) & STEP_BITS) == 0;
}

/// Reads a source of a linear instruction: a linear register or a uniform value. Returns false if
/// only its lanes hold the value.
template <typename T>
[[gnu::always_inline]] inline bool read_linear(const WarpContext& warp, Operand operand,
                                               Head& value) {
    if (is_linear_operand(operand)) {
        const auto* const head = head_of(warp, operand);
        value = load_head(head);
        return is_head_valid(value, head);
    }
    value = Head{*lanes_of<T>(warp, operand)};
    return true;
}

/// Writes a linear register through base and steps. Its lanes become outdated.
template <typename T>
[[gnu::always_inline]] inline void write_linear(const WarpContext& warp, Operand operand,
                                                Head value) {
    constexpr std::uint64_t all = sizeof(T) == 4 ? 0xffffffffu : ~std::uint64_t{0};
    store_head(head_of(warp, operand), value & Head{all, all, all, all, all, all, 0, 0});
}

/// Writes the lanes of a linear register from its head.
template <typename T>
[[gnu::noinline]] void spread_lanes(std::byte* lanes);

extern template void spread_lanes<std::uint32_t>(std::byte*);
extern template void spread_lanes<std::uint64_t>(std::byte*);

/// Brings the lanes of a source up to date.
template <typename T>
[[gnu::always_inline]] inline void settle(const WarpContext& warp, Operand operand) {
    if (is_linear_operand(operand) && head_of(warp, operand)[HAS_LANES] == 0) {
        spread_lanes<T>(locate(warp, operand));
    }
}

/// Prepares a linear register for a plain handler that writes its lanes.
template <typename T>
[[gnu::always_inline]] inline void give_up_head(const WarpContext& warp, Operand operand,
                                                std::uint32_t mask) {
    if (mask != FULL_MASK) {
        settle<T>(warp, operand); // the other lanes keep their values
    }
    auto* const head = head_of(warp, operand);
    head[HAS_LANES] = 1;
    head[IS_VARIED] = 1;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
