// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "passes/module_index.hpp"

#include "passes/compile.hpp"

namespace cuprum::emulator::passes {

ModuleIndex::ModuleIndex(const ptx::Module& module)
    : module_(module), addresses_(module),
      files_(std::make_shared<const std::vector<std::string_view>>(module.files)) {
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
        if (variable.space == ptx::Space::Constant) {
            constant_variables_.push_back(&variable);
            constant_bytes_ += variable.size_bytes();
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

FunctionAddresses::FunctionAddresses(const ptx::Module& module) {
    std::uint64_t address = 0;
    for (const ptx::Function& function : module.functions) {
        address += bytecode::FUNCTION_ADDRESS_UNIT;
        addresses_.try_emplace(function.name, address); // that of its first declaration
    }
    std::unordered_map<std::string_view, std::uint64_t> aliases; // of functions only
    for (const ptx::Alias& alias : module.aliases) {
        aliases.try_emplace(alias.name, of(alias.target));
    }
    for (const auto& [name, target] : aliases) {
        addresses_.insert_or_assign(name, target);
    }
}

std::uint64_t FunctionAddresses::of(std::string_view name) const {
    const auto found = addresses_.find(name);
    return found == addresses_.end() ? 0 : found->second;
}

} // namespace cuprum::emulator::passes
