// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Elements of arrays: `ld.global.u32 %r1, table[%r2+1];` and `mov.u64 %rd1, table[2];`.
//
// An instruction that names an element is lowered as one that has its address. So later stages
// never see indexes that are registers.

#include "passes/function_lowering.hpp"
#include "ptx/type_sizes.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace cuprum::emulator::passes {

using bytecode::Operand;
using bytecode::Width;
using ptx::Space;
using ptx::Type;

namespace {

using OperandKind = ptx::Operand::Kind;

// Names that no program can declare.
constexpr std::string_view OFFSET = "offset of an element";
constexpr std::string_view BASE = "address of an array";
constexpr std::string_view ADDRESS = "address of an element";

ptx::Operand named(std::string_view name) {
    ptx::Operand operand;
    operand.text = name;
    return operand;
}

ptx::Operand number(std::uint64_t bits) {
    ptx::Operand operand;
    operand.kind = OperandKind::Integer;
    operand.bits = bits;
    return operand;
}

/// Returns which operand of an instruction may be an element in memory; none otherwise.
std::optional<std::size_t> accessed_operand(const ptx::Instruction& instruction) {
    if (instruction.opcode == "st") {
        return 0;
    }
    const bool is_load = instruction.opcode == "ld" || instruction.opcode == "ldu";
    return is_load ? std::optional<std::size_t>(1) : std::nullopt;
}

/// Returns whether an access names no state space, so that its address is generic.
bool is_generic(const ptx::Instruction& access) {
    constexpr std::array SPACES{"global", "shared", "local", "const", "param"};
    return std::ranges::none_of(access.modifiers, [&](std::string_view modifier) {
        return std::ranges::find(SPACES, modifier.substr(0, modifier.find(':'))) != SPACES.end();
    });
}

bool is_integer(Type type) {
    switch (type) {
    case Type::B16:
    case Type::U16:
    case Type::S16:
    case Type::B32:
    case Type::U32:
    case Type::S32:
    case Type::B64:
    case Type::U64:
    case Type::S64:
        return true;
    default:
        return false;
    }
}

bool is_element(const ptx::Operand& operand) {
    return operand.kind == OperandKind::Element;
}

} // namespace

/// Returns the instruction with the addresses of elements: the original, or a copy valid until the
/// next call; nullptr if it is invalid. Sets `has_scope` if it has opened a scope for the names of
/// what was computed.
const ptx::Instruction* FunctionLowering::without_elements(const ptx::Instruction& instruction,
                                                           bool& has_scope) {
    const auto found = std::ranges::find_if(instruction.operands, is_element);
    if (found == instruction.operands.end()) {
        return &instruction;
    }
    const auto position = static_cast<std::size_t>(found - instruction.operands.begin());
    const bool is_access = accessed_operand(instruction) == position;
    const bool is_value =
        position == 1 && (instruction.opcode == "mov" || instruction.opcode == "cvta");
    if (!is_access && !is_value) {
        invalid("operand " + std::to_string(position + 1) + " of '" +
                std::string(instruction.opcode) + "' cannot be an element of an array");
        return nullptr;
    }
    const Symbol* const symbol = find(found->text);
    const ptx::Variable* const variable =
        symbol == nullptr ? build_.index.variable(found->text) : nullptr;
    if (variable != nullptr ? variable->dimensions.empty()
                            : symbol == nullptr || !symbol->is_array) {
        invalid("'" + std::string(found->text) + "' is not an array");
        return nullptr;
    }
    const std::uint64_t bytes = ptx::size_of(variable != nullptr ? variable->type : symbol->type);
    ptx::Instruction changed = instruction;
    ptx::Operand& operand = changed.operands[position];
    if (operand.parts.empty()) {
        operand.kind = is_access ? OperandKind::Address : OperandKind::WithOffset;
        operand.offset = static_cast<std::int64_t>(operand.bits * bytes);
    } else {
        has_scope = true;
        scopes_.push(false);
        const Width width = is_value ? width_of(instruction.operands[0]) : Width::B64;
        compute_element(*found, bytes, width, is_access && is_generic(instruction));
        operand = named(ADDRESS);
        operand.kind = is_access ? OperandKind::Address : OperandKind::Name;
    }
    with_addresses_ = std::move(changed);
    return &with_addresses_;
}

/// Emits what computes the address of an element: its offset has 32 bits.
void FunctionLowering::compute_element(const ptx::Operand& element, std::uint64_t bytes,
                                       Width width, bool is_generic) {
    const auto declare = [&](std::string_view name, Operand value, Width of) {
        Symbol symbol;
        symbol.type = of == Width::B32 ? Type::U32 : Type::U64;
        symbol.value = value;
        scopes_.declare(name, symbol);
    };
    const auto compute = [&](std::string_view opcode, std::vector<std::string_view> modifiers,
                             std::vector<ptx::Operand> operands) {
        ptx::Instruction step;
        step.opcode = opcode;
        step.modifiers = std::move(modifiers);
        step.operands = std::move(operands);
        step.location = current_->location;
        step.source_line = current_->source_line;
        step.source_file = current_->source_file;
        decode(step, *this);
    };
    const ptx::Operand& index = element.parts[0];
    const Type type = type_of(index);
    if (!is_integer(type)) {
        invalid("'" + std::string(index.text) + "' is not a register that can be an index");
        return;
    }
    declare(BASE, symbol_address(element.text, 0, width, is_generic), width);
    declare(OFFSET, temporary(Width::B32), Width::B32);
    declare(ADDRESS, temporary(width), width);
    if (ptx::size_of(type) == 4) {
        compute("mov", {"b32"}, {named(OFFSET), index});
    } else {
        const std::string_view from = ptx::size_of(type) == 8 ? "u64"
                                      : ptx::is_signed(type)  ? "s16"
                                                              : "u16";
        compute("cvt", {from == "s16" ? "s32" : "u32", from}, {named(OFFSET), index});
    }
    compute("mad", {"lo", "u32"},
            {named(OFFSET), named(OFFSET), number(bytes),
             number(static_cast<std::uint32_t>(element.bits * bytes))});
    if (width == Width::B32) {
        compute("add", {"u32"}, {named(ADDRESS), named(OFFSET), named(BASE)});
    } else {
        compute("mad", {"wide", "u32"}, {named(ADDRESS), named(OFFSET), number(1), named(BASE)});
    }
}

} // namespace cuprum::emulator::passes
