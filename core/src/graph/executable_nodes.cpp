// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Updates of single nodes of an executable. The driver takes a complete set of parameters each time
// and names the node by that of the definition.

#include "driver/call.hpp"
#include "driver/current.hpp"
#include "graph/executable_state.hpp"
#include "graph/graph_state.hpp"
#include "graph/node_parameters.hpp"
#include "launch/launch_failure.hpp"
#include "program/kernel_state.hpp"
#include "stream/event_state.hpp"
#include "support/locks.hpp"

#include <cuprum/context.hpp>
#include <cuprum/error.hpp>
#include <cuprum/graph/graph.hpp>

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using detail::Access;
using detail::ExecutableState;
using detail::GraphState;
using detail::NodeState;
using detail::Payload;
using detail::PayloadShare;
using driver::table;

/// Replaces the parameters of a node: `entry` takes the executable, the node and `arguments`.
template <typename Entry, typename... Arguments>
void replace_in(const std::shared_ptr<ExecutableState>& executable, const GraphNode& node,
                PayloadShare payload, const Entry& entry, Arguments... arguments) {
    ExecutableState& state = detail::open(executable, "Graph");
    const NodeState& source = detail::open(node, "GraphNode");
    detail::QuietLock lock(state.mutex);
    state.owners->reserve(source.handle);
    const CUresult status = entry(state.handle, source.handle, arguments...);
    detail::RetiredShare replaced;
    if (status == CUDA_SUCCESS) [[likely]] {
        replaced = detail::keep_update(state, source.handle, std::move(payload));
    }
    lock.unlock();
    if (status != CUDA_SUCCESS) {
        detail::raise_for_node(status, entry.name, source);
    }
    detail::retire_from(state, std::move(replaced));
}

/// Refuses launch attributes that the node of the definition does not have.
void check_attributes(const NodeState& node, std::span<const CUlaunchAttribute> attributes) {
    for (const CUlaunchAttribute& attribute : attributes) {
        const auto present = detail::node_attribute(node.handle, attribute.id);
        if (!present.has_value() ||
            std::memcmp(&*present, &attribute.value, sizeof(attribute.value)) != 0) {
            throw std::invalid_argument(
                "LaunchConfig has launch attribute " +
                std::to_string(static_cast<int>(attribute.id)) + ", which " +
                detail::describe(node) +
                " does not have with this value; an executable cannot change it: update the node "
                "of the definition and call Graph update");
        }
    }
}

CUcontext context_in(NodeState& node, GraphState& graph, const detail::MemoryRange* buffer) {
    const CUcontext own = detail::context_of(node);
    return own != nullptr ? own : detail::context_for_node(graph, buffer);
}

} // namespace

template <typename View>
View Graph::view(const GraphNode& node) const {
    static_cast<void>(detail::open(*this));
    static_cast<void>(detail::open(node, "GraphNode"));
    return View(state_, node);
}

ExecutableKernelNode Graph::operator[](const KernelNode& node) const {
    return view<ExecutableKernelNode>(node);
}

ExecutableMemcpyNode Graph::operator[](const MemcpyNode& node) const {
    return view<ExecutableMemcpyNode>(node);
}

ExecutableMemsetNode Graph::operator[](const MemsetNode& node) const {
    return view<ExecutableMemsetNode>(node);
}

ExecutableChildGraphNode Graph::operator[](const ChildGraphNode& node) const {
    return view<ExecutableChildGraphNode>(node);
}

ExecutableEventRecordNode Graph::operator[](const EventRecordNode& node) const {
    return view<ExecutableEventRecordNode>(node);
}

ExecutableEventWaitNode Graph::operator[](const EventWaitNode& node) const {
    return view<ExecutableEventWaitNode>(node);
}

ExecutableHostCallbackNode Graph::operator[](const HostCallbackNode& node) const {
    return view<ExecutableHostCallbackNode>(node);
}

bool SwitchableGraphNode::is_enabled() const {
    const NodeState& node = detail::open(node_, "GraphNode");
    unsigned is_on = 0;
    const auto& get = table().cuGraphNodeGetEnabled;
    ExecutableState& executable = detail::open(state_, "Graph");
    detail::QuietLock lock(executable.mutex);
    const CUresult status = get(executable.handle, node.handle, &is_on);
    lock.unlock();
    if (status != CUDA_SUCCESS) {
        detail::raise_for_node(status, get.name, node);
    }
    return is_on != 0;
}

void SwitchableGraphNode::enable() const {
    set_enabled(true);
}

void SwitchableGraphNode::disable() const {
    set_enabled(false);
}

void SwitchableGraphNode::set_enabled(bool is_on) const {
    const NodeState& node = detail::open(node_, "GraphNode");
    const auto& set = table().cuGraphNodeSetEnabled;
    ExecutableState& executable = detail::open(state_, "Graph");
    detail::QuietLock lock(executable.mutex);
    const CUresult status = set(executable.handle, node.handle, is_on ? 1U : 0U);
    lock.unlock();
    if (status != CUDA_SUCCESS) {
        detail::raise_for_node(status, set.name, node);
    }
}

[[gnu::hot]] void ExecutableKernelNode::update_with(const LaunchConfig& config,
                                                    const Kernel& kernel,
                                                    const detail::NodeArguments& arguments) const {
    ExecutableState& executable = detail::open(state_, "Graph");
    NodeState& node = detail::open(node_, KernelNode::CLASS_NAME);
    detail::PreparedKernel prepared(config, kernel, arguments);
    if (!prepared.attributes().empty()) [[unlikely]] {
        check_attributes(node, prepared.attributes());
    }
    CUcontext context = detail::context_of(node);
    if (context == nullptr) [[unlikely]] {
        context = detail::context_for_node(*Access::state(node_), detail::first_buffer(arguments));
    }
    const CUDA_KERNEL_NODE_PARAMS& parameters = prepared.in(context);
    const auto& owner = Access::state(kernel);
    const auto& set = table().cuGraphExecKernelNodeSetParams;
    PayloadShare payload;
    detail::QuietLock lock(executable.mutex);
    // Most updates bring other numbers for the same kernel and the same buffers.
    const bool is_kept = detail::keeps(executable.owners->find(node.handle), owner, arguments);
    if (!is_kept) {
        payload = detail::kernel_payload(owner, arguments);
        executable.owners->reserve(node.handle);
    }
    detail::RetiredShare replaced;
    const CUresult status = set(executable.handle, node.handle, &parameters);
    if (status == CUDA_SUCCESS && !is_kept) {
        replaced = detail::keep_update(executable, node.handle, std::move(payload));
    }
    lock.unlock();
    if (status != CUDA_SUCCESS) [[unlikely]] {
        detail::raise_launch_failure(status, set.name, config, kernel,
                                     Context::from_handle(context));
    }
    if (!is_kept) {
        detail::retire_from(executable, std::move(replaced));
    }
}

void ExecutableMemcpyNode::update(const NodeMemory& dst, const NodeMemory& src,
                                  std::size_t bytes) const {
    NodeState& node = detail::open(node_, MemcpyNode::CLASS_NAME);
    GraphState& graph = detail::open(Access::state(node_));
    const CUcontext context = context_in(node, graph, detail::deciding_buffer(dst, src));
    const driver::Current current(context);
    const CUDA_MEMCPY3D copy = detail::copy_parameters(graph, dst, src, bytes);
    replace_in(state_, node_, Payload::of(dst.owner(), src.owner()),
               table().cuGraphExecMemcpyNodeSetParams, &copy, context);
}

void ExecutableMemcpyNode::update(const MemcpyRegionParameters& parameters) const {
    NodeState& node = detail::open(node_, MemcpyNode::CLASS_NAME);
    GraphState& graph = detail::open(Access::state(node_));
    const CUcontext context =
        context_in(node, graph, detail::deciding_buffer(parameters.dst, parameters.src));
    const driver::Current current(context);
    const CUDA_MEMCPY3D copy = detail::copy_parameters(graph, parameters);
    replace_in(state_, node_, Payload::of(parameters.dst.owner(), parameters.src.owner()),
               table().cuGraphExecMemcpyNodeSetParams, &copy, context);
}

void ExecutableMemsetNode::update(const MemsetParameters& parameters) const {
    NodeState& node = detail::open(node_, MemsetNode::CLASS_NAME);
    GraphState& graph = detail::open(Access::state(node_));
    const CUDA_MEMSET_NODE_PARAMS fill = detail::fill_parameters(parameters);
    const CUcontext context = context_in(node, graph, parameters.dst.buffer());
    replace_in(state_, node_, Payload::of(parameters.dst.owner()),
               table().cuGraphExecMemsetNodeSetParams, &fill, context);
}

void ExecutableChildGraphNode::update(const GraphDefinition& child) const {
    static_cast<void>(detail::open(node_, ChildGraphNode::CLASS_NAME));
    GraphState& inner = detail::open(Access::state(child));
    replace_in(state_, node_, detail::everything_in(inner),
               table().cuGraphExecChildGraphNodeSetParams, inner.handle);
}

void ExecutableEventRecordNode::update(const Event& event) const {
    const CUevent handle = detail::open(event).handle;
    replace_in(state_, node_, Payload::of(Access::state(event)),
               table().cuGraphExecEventRecordNodeSetEvent, handle);
}

void ExecutableEventWaitNode::update(const Event& event) const {
    const CUevent handle = detail::open(event).handle;
    replace_in(state_, node_, Payload::of(Access::state(event)),
               table().cuGraphExecEventWaitNodeSetEvent, handle);
}

void ExecutableHostCallbackNode::update(std::function<void()> function) const {
    CUDA_HOST_NODE_PARAMS parameters{};
    auto payload = detail::callback_payload(std::move(function),
                                            detail::open(Access::state(node_)).handle, parameters);
    replace_in(state_, node_, std::move(payload), table().cuGraphExecHostNodeSetParams,
               &parameters);
}

void ExecutableHostCallbackNode::update(const HostFunctionParameters& parameters) const {
    CUDA_HOST_NODE_PARAMS driver_parameters{};
    auto payload = detail::callback_payload(parameters, driver_parameters);
    replace_in(state_, node_, std::move(payload), table().cuGraphExecHostNodeSetParams,
               &driver_parameters);
}

} // namespace cuprum
