// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/capture.hpp"

#include "objects/devices/context.hpp"
#include "objects/graphs/memory_nodes.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"
#include "objects/streams/event.hpp"
#include "objects/streams/stream.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

namespace cuprum::emulator {

namespace {

std::mutex mutex; // of every capture, and of Stream::capture and Event::point
std::atomic<std::size_t> active_count{0};
std::uint64_t next_id = 1;

std::map<const Capture*, std::shared_ptr<Capture>>& active() {
    static auto* captures = new std::map<const Capture*, std::shared_ptr<Capture>>;
    return *captures;
}

void unite(Capture::Dependencies& into, const Capture::Dependencies& more) {
    for (const auto& dependency : more) {
        if (std::ranges::find(into, dependency.node, &Capture::Dependency::node) == into.end()) {
            into.push_back(dependency);
        }
    }
}

/// Returns what is left of nodes in their graph: the program may have removed some.
std::vector<GraphEdge> edges_of(const Capture::Dependencies& dependencies) {
    std::vector<GraphEdge> edges;
    for (const auto& [node, data] : dependencies) {
        if (node->is_alive()) {
            edges.push_back({node.get(), data});
        }
    }
    return edges;
}

} // namespace

bool Capture::is_any() noexcept {
    return active_count.load(std::memory_order_relaxed) != 0;
}

void Capture::begin(const std::shared_ptr<Stream>& origin, CUstreamCaptureMode mode,
                    std::shared_ptr<Graph> graph, Dependencies dependencies) {
    const std::lock_guard lock(mutex);
    if (origin->capture() != nullptr) {
        fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is capturing already");
    }
    std::shared_ptr<Capture> capture(new Capture);
    capture->id_ = next_id++;
    capture->mode_ = mode;
    capture->thread_ = std::this_thread::get_id();
    capture->origin_ = origin.get();
    capture->owns_graph_ = graph == nullptr;
    capture->graph_ = graph != nullptr ? std::move(graph) : Graph::create();
    {
        const GraphLock graph_lock;
        capture->graph_->begin_capture();
    }
    capture->branches_[origin].next = std::move(dependencies);
    origin->set_capture(capture);
    active().emplace(capture.get(), capture);
    active_count.fetch_add(1);
}

std::shared_ptr<Graph> Capture::end(Stream& stream, bool is_wanted) {
    const std::lock_guard lock(mutex);
    const auto capture = stream.capture();
    if (capture == nullptr) {
        fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not capturing");
    }
    if (capture->origin_ != &stream) {
        capture->invalidate();
        fail(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
             "the capture did not begin on this stream: end it where it did");
    }
    const bool is_invalid = !capture->is_valid_;
    const bool is_unjoined = !capture->is_joined();
    const bool is_wrong_thread = capture->mode_ != CU_STREAM_CAPTURE_MODE_RELAXED &&
                                 capture->thread_ != std::this_thread::get_id();
    if (is_invalid || is_unjoined || is_wrong_thread || (!is_wanted && capture->owns_graph_)) {
        capture->drop();
    } else {
        capture->leave_streams();
    }
    if (is_invalid) {
        fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture was invalidated by an error");
    }
    if (is_unjoined) {
        fail(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
             "the work of another stream in the capture was not joined to this one: record an "
             "event there and wait for it here");
    }
    if (is_wrong_thread) {
        fail(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
             "the capture began on another thread; only a relaxed one may end here");
    }
    return capture->graph_;
}

bool Capture::take(Stream& stream, NodeParameters parameters, bool may_overlap) {
    const std::lock_guard lock(mutex);
    const auto capture = stream.capture();
    if (capture == nullptr) {
        return false;
    }
    check_active(*capture);
    capture->add(stream, std::move(parameters), may_overlap);
    return true;
}

CUdeviceptr Capture::take_allocation(Stream& stream, const CUDA_MEM_ALLOC_NODE_PARAMS& request) {
    const std::lock_guard lock(mutex);
    const auto capture = stream.capture();
    if (capture == nullptr) {
        return 0;
    }
    check_active(*capture);
    const GraphLock graph_lock;
    Branch& branch = capture->branches_.at(stream.shared_from_this());
    const auto node = add_allocation(*capture->graph_, request, edges_of(branch.next));
    branch.next = {{node, {}}};
    return node->get<AllocParameters>().request.dptr;
}

bool Capture::take_free(Stream& stream, CUdeviceptr address) {
    const std::lock_guard lock(mutex);
    const auto capture = stream.capture();
    if (capture == nullptr) {
        return false;
    }
    check_active(*capture);
    const GraphLock graph_lock;
    Branch& branch = capture->branches_.at(stream.shared_from_this());
    branch.next = {{add_free(*capture->graph_, address, edges_of(branch.next)), {}}};
    return true;
}

void Capture::refuse_operation(Stream& stream) {
    refuse_on(stream, "this work cannot be captured: graphs have no node for it");
}

void Capture::leave_point(Event& event) {
    if (event.may_be_captured()) {
        const std::lock_guard lock(mutex);
        event.set_point({});
    }
}

bool Capture::take_record(Stream& stream, Event& event, bool is_external) {
    if (!stream.may_be_capturing() && !event.may_be_captured()) {
        require(!is_external, "CU_EVENT_RECORD_EXTERNAL is for streams that are capturing");
        return false;
    }
    const std::lock_guard lock(mutex);
    const auto capture = stream.capture();
    if (capture == nullptr) {
        require(!is_external, "CU_EVENT_RECORD_EXTERNAL is for streams that are capturing");
        event.set_point({});
        return false;
    }
    check_active(*capture);
    if (is_external) {
        capture->add(stream, RecordParameters{event.shared_from_this()});
    } else {
        event.set_point({capture, capture->branches_.at(stream.shared_from_this()).next});
    }
    return true;
}

bool Capture::take_wait(Stream& stream, const Event& event, bool is_external) {
    if (!stream.may_be_capturing() && !event.may_be_captured()) {
        require(!is_external, "CU_EVENT_WAIT_EXTERNAL is for streams that are capturing");
        return false;
    }
    const std::lock_guard lock(mutex);
    const auto capture = stream.capture();
    const Point& point = event.point();
    if (capture != nullptr) {
        check_active(*capture);
        if (is_external) {
            // NOTE: the event itself does not change; nodes keep what they use.
            capture->add(stream, WaitParameters{const_cast<Event&>(event).shared_from_this()});
            return true;
        }
        if (point.capture == nullptr || point.capture->is_over_) {
            capture->invalidate();
            fail(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                 "the event was not recorded inside the capture, so that waiting for it would "
                 "reach across the capture's boundary");
        }
        if (point.capture != capture) {
            capture->invalidate();
            point.capture->invalidate();
            fail(CUDA_ERROR_STREAM_CAPTURE_MERGE,
                 "waiting for the event would merge two captures into one");
        }
        unite(capture->branches_.at(stream.shared_from_this()).next, point.nodes);
        return true;
    }
    require(!is_external, "CU_EVENT_WAIT_EXTERNAL is for streams that are capturing");
    if (point.capture == nullptr) {
        return false;
    }
    require(!point.capture->is_over_ && point.capture->is_valid_,
            "the event was last recorded inside a capture that is over or invalid");
    if (stream.kind() == Stream::Kind::Legacy) {
        point.capture->invalidate();
        fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
             "the legacy default stream cannot become part of a capture");
    }
    // A stream that waits for captured work is captured itself from here on.
    point.capture->branches_[stream.shared_from_this()].next = point.nodes;
    stream.set_capture(point.capture);
    return true;
}

Capture::Info Capture::info(Stream& stream) {
    Info info;
    const std::lock_guard lock(mutex);
    const auto capture = stream.capture();
    if (capture == nullptr) {
        return info;
    }
    info.status =
        capture->is_valid_ ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    info.id = capture->id_;
    info.graph = capture->graph_->handle<CUgraph>();
    Branch& branch = capture->branches_.at(stream.shared_from_this());
    branch.handles.clear();
    branch.edges.clear();
    for (const GraphEdge& edge : edges_of(branch.next)) {
        branch.handles.push_back(edge.node->handle<CUgraphNode>());
        branch.edges.push_back(edge.data);
    }
    info.dependencies = &branch.handles;
    info.edges = &branch.edges;
    return info;
}

void Capture::update_dependencies(Stream& stream, const Dependencies& nodes, bool replaces) {
    const std::lock_guard lock(mutex);
    const auto capture = stream.capture();
    if (capture == nullptr) {
        fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not capturing");
    }
    check_active(*capture);
    for (const auto& [node, data] : nodes) {
        require(node->is_alive() && &node->graph() == capture->graph_.get(),
                "a node is of another graph");
    }
    Dependencies& next = capture->branches_.at(stream.shared_from_this()).next;
    if (replaces) {
        next.clear();
    }
    unite(next, nodes);
}

void Capture::refuse_on(Stream& stream, const char* what) {
    if (!stream.may_be_capturing()) [[likely]] {
        return;
    }
    const std::lock_guard lock(mutex);
    if (const auto capture = stream.capture()) {
        capture->invalidate();
        fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, what);
    }
}

void Capture::refuse_unsafe_call() {
    if (!is_any()) [[likely]] {
        return;
    }
    const CUstreamCaptureMode mode = thread_state().capture_mode;
    if (mode == CU_STREAM_CAPTURE_MODE_RELAXED) {
        return;
    }
    const std::lock_guard lock(mutex);
    bool is_refused = false;
    for (const auto& [key, capture] : active()) {
        const bool is_here = capture->thread_ == std::this_thread::get_id();
        const bool matters = is_here ? capture->mode_ != CU_STREAM_CAPTURE_MODE_RELAXED
                                     : mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                           capture->mode_ == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (matters) {
            capture->invalidate();
            is_refused = true;
        }
    }
    if (is_refused) {
        fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
             "the call is not part of any stream and would be missing when the capture is "
             "replayed; cuThreadExchangeStreamCaptureMode can allow it");
    }
}

void Capture::refuse_in(const Context& context, const GreenContext* green) {
    if (!is_any()) [[likely]] {
        return;
    }
    const std::lock_guard lock(mutex);
    bool is_refused = false;
    for (const auto& [key, capture] : active()) {
        for (const auto& [stream, branch] : capture->branches_) {
            if (&stream->context() == &context &&
                (green == nullptr || stream->green().get() == green)) {
                capture->invalidate();
                is_refused = true;
            }
        }
    }
    if (is_refused) {
        fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a stream of the context is capturing");
    }
}

void Capture::refuse_implicit(const Context& context, const GreenContext* green, bool invalidates) {
    if (!is_any()) [[likely]] {
        return;
    }
    const std::lock_guard lock(mutex);
    bool is_refused = false;
    for (const auto& [key, capture] : active()) {
        for (const auto& [stream, branch] : capture->branches_) {
            if (&stream->context() == &context && stream->green().get() == green &&
                stream->kind() != Stream::Kind::NonBlocking) {
                if (invalidates) {
                    capture->invalidate();
                }
                is_refused = true;
            }
        }
    }
    if (is_refused) {
        fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
             "the legacy default stream waits for a blocking stream that is capturing; make that "
             "one with CU_STREAM_NON_BLOCKING");
    }
}

void Capture::refuse_captured(const Event& event) {
    if (!event.may_be_captured()) [[likely]] {
        return;
    }
    const std::lock_guard lock(mutex);
    const auto& capture = event.point().capture;
    if (capture == nullptr) {
        return;
    }
    require(!capture->is_over_ && capture->is_valid_,
            "the event was last recorded inside a capture that is over or invalid");
    capture->invalidate();
    fail(CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a stream that is capturing");
}

void Capture::abandon(const Context& context, const GreenContext* green) noexcept {
    if (!is_any()) [[likely]] {
        return;
    }
    const std::lock_guard lock(mutex);
    const auto captures = active();
    for (const auto& [key, capture] : captures) {
        const bool is_concerned = std::ranges::any_of(capture->branches_, [&](const auto& entry) {
            return &entry.first->context() == &context &&
                   (green == nullptr || entry.first->green().get() == green);
        });
        if (is_concerned) {
            capture->drop();
        }
    }
}

void Capture::abandon(const Stream& origin) noexcept {
    if (!origin.may_be_capturing()) [[likely]] {
        return;
    }
    const std::lock_guard lock(mutex);
    const auto capture = origin.capture();
    if (capture != nullptr && capture->origin_ == &origin) {
        capture->drop();
    }
}

void Capture::drop() noexcept {
    leave_streams();
    const GraphLock graph_lock;
    graph_->destroy();
}

void Capture::check_active(Capture& capture) {
    if (!capture.is_valid_) {
        fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
             "the stream's capture was invalidated by an error; end it");
    }
}

void Capture::leave_streams() noexcept {
    is_over_ = true;
    {
        const GraphLock graph_lock;
        graph_->end_capture();
    }
    for (const auto& [stream, branch] : branches_) {
        stream->set_capture(nullptr);
    }
    branches_.clear();
    active().erase(this);
    active_count.fetch_sub(1);
}

GraphNode& Capture::add(Stream& stream, NodeParameters parameters, bool may_overlap) {
    const GraphLock graph_lock;
    Branch& branch = branches_.at(stream.shared_from_this());
    auto edges = edges_of(branch.next);
    for (GraphEdge& edge : edges) {
        if (may_overlap && is_plain(edge.data) && edge.node->type() == CU_GRAPH_NODE_TYPE_KERNEL) {
            edge.data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
            edge.data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        }
    }
    auto node = graph_->add(std::move(parameters), edges);
    branch.next = {{node, {}}};
    return *node;
}

/// Returns whether everything that other streams did comes before what the origin did last.
bool Capture::is_joined() const {
    const GraphLock graph_lock;
    const auto origin = branches_.find(origin_->shared_from_this());
    const auto reached = Graph::with_ancestors(edges_of(origin->second.next));
    return std::ranges::all_of(branches_, [&](const auto& entry) {
        return std::ranges::all_of(edges_of(entry.second.next), [&](const GraphEdge& edge) {
            return reached.contains(edge.node);
        });
    });
}

} // namespace cuprum::emulator
