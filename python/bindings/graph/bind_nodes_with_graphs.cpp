// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/bind_graph_node.hpp"
#include "graph/graph_choices.hpp"
#include "support/arguments.hpp"

#include <cuprum/detail/access.hpp>

#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <string>

namespace cuprum::python {

using namespace nb::literals;

namespace {

void bind_child_graph_node(nb::module_& module);
void bind_conditional_node(nb::module_& module);
/// Binds a class of conditional nodes.
template <typename Kind>
[[nodiscard]] nb::class_<PyConditionalOf<Kind>, PyConditionalNode>
conditional_class(nb::module_& module, const char* name, const char* documentation);

[[nodiscard]] nb::object branch(const PyConditionalNode& self, std::size_t index) {
    auto branches = in_graph([&] { return self.as<ConditionalNode>().branches(); });
    return definition_object(std::move(branches.at(index)));
}

} // namespace

void bind_nodes_with_graphs(nb::module_& module) {
    bind_child_graph_node(module);
    bind_conditional_node(module);
    conditional_class<IfNode>(module, "IfNode",
                              R"(A conditional node that runs its body if a condition is not 0.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> node = definition.if_then(definition.create_condition(default_value=1))
>>> fill = node.then.memset(buffer, 1, 64))")
        .def_prop_ro(
            "then", [](const PyConditionalNode& self) { return branch(self, 0); },
            nb::sig("def then(self) -> GraphDefinition"), "Return the body.");
    conditional_class<IfElseNode>(module, "IfElseNode",
                                  R"(A conditional node that runs one of two bodies.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> node = definition.if_else(definition.create_condition(default_value=0))
>>> fill = node.then.memset(buffer, 1, 64)
>>> fill = node.else_.memset(buffer, 2, 64))")
        .def_prop_ro(
            "then", [](const PyConditionalNode& self) { return branch(self, 0); },
            nb::sig("def then(self) -> GraphDefinition"),
            "Return the body that runs if the condition is not 0.")
        .def_prop_ro(
            "else_", [](const PyConditionalNode& self) { return branch(self, 1); },
            nb::sig("def else_(self) -> GraphDefinition"),
            "Return the body that runs if the condition is 0.");
    conditional_class<WhileNode>(
        module, "WhileNode",
        R"(A conditional node that repeats its body as long as a condition is not 0.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> node = definition.while_loop(definition.create_condition(default_value=0))
>>> fill = node.body.memset(buffer, 1, 64))")
        .def_prop_ro(
            "body", [](const PyConditionalNode& self) { return branch(self, 0); },
            nb::sig("def body(self) -> GraphDefinition"), "Return the body.");
    static_cast<void>(conditional_class<SwitchNode>(
        module, "SwitchNode", R"(A conditional node that runs the body whose index a condition is.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> node = definition.switch(definition.create_condition(default_value=1), 3)
>>> fill = node.branches[1].memset(buffer, 1, 64))"));
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_child_graph_node(nb::module_& module) {
    using Node = PyNodeOf<ChildGraphNode>;
    auto type = node_class<Node>(module, "ChildGraphNode", R"(A node that runs another graph.

Examples
--------
>>> child = cuprum.graph.GraphDefinition()
>>> node = child.memset(buffer, 0, 64)
>>> parent = cuprum.graph.GraphDefinition()
>>> len(parent.embed(child).child_graph.nodes())
1)");
    type.def_prop_ro(
        "child_graph",
        [](const Node& self) {
            return definition_object(
                in_graph([&] { return self.as<ChildGraphNode>().child_graph(); }));
        },
        nb::sig("def child_graph(self) -> GraphDefinition"),
        "Return the graph inside, which belongs to this node and can be edited.");
    type.def(
        "update",
        [](const Node& self, nb::handle child) {
            const PyGraphDefinition& source = child_argument(child);
            in_graph_unlocked([&] { self.as<ChildGraphNode>().update(source); });
        },
        "child"_a.none(), nb::sig("def update(self, child: GraphDefinition) -> None"),
        R"(Replace the graph inside by a copy of another one.

Parameters
----------
child : GraphDefinition
    A graph that is no part of this node's own.

Raises
------
TypeError
    If `child` is not a GraphDefinition.
GraphError
    If `child` is part of the same graph.
GraphClosedError
    If the node was destroyed, or `child` is closed.)");
    type.def("__repr__", [](const Node& self) {
        return represent("ChildGraphNode", self, [&] {
            const GraphDefinition child = self.as<ChildGraphNode>().child_graph();
            return " child=" +
                   hex_text(reinterpret_cast<std::uintptr_t>(detail::unexposed_handle(child)));
        });
    });
}

void bind_conditional_node(nb::module_& module) {
    auto type = node_class<PyConditionalNode>(module, "ConditionalNode",
                                              R"(A node that runs one of its bodies, or none.

Drivers before CUDA 13.2 say nothing about conditional nodes that were not made by this package. Such
nodes have no condition, no type and no branches.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> condition = definition.create_condition(default_value=1)
>>> node = definition.if_then(condition)
>>> isinstance(node, cuprum.graph.ConditionalNode), len(node.branches)
(True, 1))");
    type.def_prop_ro(
        "condition",
        [](const PyConditionalNode& self) -> nb::object {
            const auto condition = in_graph([&] { return self.as<ConditionalNode>().condition(); });
            return condition ? make<GraphCondition>(*condition) : nb::none();
        },
        nb::sig("def condition(self) -> GraphCondition | None"),
        "Return the condition that it tests.");
    type.def_prop_ro(
        "cond_type",
        [](const PyConditionalNode& self) -> nb::object {
            const auto kind = in_graph([&] { return self.as<ConditionalNode>().cond_type(); });
            return kind ? GRAPH_CONDITIONAL_TYPES.member(*kind) : nb::none();
        },
        nb::sig("def cond_type(self) -> cuprum.typing.GraphConditionalType | None"),
        "Return how it chooses.");
    type.def_prop_ro(
        "branches",
        [](const PyConditionalNode& self) {
            nb::list bodies;
            for (GraphDefinition& each :
                 in_graph([&] { return self.as<ConditionalNode>().branches(); })) {
                bodies.append(definition_object(std::move(each)));
            }
            return nb::tuple(bodies);
        },
        nb::sig("def branches(self) -> tuple[GraphDefinition, ...]"),
        "Return the bodies, which belong to this node and can be edited.");
    type.def("__repr__", [](const PyConditionalNode& self) {
        return represent("ConditionalNode", self, [] { return std::string(); });
    });
}

template <typename Kind>
nb::class_<PyConditionalOf<Kind>, PyConditionalNode>
conditional_class(nb::module_& module, const char* name, const char* documentation) {
    auto type = node_class<PyConditionalOf<Kind>, PyConditionalNode>(module, name, documentation);
    type.def("__repr__", [name](const PyConditionalNode& self) {
        return represent(name, self, [&] {
            const auto condition = self.as<ConditionalNode>().condition();
            return condition ? " condition=" + hex_text(condition->handle()) : std::string();
        });
    });
    return type;
}

} // namespace

} // namespace cuprum::python
