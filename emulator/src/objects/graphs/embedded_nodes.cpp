// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/embedded_nodes.hpp"

#include "objects/devices/context.hpp"
#include "objects/graphs/conditional.hpp"
#include "objects/process/error.hpp"

#include <algorithm>

namespace cuprum::emulator {

namespace {

/// Finds a variable that was made for a graph, or for one that the graph is embedded in.
std::shared_ptr<ConditionalVariable> find_variable(Graph& graph, CUgraphConditionalHandle handle) {
    for (Graph* each = &graph; each != nullptr; each = each->owner()) {
        const auto& variables = each->variables(); // by handle: handles only grow
        const auto found = std::ranges::lower_bound(
            variables, handle, {}, [](const auto& variable) { return variable->handle(); });
        if (found != variables.end() && (*found)->handle() == handle) {
            return *found;
        }
    }
    fail(CUDA_ERROR_INVALID_VALUE, "the conditional handle was not made for this graph");
}

void check_size(CUgraphConditionalNodeType type, unsigned size) {
    switch (type) {
    case CU_GRAPH_COND_TYPE_IF:
        require(size == 1 || size == 2, "an if node has one or two bodies");
        break;
    case CU_GRAPH_COND_TYPE_WHILE:
        require(size == 1, "a while node has one body");
        break;
    case CU_GRAPH_COND_TYPE_SWITCH:
        require(size != 0, "a switch node has at least one body");
        break;
    default:
        fail(CUDA_ERROR_INVALID_VALUE, "unknown type of conditional node");
    }
}

} // namespace

std::shared_ptr<GraphNode> add_child(Graph& graph, Graph& child,
                                     const std::vector<GraphEdge>& dependencies, bool is_moved) {
    if (!is_moved) {
        const auto copy = child.clone();
        try {
            return graph.add(ChildParameters{copy, false}, dependencies);
        } catch (...) {
            copy->destroy();
            throw;
        }
    }
    child.check_own("moved into a node");
    require(&child != &graph.root(), "a graph cannot be part of itself");
    require(!child.contains({CU_GRAPH_NODE_TYPE_CONDITIONAL}),
            "a graph with conditional nodes cannot be a child graph");
    return graph.add(ChildParameters{child.shared_from_this(), true}, dependencies);
}

void replace_child(GraphNode& node, Graph& child) {
    (void)node.get<ChildParameters>(); // refuses nodes of other types
    require(&child.root() != &node.graph().root(),
            "the new child graph is part of the graph that it would replace");
    node.graph().replace_child(node, {child.clone(), false});
}

CUgraphConditionalHandle add_variable(Graph& graph, std::shared_ptr<Context> context,
                                      std::uint32_t default_value, unsigned flags) {
    require((flags & ~unsigned{CU_GRAPH_COND_ASSIGN_DEFAULT}) == 0, "unknown flags");
    auto variable = std::make_shared<ConditionalVariable>(std::move(context), default_value, flags);
    graph.variables().push_back(variable);
    return variable->handle();
}

std::shared_ptr<GraphNode> add_conditional(Graph& graph,
                                           const CUDA_CONDITIONAL_NODE_PARAMS& request,
                                           std::shared_ptr<Context> context,
                                           const std::vector<GraphEdge>& dependencies) {
    check_size(request.type, request.size);
    const auto variable = find_variable(graph, request.handle);
    require(!variable->is_used, "another conditional node uses the handle");
    require(variable->context() == context, "the handle was made in another context");
    ConditionalParameters parameters{variable, request.type, std::move(context), {}, {}};
    for (unsigned index = 0; index < request.size; ++index) {
        parameters.bodies.push_back(Graph::create());
        parameters.handles.push_back(parameters.bodies.back()->handle<CUgraph>());
    }
    const auto bodies = parameters.bodies;
    try {
        auto node = graph.add(std::move(parameters), dependencies);
        variable->is_used = true;
        return node;
    } catch (...) {
        std::ranges::for_each(bodies, [](const auto& body) { body->destroy(); });
        throw;
    }
}

} // namespace cuprum::emulator
