// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What single instructions are for the engine.

#include "bytecode/forms.hpp"
#include "bytecode/matrix_forms.hpp"
#include "jit/analysis/internal.hpp"
#include "ptx/type_sizes.hpp"

namespace cuprum::emulator::jit {

using bytecode::Family;
using bytecode::Instruction;
using bytecode::Operand;
using bytecode::Width;

namespace {

/// Returns the role of an instruction without a structure. Those that may stop a group, resume
/// others or look at them are boundaries, and so is everything that is rare.
Role role_of_fixed(FixedOp op) {
    switch (op) {
    case FixedOp::Branch:
    case FixedOp::BranchGuarded:
        return Role::Branch;
    case FixedOp::Exit:
        return Role::Exit;
    case FixedOp::PassBytes:
    case FixedOp::FetchBytes:
    case FixedOp::LocalAddress:
    case FixedOp::ReadLocal:
    case FixedOp::WriteLocal:
    case FixedOp::AllocateStack:
    case FixedOp::ReadClock32:
    case FixedOp::ReadClock64:
    case FixedOp::ReadTimer32:
    case FixedOp::ReadTimer64:
    case FixedOp::MapAddress:
    case FixedOp::RankOf:
    case FixedOp::IsOwnShared:
    case FixedOp::MbarrierPendingCount:
    case FixedOp::TextureQuery:
    case FixedOp::TextureIsType:
    case FixedOp::SurfaceAccess:
    case FixedOp::Video:
        return Role::Plain;
    default:
        return Role::Boundary;
    }
}

Width width_of_bytes(std::uint32_t bytes) {
    return bytes <= 4 ? Width::B32 : bytes == 8 ? Width::B64 : Width::B128;
}

Width width_of(ptx::Type type) {
    return type == ptx::Type::Pred ? Width::Predicate : width_of_bytes(ptx::bits_of(type) / 8);
}

Width source_width_of_move(const MoveForm& form, std::size_t index) {
    switch (form.op) {
    case MoveOp::Pack:
        return width_of_bytes(form.part_bytes);
    case MoveOp::Unpack:
        return width_of_bytes(form.bytes);
    case MoveOp::Select:
        return index < 2 ? form.width : Width::Predicate;
    case MoveOp::SelectBySign:
    case MoveOp::SelectByFloatSign:
        return index < 2 ? form.width : Width::B32;
    case MoveOp::IsShared:
    case MoveOp::IsLocal:
    case MoveOp::IsGlobal:
    case MoveOp::IsConstant:
    case MoveOp::IsParam:
    case MoveOp::ParameterBase:
        return Width::B64;
    default:
        return form.width;
    }
}

Width source_width_of_integer(const IntegerForm& form, std::size_t index) {
    if (form.is_packed) {
        return Width::B32;
    }
    if (form.op == IntegerOp::MadWide && index == 2) {
        const bool is_short = form.type == ptx::Type::U16 || form.type == ptx::Type::S16;
        return is_short ? Width::B32 : Width::B64;
    }
    return width_of(form.type);
}

Width source_width_of_bits(const BitsForm& form, std::size_t index) {
    const Width width = form.bits == 64 ? Width::B64 : Width::B32;
    switch (form.op) {
    case BitsOp::PredicateAnd:
    case BitsOp::PredicateOr:
    case BitsOp::PredicateXor:
    case BitsOp::PredicateNot:
        return Width::Predicate;
    case BitsOp::And:
    case BitsOp::Or:
    case BitsOp::Xor:
        return width;
    case BitsOp::Bfi:
        return index < 2 ? width : Width::B32;
    default:
        return index == 0 ? width : Width::B32;
    }
}

} // namespace

Role role_of(const Instruction& instruction, std::uint32_t lanes) {
    const bytecode::Form& form = instruction.form;
    const Role for_whole_warp = lanes == bytecode::WARP_SIZE ? Role::Plain : Role::Boundary;
    switch (form.family()) {
    case Family::None:
        return Role::Unfit;
    case Family::Fixed:
        // Lanes of a whole warp meet in compiled code, unless some are elsewhere.
        return form.is(FixedOp::Rendezvous) ? for_whole_warp : role_of_fixed(form.as<FixedOp>());
    case Family::Warp:
        return form.as<WarpForm>().op == WarpOp::Fence ? Role::Plain : for_whole_warp;
    case Family::Matrix:
        return form.as<MatrixForm>().op == MatrixOp::MultiplyWarpgroup ? Role::Boundary
                                                                       : for_whole_warp;
    case Family::Move:
        return form.as<MoveForm>().op == MoveOp::ActiveMask ? for_whole_warp : Role::Plain;
    default:
        return (instruction.flags & bytecode::ENDS_BLOCK) != 0 ? Role::Boundary : Role::Plain;
    }
}

Width source_width(const Instruction& instruction, std::size_t index) {
    const bytecode::Form& form = instruction.form;
    switch (form.family()) {
    case Family::Fixed:
        switch (form.as<FixedOp>()) {
        case FixedOp::LocalAddress:
        case FixedOp::AllocateStack:
        case FixedOp::CallIndirect:
            return index == 0 || !form.is(FixedOp::CallIndirect) ? Width::B64 : Width::B32;
        case FixedOp::BarrierReduce:
            return index == 2 ? Width::Predicate : Width::B32;
        default:
            return Width::B32;
        }
    case Family::Move:
        return source_width_of_move(form.as<MoveForm>(), index);
    case Family::Integer:
        return source_width_of_integer(form.as<IntegerForm>(), index);
    case Family::Bits:
        return source_width_of_bits(form.as<BitsForm>(), index);
    case Family::Carry: {
        const auto carry = form.as<CarryForm>();
        const std::size_t count = carry.op == CarryOp::MadLo || carry.op == CarryOp::MadHi ? 3 : 2;
        return index < count ? width_of(carry.type) : Width::Predicate;
    }
    case Family::Float:
        return width_of(form.as<FloatForm>().type);
    case Family::Compare:
        return index < 2 ? width_of(form.as<CompareForm>().type) : Width::Predicate;
    case Family::Convert:
        return index < 2 ? form.as<ConvertForm>().from_width : Width::B32;
    case Family::Memory: {
        const auto memory = form.as<MemoryForm>();
        return index == 0 ? memory.address_width : memory.register_width;
    }
    case Family::Atomic:
        return index != 0                   ? width_of(form.as<AtomicForm>().type)
               : (instruction.tag & 1) != 0 ? Width::B32
                                            : Width::B64;
    case Family::Warp: {
        const auto warp = form.as<WarpForm>();
        const bool is_vote = warp.op <= WarpOp::VoteBallot;
        return index != 0 ? Width::B32 : is_vote ? Width::Predicate : warp.width;
    }
    case Family::Copy: {
        const std::uint16_t narrow = index == 0 ? CopyForm::NARROW_TO : CopyForm::NARROW_FROM;
        if (index < 2) {
            return (instruction.tag & narrow) != 0 ? Width::B32 : Width::B64;
        }
        return form.as<CopyForm>().limit == CopyLimit::Ignored ? Width::Predicate : Width::B32;
    }
    default:
        return Width::B32;
    }
}

namespace analysis {

namespace {

std::vector<Operand> operands_of(const bytecode::Kernel& kernel, const Operand* own,
                                 std::size_t own_count, std::size_t first, std::size_t count) {
    std::vector<Operand> operands(own, own + own_count);
    for (std::size_t i = 0; i < count; ++i) {
        operands.push_back(kernel.operands[first + i]);
    }
    return operands;
}

} // namespace

std::vector<Operand> sources_of(const bytecode::Kernel& kernel, const Instruction& instruction) {
    return operands_of(kernel, instruction.src, instruction.src_count,
                       instruction.extra + instruction.extra_dst_count,
                       instruction.extra_src_count);
}

std::vector<Operand> destinations_of(const bytecode::Kernel& kernel,
                                     const Instruction& instruction) {
    return operands_of(kernel, instruction.dst, instruction.dst_count, instruction.extra,
                       instruction.extra_dst_count);
}

bool does_nothing(const Instruction& instruction) {
    const bytecode::Form& form = instruction.form;
    return form.family() == Family::Spread || form.family() == Family::Settle ||
           (form.family() == Family::Move && form.as<MoveForm>().op == MoveOp::Nothing);
}

} // namespace analysis

} // namespace cuprum::emulator::jit
