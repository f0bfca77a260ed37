// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "passes/call_graph.hpp"
#include "passes/compile.hpp"
#include "ptx/tree.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cuprum::emulator::passes {

/// An index of a module's functions and variables by name. The module must outlive it.
class ModuleIndex {
public:
    explicit ModuleIndex(const ptx::Module& module);

    [[nodiscard]] const ptx::Module& module() const noexcept { return module_; }

    /// Returns a function, or nullptr. Follows aliases and prefers a definition to a declaration.
    [[nodiscard]] const ptx::Function* function(std::string_view name) const;
    /// Returns a variable of module scope, or nullptr. Prefers a definition to a declaration.
    [[nodiscard]] const ptx::Variable* variable(std::string_view name) const;

    [[nodiscard]] const FunctionAddresses& addresses() const noexcept { return addresses_; }

    /// Returns the variables of constant memory, and their size.
    [[nodiscard]] const std::vector<const ptx::Variable*>& constant_variables() const noexcept {
        return constant_variables_;
    }

    [[nodiscard]] std::uint64_t constant_bytes() const noexcept { return constant_bytes_; }

    /// Returns the names of the source files, which point into the module's source.
    [[nodiscard]] const std::shared_ptr<const std::vector<std::string_view>>&
    files() const noexcept {
        return files_;
    }

    /// Returns the call graph.
    [[nodiscard]] const CallGraph& calls() const noexcept { return calls_; }

private:
    const ptx::Module& module_;
    std::unordered_map<std::string_view, const ptx::Function*> functions_;
    std::unordered_map<std::string_view, const ptx::Variable*> variables_;
    CallGraph calls_;
    FunctionAddresses addresses_;
    std::vector<const ptx::Variable*> constant_variables_;
    std::uint64_t constant_bytes_ = 0;
    std::shared_ptr<const std::vector<std::string_view>> files_;
};

} // namespace cuprum::emulator::passes
