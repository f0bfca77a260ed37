// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What all nodes of graphs have.

#include "graph/bind_graph_node.hpp"

#include "bindings.hpp"
#include "graph/bind_graph_appending.hpp"
#include "graph/graph_choices.hpp"
#include "graph/graph_objects.hpp"
#include "support/arguments.hpp"

#include <nanobind/stl/string.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] nb::object neighbours(const PyGraphNode& self, bool is_forward);
void change_edges(const PyGraphNode& self, nb::handle others, bool is_forward, bool is_added);
[[nodiscard]] nb::object adjacency(nb::handle self, bool is_forward);
void bind_edges(nb::class_<PyGraphNode>& type);
void destroy(nb::handle self);

} // namespace

void bind_graph_node(nb::module_& module) {
    nb::class_<GraphCondition> condition(module, "GraphCondition", nb::is_weak_referenceable(),
                                         R"(A number that a conditional node of a graph tests.

``create_condition`` of a GraphDefinition or GraphBuilder makes it. Kernels that take it as an
argument, a ``cudaGraphConditionalHandle``, set it with ``cudaGraphSetConditional``.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> condition = definition.create_condition(default_value=1)
>>> body = definition.if_then(condition).then
>>> node = body.memset(buffer, 0, 64))");
    note_type<GraphCondition>(condition);
    condition.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError, "conditions cannot be instantiated directly. Use "
                                            "create_condition() of a graph");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    condition.def_prop_ro("handle", &GraphCondition::handle,
                          "Return the driver's ``CUgraphConditionalHandle`` as an int.");
    condition.def(
        "__eq__",
        [](const GraphCondition& self, const GraphCondition& other) { return self == other; },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    condition.def("__hash__",
                  [](const GraphCondition& self) { return nb::hash(nb::int_(self.handle())); });
    condition.def("__repr__", [](const GraphCondition& self) {
        return "<GraphCondition handle=" + hex_text(self.handle()) + ">";
    });

    nb::class_<PyGraphNode> type(module, "GraphNode", nb::is_weak_referenceable(),
                                 R"(One piece of work in a graph.

The methods of a GraphDefinition add nodes that depend on nothing, and the same methods of a node add
nodes that depend on it. There is one object for each node while somebody refers to it.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> first = definition.memset(buffer, 0, 128)
>>> second = first.launch(cuprum.LaunchConfig(grid=1, block=32), kernel, buffer)
>>> second.pred == {first}
True)");
    note_type<PyGraphNode>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError, "nodes cannot be instantiated directly. Use the "
                                            "methods of a GraphDefinition or of another node");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    type.def_prop_ro(
        "type",
        [](const PyGraphNode& self) -> nb::object {
            const auto kind = self.is_valid() ? self.type() : std::nullopt;
            return kind ? GRAPH_NODE_TYPES.member(*kind) : nb::none();
        },
        nb::sig("def type(self) -> cuprum.typing.GraphNodeType | None"),
        "Return the kind of work; None once the node is destroyed.");
    type.def_prop_ro(
        "graph", [](const PyGraphNode& self) { return definition_object(self.graph()); },
        nb::sig("def graph(self) -> GraphDefinition"), "Return the graph that it belongs to.");
    type.def_prop_ro(
        "handle",
        [](const PyGraphNode& self) -> nb::object {
            const auto handle =
                reinterpret_cast<std::uintptr_t>(in_graph_unlocked([&] { return self.handle(); }));
            return handle == 0 ? nb::none() : nb::object(nb::int_(handle));
        },
        nb::sig("def handle(self) -> int | None"),
        R"(Return the driver's ``CUgraphNode`` as an int; None once the node is destroyed.

Like the handle of its graph, it makes launches of executable graphs that are made later slower.)");
    type.def_prop_ro("is_valid", &PyGraphNode::is_valid,
                     "Return whether the node has not been destroyed.");
    type.def("destroy", destroy,
             R"(Remove the node and its edges from the graph.

Executable graphs made before are not affected. Calling it again does nothing.

Raises
------
CUDAError
    If the driver refuses, as in a graph with memory nodes. The node stays then.)");
    bind_edges(type);
    add_appending(type);
    type.def(
        "__eq__",
        [](const PyGraphNode& self, const PyGraphNode& other) {
            return static_cast<const GraphNode&>(self) == static_cast<const GraphNode&>(other);
        },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__", [](const PyGraphNode& self) {
        // The entry of a graph differs from the graph.
        return std::hash<GraphNode>()(self) + (self.is_entry() ? 1 : 0);
    });
    type.def("__repr__", [](const PyGraphNode& self) {
        return self.is_entry() ? "<GraphNode entry>"
                               : represent("GraphNode", self, [] { return std::string(); });
    });
    module.def("_live_graph_nodes", live_nodes,
               nb::sig("def _live_graph_nodes() -> list[GraphNode]"),
               "Return all nodes that have objects and are not destroyed.");
    bind_plain_nodes(module);
    bind_memory_nodes(module);
    bind_nodes_with_graphs(module);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_edges(nb::class_<PyGraphNode>& type) {
    const auto set = [](nb::handle self, nb::handle nodes, bool is_forward) {
        adjacency(self, is_forward).attr("replace")(nodes);
    };
    type.def_prop_rw(
        "pred", [](nb::handle self) { return adjacency(self, false); },
        [set](nb::handle self, nb::handle nodes) { set(self, nodes, false); },
        nb::for_getter(nb::sig("def pred(self) -> cuprum._graph_adjacency.AdjacencySetProxy")),
        nb::for_setter(nb::sig("def pred(self, nodes: collections.abc.Iterable[GraphNode], /) -> "
                               "None")),
        "Return the nodes that this one waits for: a set whose changes add and remove edges.");
    type.def_prop_rw(
        "succ", [](nb::handle self) { return adjacency(self, true); },
        [set](nb::handle self, nb::handle nodes) { set(self, nodes, true); },
        nb::for_getter(nb::sig("def succ(self) -> cuprum._graph_adjacency.AdjacencySetProxy")),
        nb::for_setter(nb::sig("def succ(self, nodes: collections.abc.Iterable[GraphNode], /) -> "
                               "None")),
        "Return the nodes that wait for this one: a set whose changes add and remove edges.");
    type.def("_neighbours", neighbours, "is_forward"_a,
             nb::sig("def _neighbours(self, is_forward: bool) -> list[GraphNode]"),
             "Return the successors or predecessors.");
    type.def(
        "_add_edges",
        [](const PyGraphNode& self, nb::handle nodes, bool is_forward) {
            change_edges(self, nodes, is_forward, true);
        },
        "nodes"_a, "is_forward"_a,
        nb::sig("def _add_edges(self, nodes: list[GraphNode], is_forward: bool) -> None"),
        "Add edges in one driver call.");
    type.def(
        "_remove_edges",
        [](const PyGraphNode& self, nb::handle nodes, bool is_forward) {
            change_edges(self, nodes, is_forward, false);
        },
        "nodes"_a, "is_forward"_a,
        nb::sig("def _remove_edges(self, nodes: list[GraphNode], is_forward: bool) -> None"),
        "Remove edges in one driver call.");
}

nb::object neighbours(const PyGraphNode& self, bool is_forward) {
    nb::list found;
    if (!self.is_entry() && self.is_valid()) {
        const auto nodes =
            in_graph_unlocked([&] { return is_forward ? self.successors() : self.predecessors(); });
        for (const GraphNode& node : nodes) {
            found.append(node_object(node));
        }
    }
    return found;
}

void change_edges(const PyGraphNode& self, nb::handle others, bool is_forward, bool is_added) {
    std::vector<GraphNode> nodes;
    for (const nb::handle each : nb::borrow<nb::object>(others)) {
        nodes.push_back(node_argument(each, "nodes"));
    }
    in_graph_unlocked([&] {
        if (is_forward) {
            is_added ? self.add_successors(nodes) : self.remove_successors(nodes);
        } else {
            is_added ? self.add_predecessors(nodes) : self.remove_predecessors(nodes);
        }
    });
}

void destroy(nb::handle self) {
    auto& node = held_by<PyGraphNode>(self);
    nb::dict numbers;
    if (node.is_valid()) {
        for (const char* const name : NUMBERS) {
            if (nb::hasattr(self.type(), name)) {
                numbers[name] = nb::object(self.attr(name));
            }
        }
    }
    const bool was_valid = node.is_valid();
    in_graph_unlocked([&] { node.destroy(); });
    if (was_valid) {
        node.last_numbers = numbers;
    }
}

nb::object adjacency(nb::handle self, bool is_forward) {
    return nb::module_::import_("cuprum._graph_adjacency")
        .attr("AdjacencySetProxy")(self, is_forward);
}

} // namespace

} // namespace cuprum::python
