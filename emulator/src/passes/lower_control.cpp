// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Branches, ends of threads, and barriers.

#include "bytecode/forms.hpp"
#include "interp/cluster.hpp"
#include "interp/control.hpp"
#include "passes/function_lowering.hpp"
#include "passes/words.hpp"

#include <algorithm>

namespace cuprum::emulator::passes {

using bytecode::Instruction;
using bytecode::Operand;
using bytecode::Width;
using ptx::Type;

namespace {

constexpr std::uint32_t UNPLACED = ~0u;
constexpr std::size_t MAX_BRANCH_TARGETS = UINT16_MAX;

} // namespace

/// Lowers an instruction that decides what runs next. Returns false for all others.
bool FunctionLowering::lower_control(const ptx::Instruction& instruction) {
    const std::string_view opcode = instruction.opcode;
    if (opcode == "bra") {
        lower_branch(instruction);
    } else if (opcode == "brx") {
        lower_indexed_branch(instruction);
    } else if (opcode == "call") {
        lower_call(instruction);
    } else if (opcode == "ret") {
        lower_return();
    } else if (opcode == "exit") {
        lower_exit();
    } else if (opcode == "trap" || opcode == "brkpt") {
        Instruction trap;
        trap.form = FixedOp::Trap;
        trap.flags = bytecode::HAS_SIDE_EFFECT | bytecode::ENDS_BLOCK | bytecode::NO_FALL_THROUGH;
        emit(trap);
    } else if (opcode == "bar" || opcode == "barrier") {
        lower_barrier(instruction);
    } else if (opcode == "nanosleep") {
        lower_sleep(instruction);
    } else {
        return false;
    }
    return true;
}

void FunctionLowering::lower_sleep(const ptx::Instruction& instruction) {
    if (instruction.operands.size() != 1) {
        invalid("nanosleep takes one operand, the time to sleep");
        return;
    }
    Instruction sleep;
    sleep.form = FixedOp::Sleep;
    // Other lanes may run in the meantime and join those that wake up.
    sleep.flags = bytecode::HAS_SIDE_EFFECT | bytecode::ENDS_BLOCK;
    sleep.src_count = 1;
    sleep.src[0] = source(instruction.operands[0], Width::B32, ptx::Type::U32);
    emit(sleep);
}

void FunctionLowering::lower_branch(const ptx::Instruction& instruction) {
    if (instruction.operands.size() != 1) {
        invalid("bra takes one operand, a label");
        return;
    }
    if (const auto label = label_of(instruction.operands[0])) {
        emit_branch(*label, guard_, is_guard_negated_);
    }
}

void FunctionLowering::lower_indexed_branch(const ptx::Instruction& instruction) {
    if (instruction.operands.size() != 2 || !has_modifier(instruction, "idx")) {
        invalid("brx.idx takes an index and the name of a list of targets");
        return;
    }
    const Symbol* list = find(instruction.operands[1].text);
    if (list == nullptr || list->kind != Symbol::Kind::Targets || list->targets->is_call ||
        list->targets->targets.size() > MAX_BRANCH_TARGETS) {
        invalid("'" + std::string(instruction.operands[1].text) + "' is not a .branchtargets list");
        return;
    }
    Instruction branch;
    branch.form = FixedOp::BranchIndexed;
    branch.flags = bytecode::HAS_SIDE_EFFECT | bytecode::ENDS_BLOCK | bytecode::NO_FALL_THROUGH;
    branch.src_count = 1;
    branch.src[0] = source(instruction.operands[0], Width::B32, Type::U32);
    auto& targets = build_.kernel.branch_targets;
    branch.extra = static_cast<std::uint32_t>(targets.size());
    branch.tag = static_cast<std::uint16_t>(list->targets->targets.size());
    for (const std::string_view name : list->targets->targets) {
        ptx::Operand operand;
        operand.text = name;
        targets.push_back(label_of(operand).value_or(0));
    }
    emit(branch);
}

void FunctionLowering::lower_return() {
    if (const auto label = frames_.back().return_label) {
        emit_branch(*label, guard_, is_guard_negated_);
    } else if (is_in_kernel()) {
        lower_exit();
    } else {
        Instruction back;
        back.form = FixedOp::Return;
        back.src_count = 1;
        back.src[0] = warp_special(bytecode::Special::ReturnAddress, Width::B32);
        back.flags = bytecode::HAS_SIDE_EFFECT | bytecode::ENDS_BLOCK | bytecode::NO_FALL_THROUGH;
        emit(back);
    }
}

void FunctionLowering::lower_exit() {
    Instruction exit;
    exit.form = FixedOp::Exit;
    exit.flags = bytecode::HAS_SIDE_EFFECT | bytecode::ENDS_BLOCK | bytecode::NO_FALL_THROUGH;
    emit(exit);
}

void FunctionLowering::lower_barrier(const ptx::Instruction& instruction) {
    const auto& operands = instruction.operands;
    if (has_modifier(instruction, "warp")) {
        if (operands.size() != 1) {
            invalid("bar.warp.sync takes one operand, the member mask");
            return;
        }
        const Operand members = source(operands[0], Width::B32, Type::U32);
        emit_meeting(members, control::MEETS_OTHERS);
        note_meeting(members);
        return;
    }
    if (has_modifier(instruction, "cluster")) {
        Instruction barrier;
        barrier.flags = bytecode::HAS_SIDE_EFFECT;
        barrier.form =
            has_modifier(instruction, "arrive") ? FixedOp::ClusterArrive : FixedOp::ClusterWait;
        if (!operands.empty() ||
            has_modifier(instruction, "arrive") == has_modifier(instruction, "wait")) {
            invalid("a cluster barrier is barrier.cluster.arrive or barrier.cluster.wait, without "
                    "operands");
            return;
        }
        const bool is_arrival = has_modifier(instruction, "arrive");
        if (is_arrival) {
            note_order({.releases = true});
        }
        emit(barrier);
        if (!is_arrival) {
            note_order({.acquires = true});
        }
        return;
    }
    Instruction barrier;
    barrier.flags = bytecode::HAS_SIDE_EFFECT;
    if (instruction.opcode == "bar" || has_modifier(instruction, "aligned")) {
        barrier.tag = control::ALIGNED;
    }
    std::size_t first = 0; // index of the operand that names the barrier
    std::size_t count = operands.size();
    if (has_modifier(instruction, "red")) {
        const bool is_popc = has_modifier(instruction, "popc");
        if (operands.size() < 3) {
            invalid("barrier reduction takes a destination, a barrier, an optional thread count "
                    "and a predicate");
            return;
        }
        barrier.form = FixedOp::BarrierReduce;
        barrier.immediate = static_cast<std::int64_t>(is_popc ? control::Reduction::Popc
                                                              : (has_modifier(instruction, "and")
                                                                     ? control::Reduction::And
                                                                     : control::Reduction::Or));
        barrier.dst_count = 1;
        barrier.dst[0] = destination(operands[0], is_popc ? Width::B32 : Width::Predicate);
        barrier.src_count = 3;
        const Predicate condition = predicate(operands.back());
        barrier.src[2] = condition.operand;
        barrier.tag |= condition.is_negated ? control::NEGATES : 0;
        first = 1;
        --count;
    } else {
        barrier.form =
            has_modifier(instruction, "arrive") ? FixedOp::BarrierArrive : FixedOp::BarrierSync;
        barrier.src_count = 2;
    }
    if (count <= first || count > first + 2 ||
        (barrier.form.is(FixedOp::BarrierArrive) && count != first + 2)) {
        invalid("wrong number of operands for a block barrier");
        return;
    }
    barrier.src[0] = source(operands[first], Width::B32, Type::U32);
    if (count == first + 2) {
        barrier.src[1] = source(operands[first + 1], Width::B32, Type::U32);
    }
    emit(barrier);
}

void FunctionLowering::emit_rendezvous(Operand member_mask) {
    emit_meeting(member_mask, 0);
}

void FunctionLowering::emit_meeting(Operand member_mask, std::uint16_t tag) {
    note_membership(member_mask);
    Instruction meeting;
    meeting.tag = tag;
    meeting.form = FixedOp::Rendezvous;
    meeting.flags = bytecode::HAS_SIDE_EFFECT;
    meeting.src_count = 1;
    meeting.src[0] = member_mask;
    emit(meeting);
}

void FunctionLowering::emit_branch(std::uint32_t label, Operand guard, bool is_negated) {
    Instruction branch;
    branch.flags = bytecode::HAS_SIDE_EFFECT | bytecode::IS_BRANCH | bytecode::ENDS_BLOCK |
                   bytecode::NO_FALL_THROUGH | bytecode::HANDLES_GUARD;
    branch.form = guard.is_none() ? FixedOp::Branch : FixedOp::BranchGuarded;
    branch.guard = guard;
    if (is_negated) {
        branch.flags |= bytecode::GUARD_NEGATED;
    }
    branch.target = label;
    emit(branch);
}

void FunctionLowering::emit_copy(Operand to, Operand from, Width width) {
    if (to.is_none() || from.is_none()) {
        return; // the value is discarded, or an error has been reported
    }
    Instruction copy;
    copy.form = MoveForm{.op = MoveOp::Copy, .width = width};
    copy.dst_count = 1;
    copy.src_count = 1;
    copy.dst[0] = to;
    copy.src[0] = from;
    is_copy_ = true;
    emit(copy);
    is_copy_ = false;
}

std::optional<std::uint32_t> FunctionLowering::label_of(const ptx::Operand& operand) {
    const Symbol* symbol = find(operand.text);
    if (symbol == nullptr || symbol->kind != Symbol::Kind::Label) {
        invalid("'" + std::string(operand.text) + "' is not a label of this function");
        return std::nullopt;
    }
    return symbol->label;
}

std::uint32_t FunctionLowering::new_label() {
    build_.labels.push_back(UNPLACED);
    return static_cast<std::uint32_t>(build_.labels.size() - 1);
}

void FunctionLowering::place_label(std::uint32_t label) {
    build_.labels[label] = static_cast<std::uint32_t>(build_.kernel.code.size());
}

} // namespace cuprum::emulator::passes
