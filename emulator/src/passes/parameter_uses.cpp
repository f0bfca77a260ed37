// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "passes/parameter_uses.hpp"

#include "builtins/builtins.hpp"
#include "passes/function_lowering.hpp"

#include <algorithm>

namespace cuprum::emulator::passes {

namespace {

using OperandKind = ptx::Operand::Kind;

/// Accesses further inside than any parameter is large use memory, which reports them as faults.
constexpr std::int64_t MAX_OFFSET = std::int64_t{1} << 31;

/// Adds the variables that an operand names.
void add_mentioned(const ptx::Operand& operand, ParameterUses::ByName& uses,
                   std::vector<std::pair<std::string_view, ParameterUse*>>& mentioned) {
    if (const auto found = uses.find(operand.text); found != uses.end()) {
        mentioned.emplace_back(operand.text, &found->second);
    }
    for (const ptx::Operand& part : operand.parts) {
        add_mentioned(part, uses, mentioned);
    }
}

} // namespace

bool ParameterUse::is_disjoint() {
    std::sort(accesses.begin(), accesses.end());
    accesses.erase(std::unique(accesses.begin(), accesses.end()), accesses.end());
    for (std::size_t i = 1; i < accesses.size(); ++i) {
        if (accesses[i - 1].first + accesses[i - 1].second > accesses[i].first) {
            return false;
        }
    }
    return true;
}

ParameterUses::ByName ParameterUses::of_variables(std::span<const ptx::Statement> statements) {
    ByName uses;
    for (const ptx::Statement& statement : statements) {
        if (statement.kind == ptx::Statement::Kind::Variable) {
            if (statement.variable->space == ptx::Space::Param) {
                uses.try_emplace(statement.variable->name);
            }
        } else if (!uses.empty()) {
            collect(statement, uses);
        }
    }
    return uses;
}

/// Returns the uses of a function's parameters and results in its body.
const ParameterUses::ByName& ParameterUses::of_parameters(const ptx::Function& function) {
    if (const auto known = parameters_.find(&function); known != parameters_.end()) {
        return known->second;
    }
    ByName uses;
    for (const auto* const list : {&function.returns, &function.parameters}) {
        for (const ptx::Variable& variable : *list) {
            uses.try_emplace(variable.name);
        }
    }
    for (const ptx::Statement& statement : function.body) {
        collect(statement, uses);
    }
    for (auto& [name, use] : uses) {
        (void)use.is_disjoint(); // shortens the list
    }
    return parameters_.emplace(&function, std::move(uses)).first->second;
}

void ParameterUses::collect(const ptx::Statement& statement, ByName& uses) {
    if (statement.kind == ptx::Statement::Kind::Instruction) {
        collect(statement.instruction, uses);
    }
    for (const ptx::Statement& inner : statement.block) {
        collect(inner, uses);
    }
}

void ParameterUses::collect(const ptx::Instruction& instruction, ByName& uses) {
    const auto& operands = instruction.operands;
    mentioned_.clear();
    for (const ptx::Operand& operand : operands) {
        add_mentioned(operand, uses, mentioned_);
    }
    if (mentioned_.empty()) {
        return;
    }
    if (instruction.opcode == "call") {
        collect_call(instruction, uses);
        return;
    }
    const bool is_load = instruction.opcode == "ld";
    const bool is_access = (is_load || instruction.opcode == "st") && operands.size() >= 2;
    const AccessShape shape = is_access ? access_shape(instruction) : AccessShape{};
    const auto size = static_cast<std::uint32_t>(ptx::size_of(shape.type));
    for (const auto& [name, use] : mentioned_) {
        // Narrower values need extension and wider ones must be split, so use memory for them.
        const ptx::Operand* const address = is_access ? &operands[is_load ? 1 : 0] : nullptr;
        if (address == nullptr || address->kind != OperandKind::Address || address->text != name ||
            (size != 4 && size != 8) || address->offset < 0 || address->offset > MAX_OFFSET) {
            use->is_memory = true;
            continue;
        }
        for (std::uint32_t i = 0; i < shape.count; ++i) {
            use->accesses.emplace_back(address->offset + std::int64_t{i} * size, size);
        }
    }
}

/// The formal parameter shares its storage with the actual one, so the callee's uses count too.
void ParameterUses::collect_call(const ptx::Instruction& call, ByName& uses) {
    const auto& operands = call.operands;
    const bool returns_first = operands[0].kind == OperandKind::List;
    const std::size_t callee_at = returns_first ? 1 : 0;
    const ptx::Function* callee =
        operands.size() > callee_at ? index_.function(operands[callee_at].text) : nullptr;
    const bool is_builtin =
        callee != nullptr && callee->is_declaration && builtins::find(callee->name) != nullptr;
    if (callee == nullptr || (callee->is_declaration && !is_builtin) ||
        index_.calls().must_call(*callee)) {
        for (const auto& [name, use] : mentioned_) {
            use->is_memory = true;
        }
        return;
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const auto& formals = i < callee_at ? callee->returns : callee->parameters;
        const auto& actuals = operands[i].parts;
        for (std::size_t k = 0; k < std::min(actuals.size(), formals.size()); ++k) {
            const auto found = uses.find(actuals[k].text);
            if (found == uses.end()) {
                continue;
            }
            ParameterUse& use = found->second;
            if (is_builtin) {
                const std::size_t size = formals[k].size_bytes();
                use.is_memory = use.is_memory || (size != 4 && size != 8);
                use.accesses.emplace_back(0, static_cast<std::uint32_t>(size));
            } else {
                // Functions that call each other in a circle are not inlined, so this ends.
                const ParameterUse& inside = of_parameters(*callee).at(formals[k].name);
                use.is_memory = use.is_memory || inside.is_memory;
                use.accesses.insert(use.accesses.end(), inside.accesses.begin(),
                                    inside.accesses.end());
            }
        }
    }
}

} // namespace cuprum::emulator::passes
