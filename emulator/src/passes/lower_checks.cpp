// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Turns the decoders' notes about an instruction into instructions that check it. Only kernels
// compiled with a check enabled contain them, so disabled checks cost nothing.

#include "check/handlers.hpp"
#include "interp/tensor_copy.hpp"
#include "passes/function_lowering.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace cuprum::emulator::passes {

using bytecode::Instruction;
using bytecode::Operand;
using bytecode::Width;
using ptx::Space;

namespace {

constexpr std::uint8_t ANY_CHECK = CHECK_MEMORY | CHECK_INITIALIZED | CHECK_RACES | CHECK_GRAPHS;
/// Checks that look at the memory of a block, not only at device memory.
constexpr std::uint8_t BLOCK_CHECKS = CHECK_INITIALIZED | CHECK_RACES;

/// Instructions whose result is wrong if a source is wrong.
constexpr std::array<std::string_view, 19> COMPUTING{
    "add", "addc", "cos", "div", "dp4a",  "ex2", "fma",  "lg2", "mad", "mma",
    "mul", "neg",  "rcp", "rem", "rsqrt", "sin", "sqrt", "sub", "tanh"};

void add_names(const ptx::Operand& operand, std::unordered_set<std::string_view>& names) {
    if (operand.kind == ptx::Operand::Kind::Name) {
        names.insert(operand.text);
    }
    for (const ptx::Operand& part : operand.parts) {
        add_names(part, names);
    }
}

using Mentions = std::unordered_map<std::string_view, std::uint32_t>;

void count_names(const ptx::Operand& operand, Mentions& mentions) {
    if (!operand.text.empty()) {
        ++mentions[operand.text];
    }
    for (const ptx::Operand& part : operand.parts) {
        count_names(part, mentions);
    }
}

/// Counts how often the instructions of a function name each register, and other things too.
void count_names(const std::vector<ptx::Statement>& body, Mentions& mentions) {
    for (const ptx::Statement& statement : body) {
        count_names(statement.block, mentions);
        for (const ptx::Operand& operand : statement.instruction.operands) {
            count_names(operand, mentions);
        }
        if (statement.instruction.guard) {
            ++mentions[statement.instruction.guard->predicate];
        }
    }
}

void collect_used_registers(const std::vector<ptx::Statement>& body,
                            std::unordered_set<std::string_view>& names) {
    for (const ptx::Statement& statement : body) {
        collect_used_registers(statement.block, names);
        const ptx::Instruction& instruction = statement.instruction;
        const bool is_store =
            instruction.opcode == "st" &&
            std::ranges::find(instruction.modifiers, "global") != instruction.modifiers.end();
        if (is_store || std::ranges::find(COMPUTING, instruction.opcode) != COMPUTING.end()) {
            for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
                add_names(instruction.operands[i], names);
            }
        }
    }
}

check::AccessSpace space_of(const AccessNote& note) {
    switch (note.space) {
    case Space::Shared:
        return note.reaches_cluster ? check::AccessSpace::Cluster : check::AccessSpace::Shared;
    case Space::Local:
        return check::AccessSpace::Local;
    case Space::None:
        return check::AccessSpace::Generic;
    default:
        return check::AccessSpace::Global;
    }
}

std::uint32_t layout_of(const AccessNote& note) {
    const std::uint32_t more = (note.is_transposed ? check::LAYOUT_TRANSPOSED : 0) |
                               (note.is_paired ? check::LAYOUT_PAIRED : 0);
    switch (note.layout) {
    case AccessNote::Layout::Tiles:
        return check::LAYOUT_TILES | more;
    case AccessNote::Layout::Bytes:
        return check::LAYOUT_BYTES | more;
    case AccessNote::Layout::Fragment:
        return check::LAYOUT_FRAGMENT | more;
    default:
        return 0;
    }
}

} // namespace

void FunctionLowering::note_access(const AccessNote& note) {
    if ((memory().checks & SHAKE) != 0) {
        emit_check(FixedOp::CheckShake);
    }
    if ((memory().checks & ANY_CHECK) == 0 || note.space == Space::Param) {
        return;
    }
    const bool is_in_block = note.space == Space::Shared || note.space == Space::Local;
    if (is_in_block && (memory().checks & BLOCK_CHECKS) == 0) {
        return; // the instruction itself checks the bounds of a block's own memory
    }
    if (note.kind == AccessNote::Kind::ReadWrite && only_replaces()) {
        AccessNote write = note;
        write.kind = AccessNote::Kind::Write;
        emit_access_check(write, false);
        return;
    }
    const bool is_load = note.kind == AccessNote::Kind::Read && current_->opcode == "ld";
    const std::vector<bool> uses = is_load ? used_results() : std::vector<bool>{};
    const auto used = std::ranges::count(uses, true);
    emit_access_check(note, is_load && static_cast<std::size_t>(used) != uses.size());
    if (used == 0 || static_cast<std::size_t>(used) == uses.size() ||
        (memory().checks & CHECK_INITIALIZED) == 0) {
        return;
    }
    // If only some elements of a vector are used, only those must have been written.
    for (std::size_t i = 0; i < uses.size(); ++i) {
        if (uses[i]) {
            AccessNote element = note;
            element.address.offset += static_cast<std::int64_t>(i * note.bytes);
            element.count = 1;
            element.is_strong = true; // races are already checked
            emit_access_check(element, false);
        }
    }
}

void FunctionLowering::emit_access_check(const AccessNote& note, bool passes_on) {
    unsigned tag = static_cast<unsigned>(space_of(note)) << check::ACCESS_SPACE_SHIFT;
    tag |= note.kind != AccessNote::Kind::Write ? check::ACCESS_READS : 0u;
    tag |= note.kind != AccessNote::Kind::Read ? check::ACCESS_WRITES : 0u;
    tag |= note.is_strong ? check::ACCESS_STRONG : 0u;
    tag |= note.address.base_width == Width::B32 ? check::ACCESS_NARROW : 0u;
    tag |= passes_on ? check::ACCESS_PASSES_ON : 0u;
    tag |= static_cast<unsigned>(note.stride_shift + 8) << check::ACCESS_STRIDE_SHIFT;
    Instruction look;
    look.form = FixedOp::CheckAccess;
    look.flags = bytecode::HAS_SIDE_EFFECT;
    look.src[look.src_count++] = note.address.base;
    look.immediate = note.address.offset;
    look.access_bytes = static_cast<std::uint8_t>(note.bytes);
    look.target = note.count | note.lines << check::ACCESS_LINES_SHIFT |
                  note.lanes << check::ACCESS_LANES_SHIFT;
    const bool has_values = !note.values.empty() && (memory().checks & CHECK_RACES) != 0;
    if (note.is_async) {
        const bool has_barrier = !note.barrier.base.is_none();
        tag |= has_barrier ? check::ASYNC_BARRIER : 0u;
        tag |= has_barrier && note.barrier.base_width == Width::B32 ? check::ASYNC_NARROW : 0u;
        tag |= note.blocks.is_none() ? 0u : check::ASYNC_BLOCKS;
        look.form = FixedOp::CheckAccessAsync;
        look.src[look.src_count++] = note.size;
        look.src[look.src_count++] = has_barrier ? note.barrier.base : note.size;
        look.src[look.src_count++] = note.blocks.is_none() ? note.size : note.blocks;
        look.extra = static_cast<std::uint32_t>(note.barrier.offset);
    } else if (!note.size.is_none()) {
        tag |= check::ACCESS_SIZED;
        look.src[look.src_count++] = note.size;
    } else {
        if (note.lines > 1) {
            look.src[look.src_count++] = note.stride;
        }
        if (has_values) {
            tag |= check::ACCESS_VALUES;
            add_values(look, tag, note);
        }
    }
    look.tag = static_cast<std::uint16_t>(tag);
    emit(look);
}

/// Adds the registers with the values that are written, and how they hold them.
void FunctionLowering::add_values(Instruction& look, unsigned& tag, const AccessNote& note) {
    const auto lane_bytes = static_cast<unsigned>(note.value_width);
    tag |= static_cast<unsigned>(std::countr_zero(lane_bytes) - 2) << check::ACCESS_WIDTH_SHIFT;
    look.target |= layout_of(note) << check::ACCESS_LAYOUT_SHIFT;
    std::size_t own = 0;
    while (own < note.values.size() && look.src_count < std::size(look.src)) {
        look.src[look.src_count++] = note.values[own++];
    }
    if (own < note.values.size()) {
        look.extra_src_count = static_cast<std::uint8_t>(note.values.size() - own);
        look.extra = add_operands(note.values.subspan(own));
    }
}

/// Returns for each element of the current load whether it is used in a computation or written to
/// device memory.
///
/// Only then does it matter whether the element was ever written. Compilers, and libraries written
/// with care, also read values that they discard. Examples are the bits around a bit field that is
/// about to be set, and elements past the end that a comparison filters out.
std::vector<bool> FunctionLowering::used_results() {
    const ptx::Function* const function = frames_.back().function;
    auto [entry, is_new] = used_registers_.try_emplace(function);
    if (is_new) {
        collect_used_registers(function->body, entry->second);
    }
    const ptx::Operand& to = current_->operands.front();
    const std::span<const ptx::Operand> parts = to.kind == ptx::Operand::Kind::Vector
                                                    ? std::span<const ptx::Operand>(to.parts)
                                                    : std::span<const ptx::Operand>(&to, 1);
    std::vector<bool> uses;
    for (const ptx::Operand& part : parts) {
        // An instruction that uses a component may name the whole register.
        const bool is_component = part.text.find('.') != std::string_view::npos;
        uses.push_back(is_component || entry->second.contains(part.text));
    }
    return uses;
}

/// Returns whether the current instruction is an exchange whose result nothing uses. It reads
/// memory, but what it reads has no effect.
bool FunctionLowering::only_replaces() {
    if (current_->opcode != "atom" || (memory().checks & CHECK_INITIALIZED) == 0 ||
        std::ranges::find(current_->modifiers, "exch") == current_->modifiers.end()) {
        return false;
    }
    const ptx::Operand& to = current_->operands.front();
    if (to.kind == ptx::Operand::Kind::Discarded) {
        return true;
    }
    const ptx::Function* const function = frames_.back().function;
    auto [entry, is_new] = mentions_.try_emplace(function);
    if (is_new) {
        count_names(function->body, entry->second);
    }
    return to.kind == ptx::Operand::Kind::Name && entry->second[to.text] == 1;
}

void FunctionLowering::note_order(const OrderNote& note) {
    if ((memory().checks & CHECK_RACES) == 0) {
        return;
    }
    if (note.releases) {
        emit_check(note.is_block_scope ? FixedOp::CheckReleaseBlock : FixedOp::CheckRelease);
    }
    if (note.acquires) {
        emit_check(note.is_block_scope ? FixedOp::CheckAcquireBlock : FixedOp::CheckAcquire);
    }
    if (note.fences_proxy) {
        emit_check(FixedOp::CheckFenceProxy);
    }
    if (note.commits_group) {
        emit_check(FixedOp::CheckCommitGroup);
    }
    if (note.awaited_groups >= 0) {
        emit_check(FixedOp::CheckWaitGroup, static_cast<std::uint32_t>(note.awaited_groups));
    }
}

void FunctionLowering::note_tensor_copy(const Instruction& copy) {
    if ((memory().checks & SHAKE) != 0) {
        emit_check(FixedOp::CheckShake);
    }
    if ((memory().checks & ANY_CHECK) == 0 || copy.form.is(FixedOp::TensorPrefetch)) {
        return;
    }
    Instruction look = copy;
    const bool is_load = copy.form.is(FixedOp::TensorLoad) || copy.form.is(FixedOp::TensorLoadMany);
    look.form = is_load                              ? FixedOp::CheckTensorLoad
                : copy.form.is(FixedOp::TensorStore) ? FixedOp::CheckTensorStore
                                                     : FixedOp::CheckTensorReduction;
    look.access_bytes = copy.form.is(FixedOp::TensorLoadMany) ? 1 : 0;
    // Later passes change the operands of each instruction, so two must not share them.
    const auto& listed = build_.kernel.operands;
    const std::vector<Operand> own(listed.begin() + copy.extra,
                                   listed.begin() + copy.extra + copy.extra_src_count);
    look.extra = add_operands(own);
    emit(look);
}

void FunctionLowering::note_wait(const Instruction& wait) {
    if ((memory().checks & CHECK_RACES) == 0) {
        return;
    }
    Instruction look = wait;
    look.form = FixedOp::CheckWaited;
    look.src[2] = wait.dst[0];
    look.src_count = 3;
    look.dst_count = 0;
    emit(look);
}

void FunctionLowering::note_meeting(Operand members) {
    emit_check_of_members(FixedOp::CheckMeet, members);
}

void FunctionLowering::note_membership(Operand members) {
    emit_check_of_members(FixedOp::CheckMembership, members);
}

void FunctionLowering::emit_check_of_members(FixedOp op, Operand members) {
    if ((memory().checks & CHECK_RACES) != 0) {
        Instruction check;
        check.form = op;
        check.flags = bytecode::HAS_SIDE_EFFECT;
        check.src_count = 1;
        check.src[0] = members;
        emit(check);
    }
}

void FunctionLowering::note_local_write(std::uint32_t offset, std::uint64_t bytes,
                                        bool is_of_callee) {
    if ((memory().checks & CHECK_INITIALIZED) != 0) {
        Instruction mark;
        mark.form = FixedOp::CheckMarkLocal;
        mark.flags = bytecode::HAS_SIDE_EFFECT;
        mark.target = offset;
        mark.immediate = static_cast<std::int64_t>(bytes);
        mark.tag = is_of_callee ? 1 : 0;
        emit(mark);
    }
}

void FunctionLowering::emit_check(FixedOp op, std::uint32_t target) {
    Instruction check;
    check.form = op;
    check.target = target;
    check.flags = bytecode::HAS_SIDE_EFFECT;
    emit(check);
}

} // namespace cuprum::emulator::passes
