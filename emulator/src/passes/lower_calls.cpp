// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Calls. A function that has a body is inlined; functions that the device itself must provide
// (vprintf, malloc...) belong into `lower_call`, before the refusal of declarations.

#include "passes/function_lowering.hpp"

#include <algorithm>

namespace cuprum::emulator::passes {

using bytecode::Operand;
using bytecode::Width;

namespace {

using OperandKind = ptx::Operand::Kind;

constexpr std::size_t MAX_CALL_DEPTH = 64;

std::string quoted(std::string_view name) {
    return "'" + std::string(name) + "'";
}

} // namespace

void FunctionLowering::lower_call(const ptx::Instruction& instruction) {
    std::span<const ptx::Operand> operands = instruction.operands;
    std::span<const ptx::Operand> returns;
    std::span<const ptx::Operand> arguments;
    if (!operands.empty() && operands[0].kind == OperandKind::List) {
        returns = operands[0].parts;
        operands = operands.subspan(1);
    }
    if (operands.empty() || operands[0].kind != OperandKind::Name) {
        invalid("call needs the name of a function");
        return;
    }
    const std::string_view name = operands[0].text;
    if (operands.size() > 1 && operands[1].kind == OperandKind::List) {
        arguments = operands[1].parts;
    }
    if (const Symbol* symbol = find(name);
        symbol != nullptr && symbol->kind == Symbol::Kind::Register) {
        unsupported("indirect call through " + quoted(name) +
                    " is not supported by the emulated device; call the function by name");
        return;
    }
    const ptx::Function* callee = build_.index.function(name);
    if (callee == nullptr) {
        invalid("function " + quoted(name) + " is not declared");
        return;
    }
    if (callee->is_declaration) {
        unsupported("call of " + quoted(name) +
                    ", which has no body in this module, is not supported by the emulated device");
        return;
    }
    const bool is_recursive = std::any_of(frames_.begin(), frames_.end(), [&](const Frame& frame) {
        return frame.function == callee;
    });
    if (is_recursive || frames_.size() > MAX_CALL_DEPTH) {
        unsupported("recursive call of " + quoted(name) +
                    " is not supported by the emulated device");
        return;
    }
    if (callee->is_entry || callee->returns.size() != returns.size() ||
        callee->parameters.size() != arguments.size()) {
        invalid("call of " + quoted(name) + " does not match its declaration");
        return;
    }
    if (guard_.is_none()) {
        inline_call(*callee, returns, arguments);
        return;
    }
    const std::uint32_t behind = new_label();
    emit_branch(behind, guard_, !is_guard_negated_);
    guard_ = {};
    inline_call(*callee, returns, arguments);
    place_label(behind);
}

void FunctionLowering::inline_call(const ptx::Function& callee,
                                   std::span<const ptx::Operand> returns,
                                   std::span<const ptx::Operand> arguments) {
    const ptx::Instruction* const call = current_;

    // What the actual operands mean is looked up before the callee's scope hides it.
    struct Binding {
        const ptx::Variable* formal;
        Symbol symbol;
        Operand copy_from;
    };

    std::vector<Binding> bindings;
    std::vector<std::pair<Symbol, Operand>> results; // .reg returns: copied after the body
    const auto bind = [&](const ptx::Variable& formal, const ptx::Operand& actual,
                          bool is_argument) {
        const Symbol* symbol = actual.kind == OperandKind::Name ? find(actual.text) : nullptr;
        Binding binding{.formal = &formal, .symbol = {}, .copy_from = {}};
        if (formal.space == ptx::Space::Param && symbol != nullptr &&
            symbol->kind == Symbol::Kind::Parameter) {
            binding.symbol = *symbol;
        } else if (formal.space == ptx::Space::Register) {
            binding.symbol = make_register(formal.type);
            const Width width = register_width(formal.type);
            if (is_argument) {
                binding.copy_from = source(actual, width, formal.type);
            } else {
                results.emplace_back(binding.symbol, destination(actual, width));
            }
        } else {
            unsupported("passing " + quoted(actual.text) + " as parameter " + quoted(formal.name) +
                        " is not supported; pass a variable in .param space");
        }
        bindings.push_back(std::move(binding));
    };
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        bind(callee.parameters[i], arguments[i], true);
    }
    for (std::size_t i = 0; i < returns.size(); ++i) {
        bind(callee.returns[i], returns[i], false);
    }

    scopes_.push(true);
    for (Binding& binding : bindings) {
        emit_copy(binding.symbol.value, binding.copy_from, register_width(binding.symbol.type));
        scopes_.declare(binding.formal->name, std::move(binding.symbol));
    }
    const std::uint32_t behind = new_label();
    frames_.push_back({.function = &callee, .return_label = behind});
    lower_statements(callee.body);
    frames_.pop_back();
    scopes_.pop();
    place_label(behind);

    current_ = call;
    has_line_ = false;
    guard_ = {};
    for (const auto& [symbol, to] : results) {
        emit_copy(to, symbol.value, register_width(symbol.type));
    }
}

} // namespace cuprum::emulator::passes
