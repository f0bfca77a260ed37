// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/graph/graph_node.hpp>

#include "driver/call.hpp"
#include "driver/deferred_release.hpp"
#include "graph/graph_state.hpp"
#include "graph/node_parameters.hpp"
#include "stream/event_state.hpp"
#include "support/text.hpp"
#include "support/warn.hpp"

#include <cuprum/detail/unexposed_handle.hpp>
#include <cuprum/error.hpp>
#include <cuprum/graph/graph_definition.hpp>

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

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
               const Entry& entry) {
    const CUevent handle = detail::open(event).handle;
    detail::replace_parameters(node, class_name, detail::Payload::of(Access::state(event)), entry,
                               handle);
}

/// Returns the event of a node: our object if it was added here.
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

const char* to_string(GraphNodeType type) noexcept {
    return detail::enumerator_text<GraphNodeType::Conditional>(
        type,
        {"kernel node", "copy node", "fill node", "callback node", "child graph node", "empty node",
         "event wait node", "event record node", "semaphore signal node", "semaphore wait node",
         "allocation node", "free node", "memory operation node", "conditional node"},
        "node");
}

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
    detail::forget_node(graph, *node_);
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

// Functions that a graph calls on the host. The driver always calls call_from_graph(), which marks
// the thread (see HostFunctionScope) and reports what the function throws.

namespace {

using detail::Access;
using driver::table;

/// What a callback node calls.
struct GraphCallback {
    std::function<void()> function; // or
    void (*plain)(void*) = nullptr; // with
    void* user_data = nullptr;      //
    CUgraph graph = nullptr;        // that the node was added to, for warnings
};

void report_callback(CUgraph graph, const char* what) noexcept {
    try {
        detail::warn(WarningKind::HostFunction,
                     "a callback of graph " + detail::hexadecimal(graph) + " threw: " + what);
    } catch (...) {
        detail::warn(WarningKind::HostFunction, "a callback of a graph threw");
    }
}

void CUDA_CB call_from_graph(void* data) noexcept {
    const auto& callback = *static_cast<const GraphCallback*>(data);
    const detail::HostFunctionScope scope;
    try {
        if (callback.plain != nullptr) {
            callback.plain(callback.user_data);
        } else {
            callback.function();
        }
    } catch (const std::exception& error) {
        report_callback(callback.graph, error.what());
    } catch (...) {
        report_callback(callback.graph, "something that is not a std::exception");
    }
}

} // namespace

detail::PayloadShare detail::callback_payload(std::function<void()> function, CUgraph graph,
                                              CUDA_HOST_NODE_PARAMS& parameters) {
    if (!function) {
        throw std::invalid_argument("function is empty, expected something to call");
    }
    auto callback = std::make_shared<GraphCallback>();
    callback->function = std::move(function);
    callback->graph = graph;
    parameters.fn = &call_from_graph;
    parameters.userData = callback.get();
    return Payload::of(std::move(callback));
}

detail::PayloadShare detail::callback_payload(const HostFunctionParameters& function,
                                              CUDA_HOST_NODE_PARAMS& parameters) {
    if (function.function == nullptr) {
        throw std::invalid_argument("function is null, expected something to call");
    }
    auto callback = std::make_shared<GraphCallback>();
    callback->plain = function.function;
    callback->user_data = function.user_data;
    parameters.fn = &call_from_graph;
    parameters.userData = callback.get();
    PayloadShare payload = Payload::make(3);
    payload->owners()[0] = std::move(callback);
    payload->owners()[1] = function.owner;
    payload->owners()[2] = function.data_owner;
    return payload;
}

std::shared_ptr<void> HostCallbackNode::owner() const {
    const detail::NodeState& state = detail::open(*this, CLASS_NAME);
    return state.payload == nullptr ? nullptr : state.payload->owners()[1];
}

HostFunctionParameters HostCallbackNode::parameters() const {
    const detail::NodeState& state = detail::open(*this, CLASS_NAME);
    CUDA_HOST_NODE_PARAMS parameters{};
    driver::call(table().cuGraphHostNodeGetParams, state.handle, &parameters);
    if (parameters.fn != &call_from_graph || state.payload == nullptr) {
        return {.function = parameters.fn, .user_data = parameters.userData};
    }
    const auto owners = state.payload->owners();
    const auto& callback = *static_cast<const GraphCallback*>(owners[0].get());
    return {.function = callback.plain,
            .user_data = callback.user_data,
            .owner = owners[1],
            .data_owner = owners.size() > 2 ? owners[2] : nullptr};
}

void HostCallbackNode::update(std::function<void()> function) const {
    CUDA_HOST_NODE_PARAMS parameters{};
    auto payload =
        detail::callback_payload(std::move(function), detail::open(state_).handle, parameters);
    detail::replace_parameters(*this, CLASS_NAME, std::move(payload),
                               table().cuGraphHostNodeSetParams, &parameters);
}

void HostCallbackNode::update(const HostFunctionParameters& parameters) const {
    CUDA_HOST_NODE_PARAMS driver_parameters{};
    auto payload = detail::callback_payload(parameters, driver_parameters);
    detail::replace_parameters(*this, CLASS_NAME, std::move(payload),
                               table().cuGraphHostNodeSetParams, &driver_parameters);
}

} // namespace cuprum
