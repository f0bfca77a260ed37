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

/// The calls between the functions of a module. They decide which functions are inlined.
class CallGraph {
public:
    using FindFunction = std::function<const ptx::Function*(std::string_view)>;

    CallGraph() = default;
    CallGraph(const ptx::Module& module, const FindFunction& find);

    /// Returns whether calls of a function are not inlined: it is recursive, or its body would grow
    /// too large with everything that is inlined into it.
    [[nodiscard]] bool must_call(const ptx::Function& function) const;

    /// Returns all functions with a body whose address is taken in the module. Only these can be
    /// the target of an indirect call.
    [[nodiscard]] const std::vector<const ptx::Function*>& address_taken() const noexcept {
        return address_taken_;
    }

private:
    struct Node {
        std::vector<const ptx::Function*> callees;
        std::uint64_t own_size = 0;
        std::uint64_t inlined_size = 0; // 0: not known yet
        std::uint32_t height = 0;       // depth of the calls nested in it
        bool must_call = false;
        bool is_address_taken = false;
    };

    void scan(const std::vector<ptx::Statement>& statements, const FindFunction& find, Node& node);
    void scan(const ptx::Initializer& initializer, const FindFunction& find);
    void take_address(const ptx::Function* function);
    void find_recursive_functions(const ptx::Module& module);
    void measure(const ptx::Function& function);

    std::unordered_map<const ptx::Function*, Node> nodes_;
    std::vector<const ptx::Function*> address_taken_;
};

} // namespace cuprum::emulator::passes
