// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Every word that adds a node takes the same steps: check the parameters, make the node's state and
// room for it, and add the node. Only the last step changes the graph, so that nothing is left
// behind if one of them fails.

#include <cuprum/graph/graph_appender.hpp>

#include "device/device_state.hpp"
#include "driver/current.hpp"
#include "driver/explanations.hpp"
#include "graph/graph_state.hpp"
#include "graph/node_parameters.hpp"
#include "launch/launch_failure.hpp"
#include "memory/allocation.hpp"
#include "memory/buffer_state.hpp"
#include "stream/event_state.hpp"
#include "support/text.hpp"

#include <cuprum/error.hpp>
#include <cuprum/graph/graph_definition.hpp>
#include <cuprum/graph/graph_node.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>

namespace cuprum {

namespace {

using detail::Access;
using detail::Dependencies;
using detail::GraphShare;
using detail::GraphState;
using detail::NodeShare;
using detail::NodeState;
using detail::Payload;
using detail::PayloadShare;
using driver::table;

/// Adds a node: `entry` takes the node, the graph, the dependencies and `arguments`.
template <typename Entry, typename... Arguments>
GraphNode add_node(const GraphShare& graph, const NodeShare& after, GraphNodeType type,
                   CUcontext context, PayloadShare payload, const Entry& entry,
                   Arguments... arguments) {
    GraphState& state = detail::open(graph);
    const Dependencies dependencies(after.get());
    detail::PreparedNode made(state);
    detail::keep_if_exposed(state, payload);
    CUgraphNode node = nullptr;
    const CUresult status =
        entry(&node, state.handle, dependencies.data(), dependencies.size(), arguments...);
    if (status != CUDA_SUCCESS) [[unlikely]] {
        driver::raise(status, entry.name,
                      driver::explanation_of(status) + "; no " + to_string(type) + " was added");
    }
    return detail::to_node(graph, made.note(node, type, context, std::move(payload)));
}

/// Adds a kernel node that may start before the kernels end that it depends on.
CUresult add_programmatic(GraphState& graph, const Dependencies& after,
                          const CUDA_KERNEL_NODE_PARAMS& parameters, CUgraphNode& node) {
    std::vector<CUgraphEdgeData> edges(after.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
        CUgraphNodeType type{};
        driver::call(table().cuGraphNodeGetType, after.data()[i], &type);
        if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
            edges[i].from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
            edges[i].type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        }
    }
    CUgraphNodeParams any{};
    any.type = CU_GRAPH_NODE_TYPE_KERNEL;
    static_assert(sizeof(any.kernel) == sizeof(parameters));
    std::memcpy(&any.kernel, &parameters, sizeof(parameters));
    return table().cuGraphAddNode(&node, graph.handle, after.data(), edges.data(), after.size(),
                                  &any);
}

/// Throws for a kernel node that the driver refuses, unless only a current context was missing.
void raise_unless_contextless(CUresult status, GraphState& graph,
                              const detail::PreparedKernel& kernel, CUcontext context,
                              const detail::MemoryRange* buffer) {
    if (context == nullptr) {
        if (status == CUDA_ERROR_INVALID_CONTEXT) { // none is current
            graph.root->asks_for_context.store(true, std::memory_order_relaxed);
            return;
        }
        context = detail::context_for_node(graph, buffer);
    }
    detail::raise_launch_failure(status, table().cuGraphAddKernelNode.name, kernel.config(),
                                 kernel.kernel(), Context::from_handle(context));
}

/// Adds a kernel node. Its context is that of the graph, the current one, or that of a buffer,
/// which may be null.
[[gnu::hot]] inline KernelNode add_kernel(const GraphShare& graph, const NodeShare& after,
                                          detail::PreparedKernel& kernel,
                                          const detail::MemoryRange* buffer, PayloadShare payload) {
    GraphState& state = *graph;
    const Dependencies dependencies(after.get());
    // With one device, the driver finds the current context faster than we can ask for it.
    const bool finds_context = state.root->home == nullptr && detail::has_one_device() &&
                               !kernel.needs_device() &&
                               !state.root->asks_for_context.load(std::memory_order_relaxed);
    const CUcontext context = finds_context ? nullptr : detail::context_for_node(state, buffer);
    const CUDA_KERNEL_NODE_PARAMS& parameters = kernel.in(context);
    detail::PreparedNode made(state);
    detail::keep_if_exposed(state, payload);
    CUgraphNode node = nullptr;
    const CUresult status =
        kernel.is_programmatic() && dependencies.size() != 0
            ? add_programmatic(state, dependencies, parameters, node)
            : table().cuGraphAddKernelNode(&node, state.handle, dependencies.data(),
                                           dependencies.size(), &parameters);
    if (status != CUDA_SUCCESS) [[unlikely]] {
        raise_unless_contextless(status, state, kernel, context, buffer);
        return add_kernel(graph, after, kernel, buffer, std::move(payload));
    }
    const bool has_attributes = !kernel.attributes().empty();
    if (has_attributes) [[unlikely]] {
        try {
            detail::set_node_attributes(node, kernel.attributes());
        } catch (...) {
            driver::release_now("kernel node", table().cuGraphDestroyNode, node);
            throw;
        }
    }
    NodeShare added = made.note(node, GraphNodeType::Kernel, context, std::move(payload));
    added->may_have_attributes = has_attributes;
    state.last_kernel = added.get();
    return Access::make<KernelNode>(detail::to_node(graph, std::move(added)));
}

MemcpyNode add_copy(const GraphShare& graph, const NodeShare& after, const CUDA_MEMCPY3D& copy,
                    CUcontext context, const NodeMemory& dst, const NodeMemory& src) {
    return Access::make<MemcpyNode>(add_node(graph, after, GraphNodeType::Memcpy, context,
                                             Payload::of(dst.owner(), src.owner()),
                                             table().cuGraphAddMemcpyNode, &copy, context));
}

/// Collects nodes to depend on.
NodeShare gather(const GraphShare& graph, const NodeShare& first,
                 std::span<const GraphNode> nodes) {
    auto point = std::make_shared<detail::PointState>();
    point->is_point = true;
    std::unordered_set<const NodeState*> known;
    const auto add = [&](const NodeShare& node) {
        if (known.insert(node.get()).second) {
            point->nodes.push_back(node);
        }
    };
    if (first != nullptr && first->is_point) {
        std::ranges::for_each(static_cast<const detail::PointState&>(*first).nodes, add);
    } else if (first != nullptr) {
        add(first);
    }
    for (const GraphNode& node : nodes) {
        if (node.is_entry()) {
            continue;
        }
        detail::check_same_graph(*graph, node);
        add(Access::node(node));
    }
    return point;
}

template <typename Node>
Node add_conditional(const GraphShare& graph, const NodeShare& after,
                     const GraphCondition& condition, GraphConditionalType type, unsigned bodies) {
    GraphState& state = detail::open(graph);
    const Dependencies dependencies(after.get());
    return Access::make<Node>(
        detail::to_node(graph, detail::add_conditional(graph, dependencies, condition, type, bodies,
                                                       detail::context_for_node(state))));
}

[[noreturn]] void raise_free_of(CUresult status, GraphState& graph, CUdeviceptr pointer) {
    const auto& add = table().cuGraphAddMemFreeNode;
    const CUDAError failure(status, add.name); // first: what follows calls the driver
    for (const CUgraphNode handle : detail::nodes_of(graph.handle)) {
        CUgraphNodeType type{};
        CUdeviceptr freed = 0;
        if (table().cuGraphNodeGetType(handle, &type) == CUDA_SUCCESS &&
            type == CU_GRAPH_NODE_TYPE_MEM_FREE &&
            table().cuGraphMemFreeNodeGetParams(handle, &freed) == CUDA_SUCCESS &&
            freed == pointer) {
            throw std::invalid_argument("dptr is " + detail::hexadecimal(pointer) + ", which " +
                                        detail::describe(graph, handle) +
                                        " of this graph frees already; a graph frees an "
                                        "allocation once");
        }
    }
    if (status == CUDA_ERROR_INVALID_VALUE) {
        throw std::invalid_argument("dptr is " + detail::hexadecimal(pointer) +
                                    ", which no allocation node made; pass AllocNode dptr");
    }
    throw failure;
}

} // namespace

[[gnu::hot]] KernelNode GraphAppender::launch_with(const LaunchConfig& config, const Kernel& kernel,
                                                   const detail::NodeArguments& arguments) const {
    GraphState& graph = detail::open(state_);
    detail::PreparedKernel prepared(config, kernel, arguments);
    const auto& owner = Access::state(kernel);
    // A loop often adds the same kernel with the same buffers.
    // NOTE: all kernels of one library have one owner, but the node must return its own.
    const NodeState* const last = graph.last_kernel;
    const bool is_kept = last != nullptr && detail::keeps(last->payload.get(), owner, arguments) &&
                         last->payload->owners()[0] == owner;
    return add_kernel(state_, node_, prepared, detail::first_buffer(arguments),
                      is_kept ? last->payload : detail::kernel_payload(owner, arguments));
}

KernelNode GraphAppender::launch(const LaunchConfig& config, const Kernel& kernel,
                                 std::span<const KernelArgument> arguments,
                                 std::shared_ptr<void> owner) const {
    static_cast<void>(detail::open(state_));
    detail::PreparedKernel prepared(config, kernel, arguments);
    return add_kernel(state_, node_, prepared, nullptr,
                      detail::kernel_payload(Access::state(kernel), {.owner = std::move(owner)}));
}

MemcpyNode GraphAppender::memcpy(const NodeMemory& dst, const NodeMemory& src,
                                 std::size_t bytes) const {
    GraphState& graph = detail::open(state_);
    const CUcontext context = detail::context_for_node(graph, detail::deciding_buffer(dst, src));
    const driver::Current current(context); // for questions about the addresses
    return add_copy(state_, node_, detail::copy_parameters(graph, dst, src, bytes), context, dst,
                    src);
}

MemcpyNode GraphAppender::memcpy(const Buffer& dst, const Buffer& src) const {
    if (dst.size() != src.size()) {
        throw std::invalid_argument("the destination has " + std::to_string(dst.size()) +
                                    " bytes and the source " + std::to_string(src.size()) +
                                    ", expected the same; name the size, or copy slices");
    }
    return memcpy(NodeMemory(dst), NodeMemory(src), dst.size());
}

MemcpyNode GraphAppender::memcpy(const MemcpyRegionParameters& parameters) const {
    GraphState& graph = detail::open(state_);
    const CUcontext context =
        detail::context_for_node(graph, detail::deciding_buffer(parameters.dst, parameters.src));
    const driver::Current current(context);
    return add_copy(state_, node_, detail::copy_parameters(graph, parameters), context,
                    parameters.dst, parameters.src);
}

MemsetNode GraphAppender::memset(const NodeMemory& dst, int value, std::size_t width,
                                 std::size_t height, std::size_t pitch) const {
    if (value < 0 || value > std::numeric_limits<std::uint8_t>::max()) {
        throw std::invalid_argument("value is " + std::to_string(value) +
                                    ", expected a byte, 0 to 255; for elements of 2 or 4 bytes "
                                    "pass a std::uint16_t or a std::uint32_t");
    }
    return memset(dst, static_cast<std::uint8_t>(value), width, height, pitch);
}

MemsetNode GraphAppender::memset(const NodeMemory& dst, std::uint8_t value, std::size_t width,
                                 std::size_t height, std::size_t pitch) const {
    return memset({dst, value, sizeof(value), width, height, pitch});
}

MemsetNode GraphAppender::memset(const NodeMemory& dst, std::uint16_t value, std::size_t width,
                                 std::size_t height, std::size_t pitch) const {
    return memset({dst, value, sizeof(value), width, height, pitch});
}

MemsetNode GraphAppender::memset(const NodeMemory& dst, std::uint32_t value, std::size_t width,
                                 std::size_t height, std::size_t pitch) const {
    return memset({dst, value, sizeof(value), width, height, pitch});
}

MemsetNode GraphAppender::memset(const MemsetParameters& parameters) const {
    GraphState& graph = detail::open(state_);
    const CUDA_MEMSET_NODE_PARAMS fill = detail::fill_parameters(parameters);
    const CUcontext context = detail::context_for_node(graph, parameters.dst.buffer());
    return Access::make<MemsetNode>(add_node(state_, node_, GraphNodeType::Memset, context,
                                             Payload::of(parameters.dst.owner()),
                                             table().cuGraphAddMemsetNode, &fill, context));
}

EmptyNode GraphAppender::empty() const {
    return Access::make<EmptyNode>(add_node(state_, node_, GraphNodeType::Empty, nullptr, nullptr,
                                            table().cuGraphAddEmptyNode));
}

EmptyNode GraphAppender::join(std::span<const GraphNode> nodes) const {
    return after(nodes).empty();
}

ChildGraphNode GraphAppender::embed(const GraphDefinition& child) const {
    GraphState& inner = detail::open(Access::state(child));
    GraphState& graph = detail::open(state_);
    if (&inner == &graph) {
        throw std::invalid_argument("child is the graph itself, which cannot contain itself; embed "
                                    "a clone of it");
    }
    detail::KeptForChild kept(graph, inner);
    GraphNode node = add_node(state_, node_, GraphNodeType::Graph, nullptr, nullptr,
                              table().cuGraphAddChildGraphNode, inner.handle);
    NodeState& added = *Access::node(node);
    try {
        if (!detail::adopt_child(state_, added, inner)) {
            kept.stay();
        }
    } catch (...) {
        if (driver::release_now("child graph node", table().cuGraphDestroyNode, added.handle)) {
            detail::forget_node(graph, added);
        } else {
            kept.stay();
        }
        throw;
    }
    return Access::make<ChildGraphNode>(std::move(node));
}

EventRecordNode GraphAppender::record(const Event& event) const {
    const CUevent handle = detail::open(event).handle;
    return Access::make<EventRecordNode>(add_node(state_, node_, GraphNodeType::EventRecord,
                                                  nullptr, Payload::of(Access::state(event)),
                                                  table().cuGraphAddEventRecordNode, handle));
}

EventWaitNode GraphAppender::wait(const Event& event) const {
    const CUevent handle = detail::open(event).handle;
    return Access::make<EventWaitNode>(add_node(state_, node_, GraphNodeType::WaitEvent, nullptr,
                                                Payload::of(Access::state(event)),
                                                table().cuGraphAddEventWaitNode, handle));
}

HostCallbackNode GraphAppender::callback(std::function<void()> function) const {
    CUDA_HOST_NODE_PARAMS parameters{};
    auto payload =
        detail::callback_payload(std::move(function), detail::open(state_).handle, parameters);
    return Access::make<HostCallbackNode>(add_node(state_, node_, GraphNodeType::Host, nullptr,
                                                   std::move(payload), table().cuGraphAddHostNode,
                                                   &parameters));
}

HostCallbackNode GraphAppender::callback(const HostFunctionParameters& parameters) const {
    CUDA_HOST_NODE_PARAMS driver_parameters{};
    auto payload = detail::callback_payload(parameters, driver_parameters);
    return Access::make<HostCallbackNode>(add_node(state_, node_, GraphNodeType::Host, nullptr,
                                                   std::move(payload), table().cuGraphAddHostNode,
                                                   &driver_parameters));
}

AllocNode GraphAppender::allocate(std::size_t bytes, const GraphAllocationOptions& options) const {
    GraphState& graph = detail::open(state_);
    if (bytes == 0) {
        throw std::invalid_argument("size is 0 bytes, expected at least 1");
    }
    detail::check_size(bytes);
    const int device =
        options.device.has_value()
            ? options.device->ordinal()
            : detail::context_state(detail::context_for_node(graph))->device->ordinal;
    CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
    parameters.bytesize = bytes;
    parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    parameters.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    if (options.memory_type == GraphMemoryType::Host) {
        parameters.poolProps.location = {CU_MEM_LOCATION_TYPE_HOST, 0};
    } else if (options.memory_type == GraphMemoryType::Managed) {
        parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
    }
    std::vector<CUmemAccessDesc> access;
    for (const Device& peer : options.peer_access) {
        access.push_back(
            {{CU_MEM_LOCATION_TYPE_DEVICE, peer.ordinal()}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
    }
    parameters.accessDescs = access.empty() ? nullptr : access.data();
    parameters.accessDescCount = access.size();
    detail::AddressRanges::Room room = detail::AddressRanges::make_room();
    GraphNode node = add_node(state_, node_, GraphNodeType::MemAlloc, nullptr, nullptr,
                              table().cuGraphAddMemAllocNode, &parameters);
    graph.root->allocated.add(std::move(room), parameters.dptr, bytes);
    return Access::make<AllocNode>(std::move(node));
}

FreeNode GraphAppender::deallocate(CUdeviceptr pointer) const {
    GraphState& graph = detail::open(state_);
    const Dependencies after(node_.get());
    detail::PreparedNode made(graph);
    CUgraphNode node = nullptr;
    const CUresult status =
        table().cuGraphAddMemFreeNode(&node, graph.handle, after.data(), after.size(), pointer);
    if (status != CUDA_SUCCESS) {
        raise_free_of(status, graph, pointer);
    }
    return Access::make<FreeNode>(detail::to_node(state_, made.note(node, GraphNodeType::MemFree)));
}

FreeNode GraphAppender::deallocate(const AllocNode& allocation) const {
    return deallocate(allocation.dptr());
}

IfNode GraphAppender::if_then(const GraphCondition& condition) const {
    return add_conditional<IfNode>(state_, node_, condition, GraphConditionalType::If, 1);
}

IfElseNode GraphAppender::if_else(const GraphCondition& condition) const {
    return add_conditional<IfElseNode>(state_, node_, condition, GraphConditionalType::If, 2);
}

WhileNode GraphAppender::while_loop(const GraphCondition& condition) const {
    return add_conditional<WhileNode>(state_, node_, condition, GraphConditionalType::While, 1);
}

SwitchNode GraphAppender::switch_cases(const GraphCondition& condition, unsigned count) const {
    if (count == 0) {
        throw std::invalid_argument("count is 0, expected at least one case");
    }
    return add_conditional<SwitchNode>(state_, node_, condition, GraphConditionalType::Switch,
                                       count);
}

GraphPoint GraphAppender::after(std::span<const GraphNode> nodes) const {
    static_cast<void>(detail::open(state_));
    return Access::make<GraphPoint>(state_, gather(state_, node_, nodes));
}

NodeMemory::NodeMemory(const Buffer& buffer)
    : address_(detail::open(buffer).pointer), size_(buffer.size()), owner_(Access::state(buffer)),
      buffer_(Access::state(buffer).get()) {}

NodeMemory::NodeMemory(const AllocNode& allocation)
    : address_(allocation.dptr()), size_(allocation.bytesize()), is_graph_memory_(true) {}

} // namespace cuprum
