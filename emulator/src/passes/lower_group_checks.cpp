// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Checks of the registers that wgmma uses. In kernels that are checked for races, an instruction
// that checks stands before every use of a register that some wgmma names.

#include "check/group_shadow.hpp"
#include "check/handlers.hpp"
#include "passes/function_lowering.hpp"

#include <algorithm>
#include <array>

namespace cuprum::emulator::passes {

using Use = check::GroupShadow::Use;
using OperandKind = ptx::Operand::Kind;

namespace {

/// Instructions whose first operand is a source.
constexpr std::array<std::string_view, 8> WITHOUT_RESULT{"bar", "barrier", "cp",       "mbarrier",
                                                         "red", "st",      "stmatrix", "wgmma"};

void collect_group_names(const std::vector<ptx::Statement>& body,
                         std::unordered_set<std::string_view>& names) {
    for (const ptx::Statement& statement : body) {
        collect_group_names(statement.block, names);
        const ptx::Instruction& instruction = statement.instruction;
        if (instruction.opcode != "wgmma" || instruction.operands.size() < 2) {
            continue;
        }
        for (std::size_t i = 0; i < 2; ++i) {
            for (const ptx::Operand& part : instruction.operands[i].parts) {
                names.insert(part.text);
            }
        }
    }
}

using Copies = std::unordered_multimap<std::string_view, std::string_view>; // to, from

void collect_copies(const std::vector<ptx::Statement>& body, Copies& copies) {
    for (const ptx::Statement& statement : body) {
        collect_copies(statement.block, copies);
        const ptx::Instruction& instruction = statement.instruction;
        if (instruction.opcode == "mov" && instruction.operands.size() == 2 &&
            instruction.operands[1].kind == OperandKind::Name) {
            copies.emplace(instruction.operands[0].text, instruction.operands[1].text);
        }
    }
}

/// Adds the registers that are copied to registers of wgmma, directly or through others.
void add_copied_names(const std::vector<ptx::Statement>& body,
                      std::unordered_set<std::string_view>& names) {
    Copies copies;
    collect_copies(body, copies);
    std::vector<std::string_view> pending(names.begin(), names.end());
    while (!pending.empty()) {
        const auto [first, last] = copies.equal_range(pending.back());
        pending.pop_back();
        for (auto copy = first; copy != last; ++copy) {
            if (names.insert(copy->second).second) {
                pending.push_back(copy->second);
            }
        }
    }
}

bool has(const ptx::Instruction& instruction, std::string_view modifier) {
    return std::ranges::find(instruction.modifiers, modifier) != instruction.modifiers.end();
}

} // namespace

void FunctionLowering::note_products(const ptx::Instruction& instruction) {
    if ((memory().checks & CHECK_RACES) == 0) {
        return;
    }
    const ptx::Function* const function = frames_.back().function;
    auto [entry, is_new] = group_names_.try_emplace(function);
    if (is_new) {
        collect_group_names(function->body, entry->second);
        if (!entry->second.empty()) {
            add_copied_names(function->body, entry->second);
        }
        build_.kernel.uses_warpgroups |= !entry->second.empty();
    }
    const std::vector<ptx::Operand>& operands = instruction.operands;
    // A called function may have fences and waits for the products of its caller.
    if (instruction.opcode == "wgmma" && !has(instruction, "mma_async")) {
        build_.kernel.uses_warpgroups = true;
        note_order(instruction);
        return;
    }
    if (entry->second.empty()) {
        return;
    }
    if (instruction.opcode == "wgmma" && has(instruction, "mma_async")) {
        if (operands.size() >= 2) {
            note_use(operands[0], static_cast<std::uint16_t>(Use::Accumulate));
            note_use(operands[1], static_cast<std::uint16_t>(Use::Multiply));
        }
        return;
    }
    const bool has_result =
        std::ranges::find(WITHOUT_RESULT, instruction.opcode) == WITHOUT_RESULT.end();
    if (instruction.opcode == "mov" && operands.size() == 2 &&
        operands[0].kind == OperandKind::Name) {
        if (const auto to = tracked_register(operands[0].text)) {
            const auto from = operands[1].kind == OperandKind::Name
                                  ? tracked_register(operands[1].text)
                                  : std::nullopt;
            emit_use(*to, 1, static_cast<std::uint16_t>(Use::Copy),
                     from.value_or(check::NO_REGISTER));
        }
        return;
    }
    for (std::size_t i = has_result ? 1 : 0; i < operands.size(); ++i) {
        note_use(operands[i], static_cast<std::uint16_t>(Use::Read));
    }
    if (has_result && !operands.empty()) {
        note_use(operands[0], static_cast<std::uint16_t>(Use::Write));
    }
}

/// Emits what a fence, a commit or a wait means for the checks.
void FunctionLowering::note_order(const ptx::Instruction& instruction) {
    bytecode::Instruction order;
    order.form = FixedOp::CheckOrderProducts;
    order.flags = bytecode::HAS_SIDE_EFFECT;
    order.tag =
        static_cast<std::uint16_t>(has(instruction, "fence")          ? check::ProductOrder::Fence
                                   : has(instruction, "commit_group") ? check::ProductOrder::Commit
                                                                      : check::ProductOrder::Wait);
    order.immediate =
        instruction.operands.empty() ? 0 : static_cast<std::int64_t>(instruction.operands[0].bits);
    emit(order);
}

/// Returns the number of a register that wgmma may use, or nothing for other operands.
std::optional<std::uint32_t> FunctionLowering::tracked_register(std::string_view name) {
    if (!group_names_[frames_.back().function].contains(name)) {
        return std::nullopt;
    }
    const Symbol* const symbol = find(name);
    if (symbol == nullptr || symbol->kind != Symbol::Kind::Register) {
        return std::nullopt;
    }
    std::vector<std::string>& names = build_.kernel.group_registers;
    const auto [entry, is_new] =
        group_numbers_.try_emplace(symbol->value.bits, static_cast<std::uint32_t>(names.size()));
    if (is_new) {
        names.emplace_back(name);
    }
    return entry->second;
}

/// Emits checks for all tracked registers of an operand, one for each run of numbers.
void FunctionLowering::note_use(const ptx::Operand& operand, std::uint16_t use) {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    const auto add = [&](std::string_view name) {
        const auto number = tracked_register(name);
        if (!number) {
            return;
        }
        if (count != 0 && *number != first + count) {
            emit_use(first, count, use, check::NO_REGISTER);
            count = 0;
        }
        first = count == 0 ? *number : first;
        ++count;
    };
    if (operand.kind == OperandKind::Name) {
        add(operand.text);
    }
    for (const ptx::Operand& part : operand.parts) {
        if (part.kind == OperandKind::Name) {
            add(part.text);
        }
    }
    if (count != 0) {
        emit_use(first, count, use, check::NO_REGISTER);
    }
}

void FunctionLowering::emit_use(std::uint32_t first, std::uint32_t count, std::uint16_t use,
                                std::uint32_t other) {
    bytecode::Instruction look;
    look.form = FixedOp::CheckUseRegisters;
    look.flags = bytecode::HAS_SIDE_EFFECT;
    look.target = first;
    look.immediate = count;
    look.tag = use;
    look.extra = other;
    emit(look);
}

} // namespace cuprum::emulator::passes
