// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/graph/graph.hpp>

#include "driver/call.hpp"
#include "driver/current.hpp"
#include "driver/deferred_release.hpp"
#include "driver/explanations.hpp"
#include "graph/executable_state.hpp"
#include "graph/graph_state.hpp"
#include "stream/event_state.hpp"
#include "stream/recent_launches.hpp"
#include "stream/stream_state.hpp"
#include "support/locks.hpp"
#include "support/once.hpp"
#include "support/text.hpp"
#include "support/warn.hpp"

#include <cuprum/error.hpp>

#include <string>
#include <utility>

namespace cuprum {

namespace {

using detail::Access;
using detail::QuietLock;
using driver::table;

/// Calls an entry with an executable and a stream. Drivers use the stream's context; one that wants
/// it current is asked again.
template <typename Entry>
inline void enqueue(const Entry& entry, CUgraphExec executable, const detail::StreamState& queue) {
    if (queue.context == nullptr) { // a default stream belongs to the current context
        static_cast<void>(detail::context_of(queue));
    }
    CUresult status = entry(executable, queue.handle);
    if (status == CUDA_ERROR_INVALID_CONTEXT && queue.context != nullptr) [[unlikely]] {
        const driver::Current current(queue.context->handle);
        status = entry(executable, queue.handle);
    }
    if (status != CUDA_SUCCESS) [[unlikely]] {
        driver::raise(status, entry.name);
    }
}

/// What a launch did under the lock of its executable.
struct Launched {
    std::uint64_t count = 0;                 // of launches so far
    CUresult recorded = CUDA_SUCCESS;        // the answer for the mark
    std::shared_ptr<detail::EventState> old; // a mark that was replaced: let go without the lock
    std::shared_ptr<detail::StreamState> old_stream; // likewise
};

constexpr std::uint64_t LAUNCHES_PER_RELEASE = 64;

const detail::LaunchName& launch_name() {
    static detail::NeverDestroyed<detail::LaunchName> only("a graph");
    return *only;
}

/// Returns whether the mark of an executable can be recorded on a stream: it is of the stream's
/// context, and nothing that was retired waits for it.
bool is_mark_free(const detail::ExecutableState& state, const detail::StreamState& queue) {
    const auto& mark = state.last.mark;
    // NOTE: only the holder of the lock hands out more shares.
    if (mark.use_count() != 1 || mark->is_lost()) {
        return false;
    }
    return queue.context != nullptr ? queue.context == mark->context
                                    : detail::context_of(queue) == mark->context->handle;
}

/// Makes an event that can be recorded on a stream.
std::shared_ptr<detail::EventState> make_mark(const detail::StreamState& queue) {
    const auto context = detail::context_state_of(queue);
    const driver::Current current(context->handle);
    return Access::state(detail::make_event(context, CU_EVENT_DISABLE_TIMING));
}

CUresult record_mark(const detail::EventState& mark, const detail::StreamState& queue) noexcept {
    const auto& record = table().cuEventRecord;
    CUresult status = record(mark.handle, queue.handle);
    if (status == CUDA_ERROR_INVALID_CONTEXT) [[unlikely]] { // as for the launch
        try {
            const driver::Current current(mark.context->handle);
            status = record(mark.handle, queue.handle);
        } catch (const CUDAError& error) {
            return static_cast<CUresult>(error.code());
        }
    }
    return status;
}

/// Launches an executable and notes where the launch ends: in a mark behind it, or on a stream of
/// our own.
[[gnu::hot]] Launched launch_and_mark(detail::ExecutableState& state, const Stream& stream) {
    const std::shared_ptr<detail::StreamState>& share = Access::state(stream);
    const detail::StreamState& queue = *share;
    Launched launched;
    std::shared_ptr<detail::EventState> made; // both are let go without the lock
    const QuietLock lock(state.mutex);
    if (state.has_user_object) [[unlikely]] {
        enqueue(table().cuGraphLaunch, state.handle, queue);
        launched.count = ++state.launches;
        return launched;
    }
    if (queue.is_owned) [[likely]] {
        enqueue(table().cuGraphLaunch, state.handle, queue);
        if (state.last.stream != share) [[unlikely]] {
            launched.old_stream = std::exchange(state.last.stream, share);
            launched.old = std::exchange(state.last.mark, nullptr);
            state.last.is_unmarked = false;
        }
        launched.count = ++state.launches;
        return launched;
    }
    if (!is_mark_free(state, queue)) [[unlikely]] {
        made = make_mark(queue);
    }
    enqueue(table().cuGraphLaunch, state.handle, queue);
    launched.old_stream = std::exchange(state.last.stream, nullptr);
    // NOTE: the old mark stays until here, since an earlier launch may still run if this one fails.
    if (made != nullptr) [[unlikely]] {
        launched.old = std::exchange(state.last.mark, std::move(made));
    }
    launched.recorded = record_mark(*state.last.mark, queue);
    state.last.is_unmarked = launched.recorded != CUDA_SUCCESS;
    launched.count = ++state.launches;
    return launched;
}

void warn_unmarked(CUresult status) noexcept {
    const char* const name = table().cuEventRecord.name;
    try {
        detail::warn_unmarked((std::string(name) + " failed: " + driver::name_of(status)).c_str());
    } catch (...) { // there is no memory for the text
        detail::warn_unmarked(name);
    }
}

[[noreturn]] void refuse_capture() {
    throw CUDAError(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, table().cuGraphLaunch.name,
                    "the stream is being captured, and the driver cannot capture launches of "
                    "executable graphs; embed the definition instead: GraphBuilder embed");
}

} // namespace

CUgraphExec Graph::handle() const {
    detail::ExecutableState& state = detail::open(*this);
    state.is_shared.store(true, std::memory_order_relaxed);
    return state.handle;
}

[[gnu::hot]] void Graph::launch(const Stream& stream) const {
    const detail::StreamState& queue = detail::open(stream);
    detail::ExecutableState& state = detail::open(*this);
    if (detail::is_capturing(queue)) [[unlikely]] {
        refuse_capture();
    }
    const Launched launched = launch_and_mark(state, stream);
    if (launched.recorded != CUDA_SUCCESS) [[unlikely]] {
        warn_unmarked(launched.recorded);
    }
    if (launched.count % LAUNCHES_PER_RELEASE == 0) [[unlikely]] {
        detail::release_payloads(); // a program may do nothing but launch
    }
    queue.last_launch.note(launch_name());
}

void Graph::upload(const Stream& stream) const {
    const detail::StreamState& queue = detail::open(stream);
    detail::ExecutableState& state = detail::open(*this);
    const QuietLock lock(state.mutex);
    enqueue(table().cuGraphUpload, state.handle, queue);
}

std::uint64_t Graph::flags() const {
    cuuint64_t flags = 0;
    driver::call(table().cuGraphExecGetFlags, detail::open(*this).handle, &flags);
    return flags;
}

void Graph::close() noexcept {
    state_.reset();
}

std::string to_string(const Graph& graph) {
    const auto& state = Access::state(graph);
    return state == nullptr ? "<Graph closed>"
                            : "<Graph handle=" + detail::hexadecimal(state->handle) + ">";
}

} // namespace cuprum
