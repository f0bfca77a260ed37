// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/graph/graph_builder.hpp>

#include "driver/call.hpp"
#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "driver/deferred_release.hpp"
#include "driver/explanations.hpp"
#include "driver/handle.hpp"
#include "graph/builder_state.hpp"
#include "graph/graph_state.hpp"
#include "graph/payload.hpp"
#include "stream/stream_state.hpp"
#include "support/text.hpp"

#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using detail::BuilderState;
using detail::Capture;
using driver::table;

CUstreamCaptureMode to_driver(CaptureMode mode) {
    switch (mode) {
    case CaptureMode::Global:
        return CU_STREAM_CAPTURE_MODE_GLOBAL;
    case CaptureMode::ThreadLocal:
        return CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    case CaptureMode::Relaxed:
        return CU_STREAM_CAPTURE_MODE_RELAXED;
    }
    throw std::invalid_argument("mode is " + std::to_string(static_cast<int>(mode)) +
                                ", expected CaptureMode::Global, ThreadLocal or Relaxed");
}

[[noreturn]] void raise_begin_failure(CUresult status, const BuilderState& builder,
                                      const char* call) {
    const detail::StreamState& queue = detail::open(builder.stream);
    std::string text = detail::name_of(builder) + " cannot begin: ";
    if (driver::is_legacy_default_stream(queue.handle)) {
        text += "the legacy default stream cannot be captured; create the builder from a device or "
                "from another stream";
    } else if (driver::query_capture(queue.handle).is_capturing()) {
        const auto other = detail::find_capture(queue);
        text += other != nullptr ? "GraphBuilder " + std::to_string(other->builder) +
                                       " captures this stream; end that capture first"
                                 : std::string("another library captures this stream; end that "
                                               "capture first");
    } else {
        text += driver::explanation_of(status);
    }
    driver::raise(status, call, text);
}

[[noreturn]] void raise_wrong_thread(const BuilderState& builder) {
    throw CUDAError(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, table().cuStreamEndCapture.name,
                    detail::name_of(builder) + " began in mode " +
                        std::string(to_string(builder.capture->mode)) +
                        " on another thread, which has to end it; captures in mode relaxed end on "
                        "any thread");
}

/// Gives up a graph that a failed call damaged, and throws.
[[noreturn]] void refuse_damaged(const BuilderState& builder, Capture& capture, CUgraph handle,
                                 detail::GraphDamage damage) {
    detail::lose_graph(capture);
    // NOTE: a graph without one of its bodies is leaked. The driver would crash.
    if (damage != detail::GraphDamage::LostBody) {
        driver::release_now("graph of a failed capture", table().cuGraphDestroy, handle);
    }
    throw CUDAError(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, table().cuStreamEndCapture.name,
                    "the graph of " + detail::name_of(builder) + " cannot be used: " +
                        to_string(damage) + "; capture the whole graph again");
}

void check_forks(const BuilderState& builder, Capture& capture) {
    const std::lock_guard lock(capture.mutex);
    if (capture.forks.empty()) {
        return;
    }
    std::string names;
    bool is_any_dropped = false;
    for (const auto& [id, fork] : capture.forks) {
        names += (names.empty() ? "GraphBuilder " : ", GraphBuilder ") + std::to_string(id) +
                 (fork.is_dropped ? " (dropped)" : "");
        is_any_dropped = is_any_dropped || fork.is_dropped;
    }
    throw std::logic_error(
        detail::name_of(builder) +
        " cannot end: builders that were split off are not joined: " + names +
        (is_any_dropped ? "; a dropped one cannot be joined any more: close this builder and "
                          "capture again"
                        : "; join them with join() of GraphBuilder first"));
}

void check_joinable(std::span<const GraphBuilder> builders, const GraphBuilder& root) {
    const BuilderState& first = detail::building(root);
    std::set<std::uint64_t> seen;
    for (const GraphBuilder& each : builders) {
        const BuilderState& builder = detail::building(each);
        if (!seen.insert(builder.id).second) {
            throw std::invalid_argument("builders has " + detail::name_of(builder) +
                                        " twice, expected different builders");
        }
        if (builder.capture != first.capture) {
            throw std::invalid_argument(
                detail::name_of(builder) + " captures into the graph of GraphBuilder " +
                std::to_string(builder.capture->builder) + ", expected that of GraphBuilder " +
                std::to_string(first.capture->builder) +
                ": only builders that were split off each other can be joined; use embed() to "
                "put one graph into another");
        }
    }
}

} // namespace

GraphBuilder GraphBuilder::create(const Stream& stream) {
    static_cast<void>(detail::open(stream));
    return detail::make_builder(GraphBuilderKind::Primary, stream, 0);
}

GraphBuilder Stream::create_graph_builder() const {
    return GraphBuilder::create(*this);
}

GraphBuilder Device::create_graph_builder() const {
    return GraphBuilder::create(create_stream());
}

GraphBuilder& GraphBuilder::begin_building(CaptureMode mode) {
    BuilderState& builder = detail::unclosed(*this);
    const CUstreamCaptureMode driver_mode = to_driver(mode);
    if (builder.kind == GraphBuilderKind::Forked || phase() != GraphBuilderPhase::NotStarted) {
        throw std::logic_error(
            phase() == GraphBuilderPhase::Building
                ? detail::name_of(builder) + " is building already; call end_building() first"
                : detail::name_of(builder) +
                      " has ended and cannot go on building; create another builder");
    }
    detail::StreamState& queue = detail::open(builder.stream);
    if (driver::is_legacy_default_stream(queue.handle)) {
        raise_begin_failure(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, builder,
                            table().cuStreamBeginCapture.name);
    }
    // NOTE: asked before, so that a capture that is active is not disturbed.
    if (detail::can_be_capturing(queue) &&
        driver::capture_status(queue.handle) != CU_STREAM_CAPTURE_STATUS_NONE) {
        raise_begin_failure(CUDA_ERROR_ILLEGAL_STATE, builder, table().cuStreamBeginCapture.name);
    }
    if (builder.kind == GraphBuilderKind::ConditionalBody) {
        static_cast<void>(detail::open(builder.graph)); // its node may be gone
    }
    auto capture = std::make_shared<Capture>(builder.id);
    capture->mode = mode;
    capture->stream = builder.stream;
    capture->thread = std::this_thread::get_id();
    capture->faults_before = driver::capture_fault_count();
    capture->graph = builder.graph;
    detail::enlist_capture(builder.stream, capture);
    const auto& begin = table().cuStreamBeginCapture;
    const auto& begin_in = table().cuStreamBeginCaptureToGraph;
    const CUresult status = builder.graph == nullptr ? begin(queue.handle, driver_mode)
                                                     : begin_in(queue.handle, builder.graph->handle,
                                                                nullptr, nullptr, 0, driver_mode);
    if (status != CUDA_SUCCESS) {
        detail::delist_capture(queue.handle, *capture);
        raise_begin_failure(status, builder, builder.graph == nullptr ? begin.name : begin_in.name);
    }
    try {
        detail::number_capture(capture, detail::capture_info(builder.stream, *capture).number);
    } catch (...) {
        static_cast<void>(
            detail::abandon(builder.stream, *capture, builder.kind == GraphBuilderKind::Primary));
        throw;
    }
    builder.capture = std::move(capture);
    builder.phase.store(GraphBuilderPhase::Building, std::memory_order_relaxed);
    return *this;
}

bool GraphBuilder::is_building() const {
    const BuilderState& builder = detail::unclosed(*this);
    if (phase() != GraphBuilderPhase::Building) {
        return false;
    }
    const CUstreamCaptureStatus status = driver::capture_status(detail::handle_of(builder.stream));
    if (status == CU_STREAM_CAPTURE_STATUS_INVALIDATED) {
        detail::raise_invalidated(*builder.capture, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                                  table().cuStreamIsCapturing.name);
    }
    return status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

GraphBuilder& GraphBuilder::end_building() {
    BuilderState& builder = detail::building(*this);
    if (builder.kind == GraphBuilderKind::Forked) {
        throw std::logic_error(detail::name_of(builder) + " was split off GraphBuilder " +
                               std::to_string(builder.origin) +
                               " and cannot end the capture; join it with join() of GraphBuilder");
    }
    const std::shared_ptr<Capture> capture = builder.capture;
    check_forks(builder, *capture);
    const CUstream stream = detail::handle_of(builder.stream);
    const auto& end = table().cuStreamEndCapture;
    CUgraph handle = nullptr;
    CUresult status = end(stream, &handle);
    const bool is_wrong_thread = status == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    if (is_wrong_thread && driver::capture_status(stream) != CU_STREAM_CAPTURE_STATUS_NONE) {
        raise_wrong_thread(builder); // it goes on
    }
    // The capture is over now, with or without a graph.
    detail::delist_capture(stream, *capture);
    capture->is_over.store(true, std::memory_order_relaxed);
    builder.phase.store(GraphBuilderPhase::Ended, std::memory_order_relaxed);
    if (status == CUDA_SUCCESS && handle == nullptr) {
        status = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    if (status != CUDA_SUCCESS) {
        const bool is_primary = builder.kind == GraphBuilderKind::Primary;
        const bool is_destroyed = detail::damage_of(*capture) != detail::GraphDamage::LostBody;
        const bool has_graph = detail::end_failed_capture(stream, is_primary && is_destroyed);
        if (is_primary) {
            detail::lose_graph(*capture);
        } else if (!has_graph) {
            builder.graph->root->damage = detail::GraphDamage::LostBody;
        } else {
            detail::hand_over(*builder.graph, *capture); // the body keeps its nodes
        }
        if (is_wrong_thread) {
            raise_wrong_thread(builder);
        }
        detail::raise_invalidated(*capture, status, end.name);
    }
    if (builder.kind == GraphBuilderKind::Primary) {
        if (const auto damage = detail::damage_of(*capture); damage != detail::GraphDamage::None) {
            refuse_damaged(builder, *capture, handle, damage);
        }
        if (capture->graph != nullptr) {
            capture->graph->is_owned = true;
            builder.graph = std::move(capture->graph);
        } else {
            builder.graph = detail::own_graph(handle, detail::open(builder.stream).context);
        }
    }
    try {
        detail::hand_over(*builder.graph, *capture);
    } catch (...) {
        // The graph would use what it does not keep alive.
        if (builder.kind == GraphBuilderKind::Primary) {
            builder.graph.reset();
        }
        throw;
    }
    builder.capture.reset();
    detail::release_deferred();
    return *this;
}

Graph GraphBuilder::complete(const GraphCompleteOptions& options) const {
    return graph_definition().instantiate(options);
}

GraphDefinition GraphBuilder::graph_definition() const {
    const BuilderState& builder = detail::unclosed(*this);
    if (builder.kind == GraphBuilderKind::Forked) {
        throw std::logic_error(detail::name_of(builder) +
                               " is forked and shares the graph of GraphBuilder " +
                               std::to_string(builder.origin) + "; ask that one");
    }
    if (phase() == GraphBuilderPhase::Building) {
        throw std::logic_error(detail::name_of(builder) +
                               " has not finished building: the capture is in progress; call "
                               "end_building() first");
    }
    if (builder.graph == nullptr) {
        throw std::logic_error(
            detail::name_of(builder) +
            (phase() == GraphBuilderPhase::NotStarted
                 ? " has not finished building; there is no graph before begin_building() and "
                   "end_building()"
                 : " has no graph: its capture failed; create another builder and capture again"));
    }
    return detail::Access::make<GraphDefinition>(builder.graph);
}

void GraphBuilder::debug_dot_print(const std::filesystem::path& path,
                                   const GraphDebugPrintOptions& options) const {
    graph_definition().debug_dot_print(path, options);
}

GraphBuilderPhase GraphBuilder::phase() const noexcept {
    return state_ != nullptr ? detail::phase_of(*state_) : GraphBuilderPhase::Closed;
}

void GraphBuilder::close() {
    if (is_closed()) {
        return;
    }
    BuilderState& builder = *state_;
    CUresult status = CUDA_SUCCESS;
    if (detail::phase_of(builder) == GraphBuilderPhase::Building) {
        Capture& capture = *builder.capture;
        if (builder.kind == GraphBuilderKind::Forked) {
            detail::drop_fork(capture, builder.id);
        } else {
            status =
                detail::abandon(builder.stream, capture, builder.kind == GraphBuilderKind::Primary);
        }
    }
    if (status == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) {
        raise_wrong_thread(builder);
    }
    builder.phase.store(GraphBuilderPhase::Closed, std::memory_order_relaxed);
    builder.capture.reset();
    builder.graph.reset();
    builder.stream.close();
    detail::release_deferred();
    if (status != CUDA_SUCCESS) {
        driver::raise(status, table().cuStreamEndCapture.name);
    }
}

std::vector<GraphBuilder> GraphBuilder::split(std::size_t count) {
    if (count < 2) {
        throw std::invalid_argument("count is " + std::to_string(count) +
                                    ", expected at least 2: the builder itself and a new one");
    }
    BuilderState& builder = detail::building(*this);
    Capture& capture = *builder.capture;
    std::vector<GraphBuilder> all{*this};
    all.reserve(count);
    const Event point = builder.stream.record();
    while (all.size() < count) {
        GraphBuilder fork = detail::make_builder(GraphBuilderKind::Forked,
                                                 detail::stream_beside(builder.stream), builder.id);
        BuilderState& state = *fork.state_;
        const CUstream stream = detail::handle_of(state.stream);
        {
            const std::lock_guard lock(capture.mutex);
            capture.forks.try_emplace(state.id, Capture::Fork{state.stream});
        }
        try {
            detail::enlist_capture(state.stream, builder.capture);
            state.stream.wait(point); // makes it part of the capture
        } catch (...) {
            detail::delist_capture(stream, capture);
            const std::lock_guard lock(capture.mutex);
            capture.forks.erase(state.id);
            throw; // NOTE: forks made before stay on the list as dropped ones
        }
        state.capture = builder.capture;
        state.phase.store(GraphBuilderPhase::Building, std::memory_order_relaxed);
        all.push_back(std::move(fork));
    }
    return all;
}

GraphBuilder GraphBuilder::join(std::span<const GraphBuilder> builders) {
    if (builders.size() < 2) {
        throw std::invalid_argument("builders has " + std::to_string(builders.size()) +
                                    ", expected at least two builders to join");
    }
    const auto not_forked = std::ranges::find_if(
        builders, [](const GraphBuilder& builder) { return !builder.is_join_required(); });
    const GraphBuilder root = not_forked != builders.end() ? *not_forked : builders.front();
    check_joinable(builders, root);
    Capture& capture = *root.state_->capture;
    for (GraphBuilder other : builders) {
        if (other == root) {
            continue;
        }
        BuilderState& fork = *other.state_;
        root.state_->stream.wait(fork.stream);
        detail::delist_capture(detail::handle_of(fork.stream), capture);
        {
            const std::lock_guard lock(capture.mutex);
            capture.forks.erase(fork.id); // the builder still holds the stream
        }
        fork.capture.reset();
        fork.phase.store(GraphBuilderPhase::Closed, std::memory_order_relaxed);
        fork.stream.close();
    }
    return root;
}

Stream GraphBuilder::stream() const {
    return detail::unclosed(*this).stream;
}

GraphBuilder::operator const Stream&() const {
    return detail::building(*this).stream;
}

bool GraphBuilder::is_join_required() const {
    return kind() == GraphBuilderKind::Forked;
}

GraphBuilderKind GraphBuilder::kind() const {
    return detail::unclosed(*this).kind;
}

std::uint64_t GraphBuilder::id() const noexcept {
    return state_ != nullptr ? state_->id : 0;
}

std::string to_string(const GraphBuilder& builder) {
    const auto& state = detail::Access::state(builder);
    if (state == nullptr) {
        return "<GraphBuilder closed>";
    }
    return "<" + detail::name_of(*state) + " " + std::string(to_string(state->kind)) +
           (state->origin != 0 ? " of " + std::to_string(state->origin) : "") + ", " +
           std::string(to_string(builder.phase())) + ">";
}

std::string_view to_string(CaptureMode mode) noexcept {
    return detail::enumerator_text<CaptureMode::Relaxed>(mode,
                                                         {"global", "thread_local", "relaxed"});
}

std::string_view to_string(GraphBuilderKind kind) noexcept {
    return detail::enumerator_text<GraphBuilderKind::ConditionalBody>(
        kind, {"primary", "fork", "conditional body"});
}

std::string_view to_string(GraphBuilderPhase phase) noexcept {
    return detail::enumerator_text<GraphBuilderPhase::Closed>(
        phase, {"not started", "building", "ended", "closed"});
}

CaptureGuard::CaptureGuard(const Stream& stream, CaptureMode mode)
    : builder_(GraphBuilder::create(stream)) {
    builder_.begin_building(mode);
}

CaptureGuard::~CaptureGuard() {
    try {
        builder_.close();
    } catch (...) {
        driver::report_release_failure("stream capture");
    }
}

GraphDefinition CaptureGuard::end() {
    return builder_.end_building().graph_definition();
}

// What a builder captures that is not plain work on a stream: conditional nodes, graphs, callbacks.
//
// The driver adds a node to the graph that is being captured, behind what the stream depends on,
// and the stream then depends on the new node alone. Edges are full dependencies, also where the
// last kernel would allow an early start.

namespace {

using detail::BuilderState;
using driver::table;

/// Returns the graph that a stream is captured into, as a state that can be shared.
detail::GraphShare captured_graph(const Stream& stream, detail::Capture& capture, CUgraph handle) {
    const std::lock_guard lock(capture.mutex);
    if (capture.graph == nullptr) {
        capture.graph = detail::view_graph(handle, {}, detail::open(stream).context);
    }
    return capture.graph;
}

/// Removes a node that was just added.
void remove_node(detail::GraphState& graph, detail::NodeState& node) noexcept {
    const auto& destroy = table().cuGraphDestroyNode;
    const CUresult status = destroy(node.handle);
    if (status == CUDA_ERROR_ILLEGAL_STATE) { // drivers refuse this during a capture
        graph.root->damage = detail::GraphDamage::StrayNode;
    } else if (status != CUDA_SUCCESS) {
        driver::report_release_failure("node of a graph", destroy.name, status);
    }
    detail::forget_node(graph, node);
}

/// Makes later work of a builder depend on one node.
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

/// Captures a call of a function that a Payload owns.
void capture_call(const Stream& stream, detail::Capture& capture, CUgraph handle,
                  detail::PayloadShare payload, const CUDA_HOST_NODE_PARAMS& called) {
    const detail::StreamState& queue = detail::open(stream);
    const detail::GraphShare graph = captured_graph(stream, capture, handle);
    detail::PreparedNode made(*graph);
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
                  std::move(payload));
        detail::give_up_in(*graph, called_by_node);
    }
}

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

} // namespace cuprum
