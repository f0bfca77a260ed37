// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Branches, ends of threads, and barriers.

#include "bytecode/forms.hpp"
#include "decode/reader.hpp"
#include "interp/cluster.hpp"
#include "interp/control.hpp"
#include "interp/warp.hpp"
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
    const auto has_only = [&](std::string_view modifier, std::size_t least, std::size_t most) {
        return decoding::read(instruction, *this, [&](decoding::Reader& reader) {
            if (!modifier.empty()) {
                reader.take(modifier);
            }
            return reader.finish(least, most);
        });
    };
    if (opcode == "bra") {
        if (has_only("uni", 1, 1)) {
            lower_branch(instruction);
        }
    } else if (opcode == "brx") {
        lower_indexed_branch(instruction);
    } else if (opcode == "call") {
        constexpr std::size_t most_operands = 4; // results, function, arguments, prototype
        if (has_only("uni", 1, most_operands)) {
            lower_call(instruction);
        }
    } else if (opcode == "ret") {
        if (has_only("uni", 0, 0)) {
            lower_return();
        }
    } else if (opcode == "exit") {
        if (has_only("", 0, 0)) {
            lower_exit();
        }
    } else if (opcode == "trap" || opcode == "brkpt") {
        if (has_only("", 0, 0)) {
            Instruction trap;
            trap.form = FixedOp::Trap;
            trap.flags =
                bytecode::HAS_SIDE_EFFECT | bytecode::ENDS_BLOCK | bytecode::NO_FALL_THROUGH;
            emit(trap);
        }
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
    decoding::Reader reader(instruction, *this);
    reader.take_type_of({Type::U32});
    if (!reader.finish(1)) {
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
    if (const auto label = label_of(instruction.operands[0])) {
        emit_branch(*label, guard_, is_guard_negated_);
    }
}

void FunctionLowering::lower_indexed_branch(const ptx::Instruction& instruction) {
    decoding::Reader reader(instruction, *this);
    reader.need("idx");
    reader.take("uni");
    if (!reader.finish(2)) {
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

void FunctionLowering::lower_cluster_barrier(decoding::Reader& reader) {
    const int phase = reader.take_one_of({"arrive", "wait"});
    if (phase < 0) {
        reader.reject("needs .arrive or .wait");
    } else if (phase == 0) {
        reader.take_one_of({"release", "relaxed"});
    } else {
        reader.take("acquire");
    }
    reader.take("aligned");
    if (!reader.finish(0)) {
        return;
    }
    Instruction barrier;
    barrier.flags = bytecode::HAS_SIDE_EFFECT;
    barrier.form = phase == 0 ? FixedOp::ClusterArrive : FixedOp::ClusterWait;
    if (phase == 0) {
        note_order({.releases = true});
    }
    emit(barrier);
    if (phase == 1) {
        note_order({.acquires = true});
    }
}

/// Takes the modifiers of a barrier of the block. Returns false after a refusal. `first` becomes
/// the index of the operand that names the barrier, `has_count` whether one says how many threads
/// take part.
bool FunctionLowering::take_block_barrier(decoding::Reader& reader, Instruction& barrier,
                                          std::size_t& first, bool& has_count) {
    const bool is_bar = reader.opcode() == "bar";
    reader.take("cta");
    const int kind = reader.take_one_of({"sync", "arrive", "red"});
    if (is_bar || reader.take("aligned")) {
        barrier.tag = control::ALIGNED;
    }
    const std::size_t count = reader.operand_count();
    if (kind < 0) {
        reader.reject("needs .sync, .arrive or .red");
    }
    if (kind == 2) {
        const int reduction = reader.take_one_of({"popc", "and", "or"});
        if (reduction < 0) {
            reader.reject("needs .popc, .and or .or");
        }
        constexpr control::Reduction REDUCTIONS[] = {
            control::Reduction::Popc, control::Reduction::And, control::Reduction::Or};
        barrier.form = FixedOp::BarrierReduce;
        barrier.immediate = static_cast<std::int64_t>(REDUCTIONS[std::max(reduction, 0)]);
        reader.take_type_of({reduction == 0 ? Type::U32 : Type::Pred});
        first = 1;
        has_count = count == 4;
        return reader.finish(3, 4);
    }
    barrier.form = kind == 1 ? FixedOp::BarrierArrive : FixedOp::BarrierSync;
    first = 0;
    has_count = count == 2;
    return kind == 1 ? reader.finish(2) : reader.finish(1, 2);
}

/// Rejects constants that name no barrier, or no number of threads that can meet there.
bool FunctionLowering::has_valid_barrier(decoding::Reader& reader, std::size_t first,
                                         bool has_count, bool is_arrival) {
    const ptx::Operand& name = reader.operand(first);
    if (name.kind == ptx::Operand::Kind::Integer && name.bits >= BlockContext::BARRIER_COUNT) {
        reader.reject("names barrier " + std::to_string(static_cast<std::int64_t>(name.bits)) +
                      "; a block has barriers 0 to 15");
    }
    const ptx::Operand* const threads = has_count ? &reader.operand(first + 1) : nullptr;
    if (threads != nullptr && threads->kind == ptx::Operand::Kind::Integer &&
        (threads->bits % bytecode::WARP_SIZE != 0 || (is_arrival && threads->bits == 0))) {
        reader.reject("is for " + std::to_string(static_cast<std::int64_t>(threads->bits)) +
                      " threads; expected a multiple of 32");
    }
    return !reader.has_failed();
}

void FunctionLowering::lower_barrier(const ptx::Instruction& instruction) {
    const auto& operands = instruction.operands;
    decoding::Reader reader(instruction, *this);
    if (reader.opcode() == "bar" && reader.take("warp")) {
        reader.need("sync");
        if (reader.finish(1)) {
            const Operand members = source(operands[0], Width::B32, Type::U32);
            emit_meeting(members, control::MEETS_OTHERS);
            note_meeting(members);
        }
        return;
    }
    if (reader.opcode() == "barrier" && reader.take("cluster")) {
        lower_cluster_barrier(reader);
        return;
    }
    Instruction barrier;
    barrier.flags = bytecode::HAS_SIDE_EFFECT;
    std::size_t first = 0;
    bool has_count = false;
    if (!take_block_barrier(reader, barrier, first, has_count) ||
        !has_valid_barrier(reader, first, has_count, barrier.form.is(FixedOp::BarrierArrive))) {
        return;
    }
    barrier.src_count = 2;
    if (barrier.form.is(FixedOp::BarrierReduce)) {
        const bool is_popc =
            barrier.immediate == static_cast<std::int64_t>(control::Reduction::Popc);
        barrier.dst_count = 1;
        barrier.dst[0] = destination(operands[0], is_popc ? Width::B32 : Width::Predicate);
        const Predicate condition = predicate(operands.back());
        barrier.src_count = 3;
        barrier.src[2] = condition.operand;
        barrier.tag |= condition.is_negated ? control::NEGATES : 0;
    }
    barrier.src[0] = source(operands[first], Width::B32, Type::U32);
    if (has_count) {
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
