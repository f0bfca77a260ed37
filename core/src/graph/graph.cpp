// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/graph/graph.hpp>

#include "driver/call.hpp"
#include "driver/current.hpp"
#include "graph/executable_state.hpp"
#include "graph/graph_state.hpp"
#include "launch/recent_launches.hpp"
#include "stream/deferred_release.hpp"
#include "stream/event_state.hpp"
#include "stream/stream_state.hpp"
#include "support/never_destroyed.hpp"
#include "support/text.hpp"
#include "support/warn.hpp"

#include <cuprum/error.hpp>

#include <string>
#include <utility>

namespace cuprum {

namespace {

using detail::Access;
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

/// Returns whether an executable's mark can be recorded on a stream: it is of the stream's context,
/// and nothing that was retired waits for it.
bool is_mark_free(const detail::ExecutableState& state, const detail::StreamState& queue);
/// Makes an event that can be recorded on a stream.
std::shared_ptr<detail::EventState> make_mark(const detail::StreamState& queue);
CUresult record_mark(const detail::EventState& mark, const detail::StreamState& queue) noexcept;
/// Launches an executable and records its mark behind the launch. Returns how many launches there
/// were.
std::uint64_t launch_and_mark(detail::ExecutableState& state, const detail::StreamState& queue);
/// Waits for a launch if its mark could not be recorded: nothing else would say when it ends.
void wait_for_unmarked(const detail::StreamState& queue, CUresult status) noexcept;
[[noreturn]] void refuse_capture();

constexpr std::uint64_t LAUNCHES_PER_RELEASE = 64;

const detail::LaunchName& launch_name() {
    static detail::NeverDestroyed<detail::LaunchName> only("a graph");
    return *only;
}

} // namespace

CUgraphExec Graph::handle() const {
    detail::ExecutableState& state = detail::open(*this);
    const std::lock_guard lock(state.mutex);
    state.is_shared = true;
    return state.handle;
}

[[gnu::hot]] void Graph::launch(const Stream& stream) const {
    const detail::StreamState& queue = detail::open(stream);
    detail::ExecutableState& state = detail::open(*this);
    if (detail::is_capturing(queue)) [[unlikely]] {
        refuse_capture();
    }
    if (launch_and_mark(state, queue) % LAUNCHES_PER_RELEASE == 0) [[unlikely]] {
        detail::release_payloads(); // a program may do nothing but launch
    }
    queue.last_launch.note(launch_name());
}

void Graph::upload(const Stream& stream) const {
    enqueue(table().cuGraphUpload, detail::open(*this).handle, detail::open(stream));
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

// ---- helpers -----------------------------------------------------------------------------------

namespace {

bool is_mark_free(const detail::ExecutableState& state, const detail::StreamState& queue) {
    const auto& mark = state.mark;
    // What was retired shares the mark. Only the holder of the lock hands out more shares.
    if (mark.use_count() != 1 || mark->is_lost()) {
        return false;
    }
    return queue.context != nullptr ? queue.context == mark->context
                                    : detail::context_of(queue) == mark->context->handle;
}

std::shared_ptr<detail::EventState> make_mark(const detail::StreamState& queue) {
    const auto context = detail::context_state_of(queue);
    const driver::Current current(context->handle);
    return Access::state(detail::make_event(context, CU_EVENT_DISABLE_TIMING));
}

CUresult record_mark(const detail::EventState& mark, const detail::StreamState& queue) noexcept {
    try {
        return table().cuEventRecord(mark.handle, queue.handle);
    } catch (...) { // the first call of an entry looks it up, which can fail
        return CUDA_ERROR_UNKNOWN;
    }
}

[[gnu::hot]] std::uint64_t launch_and_mark(detail::ExecutableState& state,
                                           const detail::StreamState& queue) {
    const std::lock_guard lock(state.mutex);
    if (state.has_user_object) [[unlikely]] {
        enqueue(table().cuGraphLaunch, state.handle, queue);
        return ++state.launches;
    }
    std::shared_ptr<detail::EventState> fresh;
    if (!is_mark_free(state, queue)) [[unlikely]] {
        fresh = make_mark(queue);
    }
    enqueue(table().cuGraphLaunch, state.handle, queue);
    // NOTE: the old mark stays until here, since an earlier launch may still run if this one fails.
    if (fresh != nullptr) [[unlikely]] {
        state.mark = std::move(fresh);
    }
    if (const CUresult status = record_mark(*state.mark, queue); status != CUDA_SUCCESS)
        [[unlikely]] {
        wait_for_unmarked(queue, status);
    }
    return ++state.launches;
}

void wait_for_unmarked(const detail::StreamState& queue, CUresult status) noexcept {
    try {
        // If this fails as well, the context has failed and the launch with it.
        static_cast<void>(table().cuStreamSynchronize(queue.handle));
        detail::warn(
            WarningKind::Release,
            std::string("the end of a graph launch could not be marked, so launch() waited "
                        "for it: ") +
                table().cuEventRecord.name + " failed: " + driver::name_of(status));
    } catch (...) { // there is no memory for the text
        driver::report_release_failure("mark of a graph launch");
    }
}

void refuse_capture() {
    throw CUDAError(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, table().cuGraphLaunch.name,
                    "the stream is being captured, and the driver cannot capture launches of "
                    "executable graphs; embed the definition instead: GraphBuilder embed");
}

} // namespace

} // namespace cuprum
