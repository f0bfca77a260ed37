// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/graph/graph_definition.hpp>

#include "device/context_state.hpp"
#include "driver/call.hpp"
#include "graph/graph_state.hpp"
#include "support/text.hpp"

#include <cuprum/detail/unexposed_handle.hpp>
#include <cuprum/error.hpp>
#include <cuprum/graph/graph.hpp>

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using detail::Access;
using detail::GraphShare;
using detail::GraphState;
using driver::table;

GraphShare make_graph(std::shared_ptr<detail::ContextState> home) {
    driver::initialise();
    CUgraph handle = nullptr;
    driver::call(table().cuGraphCreate, &handle, 0U);
    return detail::own_graph(handle, std::move(home));
}

} // namespace

GraphDefinition::GraphDefinition() : GraphDefinition(make_graph(nullptr)) {}

GraphDefinition::GraphDefinition(const Context& context)
    : GraphDefinition(make_graph(Access::state(context))) {
    static_cast<void>(context.handle()); // not closed
}

GraphDefinition::GraphDefinition(const Device& device)
    : GraphDefinition(make_graph(Access::state(device.primary_context()))) {}

GraphDefinition GraphDefinition::from_handle(CUgraph handle, std::shared_ptr<void> owner) {
    if (handle == nullptr) {
        throw std::invalid_argument("handle is null, expected a graph");
    }
    driver::initialise();
    GraphShare made = detail::view_graph(handle, std::move(owner));
    made->is_exposed = true;
    return GraphDefinition(std::move(made));
}

CUgraph GraphDefinition::handle() const {
    GraphState& graph = detail::open(state_);
    detail::expose(graph);
    return graph.handle;
}

CUgraph detail::unexposed_handle(const GraphDefinition& graph) {
    return open(Access::state(graph)).handle;
}

bool GraphDefinition::is_child() const {
    return detail::open(state_).parent != nullptr;
}

std::vector<GraphNode> GraphDefinition::nodes() const {
    GraphState& graph = detail::open(state_);
    std::vector<GraphNode> nodes;
    for (const CUgraphNode handle : detail::nodes_of(graph.handle)) {
        nodes.push_back(detail::to_node(state_, detail::node_state(graph, handle)));
    }
    return nodes;
}

std::vector<GraphNode> GraphDefinition::roots() const {
    GraphState& graph = detail::open(state_);
    std::size_t count = 0;
    driver::call(table().cuGraphGetRootNodes, graph.handle, nullptr, &count);
    std::vector<CUgraphNode> handles(count);
    if (count != 0) {
        driver::call(table().cuGraphGetRootNodes, graph.handle, handles.data(), &count);
    }
    std::vector<GraphNode> nodes;
    for (const CUgraphNode handle : handles) {
        nodes.push_back(detail::to_node(state_, detail::node_state(graph, handle)));
    }
    return nodes;
}

std::vector<GraphEdge> GraphDefinition::edges() const {
    return detail::edges_of(state_);
}

void GraphDefinition::add_edges(std::span<const GraphEdge> edges) const {
    detail::change_edges(detail::open(state_), edges, detail::EdgeChange::Add);
}

void GraphDefinition::remove_edges(std::span<const GraphEdge> edges) const {
    detail::change_edges(detail::open(state_), edges, detail::EdgeChange::Remove);
}

void GraphDefinition::add_edge(const GraphNode& from, const GraphNode& to) const {
    detail::change_edges(detail::open(state_), {&from, 1}, {&to, 1}, detail::EdgeChange::Add);
}

void GraphDefinition::remove_edge(const GraphNode& from, const GraphNode& to) const {
    detail::change_edges(detail::open(state_), {&from, 1}, {&to, 1}, detail::EdgeChange::Remove);
}

GraphNode GraphDefinition::entry() const {
    return Access::make<GraphNode>(state_, nullptr);
}

GraphNode GraphDefinition::node_from_handle(CUgraphNode handle) const {
    GraphState& graph = detail::open(state_);
    if (handle == nullptr) {
        throw std::invalid_argument("handle is null, expected a node");
    }
    return detail::to_node(state_, detail::node_state(graph, handle));
}

GraphDefinition GraphDefinition::clone() const {
    GraphState& graph = detail::open(state_);
    detail::PayloadShare everything = detail::everything_in(graph);
    CUgraph copy = nullptr;
    const auto& clone_graph = table().cuGraphClone;
    if (const CUresult status = clone_graph(&copy, graph.handle); status != CUDA_SUCCESS) {
        driver::raise(status, clone_graph.name,
                      "the graph cannot be cloned; the driver clones no graphs that allocate or "
                      "free memory or have conditional nodes");
    }
    GraphShare made = detail::own_graph(copy, graph.root->home);
    if (!detail::adopt_payloads(made, graph)) {
        detail::keep_in(*made, std::move(everything));
    }
    return GraphDefinition(std::move(made));
}

GraphNode GraphDefinition::find_clone(const GraphNode& original) const {
    GraphState& graph = detail::open(state_);
    const detail::NodeState& node = detail::open(original, "GraphNode");
    CUgraphNode twin = nullptr;
    const auto& find = table().cuGraphNodeFindInClone;
    if (const CUresult status = find(&twin, node.handle, graph.handle); status != CUDA_SUCCESS) {
        driver::raise(status, find.name,
                      "no node of this graph comes from " + detail::describe(node) +
                          "; it was destroyed, or the graph is no clone of the node's graph");
    }
    return detail::to_node(state_, detail::node_state(graph, twin));
}

GraphCondition GraphDefinition::create_condition(std::optional<unsigned> default_value) const {
    GraphState& graph = detail::open(state_);
    return detail::make_condition(graph, detail::context_for_node(graph), default_value);
}

void GraphDefinition::keep_alive(std::shared_ptr<void> object) const {
    detail::keep_in(detail::open(state_), detail::Payload::of(std::move(object)));
}

Graph GraphDefinition::instantiate(const GraphCompleteOptions& options) const {
    return detail::instantiate(state_, options);
}

void GraphDefinition::debug_dot_print(const std::filesystem::path& path,
                                      const GraphDebugPrintOptions& options) const {
    const GraphState& graph = detail::open(state_);
    const auto& print = table().cuGraphDebugDotPrint;
    const CUresult status = print(graph.handle, path.c_str(), detail::debug_flags(options));
    if (status != CUDA_SUCCESS) {
        driver::raise(status, print.name,
                      "the driver cannot write the graph to " +
                          detail::quoted(std::string_view(path.native())) +
                          "; the folder must exist and be writable");
    }
}

unsigned detail::debug_flags(const GraphDebugPrintOptions& options) noexcept {
    using Flag = std::pair<bool, CUgraphDebugDot_flags>;
    const std::array flags{
        Flag(options.verbose, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE),
        Flag(options.runtime_types, CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES),
        Flag(options.kernel_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS),
        Flag(options.memcpy_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS),
        Flag(options.memset_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS),
        Flag(options.host_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS),
        Flag(options.event_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS),
        Flag(options.ext_semas_signal_node_params,
             CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_SIGNAL_NODE_PARAMS),
        Flag(options.ext_semas_wait_node_params,
             CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_WAIT_NODE_PARAMS),
        Flag(options.kernel_node_attributes, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES),
        Flag(options.handles, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES),
        Flag(options.mem_alloc_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS),
        Flag(options.mem_free_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS),
        Flag(options.batch_mem_op_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS),
        Flag(options.extra_topo_info, CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO),
        Flag(options.conditional_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS),
    };
    unsigned combined = 0;
    for (const auto& [is_set, flag] : flags) {
        combined |= is_set ? static_cast<unsigned>(flag) : 0U;
    }
    return combined;
}

std::string to_string(const GraphDefinition& graph) {
    const auto& state = Access::state(graph);
    if (state == nullptr) {
        return "<GraphDefinition closed>";
    }
    return "<GraphDefinition handle=" + detail::hexadecimal(state->handle) + ">";
}

} // namespace cuprum
