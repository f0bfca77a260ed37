// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Graphs inside nodes: child graphs, and the bodies of conditional nodes.

#include "driver/call.hpp"
#include "driver/explanations.hpp"
#include "graph/graph_state.hpp"
#include "graph/node_parameters.hpp"
#include "support/text.hpp"

#include <cuprum/error.hpp>
#include <cuprum/graph/graph_definition.hpp>
#include <cuprum/graph/graph_node.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using detail::Access;
using detail::GraphShare;
using detail::GraphState;
using detail::NodeChildren;
using detail::NodeState;
using driver::table;

static_assert(static_cast<int>(GraphConditionalType::If) == CU_GRAPH_COND_TYPE_IF);
static_assert(static_cast<int>(GraphConditionalType::While) == CU_GRAPH_COND_TYPE_WHILE);
static_assert(static_cast<int>(GraphConditionalType::Switch) == CU_GRAPH_COND_TYPE_SWITCH);

/// Returns what a conditional node tests and which bodies it has.
std::unique_ptr<NodeChildren> bodies_of(const GraphShare& graph, NodeState& node,
                                        const CUDA_CONDITIONAL_NODE_PARAMS& parameters) {
    auto made = std::make_unique<NodeChildren>();
    made->condition = GraphCondition::from_handle(parameters.handle);
    made->cond_type = static_cast<GraphConditionalType>(parameters.type);
    for (unsigned i = 0; i < parameters.size; ++i) {
        made->graphs.push_back(detail::part_of(graph, node, parameters.phGraph_out[i]).get());
    }
    return made;
}

CUgraph child_of(const NodeState& node) {
    CUgraph child = nullptr;
    driver::call(table().cuGraphChildGraphNodeGetGraph, node.handle, &child);
    return child;
}

} // namespace

GraphDefinition ChildGraphNode::child_graph() const {
    NodeState& state = detail::open(*this, CLASS_NAME);
    const NodeChildren& children = detail::children_of(state_, state);
    return Access::make<GraphDefinition>(GraphShare(state_, children.graphs.at(0)));
}

void ChildGraphNode::update(const GraphDefinition& child) const {
    NodeState& state = detail::open(*this, CLASS_NAME);
    GraphState& graph = detail::open(state_);
    GraphState& inner = detail::open(Access::state(child));
    if (inner.root == graph.root) {
        throw std::invalid_argument("child belongs to the same graph as " +
                                    detail::describe(state) +
                                    ", expected another graph; pass a clone of it");
    }
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
    parameters.graph.graph = inner.handle;
    detail::KeptForChild kept(graph, inner);
    const auto& set = table().cuGraphNodeSetParams;
    if (const CUresult status = set(state.handle, &parameters); status != CUDA_SUCCESS) {
        detail::raise_for_node(status, set.name, state);
    }
    kept.stay();
    detail::forget_children(state);
    if (detail::adopt_child(state_, state, inner)) {
        kept.give_up();
    }
    detail::release_payloads();
}

detail::KeptForChild::KeptForChild(GraphState& graph, GraphState& child) : graph_(graph) {
    PayloadShare everything = everything_in(child);
    payload_ = everything.get();
    keep_in(graph, std::move(everything));
}

detail::KeptForChild::~KeptForChild() {
    if (!is_staying_) {
        give_up();
    }
}

void detail::KeptForChild::give_up() noexcept {
    if (payload_ != nullptr) {
        give_up_in(graph_, std::exchange(payload_, nullptr));
    }
}

bool detail::adopt_child(const GraphShare& graph, NodeState& node, GraphState& original) {
    const GraphShare child = part_of(graph, node, child_of(node));
    node.children = std::make_unique<NodeChildren>();
    node.children->graphs.push_back(child.get());
    return adopt_payloads(child, original);
}

bool detail::adopt_payloads(const GraphShare& copy, GraphState& original) {
    GraphState& target = *copy;
    std::vector<NodeShare> known;
    std::vector<PayloadShare> kept;
    {
        const std::lock_guard lock(original.lock);
        known = original.nodes.shares_of(
            [](const NodeState& node) { return node.payload || node.children != nullptr; });
        kept = original.kept;
    }
    for (PayloadShare& each : kept) {
        keep_in(target, std::move(each));
    }
    bool is_complete = true;
    for (const NodeShare& node : known) {
        CUgraphNode twin = nullptr;
        const auto& find = table().cuGraphNodeFindInClone;
        const CUresult status = find(&twin, node->handle, target.handle);
        if (status == CUDA_ERROR_INVALID_VALUE || status == CUDA_ERROR_NOT_SUPPORTED) {
            return false; // the driver cannot tell: the nodes of the copy are not described
        }
        if (status != CUDA_SUCCESS) {
            driver::raise(status, find.name);
        }
        const NodeShare adopted = node_state(target, twin);
        keep_if_exposed(target, node->payload);
        adopted->payload = node->payload;
        adopted->context.store(node->context.load(std::memory_order_relaxed),
                               std::memory_order_relaxed);
        adopted->may_have_attributes = node->may_have_attributes;
        if (node->children != nullptr && !node->children->graphs.empty()) {
            is_complete = node->type == GraphNodeType::Graph &&
                          adopt_child(copy, *adopted, *node->children->graphs[0]) && is_complete;
        }
    }
    return is_complete;
}

std::optional<GraphCondition> ConditionalNode::condition() const {
    return detail::children_of(state_, detail::open(*this, CLASS_NAME)).condition;
}

std::optional<GraphConditionalType> ConditionalNode::cond_type() const {
    return detail::children_of(state_, detail::open(*this, CLASS_NAME)).cond_type;
}

std::vector<GraphDefinition> ConditionalNode::branches() const {
    const NodeChildren& children = detail::children_of(state_, detail::open(*this, CLASS_NAME));
    std::vector<GraphDefinition> bodies;
    for (GraphState* const body : children.graphs) {
        bodies.push_back(Access::make<GraphDefinition>(GraphShare(state_, body)));
    }
    return bodies;
}

GraphDefinition ConditionalNode::branch(std::size_t index) const {
    const NodeChildren& children = detail::children_of(state_, detail::open(*this, CLASS_NAME));
    return Access::make<GraphDefinition>(GraphShare(state_, children.graphs.at(index)));
}

bool ConditionalNode::is_kind(const GraphNode& node, GraphConditionalType type,
                              std::size_t bodies) noexcept {
    const auto& state = Access::node(node);
    if (state == nullptr || state->type != GraphNodeType::Conditional || state->handle == nullptr) {
        return false;
    }
    try {
        const NodeChildren& children = detail::children_of(Access::state(node), *state);
        return children.cond_type == type && (bodies == 0 || children.graphs.size() == bodies);
    } catch (const std::exception&) {
        return false;
    }
}

GraphDefinition IfNode::then() const {
    return branch(0);
}

GraphDefinition IfElseNode::then() const {
    return branch(0);
}

GraphDefinition IfElseNode::otherwise() const {
    return branch(1);
}

GraphDefinition WhileNode::body() const {
    return branch(0);
}

namespace detail {

NodeShare add_conditional(const GraphShare& graph, const Dependencies& dependencies,
                          const GraphCondition& condition, GraphConditionalType type,
                          unsigned bodies, CUcontext context) {
    GraphState& state = open(graph);
    const auto& add = table().cuGraphAddNode;
    PreparedNode prepared(state);
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    parameters.conditional.handle = condition.handle();
    parameters.conditional.type = static_cast<CUgraphConditionalNodeType>(type);
    parameters.conditional.size = bodies;
    parameters.conditional.ctx = context;
    CUgraphNode node = nullptr;
    const CUresult status =
        add(&node, state.handle, dependencies.data(), nullptr, dependencies.size(), &parameters);
    if (status != CUDA_SUCCESS) {
        std::string text = driver::explanation_of(status);
        const auto& known = state.root->conditions;
        if (std::ranges::find(known, condition.handle()) == known.end()) {
            text += "; the condition was not made by this graph: use "
                    "create_condition() of the graph that gets the node";
        } else {
            text += "; a condition serves one conditional node, so make one for each";
        }
        driver::raise(status, add.name, text);
    }
    NodeShare made = prepared.note(node, GraphNodeType::Conditional, context);
    try {
        made->children = bodies_of(graph, *made, parameters.conditional);
    } catch (...) {
        driver::release_now("conditional node", table().cuGraphDestroyNode, node);
        forget_node(state, *made);
        throw;
    }
    return made;
}

GraphCondition make_condition(GraphState& graph, CUcontext context,
                              std::optional<unsigned> default_value) {
    CUgraphConditionalHandle handle = 0;
    make_room_for_one(graph.root->conditions);
    driver::call(table().cuGraphConditionalHandleCreate, &handle, graph.handle, context,
                 default_value.value_or(0U),
                 default_value.has_value() ? unsigned{CU_GRAPH_COND_ASSIGN_DEFAULT} : 0U);
    graph.root->conditions.push_back(handle);
    return GraphCondition::from_handle(handle);
}

NodeChildren& children_of(const GraphShare& graph, NodeState& node) {
    {
        const std::lock_guard lock(graph->lock);
        if (node.children != nullptr) {
            return *node.children;
        }
    }
    auto made = std::make_unique<NodeChildren>();
    if (node.type == GraphNodeType::Graph) {
        made->graphs.push_back(part_of(graph, node, child_of(node)).get());
    } else {
        CUgraphNodeParams parameters{}; // only drivers from CUDA 13.2 on report them
        if (driver::call_if_supported(table().cuGraphNodeGetParams, node.handle, &parameters)) {
            made = bodies_of(graph, node, parameters.conditional);
        }
    }
    const std::lock_guard lock(graph->lock);
    if (node.children == nullptr) { // another thread that looks at the graph may be faster
        node.children = std::move(made);
    }
    return *node.children;
}

} // namespace detail

std::string to_string(const GraphCondition& condition) {
    return "<GraphCondition handle=" + detail::hexadecimal(condition.handle()) + ">";
}

} // namespace cuprum
