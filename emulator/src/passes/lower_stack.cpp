// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// alloca, stacksave and stackrestore. A function that uses them has an area in its local memory and
// a register that counts the used bytes. So everything it allocates is free again when it returns.

#include "interp/control.hpp"
#include "passes/function_lowering.hpp"

#include <algorithm>
#include <bit>

namespace cuprum::emulator::passes {

using bytecode::Operand;
using bytecode::Width;

namespace {

constexpr std::uint32_t STACK_ALIGNMENT = 16; // the alignment of local memory
constexpr std::uint64_t DEFAULT_ALIGNMENT = 8;

bool is_about_stack(std::string_view opcode) {
    return opcode == "alloca" || opcode == "stacksave" || opcode == "stackrestore";
}

bool uses_stack(std::span<const ptx::Statement> statements) {
    return std::any_of(statements.begin(), statements.end(), [](const ptx::Statement& statement) {
        return statement.kind == ptx::Statement::Kind::Block
                   ? uses_stack(statement.block)
                   : statement.kind == ptx::Statement::Kind::Instruction &&
                         is_about_stack(statement.instruction.opcode);
    });
}

} // namespace

/// Reserves the area of the current function, if it needs one.
void FunctionLowering::begin_stack() {
    Frame& frame = frames_.back();
    if (!uses_stack(frame.function->body)) {
        return;
    }
    frame.stack_offset = place_local(control::STACK_AREA_BYTES, STACK_ALIGNMENT);
    frame.stack_top = temporary(Width::B64);
    emit_copy(frame.stack_top, constant(0, Width::B64), Width::B64);
}

/// Lowers a stack instruction. Returns false for all others.
bool FunctionLowering::lower_stack(const ptx::Instruction& instruction) {
    if (!is_about_stack(instruction.opcode)) {
        return false;
    }
    const std::vector<ptx::Operand>& operands = instruction.operands;
    const bool allocates = instruction.opcode == "alloca";
    if (instruction.modifiers.size() != 1 ||
        (instruction.modifiers[0] != "u64" && instruction.modifiers[0] != "u32") ||
        operands.size() < (allocates ? 2u : 1u) || operands.size() > (allocates ? 3u : 1u)) {
        invalid("'" + std::string(instruction.opcode) +
                "' needs .u64 or .u32 and one operand, or a pointer and a size");
        return true;
    }
    if (instruction.modifiers[0] == "u32") {
        unsupported("'" + std::string(instruction.opcode) + ".u32' is not supported, .u64 is");
        return true;
    }
    const Operand top = frames_.back().stack_top;
    if (instruction.opcode == "stacksave") {
        emit_copy(destination(operands[0], Width::B64), top, Width::B64);
        return true;
    }
    if (instruction.opcode == "stackrestore") {
        emit_copy(top, source(operands[0], Width::B64, ptx::Type::U64), Width::B64);
        return true;
    }
    std::uint64_t alignment = DEFAULT_ALIGNMENT;
    if (operands.size() == 3) {
        alignment = operands[2].kind == ptx::Operand::Kind::Integer ? operands[2].bits : 0;
        if (!std::has_single_bit(alignment)) {
            invalid("'alloca' needs an alignment that is a power of two");
            return true;
        }
        if (alignment > STACK_ALIGNMENT) {
            unsupported("'alloca' aligns to " + std::to_string(STACK_ALIGNMENT) +
                        " bytes at most here");
            return true;
        }
    }
    bytecode::Instruction allocate;
    allocate.form = FixedOp::AllocateStack;
    allocate.flags = bytecode::HAS_SIDE_EFFECT;
    allocate.dst_count = 2;
    allocate.dst[0] = destination(operands[0], Width::B64);
    allocate.dst[1] = top;
    allocate.src_count = 3;
    allocate.src[0] = warp_special(bytecode::Special::LocalBase, Width::B64);
    allocate.src[1] = top;
    allocate.src[2] = source(operands[1], Width::B64, ptx::Type::U64);
    allocate.immediate = frames_.back().stack_offset;
    allocate.target = static_cast<std::uint32_t>(alignment);
    if (!allocate.dst[0].is_none() && !allocate.src[2].is_none()) {
        emit(allocate);
    }
    return true;
}

} // namespace cuprum::emulator::passes
