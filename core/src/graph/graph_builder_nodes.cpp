// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a builder captures that is not plain work on a stream: conditional nodes, graphs, callbacks.
//
// The driver adds a node to the graph that is being captured, behind what the stream depends on,
// and the stream then depends on the new node alone. Edges are full dependencies, also where the
// last kernel would allow an early start.

#include "driver/call.hpp"
#include "driver/handle.hpp"
#include "graph/builder_state.hpp"
#include "graph/graph_state.hpp"
#include "graph/payload.hpp"
#include "stream/stream_state.hpp"

#include <cuprum/graph/graph_builder.hpp>

#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using detail::BuilderState;
using driver::table;

/// Returns the graph that a stream is captured into, as a state that can be shared.
detail::GraphShare captured_graph(const Stream& stream, detail::Capture& capture, CUgraph handle);
/// Removes a node that was just added.
void remove_node(detail::GraphState& graph, detail::NodeState& node) noexcept;
/// Makes later work of a builder depend on one node.
void continue_after(const BuilderState& builder, CUgraphNode node);
std::vector<GraphBuilder> capture_conditional(const BuilderState& builder,
                                              const GraphCondition& condition,
                                              GraphConditionalType type, std::size_t count);
/// Captures a call of a function that a Payload owns.
void capture_call(const Stream& stream, detail::Capture& capture, CUgraph handle,
                  detail::PayloadShare payload, const CUDA_HOST_NODE_PARAMS& called);

} // namespace

GraphCondition GraphBuilder::create_condition(std::optional<unsigned> default_value) const {
    const BuilderState& builder = detail::building(*this);
    const detail::GraphShare graph =
        captured_graph(builder.stream, *builder.capture,
                       detail::capture_info(builder.stream, *builder.capture).graph);
    return detail::make_condition(*graph, detail::context_of(detail::open(builder.stream)),
                                  default_value);
}

GraphBuilder GraphBuilder::if_then(const GraphCondition& condition) {
    return capture_conditional(detail::building(*this), condition, GraphConditionalType::If, 1)
        .front();
}

std::pair<GraphBuilder, GraphBuilder> GraphBuilder::if_else(const GraphCondition& condition) {
    const std::vector<GraphBuilder> bodies =
        capture_conditional(detail::building(*this), condition, GraphConditionalType::If, 2);
    return {bodies[0], bodies[1]};
}

GraphBuilder GraphBuilder::while_loop(const GraphCondition& condition) {
    return capture_conditional(detail::building(*this), condition, GraphConditionalType::While, 1)
        .front();
}

std::vector<GraphBuilder> GraphBuilder::switch_cases(const GraphCondition& condition,
                                                     std::size_t count) {
    if (count == 0 || count > std::numeric_limits<unsigned>::max()) {
        throw std::invalid_argument("count is " + std::to_string(count) +
                                    ", expected the number of cases: 1 or more");
    }
    return capture_conditional(detail::building(*this), condition, GraphConditionalType::Switch,
                               count);
}

void GraphBuilder::embed(const GraphBuilder& child) {
    const BuilderState& source = detail::unclosed(child);
    if (child.phase() == GraphBuilderPhase::Building || source.graph == nullptr) {
        throw std::invalid_argument("child is " + to_string(child) +
                                    ", expected a builder that has ended and has a graph");
    }
    embed(child.graph_definition());
}

void GraphBuilder::embed(const GraphDefinition& child) {
    const BuilderState& builder = detail::building(*this);
    detail::GraphState& inner = detail::open(detail::Access::state(child));
    const detail::CaptureInfo info = detail::capture_info(builder.stream, *builder.capture);
    const detail::GraphShare graph = captured_graph(builder.stream, *builder.capture, info.graph);
    detail::PreparedNode made(*graph);
    detail::KeptForChild kept(*graph, inner);
    CUgraphNode handle = nullptr;
    driver::call(table().cuGraphAddChildGraphNode, &handle, info.graph, info.nodes.data(),
                 info.nodes.size(), inner.handle);
    const detail::NodeShare node = made.note(handle, GraphNodeType::Graph);
    kept.stay();
    try {
        if (detail::adopt_child(graph, *node, inner)) {
            kept.give_up();
        }
        continue_after(builder, handle);
    } catch (...) {
        remove_node(*graph, *node);
        throw;
    }
}

void GraphBuilder::callback(std::function<void()> function) {
    if (!function) {
        throw std::invalid_argument("function is empty, expected something to call");
    }
    const BuilderState& builder = detail::building(*this);
    builder.capture->capture_callback(builder.stream, std::move(function));
}

void GraphBuilder::callback(const HostFunctionParameters& parameters) {
    if (parameters.function == nullptr) {
        throw std::invalid_argument("function is null, expected the address of a function");
    }
    const BuilderState& builder = detail::building(*this);
    const CUgraph graph = detail::capture_info(builder.stream, *builder.capture).graph;
    CUDA_HOST_NODE_PARAMS called = {};
    auto payload = detail::callback_payload(parameters, called);
    capture_call(builder.stream, *builder.capture, graph, std::move(payload), called);
}

void detail::Capture::capture_callback(const Stream& queue, std::function<void()> function) {
    const CUgraph handle = capture_info(queue, *this).graph;
    CUDA_HOST_NODE_PARAMS called = {};
    auto payload = callback_payload(std::move(function), handle, called);
    capture_call(queue, *this, handle, std::move(payload), called);
}

void GraphBuilder::record(const Event& event, EventUse use) const {
    detail::building(*this).stream.record(event, use);
}

void GraphBuilder::wait(const Event& event, EventUse use) const {
    detail::building(*this).stream.wait(event, use);
}

void GraphBuilder::keep_alive(std::shared_ptr<void> object) const {
    if (phase() == GraphBuilderPhase::Building) {
        detail::building(*this).capture->retain(std::move(object));
    } else {
        graph_definition().keep_alive(std::move(object));
    }
}

std::vector<GraphNode> GraphBuilder::dependencies() const {
    const BuilderState& builder = detail::building(*this);
    const detail::CaptureInfo info = detail::capture_info(builder.stream, *builder.capture);
    // NOTE: copied, since the driver's list is valid only until the next call.
    const std::vector<CUgraphNode> handles(info.nodes.begin(), info.nodes.end());
    const detail::GraphShare graph = captured_graph(builder.stream, *builder.capture, info.graph);
    std::vector<GraphNode> nodes;
    nodes.reserve(handles.size());
    for (CUgraphNode const handle : handles) {
        nodes.push_back(detail::to_node(graph, detail::node_state(*graph, handle)));
    }
    return nodes;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

detail::GraphShare captured_graph(const Stream& stream, detail::Capture& capture, CUgraph handle) {
    const std::lock_guard lock(capture.mutex);
    if (capture.graph == nullptr) {
        capture.graph = detail::view_graph(handle, {}, detail::open(stream).context);
    }
    return capture.graph;
}

void remove_node(detail::GraphState& graph, detail::NodeState& node) noexcept {
    const auto& destroy = table().cuGraphDestroyNode;
    try {
        const CUresult status = destroy(node.handle);
        if (status == CUDA_ERROR_ILLEGAL_STATE) { // drivers refuse this during a capture
            graph.root->damage = detail::GraphDamage::StrayNode;
        } else if (status != CUDA_SUCCESS) {
            driver::report_release_failure("node of a graph", destroy.name, status);
        }
    } catch (...) { // the first call of an entry looks it up, which can fail
        driver::report_release_failure("node of a graph");
    }
    detail::forget_node(graph, node);
}

void continue_after(const BuilderState& builder, CUgraphNode node) {
    driver::call(table().cuStreamUpdateCaptureDependencies, detail::handle_of(builder.stream),
                 &node, static_cast<const CUgraphEdgeData*>(nullptr), std::size_t{1},
                 unsigned{CU_STREAM_SET_CAPTURE_DEPENDENCIES});
}

std::vector<GraphBuilder> capture_conditional(const BuilderState& builder,
                                              const GraphCondition& condition,
                                              GraphConditionalType type, std::size_t count) {
    std::vector<GraphBuilder> bodies;
    bodies.reserve(count);
    for (std::size_t i = 0; i < count; ++i) { // before the node, since it can fail
        bodies.push_back(detail::make_builder(GraphBuilderKind::ConditionalBody,
                                              detail::stream_beside(builder.stream), builder.id));
    }
    const detail::CaptureInfo info = detail::capture_info(builder.stream, *builder.capture);
    const detail::GraphShare graph = captured_graph(builder.stream, *builder.capture, info.graph);
    const detail::NodeShare node = detail::add_conditional(
        graph, detail::Dependencies(info.nodes), condition, type, static_cast<unsigned>(count),
        detail::context_of(detail::open(builder.stream)));
    try {
        continue_after(builder, node->handle);
    } catch (...) {
        remove_node(*graph, *node);
        throw;
    }
    const detail::NodeChildren& children = detail::children_of(graph, *node);
    for (std::size_t i = 0; i < count; ++i) {
        detail::Access::state(bodies[i])->graph =
            detail::GraphShare(graph, children.graphs.at(i)); // a share of the whole hierarchy
    }
    return bodies;
}

void capture_call(const Stream& stream, detail::Capture& capture, CUgraph handle,
                  detail::PayloadShare payload, const CUDA_HOST_NODE_PARAMS& called) {
    const detail::StreamState& queue = detail::open(stream);
    const detail::GraphShare graph = captured_graph(stream, capture, handle);
    detail::PreparedNode made(*graph);
    detail::RetainedPayload retained = detail::retain_if_exposed(*graph, payload);
    detail::keep_in(*graph, payload);
    const auto& call = table().cuLaunchHostFunc;
    if (const CUresult status = call(queue.handle, called.fn, called.userData);
        status != CUDA_SUCCESS) {
        detail::give_up_in(*graph, payload.get());
        driver::raise(status, call.name);
    }
    // The node exists: whatever happens now, the graph keeps what it calls.
    const detail::CaptureInfo info = detail::capture_info(stream, capture);
    if (info.nodes.size() == 1) {
        const detail::Payload* const called_by_node = payload.get();
        made.note(info.nodes.front(), GraphNodeType::Host, detail::context_of(queue),
                  std::move(payload), retained.commit());
        detail::give_up_in(*graph, called_by_node);
    }
}

} // namespace

} // namespace cuprum
