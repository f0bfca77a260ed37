// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The bytecode that the interpreter runs: one instruction acts on the 32 lanes of a warp.
//
// Values. A register is 32 lanes side by side. Lanes are 4 bytes for everything up to 32 bits (8-
// and 16-bit values sit in the low bits; the upper bits are undefined and a reader must ignore
// them), 8 bytes for 64-bit values and 16 for 128-bit ones. A predicate is one 32-bit mask, bit =
// lane.
//
// Operands. An operand is 32 bits: the top two select a bank, the rest is a byte offset into it.
//
//   bank 0  Registers  the warp's own frame: registers, predicates, and per-warp values such as
//   %tid bank 1  Constants  of the kernel: immediates and symbol addresses, already broadcast to 32
//   lanes bank 2  Launch     of one launch: kernel parameters, %ntid, %nctaid..., broadcast bank 3
//   Block      of one block: %ctaid, %clusterid..., broadcast
//
// So a source is read the same way wherever it comes from, and reading a parameter or an immediate
// costs nothing. Predicate operands are always in bank 0 or 1.
//
// While a kernel is being compiled, before slots are assigned, a bank-0 operand holds the index of
// a virtual register instead of an offset; the pass `assign_slots` replaces it.

#pragma once

#include <cstdint>

namespace cuprum::emulator {

struct WarpContext;

namespace bytecode {

constexpr std::uint32_t WARP_SIZE = 32;
constexpr std::uint32_t FULL_MASK = 0xffffffffu;

/// The four places an operand can be read from.
enum class Bank : std::uint32_t { Registers = 0, Constants = 1, Launch = 2, Block = 3 };

/// Names a value: a bank and an offset (or a virtual register before slots are assigned).
struct Operand {
    static constexpr std::uint32_t OFFSET_BITS = 30;
    static constexpr std::uint32_t OFFSET_MASK = (1u << OFFSET_BITS) - 1;

    std::uint32_t bits = NONE_BITS;

    static constexpr std::uint32_t NONE_BITS = 0x3fffffffu;

    constexpr Operand() = default;

    constexpr Operand(Bank bank, std::uint32_t offset)
        : bits((static_cast<std::uint32_t>(bank) << OFFSET_BITS) | offset) {}

    [[nodiscard]] constexpr Bank bank() const { return static_cast<Bank>(bits >> OFFSET_BITS); }

    [[nodiscard]] constexpr std::uint32_t offset() const { return bits & OFFSET_MASK; }

    /// Returns whether this names nothing: an absent guard or a discarded destination (`_`).
    [[nodiscard]] constexpr bool is_none() const { return bits == NONE_BITS; }

    friend constexpr bool operator==(Operand, Operand) = default;
};

struct Instruction;

/// Executes one instruction for the lanes in `mask` (never empty) and returns the next one.
///
/// Writes only lanes in `mask`. Returns nullptr after storing why in the context when the running
/// group cannot go on: it waits, has exited, has faulted, or its time is up.
using Handler = const Instruction* (*)(WarpContext& warp, const Instruction* at,
                                       std::uint32_t mask);

/// Which properties of an instruction the passes and the run loop care about.
enum Flags : std::uint8_t {
    GUARD_NEGATED = 1, // guard is @!p
    HANDLES_GUARD = 2, // the handler reads the guard itself (branches); the run loop must not
    IS_BRANCH = 4,     // `target` is a branch target (instruction index)
    ENDS_BLOCK = 8,    // control does not simply continue with the next instruction for all lanes
    NO_FALL_THROUGH = 16, // no lane of an unguarded instance continues with the next instruction
    HAS_SIDE_EFFECT = 32, // must not be removed even when its results are unused
};

/// One instruction. `dst[0 .. dst_count)` are written, `src[0 .. src_count)` are read.
struct Instruction {
    Handler handler = nullptr;
    Operand guard;          // a predicate, or none
    std::uint8_t flags = 0; // of Flags
    std::uint8_t dst_count = 0;
    std::uint8_t src_count = 0;
    std::uint8_t access_bytes = 0; // bytes one lane moves per element: loads, stores, atomics
    Operand dst[4];
    Operand src[4];
    std::int64_t immediate = 0;       // family-specific: an address offset, packed modifiers
    std::uint32_t target = 0;         // IS_BRANCH: index of the target instruction
    std::uint32_t extra = 0;          // first of further operands in Kernel::operands
    std::uint8_t extra_dst_count = 0; // of those, first the written ones
    std::uint8_t extra_src_count = 0; // then the read ones
    std::uint16_t tag = 0;            // family-specific
    std::uint32_t line = 0;           // index into Kernel::lines
    Handler plain = nullptr; // of handlers that know linear registers: the one that does not
};

} // namespace bytecode

} // namespace cuprum::emulator
