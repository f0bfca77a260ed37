// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finds reductions that may take effect later than they are executed:
//
//   LOOP:
//     ld.global.u32 %r1, [%rd1];
//     ...
//     red.global.add.u32 [%rd2], 1;
//     @%p bra LOOP;
//     ret;
//
// The memory model lets a relaxed reduction without a result take effect at any time before
// something that is ordered after it. A reduction qualifies if its thread, after it, only computes
// from registers, branches, executes other such reductions, loads, and exits. Then nothing is
// ordered after it but the end of the grid: no fence, no barrier, no strong access. The interpreter
// may collect these reductions and apply several of them together (interp/reductions.hpp).
//
// A weak load of another word may happen before the reduction. A load of the same word must see it.
// So an instruction before each load of device memory compares its addresses with what was
// collected (SettleForm). These instructions come as early in their basic block as the address is
// known, so that loads can still be fused, and one serves all loads with the same base. Kernels
// that would need many of them do without: there, no such load may follow.
//
// An atom whose result is not used becomes a reduction here, as in the machine code of a GPU.

#include "bytecode/forms.hpp"
#include "passes/build.hpp"

#include <algorithm>
#include <utility>

namespace cuprum::emulator::passes {

using bytecode::Family;
using bytecode::Instruction;
using bytecode::Operand;

namespace {

/// The most instructions before loads that are worthwhile. They cost little, but loads in unrolled
/// loops cost little too.
constexpr std::size_t MAX_SETTLES = 8;
/// The longest range of bytes that one instruction looks at, in each lane.
constexpr std::uint64_t MAX_SETTLED_BYTES = 1024;

/// Stands before the instruction at `place` in the finished code.
struct Settle {
    std::uint32_t place = 0;
    Instruction instruction;
};

/// Returns whether an instruction is an atomic with a result.
bool has_result(const Instruction& instruction) {
    return instruction.form.family() == Family::Atomic && instruction.dst_count == 1;
}

bool can_wait(const Instruction& instruction) {
    return (instruction.flags & bytecode::CAN_WAIT) != 0;
}

bool is_waiting_reduction(const Instruction& instruction) {
    return can_wait(instruction) && instruction.form.family() == Family::Atomic;
}

void forbid_waiting(Instruction& instruction) {
    instruction.flags &= static_cast<std::uint8_t>(~bytecode::CAN_WAIT);
}

/// Drops the results of atomics that nothing reads. Those with a result cannot wait.
void drop_unused_results(KernelBuild& build) {
    std::vector<bool> is_read(build.registers.size(), false);
    for (Instruction& instruction : build.kernel.code) {
        for_each_source(build, instruction, [&](Operand operand) {
            if (is_register(operand)) {
                is_read[operand.offset()] = true;
            }
        });
    }
    for (std::size_t i = 0; i < build.kernel.code.size(); ++i) {
        Instruction& instruction = build.kernel.code[i];
        if (!has_result(instruction)) {
            continue;
        }
        const Operand result = instruction.dst[0];
        if (result.is_none() || (is_register(result) && !is_read[result.offset()])) {
            instruction.dst_count = 0;
            build.notes[i].waits_for_others = false; // a loop around it does not spin
        } else {
            forbid_waiting(instruction);
        }
    }
}

/// Returns whether an instruction computes from registers alone.
bool is_computation(const Instruction& instruction) {
    switch (instruction.form.family()) {
    case Family::Move:
    case Family::Integer:
    case Family::Dot:
    case Family::Bits:
    case Family::Carry:
    case Family::Float:
    case Family::Compare:
    case Family::Convert:
    case Family::Pack:
        return true;
    default:
        return false;
    }
}

/// Returns whether a reduction may wait until after this instruction.
bool is_quiet(const KernelBuild& build, std::uint32_t at) {
    constexpr int harmless =
        bytecode::IS_BRANCH | bytecode::NO_FALL_THROUGH | bytecode::CAN_WAIT; // jumps and exits
    const Instruction& instruction = build.kernel.code[at];
    return build.notes[at].is_arithmetic || is_computation(instruction) ||
           (instruction.flags & harmless) != 0;
}

/// Takes the mark from all reductions that must not wait. Accesses that have the mark may follow.
void keep_waiting_reductions(KernelBuild& build) {
    // A block is quiet if it and everything that can follow it is.
    std::vector<bool> is_block_quiet(build.blocks.size(), true);
    std::vector<std::uint32_t> pending; // blocks whose predecessors are not quiet
    for (std::uint32_t b = 0; b < build.blocks.size(); ++b) {
        for (std::uint32_t i = build.blocks[b].begin; i < build.blocks[b].end; ++i) {
            if (!is_quiet(build, i)) {
                is_block_quiet[b] = false;
                pending.push_back(b);
                break;
            }
        }
    }
    const Adjacency predecessors = predecessors_of(build);
    while (!pending.empty()) {
        const std::uint32_t block = pending.back();
        pending.pop_back();
        for (const std::uint32_t before : predecessors[block]) {
            if (is_block_quiet[before]) {
                is_block_quiet[before] = false;
                pending.push_back(before);
            }
        }
    }
    const auto are_successors_quiet = [&](std::size_t block) {
        return std::ranges::all_of(build.blocks[block].successors,
                                   [&](std::uint32_t next) { return is_block_quiet[next]; });
    };
    for (std::size_t b = 0; b < build.blocks.size(); ++b) {
        bool is_rest_quiet = are_successors_quiet(b);
        for (std::uint32_t i = build.blocks[b].end; i-- != build.blocks[b].begin;) {
            Instruction& instruction = build.kernel.code[i];
            const bool is_this_quiet = is_quiet(build, i);
            if (!is_rest_quiet && is_waiting_reduction(instruction)) {
                forbid_waiting(instruction);
            }
            is_rest_quiet = is_rest_quiet && is_this_quiet;
        }
    }
}

/// Returns for each block whether a reduction that waits may come before it.
std::vector<bool> blocks_behind_reductions(const KernelBuild& build) {
    std::vector<bool> is_behind(build.blocks.size(), false);
    std::vector<std::uint32_t> pending; // blocks whose successors are behind
    const auto* const code = build.kernel.code.data();
    for (std::uint32_t b = 0; b < build.blocks.size(); ++b) {
        const BasicBlock& block = build.blocks[b];
        if (std::any_of(code + block.begin, code + block.end, is_waiting_reduction)) {
            pending.push_back(b);
        }
    }
    while (!pending.empty()) {
        const BasicBlock& block = build.blocks[pending.back()];
        pending.pop_back();
        for (const std::uint32_t next : block.successors) {
            if (!is_behind[next]) {
                is_behind[next] = true;
                pending.push_back(next);
            }
        }
    }
    return is_behind;
}

/// Returns whether an instruction loads from memory that a collected reduction may be to.
bool is_affected(const Instruction& instruction) {
    if (instruction.form.family() != Family::Memory || !can_wait(instruction)) {
        return false;
    }
    const auto form = instruction.form.as<MemoryForm>();
    return !form.is_read_only &&
           (form.space == ptx::Space::Global || form.space == ptx::Space::None);
}

/// The earliest places where what a load will read is known.
class EarliestPlaces {
public:
    explicit EarliestPlaces(KernelBuild& build)
        : build_(build), ready_(build.registers.size(), 0) {}

    /// Returns the place of a load, from the instruction `begin` on.
    [[nodiscard]] std::uint32_t of(const Instruction& load, std::uint32_t begin) const {
        std::uint32_t place = std::max(begin, behind_reduction_);
        for (const Operand operand : {load.src[0], load.guard}) {
            place = is_register(operand) ? std::max(place, ready_[operand.offset()]) : place;
        }
        return place;
    }

    /// Goes past an instruction. They come in order.
    void pass(std::uint32_t at) {
        Instruction& instruction = build_.kernel.code[at];
        if (is_waiting_reduction(instruction)) {
            behind_reduction_ = at + 1;
        }
        for_each_destination(build_, instruction, [&](Operand operand) {
            if (is_register(operand)) {
                ready_[operand.offset()] = at + 1;
            }
        });
    }

private:
    KernelBuild& build_;
    std::vector<std::uint32_t> ready_;   // by register: the place behind its last writer
    std::uint32_t behind_reduction_ = 0; // the place behind the last reduction that waits
};

/// Lets an instruction look at what another one looks at, if it is about the same base.
bool merge(Settle& settle, const Settle& other) {
    Instruction& to = settle.instruction;
    const Instruction& from = other.instruction;
    const std::int64_t begin = std::min(to.immediate, from.immediate);
    // Offsets come from untrusted text: only as an unsigned number does any distance fit.
    const auto behind_begin = [begin](std::int64_t offset) {
        return static_cast<std::uint64_t>(offset) - static_cast<std::uint64_t>(begin);
    };
    if (settle.place != other.place || to.src[0] != from.src[0] || to.guard != from.guard ||
        to.flags != from.flags ||
        behind_begin(std::max(to.immediate, from.immediate)) > MAX_SETTLED_BYTES) {
        return false;
    }
    const std::uint64_t bytes =
        std::max(behind_begin(to.immediate) + to.extra, behind_begin(from.immediate) + from.extra);
    if (bytes > MAX_SETTLED_BYTES) {
        return false;
    }
    to.immediate = begin;
    to.extra = static_cast<std::uint32_t>(bytes);
    return true;
}

/// Finds the instructions that loads behind reductions need, in the order of their places. Gives up
/// if there are more than MAX_SETTLES.
std::vector<Settle> find_settles(KernelBuild& build) {
    const std::vector<bool> is_block_behind = blocks_behind_reductions(build);
    std::vector<Settle> settles;
    EarliestPlaces places(build);
    for (std::size_t b = 0; b < build.blocks.size() && settles.size() <= MAX_SETTLES; ++b) {
        const BasicBlock& block = build.blocks[b];
        bool is_behind = is_block_behind[b];
        for (std::uint32_t i = block.begin; i < block.end; ++i) {
            const Instruction& load = build.kernel.code[i];
            if (is_behind && is_affected(load)) {
                const auto form = load.form.as<MemoryForm>();
                Settle settle{.place = places.of(load, block.begin), .instruction = {}};
                settle.instruction.form = SettleForm{.space = form.space};
                settle.instruction.src_count = 1;
                settle.instruction.src[0] = load.src[0];
                settle.instruction.guard = load.guard;
                settle.instruction.flags = static_cast<std::uint8_t>(
                    bytecode::HAS_SIDE_EFFECT | (load.flags & bytecode::GUARD_NEGATED));
                settle.instruction.immediate = load.immediate;
                settle.instruction.extra = std::uint32_t{form.element_bytes} * form.count;
                settle.instruction.line = load.line;
                if (std::ranges::none_of(settles,
                                         [&](Settle& each) { return merge(each, settle); })) {
                    settles.push_back(settle);
                    if (settles.size() > MAX_SETTLES) {
                        break;
                    }
                }
            }
            is_behind = is_behind || is_waiting_reduction(load);
            places.pass(i);
        }
    }
    std::ranges::stable_sort(settles, {}, &Settle::place);
    return settles;
}

/// Inserts the instructions and adjusts the labels. Jumps to a place run what stands before it.
void insert(KernelBuild& build, const std::vector<Settle>& settles) {
    std::vector<Instruction> code;
    std::vector<Note> notes;
    std::vector<std::uint32_t> moved;
    auto next = settles.begin();
    for (std::uint32_t i = 0; i < build.kernel.code.size(); ++i) {
        moved.push_back(static_cast<std::uint32_t>(code.size()));
        for (; next != settles.end() && next->place == i; ++next) {
            code.push_back(next->instruction);
            notes.emplace_back();
        }
        code.push_back(build.kernel.code[i]);
        notes.push_back(build.notes[i]);
    }
    moved.push_back(static_cast<std::uint32_t>(code.size()));
    for (std::uint32_t& label : build.labels) {
        label = label < moved.size() ? moved[label] : label;
    }
    build.kernel.code = std::move(code);
    build.notes = std::move(notes);
}

/// Takes the marks from accesses: only reductions have them in a finished kernel.
void forget_accesses(KernelBuild& build) {
    for (Instruction& instruction : build.kernel.code) {
        if (instruction.form.family() == Family::Memory) {
            forbid_waiting(instruction);
        }
    }
}

} // namespace

void find_last_reductions(KernelBuild& build) {
    bool can_any_wait = false;
    bool has_any_result = false;
    for (Instruction& instruction : build.kernel.code) {
        if (build.has_calls) { // what follows a return is not known here
            forbid_waiting(instruction);
        }
        can_any_wait |= is_waiting_reduction(instruction);
        has_any_result |= has_result(instruction);
    }
    if (has_any_result) {
        drop_unused_results(build);
    }
    if (!can_any_wait) {
        forget_accesses(build);
        return;
    }
    find_blocks(build); // the passes before this one have removed instructions
    const std::vector<Instruction> before = build.kernel.code;
    keep_waiting_reductions(build);
    const std::vector<Settle> settles = find_settles(build);
    if (settles.size() <= MAX_SETTLES) {
        insert(build, settles);
    } else {
        build.kernel.code = before;
        for (Instruction& instruction : build.kernel.code) {
            if (is_affected(instruction)) {
                forbid_waiting(instruction);
            }
        }
        keep_waiting_reductions(build);
    }
    forget_accesses(build);
}

} // namespace cuprum::emulator::passes
