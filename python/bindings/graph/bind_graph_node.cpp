// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What all nodes of graphs have.

#include "graph/bind_graph_node.hpp"

#include "graph/bind_graph_appending.hpp"
#include "graph/graph_choices.hpp"
#include "graph/graph_objects.hpp"
#include "support/class.hpp"

#include <vector>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] nb::object adjacency(nb::handle self, bool is_forward) {
    return nb::module_::import_("cuprum._graph_adjacency")
        .attr("AdjacencySetProxy")(self, is_forward);
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

[[nodiscard]] nb::object neighbours(const PyGraphNode& self, bool is_forward) {
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

void bind_edges(Class<PyGraphNode>& type) {
    const auto set = [](nb::handle self, nb::handle nodes, bool is_forward) {
        adjacency(self, is_forward).attr("replace")(nodes);
    };
    type.property(
        "pred", [](nb::handle self) { return adjacency(self, false); },
        [set](nb::handle self, nb::handle nodes) { set(self, nodes, false); });
    type.property(
        "succ", [](nb::handle self) { return adjacency(self, true); },
        [set](nb::handle self, nb::handle nodes) { set(self, nodes, true); });
    type.method<neighbours>("_neighbours");
    type.method("_add_edges", [](const PyGraphNode& self, nb::handle nodes, bool is_forward) {
        change_edges(self, nodes, is_forward, true);
    });
    type.method("_remove_edges", [](const PyGraphNode& self, nb::handle nodes, bool is_forward) {
        change_edges(self, nodes, is_forward, false);
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

} // namespace

void bind_graph_node(nb::module_& module) {
    Class<GraphCondition> condition(module, "GraphCondition", nb::is_weak_referenceable());
    condition.refuse_construction("conditions cannot be instantiated directly. Use "
                                  "create_condition() of a graph");
    condition.property("handle", &GraphCondition::handle);
    condition.method("__eq__", [](const GraphCondition& self, const GraphCondition& other) {
        return self == other;
    });
    condition.method("__hash__",
                     [](const GraphCondition& self) { return nb::hash(nb::int_(self.handle())); });
    condition.method("__repr__", [](const GraphCondition& self) {
        return "<GraphCondition handle=" + hex_text(self.handle()) + ">";
    });

    Class<PyGraphNode> type(module, "GraphNode", nb::is_weak_referenceable());
    type.refuse_construction("nodes cannot be instantiated directly. Use the "
                             "methods of a GraphDefinition or of another node");
    type.property("type", [](const PyGraphNode& self) -> nb::object {
        const auto kind = self.is_valid() ? self.type() : std::nullopt;
        return kind ? GRAPH_NODE_TYPES.member(*kind) : nb::none();
    });
    type.property("graph", [](const PyGraphNode& self) { return definition_object(self.graph()); });
    type.property("handle", [](const PyGraphNode& self) -> nb::object {
        const auto handle =
            reinterpret_cast<std::uintptr_t>(in_graph_unlocked([&] { return self.handle(); }));
        return handle == 0 ? nb::none() : nb::object(nb::int_(handle));
    });
    type.property("is_valid", &PyGraphNode::is_valid);
    type.method<destroy>("destroy");
    bind_edges(type);
    add_appending(type);
    type.method("__eq__", [](const PyGraphNode& self, const PyGraphNode& other) {
        return static_cast<const GraphNode&>(self) == static_cast<const GraphNode&>(other);
    });
    type.method("__hash__", [](const PyGraphNode& self) {
        // The entry of a graph differs from the graph.
        return std::hash<GraphNode>()(self) + (self.is_entry() ? 1 : 0);
    });
    type.method("__repr__", [](const PyGraphNode& self) {
        return self.is_entry() ? "<GraphNode entry>"
                               : represent("GraphNode", self, [] { return std::string(); });
    });
    function<live_nodes>(module, "_live_graph_nodes");
    bind_plain_nodes(module);
    bind_memory_nodes(module);
    bind_nodes_with_graphs(module);
}

} // namespace cuprum::python
