// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "passes/module_index.hpp"
#include "ptx/tree.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cuprum::emulator::passes {

/// How a .param variable is used, and which registers it can be split into.
struct ParameterUse {
    bool is_memory = false; // its address is taken, or its use is not understood
    std::vector<std::pair<std::int64_t, std::uint32_t>> accesses; // offset, size

    /// Makes the accesses unique and sorts them. Returns whether no two of them partly overlap.
    [[nodiscard]] bool is_disjoint();
};

/// Finds the uses of .param variables. Looks at each function once.
class ParameterUses {
public:
    using ByName = std::unordered_map<std::string_view, ParameterUse>;

    /// The index must outlive this object.
    explicit ParameterUses(const ModuleIndex& index) : index_(index) {}

    /// Returns the uses of all .param variables that a list of statements declares, by what follows
    /// their declarations in the list.
    [[nodiscard]] ByName of_variables(std::span<const ptx::Statement> statements);

private:
    [[nodiscard]] const ByName& of_parameters(const ptx::Function& function);
    void collect(const ptx::Statement& statement, ByName& uses);
    void collect(const ptx::Instruction& instruction, ByName& uses);
    void collect_call(const ptx::Instruction& call, ByName& uses);

    const ModuleIndex& index_;
    std::unordered_map<const ptx::Function*, ByName> parameters_;
    std::vector<std::pair<std::string_view, ParameterUse*>> mentioned_; // by one instruction
};

} // namespace cuprum::emulator::passes
