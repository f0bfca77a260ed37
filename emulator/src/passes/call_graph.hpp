// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ptx/tree.hpp"

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cuprum::emulator::passes {

/// Who calls whom in a module, and so which functions are inlined and which are called.
class CallGraph {
public:
    using FindFunction = std::function<const ptx::Function*(std::string_view)>;

    CallGraph() = default;
    CallGraph(const ptx::Module& module, const FindFunction& find);

    /// Returns whether calls of a function are real ones: it can get to itself again, or its body
    /// would be too large with all that is inlined into it.
    [[nodiscard]] bool must_call(const ptx::Function& function) const;

    /// Returns the functions with a body whose address is taken somewhere in the module: all that
    /// an indirect call may reach.
    [[nodiscard]] const std::vector<const ptx::Function*>& address_taken() const noexcept {
        return address_taken_;
    }

private:
    struct Node {
        std::vector<const ptx::Function*> callees;
        std::uint64_t own_size = 0;
        std::uint64_t inlined_size = 0; // 0: not known yet
        std::uint32_t height = 0;       // of the calls that would be nested in it
        bool must_call = false;
    };

    void scan(const std::vector<ptx::Statement>& statements, const FindFunction& find, Node& node);
    void scan(const ptx::Initializer& initializer, const FindFunction& find);
    void take_address(const ptx::Function* function);
    [[nodiscard]] bool reaches_itself(const ptx::Function& function) const;
    void measure(const ptx::Function& function);

    std::unordered_map<const ptx::Function*, Node> nodes_;
    std::vector<const ptx::Function*> address_taken_;
};

} // namespace cuprum::emulator::passes
