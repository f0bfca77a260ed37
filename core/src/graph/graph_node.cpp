// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/graph/graph_node.hpp>

#include "driver/call.hpp"
#include "graph/edges.hpp"
#include "graph/graph_state.hpp"
#include "graph/node_parameters.hpp"
#include "stream/event_state.hpp"
#include "support/text.hpp"

#include <cuprum/detail/unexposed_handle.hpp>
#include <cuprum/error.hpp>
#include <cuprum/graph/graph_definition.hpp>

#include <stdexcept>
#include <string>

namespace cuprum {

namespace {

using detail::Access;
using detail::NodeState;
using driver::table;

static_assert(static_cast<int>(GraphNodeType::Kernel) == CU_GRAPH_NODE_TYPE_KERNEL);
static_assert(static_cast<int>(GraphNodeType::EventRecord) == CU_GRAPH_NODE_TYPE_EVENT_RECORD);
static_assert(static_cast<int>(GraphNodeType::MemFree) == CU_GRAPH_NODE_TYPE_MEM_FREE);
static_assert(static_cast<int>(GraphNodeType::Conditional) == CU_GRAPH_NODE_TYPE_CONDITIONAL);

/// Replaces the event of a node.
template <typename Entry>
void set_event(const GraphNode& node, const char* class_name, const Event& event,
               const Entry& entry);
/// Returns the event of a node: our object if it was added here.
template <typename Entry>
Event get_event(const GraphNode& node, const char* class_name, const Entry& entry);

} // namespace

const char* to_string(GraphNodeType type) noexcept {
    switch (type) {
    case GraphNodeType::Kernel:
        return "kernel node";
    case GraphNodeType::Memcpy:
        return "copy node";
    case GraphNodeType::Memset:
        return "fill node";
    case GraphNodeType::Host:
        return "callback node";
    case GraphNodeType::Graph:
        return "child graph node";
    case GraphNodeType::Empty:
        return "empty node";
    case GraphNodeType::WaitEvent:
        return "event wait node";
    case GraphNodeType::EventRecord:
        return "event record node";
    case GraphNodeType::ExtSemasSignal:
        return "semaphore signal node";
    case GraphNodeType::ExtSemasWait:
        return "semaphore wait node";
    case GraphNodeType::MemAlloc:
        return "allocation node";
    case GraphNodeType::MemFree:
        return "free node";
    case GraphNodeType::BatchMemOp:
        return "memory operation node";
    case GraphNodeType::Conditional:
        return "conditional node";
    }
    return "node";
}

// ---- every node --------------------------------------------------------------------------------

std::optional<GraphNodeType> GraphNode::type() const noexcept {
    return node_ == nullptr ? std::nullopt : std::optional(node_->type);
}

GraphDefinition GraphNode::graph() const {
    return Access::make<GraphDefinition>(state_);
}

CUgraphNode GraphNode::handle() const {
    const CUgraphNode handle = detail::unexposed_handle(*this);
    if (handle != nullptr) {
        detail::expose(*state_); // the node leads to graphs below it, and to its own
    }
    return handle;
}

CUgraphNode detail::unexposed_handle(const GraphNode& node) noexcept {
    const NodeShare& state = Access::node(node);
    return state == nullptr ? nullptr : state->handle;
}

bool GraphNode::is_valid() const noexcept {
    return node_ == nullptr || node_->handle != nullptr;
}

void GraphNode::destroy() const {
    if (node_ == nullptr) {
        throw std::logic_error("this is the entry of a graph, which cannot be destroyed");
    }
    if (node_->handle == nullptr) {
        return;
    }
    detail::GraphState& graph = detail::open(state_);
    const auto& destroy_node = table().cuGraphDestroyNode;
    if (const CUresult status = destroy_node(node_->handle); status != CUDA_SUCCESS) {
        detail::raise_for_node(status, destroy_node.name, *node_);
    }
    const CUuserObject object = node_->object;
    detail::forget_node(graph, *node_);
    detail::release_user_object(graph.handle, object);
    detail::release_payloads();
}

bool GraphNode::has_type(const GraphNode& node, GraphNodeType type) noexcept {
    return node.node_ != nullptr && node.node_->type == type;
}

void GraphNode::check_class(const char* class_name, bool is_match) const {
    if (!is_match) {
        throw std::invalid_argument(
            (node_ == nullptr ? std::string("the entry of a graph") : detail::describe(*node_)) +
            " is not a " + class_name);
    }
}

std::vector<GraphNode> GraphNode::predecessors() const {
    return detail::neighbours(*this, table().cuGraphNodeGetDependencies);
}

std::vector<GraphNode> GraphNode::successors() const {
    return detail::neighbours(*this, table().cuGraphNodeGetDependentNodes);
}

void GraphNode::add_predecessors(std::span<const GraphNode> nodes) const {
    detail::change_edges(detail::open(state_), nodes, {this, 1}, detail::EdgeChange::Add);
}

void GraphNode::remove_predecessors(std::span<const GraphNode> nodes) const {
    detail::change_edges(detail::open(state_), nodes, {this, 1}, detail::EdgeChange::Remove);
}

void GraphNode::add_successors(std::span<const GraphNode> nodes) const {
    detail::change_edges(detail::open(state_), {this, 1}, nodes, detail::EdgeChange::Add);
}

void GraphNode::remove_successors(std::span<const GraphNode> nodes) const {
    detail::change_edges(detail::open(state_), {this, 1}, nodes, detail::EdgeChange::Remove);
}

std::string to_string(const GraphNode& node) {
    const auto& state = Access::node(node);
    if (state == nullptr) {
        return "<GraphNode entry>";
    }
    return "<" + detail::describe(*state) + ">";
}

// ---- events ------------------------------------------------------------------------------------

Event EventRecordNode::event() const {
    return get_event(*this, CLASS_NAME, table().cuGraphEventRecordNodeGetEvent);
}

void EventRecordNode::update(const Event& event) const {
    set_event(*this, CLASS_NAME, event, table().cuGraphEventRecordNodeSetEvent);
}

Event EventWaitNode::event() const {
    return get_event(*this, CLASS_NAME, table().cuGraphEventWaitNodeGetEvent);
}

void EventWaitNode::update(const Event& event) const {
    set_event(*this, CLASS_NAME, event, table().cuGraphEventWaitNodeSetEvent);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

template <typename Entry>
void set_event(const GraphNode& node, const char* class_name, const Event& event,
               const Entry& entry) {
    const CUevent handle = detail::open(event).handle;
    detail::replace_parameters(node, class_name, detail::Payload::of(Access::state(event)), entry,
                               handle);
}

template <typename Entry>
Event get_event(const GraphNode& node, const char* class_name, const Entry& entry) {
    NodeState& state = detail::open(node, class_name);
    CUevent handle = nullptr;
    driver::call(entry, state.handle, &handle);
    if (state.payload) {
        auto kept = std::static_pointer_cast<detail::EventState>(state.payload->owners()[0]);
        if (kept->handle == handle) {
            return Access::make<Event>(std::move(kept));
        }
    }
    return Event::from_handle(handle);
}

} // namespace

} // namespace cuprum
