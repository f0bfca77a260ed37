// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "passes/call_graph.hpp"

#include "passes/adjacency.hpp"

#include <algorithm>
#include <utility>

namespace cuprum::emulator::passes {

namespace {

/// Functions with more statements are not inlined. Inlining is faster, but repeats the body at
/// every call.
constexpr std::uint64_t MAX_INLINED_SIZE = 20'000;
constexpr std::uint32_t MAX_INLINED_HEIGHT = 32;

using OperandKind = ptx::Operand::Kind;

} // namespace

CallGraph::CallGraph(const ptx::Module& module, const FindFunction& find) {
    for (const ptx::Function& function : module.functions) {
        if (!function.is_declaration) {
            scan(function.body, find, nodes_[&function]);
        }
    }
    for (const ptx::Variable& variable : module.variables) {
        if (variable.initializer) {
            scan(*variable.initializer, find);
        }
    }
    find_recursive_functions(module);
    for (const ptx::Function& function : module.functions) {
        if (!function.is_declaration) {
            measure(function);
        }
    }
}

bool CallGraph::must_call(const ptx::Function& function) const {
    const auto node = nodes_.find(&function);
    return node != nodes_.end() && node->second.must_call;
}

void CallGraph::scan(const std::vector<ptx::Statement>& statements, const FindFunction& find,
                     Node& node) {
    for (const ptx::Statement& statement : statements) {
        ++node.own_size;
        if (statement.kind == ptx::Statement::Kind::Block) {
            scan(statement.block, find, node);
        }
        if (statement.kind != ptx::Statement::Kind::Instruction) {
            continue;
        }
        bool is_callee = statement.instruction.opcode == "call";
        for (const ptx::Operand& operand : statement.instruction.operands) {
            if (operand.kind != OperandKind::Name && operand.kind != OperandKind::WithOffset) {
                continue;
            }
            const ptx::Function* function = find(operand.text);
            if (function != nullptr && !function->is_declaration) {
                if (is_callee) {
                    node.callees.push_back(function);
                } else {
                    take_address(function);
                }
            }
            is_callee = false;
        }
    }
}

void CallGraph::scan(const ptx::Initializer& initializer, const FindFunction& find) {
    if (initializer.kind == ptx::Initializer::Kind::Symbol) {
        take_address(find(initializer.symbol));
    }
    for (const ptx::Initializer& item : initializer.items) {
        scan(item, find);
    }
}

void CallGraph::take_address(const ptx::Function* function) {
    if (function != nullptr && !function->is_declaration && !function->is_entry &&
        !std::exchange(nodes_[function].is_address_taken, true)) {
        address_taken_.push_back(function);
    }
}

/// Marks the functions that call themselves, directly or through others.
void CallGraph::find_recursive_functions(const ptx::Module& module) {
    const ptx::Function* const first = module.functions.data();
    std::vector<Adjacency::Edge> calls; // of functions by their number
    for (const auto& [function, node] : nodes_) {
        for (const ptx::Function* const callee : node.callees) {
            calls.emplace_back(static_cast<std::uint32_t>(function - first),
                               static_cast<std::uint32_t>(callee - first));
        }
    }
    const auto components = components_of({module.functions.size(), calls});
    for (const auto& [caller, callee] : calls) {
        if (components[caller] == components[callee]) {
            nodes_.at(first + caller).must_call = true;
        }
    }
}

/// Computes how large a function becomes if all its calls are inlined, callees first.
void CallGraph::measure(const ptx::Function& function) {
    // Recursive functions are never inlined, so the rest of the graph has no cycles. An explicit
    // stack handles call chains of any length.
    std::vector<const ptx::Function*> pending{&function};
    while (!pending.empty()) {
        const ptx::Function* const at = pending.back();
        Node& node = nodes_.at(at);
        if (node.inlined_size != 0) {
            pending.pop_back(); // it was waiting more than once
            continue;
        }
        const std::size_t before = pending.size();
        std::uint64_t size = node.own_size + 1;
        std::uint32_t height = 0;
        for (const ptx::Function* callee : node.callees) {
            const Node& other = nodes_.at(callee);
            if (other.must_call) {
                continue;
            }
            if (other.inlined_size == 0) {
                pending.push_back(callee);
            }
            size += other.inlined_size;
            height = std::max(height, other.height + 1);
        }
        if (pending.size() != before) {
            continue;
        }
        pending.pop_back();
        node.inlined_size = size;
        node.height = height;
        node.must_call =
            node.must_call ||
            (!at->is_entry && (size > MAX_INLINED_SIZE || height > MAX_INLINED_HEIGHT));
    }
}

} // namespace cuprum::emulator::passes
