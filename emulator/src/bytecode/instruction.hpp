// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The bytecode that the interpreter runs: one instruction acts on the 32 lanes of a warp.
//
// Values. A register has 32 adjacent lanes. A lane takes 4 bytes for values of up to 32 bits, 8
// bytes for 64 bits and 16 bytes for 128 bits. Values of 8 and 16 bits are in the low bits; the
// upper bits are undefined, and readers must ignore them. A predicate is one 32-bit mask with one
// bit per lane.
//
// Operands. An operand is 32 bits: the top two select a bank, the rest is a byte offset into it.
//
//   - Bank 0, Registers: the warp's frame with registers, predicates and per-warp values (%tid).
//   - Bank 1, Constants: immediates and symbol addresses of the kernel, broadcast to 32 lanes.
//   - Bank 2, Launch: parameters, %ntid, %nctaid and so on of one launch, broadcast.
//   - Bank 3, Block: %ctaid, %clusterid and so on of one block, broadcast.
//
// All sources are read in the same way, and reading a parameter or an immediate costs nothing
// extra. Predicate operands are always in bank 0 or 1.
//
// During compilation, a bank-0 operand holds the index of a virtual register instead of an offset.
// The pass `assign_slots` replaces it.

#pragma once

#include "bytecode/form.hpp"

#include <cstdint>

namespace cuprum::emulator {

struct Lockstep;
struct WarpContext;

namespace bytecode {

constexpr std::uint32_t WARP_SIZE = 32;
constexpr std::uint32_t FULL_MASK = 0xffffffffu;

/// The four memory areas that an operand can be read from.
enum class Bank : std::uint32_t { Registers = 0, Constants = 1, Launch = 2, Block = 3 };

/// A value's location: a bank and an offset (or a virtual register before slots are assigned).
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

    /// Returns whether the operand is absent: no guard, or a discarded destination (`_`).
    [[nodiscard]] constexpr bool is_none() const { return bits == NONE_BITS; }

    friend constexpr bool operator==(Operand, Operand) = default;
};

struct Instruction;

/// Executes one instruction for the lanes in `mask`, which is never empty, and returns the next
/// one.
///
/// Writes only lanes in `mask`. If the running group cannot continue, stores the reason in the
/// context and returns nullptr: the group waits, has exited, has faulted, or its time is up.
using Handler = const Instruction* (*)(WarpContext& warp, const Instruction* at,
                                       std::uint32_t mask);

/// Executes one instruction for all warps of a block, and returns the next one
/// (interp/lockstep.hpp).
///
/// If the warps must continue alone, stores the reason and returns nullptr.
using LockstepHandler = const Instruction* (*)(Lockstep& block, const Instruction* at);

/// The properties of an instruction that matter to the passes and the run loop.
enum Flags : std::uint8_t {
    GUARD_NEGATED = 1,    // guard is @!p
    HANDLES_GUARD = 2,    // the handler itself reads the guard (branches); the run loop must not
    IS_BRANCH = 4,        // `target` is a branch target (instruction index)
    ENDS_BLOCK = 8,       // not all lanes simply continue with the next instruction
    NO_FALL_THROUGH = 16, // without a guard, no lane continues with the next instruction
    HAS_SIDE_EFFECT = 32, // must not be removed even if its results are unused
    CAN_WAIT = 64,   // a reduction that may take effect later (passes/find_last_reductions.cpp)
                     // and, until that pass, a weak access that may happen before it
    RUNS_NEXT = 128, // in lockstep, the handler may run the next instruction too (find_pairs)
};

/// One instruction. `dst[0 .. dst_count)` are written, `src[0 .. src_count)` are read.
struct Instruction {
    Handler handler = nullptr; // null until the pass `select_handlers`
    Operand guard;             // a predicate, or none
    std::uint8_t flags = 0;    // of Flags
    std::uint8_t dst_count = 0;
    std::uint8_t src_count = 0;
    std::uint8_t access_bytes = 0; // loads, stores, atomics: bytes per element that one lane moves
    Operand dst[4];
    Operand src[4];
    std::int64_t immediate = 0;       // family-specific: an address offset, packed modifiers
    std::uint32_t target = 0;         // IS_BRANCH: index of the target instruction
    std::uint32_t extra = 0;          // index of the first additional operand in Kernel::operands
    std::uint8_t extra_dst_count = 0; // the written operands come first
    std::uint8_t extra_src_count = 0; // the read operands follow
    std::uint16_t tag = 0;            // family-specific
    std::uint32_t line = 0;           // index into Kernel::lines
    // The version for plain registers, if `handler` handles linear ones or runs several
    // instructions.
    Handler plain = nullptr;
    Form form; // what the instruction does
};

} // namespace bytecode

} // namespace cuprum::emulator
