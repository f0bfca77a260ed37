// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The seam between the passes, which know names, scopes and control flow, and the decoders, which
// know what each data instruction means and which handler runs it.

#pragma once

#include "bytecode/kernel.hpp"
#include "interp/memory_map.hpp"
#include "ptx/tree.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cuprum::emulator {

/// An address operand taken apart: `[base + offset]` in a space.
struct Address {
    bytecode::Operand base; // a register, or a constant holding the whole symbol address
    bytecode::Width base_width =
        bytecode::Width::B64; // 32-bit registers may address shared and local
    std::int64_t offset = 0;
};

/// A predicate source, perhaps negated.
struct Predicate {
    bytecode::Operand operand;
    bool is_negated = false;
};

/// Addresses from `base` on.
struct AddressRange {
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;
};

/// What an instruction does to memory, for the checks. Lanes access `count` elements of `bytes`
/// each, side by side.
struct AccessNote {
    enum class Kind : std::uint8_t { Read, Write, ReadWrite };

    Address address;
    ptx::Space space = ptx::Space::None; // None is generic
    Kind kind = Kind::Read;
    std::uint32_t bytes = 4;
    std::uint32_t count = 1;
    bool is_strong = false; // atomic, volatile or ordered: never part of a race
    /// What is written, an element each, in registers of `value_width`; empty: not known.
    std::span<const bytecode::Operand> values = {};
    bytecode::Width value_width = bytecode::Width::B32;
    /// Unless none: how many bytes a lane accesses, instead of `bytes` times `count`.
    bytecode::Operand size = {};
    /// More than 1: the first lane accesses so many such ranges for the whole warp, which begin
    /// `stride` times 2 to the power of `stride_shift` bytes (perhaps negative) apart.
    std::uint32_t lines = 1;
    bytecode::Operand stride = {};
    int stride_shift = 0;
    std::uint32_t lanes = bytecode::WARP_SIZE; // only the first so many access memory
    /// Unless none: to which blocks of the cluster a copy goes, one bit each.
    bytecode::Operand blocks = {};
};

/// What an instruction does to the order of accesses of different threads, for the checks.
struct OrderNote {
    bool releases = false;       // what came before it becomes known to those who acquire
    bool acquires = false;       // what others have released becomes known
    bool is_block_scope = false; // to threads of the same block only
};

/// What a decoder may ask of the function being lowered. Errors are reported with the place of the
/// current instruction; after one, the returned operand is none and decoding may go on or return.
class Lowering {
public:
    virtual ~Lowering() = default;

    /// Resolves a source that is a register, special register, symbol address or literal to lanes
    /// of `width`. Literals are converted to `type` (an integer, or the bits of an f16/f32/f64
    /// value).
    [[nodiscard]] virtual bytecode::Operand source(const ptx::Operand& operand,
                                                   bytecode::Width width, ptx::Type type) = 0;
    /// Resolves a destination register; none for `_`.
    [[nodiscard]] virtual bytecode::Operand destination(const ptx::Operand& operand,
                                                        bytecode::Width width) = 0;
    /// Resolves a predicate source (a register, !register, or a literal).
    [[nodiscard]] virtual Predicate predicate(const ptx::Operand& operand) = 0;
    /// Resolves a memory operand of a load, store or atomic in `space` (None = generic).
    [[nodiscard]] virtual Address address(const ptx::Operand& operand, ptx::Space space) = 0;
    /// Returns the declared width of a register operand's name, or the width a literal would take.
    [[nodiscard]] virtual bytecode::Width width_of(const ptx::Operand& operand) = 0;

    /// Makes a fresh virtual register.
    [[nodiscard]] virtual bytecode::Operand temporary(bytecode::Width width) = 0;
    /// Returns an operand of the Constants bank that holds `bits` in every lane.
    [[nodiscard]] virtual bytecode::Operand constant(std::uint64_t bits, bytecode::Width width) = 0;
    /// Returns an operand of the Constants bank with a value of its own per lane (32 values).
    [[nodiscard]] virtual bytecode::Operand lane_constant(std::span<const std::uint32_t> lanes) = 0;
    /// Returns the operand of a value that is known at launch, per block or per warp.
    [[nodiscard]] virtual bytecode::Operand special(bytecode::Special special) = 0;

    /// Appends an instruction. The guard of the PTX instruction and its line are filled in here
    /// unless the decoder has set a guard itself.
    virtual void emit(bytecode::Instruction instruction) = 0;
    /// Stores further operands (written ones first) and returns the index of the first.
    [[nodiscard]] virtual std::uint32_t
    add_operands(std::span<const bytecode::Operand> operands) = 0;
    /// Makes the running group wait until all lanes of a .sync membermask are here. To be emitted
    /// just before the instruction that needs them; a no-op when the mask is covered already.
    virtual void emit_rendezvous(bytecode::Operand member_mask) = 0;

    /// Tells the checks, if there are any, what the next instruction to be emitted accesses.
    virtual void note_access(const AccessNote& /*note*/) {}

    /// Tells the checks what happens to the order of accesses at this place.
    virtual void note_order(const OrderNote& /*note*/) {}

    /// Refuses the current instruction: real PTX that is not run here (`what` names form and
    /// reason).
    virtual void unsupported(std::string what) = 0;
    /// Refuses the current instruction: not valid PTX.
    virtual void invalid(std::string what) = 0;

    /// Returns the layout of the address space, for cvta and isspacep.
    [[nodiscard]] virtual const MemoryMap& memory() const = 0;
    /// Returns where the module's constant variables lie, for isspacep: among the global ones.
    [[nodiscard]] virtual std::vector<AddressRange> constant_memory() const = 0;
    /// Returns the declared type of a register, ptx::Type::None when the operand is not one.
    [[nodiscard]] virtual ptx::Type type_of(const ptx::Operand& operand) = 0;

    /// Returns the hidden predicate that carries from add.cc to addc and the like; made on first
    /// use and kept, so that one lowering must stand for one set of virtual registers.
    [[nodiscard]] bytecode::Operand carry_flag() {
        if (carry_flag_.is_none()) {
            carry_flag_ = temporary(bytecode::Width::Predicate);
        }
        return carry_flag_;
    }

private:
    bytecode::Operand carry_flag_;
};

/// Decodes one data instruction and emits its bytecode through `lowering`.
///
/// Covers everything but control flow and block barriers (bra, brx, call, ret, exit, trap, bar,
/// barrier, bar.warp), which the passes lower themselves. An unknown opcode is refused through
/// `lowering`.
void decode(const ptx::Instruction& instruction, Lowering& lowering);

/// Returns the width of a register that holds a value of a type.
[[nodiscard]] bytecode::Width width_for(ptx::Type type) noexcept;

/// Tells which instruction-set level the handlers were chosen for: "x86-64-v4", "x86-64-v3"...
[[nodiscard]] const char* handler_level() noexcept;

} // namespace cuprum::emulator
