// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The interface between the passes and the decoders. The passes know names, scopes and control
// flow. The decoders know what each data instruction means and which handler runs it.

#pragma once

#include "bytecode/kernel.hpp"
#include "interp/memory_map.hpp"
#include "ptx/tree.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator {

/// The parts of an address operand: `[base + offset]` in a space.
struct Address {
    bytecode::Operand base; // a register, or a constant holding the whole symbol address
    bytecode::Width base_width =
        bytecode::Width::B64; // 32-bit registers may address shared and local
    std::int64_t offset = 0;
};

/// A predicate source, possibly negated.
struct Predicate {
    bytecode::Operand operand;
    bool is_negated = false;
};

/// An address range that starts at `base`, a constant of 64 bits.
struct AddressRange {
    bytecode::Operand base;
    std::uint64_t bytes = 0;
};

/// What an instruction does to memory, for the checks. Each lane accesses `count` adjacent elements
/// of `bytes` each.
struct AccessNote {
    enum class Kind : std::uint8_t { Read, Write, ReadWrite };

    /// Which registers hold what is written.
    enum class Layout : std::uint8_t {
        Lanes,    // each lane's own hold what it writes
        Tiles,    // stmatrix: a row of a tile, whose address is in this lane, is spread over lanes
        Bytes,    // the same for tiles of bytes
        Fragment, // wmma.store: `lines` of an image (bytecode/matrix_forms.hpp)
    };

    Address address;
    ptx::Space space = ptx::Space::None; // None is generic
    Kind kind = Kind::Read;
    std::uint32_t bytes = 4;
    std::uint32_t count = 1;
    bool is_strong = false;       // atomic, volatile or ordered: never part of a race
    bool reaches_cluster = false; // space Shared: the address may be that of another block
    /// The values that are written, one per element, in registers of `value_width`; empty: unknown.
    std::span<const bytecode::Operand> values = {};
    bytecode::Width value_width = bytecode::Width::B32;
    Layout layout = Layout::Lanes;
    bool is_transposed = false; // not Lanes: as MATRIX_TRANSPOSED says
    bool is_paired = false;     // Fragment: as MATRIX_PAIRED says
    /// Unless none: how many bytes each lane accesses, instead of `bytes` times `count`.
    bytecode::Operand size = {};
    /// If more than 1, the first lane accesses this many ranges for the whole warp. They begin
    /// `stride` times 2^`stride_shift` bytes apart; the exponent may be negative.
    std::uint32_t lines = 1;
    bytecode::Operand stride = {};
    int stride_shift = 0;
    std::uint32_t lanes = bytecode::WARP_SIZE; // only the first `lanes` lanes access memory
    /// Unless none: the mask of blocks of the cluster that a copy writes to.
    bytecode::Operand blocks = {};
    /// The access happens in the background (the async proxy). A write ends with a phase of the
    /// mbarrier at `barrier`, a read with a wait for its bulk group.
    bool is_async = false;
    Address barrier;
};

/// What an instruction does to the order of accesses by different threads, for the checks.
struct OrderNote {
    bool releases = false;       // publishes earlier accesses to threads that acquire
    bool acquires = false;       // makes the accesses known that others have released
    bool is_block_scope = false; // only for threads of the same block
    bool fences_proxy = false;   // makes earlier accesses visible to the async proxy
    bool commits_group = false;  // earlier bulk copies of the thread form a group
    int awaited_groups = -1;     // unless negative: all groups but the last so many have ended
};

/// What a decoder can request from the function being lowered. Errors are reported at the place of
/// the current instruction. After an error the returned operand is none, and decoding may continue
/// or return.
class Lowering {
public:
    virtual ~Lowering() = default;

    /// Resolves a source (register, special register, symbol address or literal) to lanes of
    /// `width`. Literals are converted to `type`: an integer, or the bits of an f16, f32 or f64
    /// value.
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

    /// Creates a virtual register.
    [[nodiscard]] virtual bytecode::Operand temporary(bytecode::Width width) = 0;
    /// Returns an operand of the Constants bank that holds `bits` in every lane.
    [[nodiscard]] virtual bytecode::Operand constant(std::uint64_t bits, bytecode::Width width) = 0;
    /// Returns an operand of the Constants bank with a separate value per lane (32 values).
    [[nodiscard]] virtual bytecode::Operand lane_constant(std::span<const std::uint32_t> lanes) = 0;
    /// Returns the operand of a value that is known only per launch, block or warp.
    [[nodiscard]] virtual bytecode::Operand special(bytecode::Special special) = 0;

    /// Appends an instruction. Fills in the line and the guard of the PTX instruction, unless the
    /// decoder has set a guard.
    virtual void emit(bytecode::Instruction instruction) = 0;
    /// Stores additional operands (the written ones first) and returns the index of the first.
    [[nodiscard]] virtual std::uint32_t
    add_operands(std::span<const bytecode::Operand> operands) = 0;
    /// Makes the running group wait until all lanes of a .sync member mask have arrived. Emit it
    /// directly before the instruction that needs them. It does nothing if the group already covers
    /// the mask.
    virtual void emit_rendezvous(bytecode::Operand member_mask) = 0;

    /// Describes to the checks, if enabled, what the next emitted instruction accesses.
    virtual void note_access(const AccessNote& /*note*/) {}

    /// Describes to the checks how this place affects the order of accesses.
    virtual void note_order(const OrderNote& /*note*/) {}

    /// Describes a tensor copy to the checks; it is emitted next.
    virtual void note_tensor_copy(const bytecode::Instruction& /*copy*/) {}

    /// Describes a test of an mbarrier to the checks; it was emitted before.
    virtual void note_wait(const bytecode::Instruction& /*wait*/) {}

    /// Refuses the current instruction as unsupported: valid PTX that is not implemented here.
    /// `what` names the form and the reason.
    virtual void unsupported(std::string what) = 0;
    /// Refuses the current instruction as invalid PTX.
    virtual void invalid(std::string what) = 0;

    /// Returns the layout of the address space, for cvta and isspacep.
    [[nodiscard]] virtual const MemoryMap& memory() const = 0;
    /// Returns where the module's constant variables lie among the global ones, for isspacep.
    [[nodiscard]] virtual std::vector<AddressRange> constant_memory() = 0;

    /// Returns the target architecture of the module, such as "sm_90a"; empty if there is none.
    [[nodiscard]] virtual std::string_view target() const { return {}; }

    /// Returns the declared type of a register, or ptx::Type::None if the operand is not a
    /// register.
    [[nodiscard]] virtual ptx::Type type_of(const ptx::Operand& operand) = 0;

    /// Returns the hidden predicate that carries from add.cc to addc and similar instructions. It
    /// is created on first use and kept, so use one lowering per set of virtual registers.
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
/// Does not cover control flow and block barriers (bra, brx, call, ret, exit, trap, bar, barrier,
/// bar.warp), which the passes lower themselves. Refuses unknown opcodes through `lowering`.
void decode(const ptx::Instruction& instruction, Lowering& lowering);

/// Returns the width of a register that holds a value of a type.
[[nodiscard]] bytecode::Width width_for(ptx::Type type) noexcept;

/// Returns the instruction-set level of the chosen handlers: "x86-64-v4", "x86-64-v3"...
[[nodiscard]] const char* handler_level() noexcept;

} // namespace cuprum::emulator
