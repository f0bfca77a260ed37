// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/capture.hpp"

#include "objects/devices/context.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"
#include "objects/streams/event.hpp"
#include "objects/streams/stream.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

namespace cuprum::emulator {

namespace {

std::mutex mutex; // of every capture, and of Stream::capture and Event::point
std::atomic<std::size_t> active_count{0};
std::uint64_t next_id = 1;

std::set<std::shared_ptr<Capture>>& active() {
    static auto* captures = new std::set<std::shared_ptr<Capture>>;
    return *captures;
}

template <typename Nodes>
void unite(Nodes& into, const Nodes& more) {
    for (GraphNode* node : more) {
        if (std::ranges::find(into, node) == into.end()) {
            into.push_back(node);
        }
    }
}

} // namespace

bool Capture::is_any() noexcept {
    return active_count.load(std::memory_order_relaxed) != 0;
}

void Capture::begin(const std::shared_ptr<Stream>& origin, CUstreamCaptureMode mode,
                    std::shared_ptr<Graph> graph, Nodes dependencies) {
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
    capture->branches_[origin].next = std::move(dependencies);
    origin->set_capture(capture);
    active().insert(capture);
    active_count.fetch_add(1);
}

std::shared_ptr<Graph> Capture::end(Stream& stream) {
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
    const bool is_wrong_thread = capture->mode_ != CU_STREAM_CAPTURE_MODE_RELAXED &&
                                 capture->thread_ != std::this_thread::get_id();
    const bool is_unjoined = capture->is_valid_ && !capture->is_joined();
    const bool is_good = capture->is_valid_ && !is_wrong_thread && !is_unjoined;
    capture->leave_streams();
    auto graph = std::move(capture->graph_);
    if (!is_good && capture->owns_graph_) {
        graph->destroy();
    }
    if (is_wrong_thread) {
        fail(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
             "the capture began on another thread; only a relaxed one may end here");
    }
    if (is_unjoined) {
        fail(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
             "the work of another stream in the capture was not joined to this one: record an "
             "event there and wait for it here");
    }
    if (!is_good) {
        fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture was invalidated by an error");
    }
    return graph;
}

bool Capture::take(Stream& stream, const std::shared_ptr<Operation>& operation) {
    if (!stream.may_be_capturing()) [[likely]] {
        return false;
    }
    const std::lock_guard lock(mutex);
    const auto capture = stream.capture();
    if (capture == nullptr) {
        return false;
    }
    check_active(*capture);
    capture->add(stream, operation->node_type(), operation);
    return true;
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
        capture->add(stream, CU_GRAPH_NODE_TYPE_EVENT_RECORD, nullptr);
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
            capture->add(stream, CU_GRAPH_NODE_TYPE_WAIT_EVENT, nullptr);
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
    for (const GraphNode* node : branch.next) {
        branch.handles.push_back(node->handle<CUgraphNode>());
    }
    info.dependencies = &branch.handles;
    return info;
}

void Capture::update_dependencies(Stream& stream, const Nodes& nodes, bool replaces) {
    const std::lock_guard lock(mutex);
    const auto capture = stream.capture();
    if (capture == nullptr) {
        fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not capturing");
    }
    check_active(*capture);
    for (const GraphNode* node : nodes) {
        require(&node->graph() == capture->graph_.get(), "a node is of another graph");
    }
    Nodes& next = capture->branches_.at(stream.shared_from_this()).next;
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
        check_active(*capture);
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
    for (const auto& capture : active()) {
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
    for (const auto& capture : active()) {
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
    for (const auto& capture : active()) {
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
    require(!capture->is_over_, "the event was last recorded inside a capture that is over");
    capture->invalidate();
    fail(CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a stream that is capturing");
}

void Capture::abandon(const Context& context, const GreenContext* green) noexcept {
    if (!is_any()) [[likely]] {
        return;
    }
    const std::lock_guard lock(mutex);
    const auto captures = active();
    for (const auto& capture : captures) {
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
    if (owns_graph_) {
        graph_->destroy();
    }
}

void Capture::check_active(Capture& capture) {
    if (!capture.is_valid_) {
        fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
             "the stream's capture was invalidated by an error; end it");
    }
}

void Capture::leave_streams() noexcept {
    is_over_ = true;
    for (const auto& [stream, branch] : branches_) {
        stream->set_capture(nullptr);
    }
    branches_.clear();
    std::erase_if(active(), [&](const auto& each) { return each.get() == this; });
    active_count.fetch_sub(1);
}

void Capture::add(Stream& stream, CUgraphNodeType type,
                  const std::shared_ptr<Operation>& operation) {
    Branch& branch = branches_.at(stream.shared_from_this());
    branch.next = {graph_->add(type, branch.next, operation)};
}

/// Returns whether everything that other streams did comes before what the origin did last.
bool Capture::is_joined() const {
    const auto origin = std::ranges::find_if(
        branches_, [&](const auto& entry) { return entry.first.get() == origin_; });
    const auto reached = Graph::with_ancestors(origin->second.next);
    return std::ranges::all_of(branches_, [&](const auto& entry) {
        return std::ranges::all_of(entry.second.next,
                                   [&](const GraphNode* node) { return reached.contains(node); });
    });
}

} // namespace cuprum::emulator
