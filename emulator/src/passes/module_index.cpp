// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "passes/module_index.hpp"

#include "passes/compile.hpp"

#include <algorithm>

namespace cuprum::emulator::passes {

ModuleIndex::ModuleIndex(const ptx::Module& module) : module_(module) {
    for (const ptx::Function& function : module.functions) {
        const ptx::Function*& entry = functions_[function.name];
        if (entry == nullptr || entry->is_declaration) {
            entry = &function;
        }
    }
    for (const ptx::Alias& alias : module.aliases) {
        if (const ptx::Function* target = this->function(alias.target)) {
            functions_[alias.name] = target;
        }
    }
    for (const ptx::Variable& variable : module.variables) {
        const ptx::Variable*& entry = variables_[variable.name];
        if (entry == nullptr || entry->linkage == ptx::Linkage::Extern) {
            entry = &variable;
        }
    }
    calls_ = CallGraph(module, [this](std::string_view name) { return this->function(name); });
}

const ptx::Function* ModuleIndex::function(std::string_view name) const {
    const auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : found->second;
}

const ptx::Variable* ModuleIndex::variable(std::string_view name) const {
    const auto found = variables_.find(name);
    return found == variables_.end() ? nullptr : found->second;
}

std::uint64_t function_address(const ptx::Module& module, std::string_view name) {
    for (const ptx::Alias& alias : module.aliases) {
        if (alias.name == name) {
            name = alias.target;
            break;
        }
    }
    // A function has the number of its first declaration.
    const auto found =
        std::find_if(module.functions.begin(), module.functions.end(),
                     [&](const ptx::Function& function) { return function.name == name; });
    return found == module.functions.end()
               ? 0
               : static_cast<std::uint64_t>(found - module.functions.begin() + 1) *
                     bytecode::FUNCTION_ADDRESS_UNIT;
}

} // namespace cuprum::emulator::passes
