// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder_state.hpp"

#include "driver/call.hpp"
#include "driver/capture.hpp"
#include "driver/deferred_release.hpp"
#include "driver/explanations.hpp"
#include "stream/stream_state.hpp"

#include <cuprum/error.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum::detail {

namespace {

/// Ends all captures of bodies below the graph of a capture. Returns false if one goes on, because
/// another thread has to end it.
bool end_bodies(const Capture& capture) {
    if (capture.graph == nullptr) {
        return true; // nothing is below it
    }
    bool are_over = true;
    for (const std::shared_ptr<CaptureRecord>& listed : listed_captures()) {
        auto& body = static_cast<Capture&>(*listed);
        if (&body != &capture && body.graph != nullptr && body.graph->root == capture.graph->root) {
            static_cast<void>(abandon(*body.stream, body, false));
            are_over = are_over && body.is_over.load(std::memory_order_relaxed);
        }
    }
    return are_over;
}

/// Lets a body whose capture is given up keep alive what its nodes use: the nodes stay.
void keep_for_body(Capture& capture) noexcept {
    if (capture.graph == nullptr || capture.graph->handle == nullptr ||
        damage_of(capture) == GraphDamage::LostBody) {
        return;
    }
    try {
        hand_over(*capture.graph, capture);
    } catch (...) { // the nodes would use what nobody keeps alive
        capture.graph->root->damage = GraphDamage::StrayNode;
    }
}

} // namespace

BuilderState::~BuilderState() {
    if (phase_of(*this) != GraphBuilderPhase::Building || capture == nullptr ||
        driver::is_leaving()) {
        return;
    }
    if (kind == GraphBuilderKind::Forked) {
        drop_fork(*capture, id);
        return;
    }
    const bool is_primary = kind == GraphBuilderKind::Primary;
    const auto end = [queue = stream, ended = capture, is_primary](void*) noexcept {
        const CUresult status = abandon(queue, *ended, is_primary);
        if (status != CUDA_SUCCESS) {
            driver::report_release_failure("stream capture",
                                           driver::table().cuStreamEndCapture.name, status);
        }
    };
    if (!runs_host_function()) {
        end(nullptr);
        return;
    }
    try {
        defer_release(std::shared_ptr<void>(nullptr, end));
    } catch (...) {
        driver::report_release_failure("stream capture");
    }
}

void drop_fork(Capture& capture, std::uint64_t builder) noexcept {
    const std::lock_guard lock(capture.mutex);
    if (const auto fork = capture.forks.find(builder); fork != capture.forks.end()) {
        fork->second.is_dropped = true;
    }
}

std::string name_of(const BuilderState& builder) {
    return "GraphBuilder " + std::to_string(builder.id);
}

GraphBuilderPhase phase_of(const BuilderState& builder) noexcept {
    const GraphBuilderPhase phase = builder.phase.load(std::memory_order_relaxed);
    // A fork does not notice by itself that its capture is over.
    if (phase == GraphBuilderPhase::Building && builder.capture != nullptr &&
        builder.capture->is_over.load(std::memory_order_relaxed)) {
        return GraphBuilderPhase::Ended;
    }
    return phase;
}

BuilderState& unclosed(const GraphBuilder& builder) {
    const auto& state = Access::state(builder);
    if (state == nullptr) {
        throw ClosedError("GraphBuilder");
    }
    if (state->phase.load(std::memory_order_relaxed) == GraphBuilderPhase::Closed) {
        throw ClosedError(name_of(*state));
    }
    return *state;
}

BuilderState& building(const GraphBuilder& builder) {
    BuilderState& state = unclosed(builder);
    const GraphBuilderPhase phase = phase_of(state);
    if (phase == GraphBuilderPhase::Building) {
        return state;
    }
    throw std::logic_error(name_of(state) +
                           (phase == GraphBuilderPhase::NotStarted
                                ? " is not building; call begin_building() first"
                            : state.kind == GraphBuilderKind::Forked
                                ? " is not building: the capture of GraphBuilder " +
                                      std::to_string(state.origin) + ", which it forked from, ended"
                                : " is not building: it has ended; create another builder"));
}

CaptureInfo capture_info(const Stream& stream, const Capture& capture) {
    const auto& query = driver::table().cuStreamGetCaptureInfo;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t number = 0;
    CUgraph graph = nullptr;
    const CUgraphNode* nodes = nullptr;
    // NOTE: the driver refuses to leave out the data of edges that have some.
    const CUgraphEdgeData* edges = nullptr;
    std::size_t count = 0;
    driver::call(query, handle_of(stream), &status, &number, &graph, &nodes, &edges, &count);
    if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        raise_invalidated(capture, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, query.name);
    }
    return {number, graph, {nodes, count}};
}

void raise_invalidated(const Capture& capture, CUresult status, const char* call) {
    std::string text = "the capture of GraphBuilder " + std::to_string(capture.builder);
    if (status == CUDA_ERROR_STREAM_CAPTURE_UNJOINED) {
        text +=
            " has work on another stream that was not joined back, and is lost; record an event "
            "on that stream and wait for it on the builder, then end";
    } else if (status != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) {
        text += " failed and is lost: " + driver::explanation_of(status);
    } else {
        const auto fault = driver::capture_fault_since(capture.faults_before);
        text += fault.has_value()
                    ? " was invalidated; the last call that a capture does not allow was " +
                          fault->call + " (" + driver::name_of(fault->status) + ")"
                    : std::string(" was invalidated by a call that this library did not make");
        text += "; end it, leave that call out or begin in mode relaxed, and capture again";
    }
    driver::raise(status, call, text);
}

Stream stream_beside(const Stream& stream) {
    return Stream::create(stream.context(), {.priority = stream.priority()});
}

GraphBuilder make_builder(GraphBuilderKind kind, Stream stream, std::uint64_t origin) {
    static std::atomic<std::uint64_t> last{0};
    auto state = std::make_shared<BuilderState>(std::move(stream));
    state->id = last.fetch_add(1, std::memory_order_relaxed) + 1;
    state->kind = kind;
    state->origin = origin;
    return Access::make<GraphBuilder>(std::move(state));
}

GraphDamage damage_of(const Capture& capture) noexcept {
    return capture.graph != nullptr ? capture.graph->root->damage : GraphDamage::None;
}

void hand_over(GraphState& graph, Capture& capture) {
    std::vector<std::shared_ptr<void>> kept = capture.take();
    if (kept.empty()) {
        return;
    }
    // The same kernels and buffers are often used many times. Two owners can have one address.
    const std::owner_less<> is_before;
    std::ranges::sort(kept, is_before);
    const auto repeated = std::ranges::unique(kept, [&](const auto& one, const auto& other) {
        return !is_before(one, other) && !is_before(other, one);
    });
    kept.erase(repeated.begin(), repeated.end());
    PayloadShare payload = Payload::make(kept.size());
    std::ranges::move(kept, payload->owners().begin());
    keep_in(graph, std::move(payload));
}

void lose_graph(Capture& capture) noexcept {
    if (capture.graph == nullptr) {
        return;
    }
    GraphState& graph = *capture.graph;
    const std::vector<NodeShare> nodes =
        graph.nodes.shares_of([](const NodeState& /*node*/) { return true; });
    for (const NodeShare& node : nodes) {
        forget_node(graph, *node);
    }
    graph.kept.clear();
    graph.handle = nullptr;
}

bool end_failed_capture(CUstream stream, bool is_graph_owned) noexcept {
    CUgraph graph = nullptr;
    if (driver::query_capture(stream).capture == CU_STREAM_CAPTURE_STATUS_NONE ||
        driver::table().cuStreamEndCapture(stream, &graph) != CUDA_SUCCESS || graph == nullptr) {
        return false;
    }
    if (is_graph_owned) {
        driver::release_now("graph of a failed capture", driver::table().cuGraphDestroy, graph);
    }
    return true;
}

CUresult abandon(const Stream& stream, Capture& capture, bool is_graph_owned) noexcept {
    try {
        const StreamState& queue = *Access::state(stream);
        // NOTE: a graph that a body is captured into is leaked. The driver would crash.
        const bool is_destroyed =
            is_graph_owned && end_bodies(capture) && damage_of(capture) != GraphDamage::LostBody;
        CUgraph graph = nullptr;
        CUresult status = CUDA_SUCCESS;
        if (!queue.is_lost()) { // else a reset of the device ended the capture with the stream
            status = driver::table().cuStreamEndCapture(queue.handle, &graph);
            if (status == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD &&
                driver::query_capture(queue.handle).is_capturing()) {
                return status; // it goes on
            }
            if (status != CUDA_SUCCESS) {
                const bool has_graph = end_failed_capture(queue.handle, is_destroyed);
                if (!has_graph && !is_graph_owned && capture.graph != nullptr) {
                    capture.graph->root->damage = GraphDamage::LostBody;
                }
            }
            if (!is_graph_owned) {
                keep_for_body(capture);
            }
        }
        std::map<std::uint64_t, Capture::Fork>
            forks; // destroyed without the lock: that destroys streams
        {
            const std::lock_guard lock(capture.mutex);
            forks.swap(capture.forks);
        }
        delist_capture(queue.handle, capture);
        for (const auto& [builder, fork] : forks) {
            delist_capture(Access::state(fork.stream)->handle, capture);
        }
        capture.is_over.store(true, std::memory_order_relaxed);
        if (is_graph_owned) {
            lose_graph(capture);
            if (status == CUDA_SUCCESS && graph != nullptr && is_destroyed) {
                driver::release_now("graph of an abandoned capture", driver::table().cuGraphDestroy,
                                    graph);
            }
        }
        // Forks that are not joined, and calls that invalidated the capture, do not matter now.
        return driver::is_capture_fault(status) || status == CUDA_ERROR_DEINITIALIZED ? CUDA_SUCCESS
                                                                                      : status;
    } catch (...) {
        return CUDA_ERROR_UNKNOWN;
    }
}

} // namespace cuprum::detail
