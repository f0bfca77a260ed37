// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/bind_graph_node.hpp"
#include "graph/graph_choices.hpp"
#include "support/class.hpp"

#include <cuprum/detail/access.hpp>

namespace cuprum::python {

namespace {

[[nodiscard]] nb::object branch(const PyConditionalNode& self, std::size_t index) {
    auto branches = in_graph([&] { return self.as<ConditionalNode>().branches(); });
    return definition_object(std::move(branches.at(index)));
}

void bind_child_graph_node(nb::module_& module) {
    using Node = PyNodeOf<ChildGraphNode>;
    auto type = node_class<Node>(module, "ChildGraphNode");
    type.property("child_graph", [](const Node& self) {
        return definition_object(in_graph([&] { return self.as<ChildGraphNode>().child_graph(); }));
    });
    type.method("update", [](const Node& self, nb::handle child) {
        const PyGraphDefinition& source = child_argument(child);
        in_graph_unlocked([&] { self.as<ChildGraphNode>().update(source); });
    });
    type.method("__repr__", [](const Node& self) {
        return represent("ChildGraphNode", self, [&] {
            const GraphDefinition child = self.as<ChildGraphNode>().child_graph();
            return " child=" +
                   hex_text(reinterpret_cast<std::uintptr_t>(detail::unexposed_handle(child)));
        });
    });
}

void bind_conditional_node(nb::module_& module) {
    auto type = node_class<PyConditionalNode>(module, "ConditionalNode");
    type.property("condition", [](const PyConditionalNode& self) -> nb::object {
        const auto condition = in_graph([&] { return self.as<ConditionalNode>().condition(); });
        return condition ? make<GraphCondition>(*condition) : nb::none();
    });
    type.property("cond_type", [](const PyConditionalNode& self) -> nb::object {
        const auto kind = in_graph([&] { return self.as<ConditionalNode>().cond_type(); });
        return kind ? GRAPH_CONDITIONAL_TYPES.member(*kind) : nb::none();
    });
    type.property("branches", [](const PyConditionalNode& self) {
        nb::list bodies;
        for (GraphDefinition& each :
             in_graph([&] { return self.as<ConditionalNode>().branches(); })) {
            bodies.append(definition_object(std::move(each)));
        }
        return nb::tuple(bodies);
    });
    type.method("__repr__", [](const PyConditionalNode& self) {
        return represent("ConditionalNode", self, [] { return std::string(); });
    });
}

/// Binds a class of conditional nodes.
template <typename Kind>
[[nodiscard]] Class<PyConditionalOf<Kind>, PyConditionalNode> conditional_class(nb::module_& module,
                                                                                const char* name) {
    auto type = node_class<PyConditionalOf<Kind>, PyConditionalNode>(module, name);
    type.method("__repr__", [](nb::handle object) {
        const PyConditionalNode& self = held_by<PyConditionalOf<Kind>>(object);
        return represent(type_label(object).c_str(), self, [&] {
            const auto condition = self.as<ConditionalNode>().condition();
            return condition ? " condition=" + hex_text(condition->handle()) : std::string();
        });
    });
    return type;
}

} // namespace

void bind_nodes_with_graphs(nb::module_& module) {
    bind_child_graph_node(module);
    bind_conditional_node(module);
    conditional_class<IfNode>(module, "IfNode").property("then", [](const PyConditionalNode& self) {
        return branch(self, 0);
    });
    conditional_class<IfElseNode>(module, "IfElseNode")
        .property("then", [](const PyConditionalNode& self) { return branch(self, 0); })
        .property("else_", [](const PyConditionalNode& self) { return branch(self, 1); });
    conditional_class<WhileNode>(module, "WhileNode")
        .property("body", [](const PyConditionalNode& self) { return branch(self, 0); });
    static_cast<void>(conditional_class<SwitchNode>(module, "SwitchNode"));
}

} // namespace cuprum::python
