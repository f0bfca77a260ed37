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

/// Launches an executable and notes where. Returns how many launches there were.
std::uint64_t launch_and_note(detail::ExecutableState& state, const Stream& stream);
/// Launches on a stream that may be gone later, and records the mark at once.
void launch_and_mark(detail::ExecutableState& state, const detail::StreamState& queue);
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
    if (launch_and_note(state, stream) % LAUNCHES_PER_RELEASE == 0) [[unlikely]] {
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

[[gnu::hot]] std::uint64_t launch_and_note(detail::ExecutableState& state, const Stream& stream) {
    const std::shared_ptr<detail::StreamState>& queue = Access::state(stream);
    const std::lock_guard lock(state.mutex);
    if (!queue->is_owned && queue->owner == nullptr && !state.has_user_object) [[unlikely]] {
        launch_and_mark(state, *queue);
        return ++state.launches;
    }
    enqueue(table().cuGraphLaunch, state.handle, *queue);
    // NOTE: not before, since an earlier launch may still run if this one fails.
    if (state.unmarked != queue) [[unlikely]] {
        state.unmarked = queue;
    }
    return ++state.launches;
}

void launch_and_mark(detail::ExecutableState& state, const detail::StreamState& queue) {
    // What was retired shares the mark. Only the holder of the lock hands out more shares.
    std::shared_ptr<detail::EventState> made;
    if (state.mark.use_count() != 1 || state.mark->is_lost() ||
        state.mark->context->handle != detail::context_of(queue)) {
        made = detail::make_mark(queue);
    }
    enqueue(table().cuGraphLaunch, state.handle, queue);
    // NOTE: the old mark stays until here, since an earlier launch may still run if this one fails.
    if (made != nullptr) {
        state.mark = std::move(made);
    }
    state.unmarked = nullptr;
    CUresult status = CUDA_ERROR_UNKNOWN;
    try {
        status = table().cuEventRecord(state.mark->handle, queue.handle);
    } catch (...) { // NOLINT(bugprone-empty-catch): it looks the entry up, which can fail
    }
    if (status != CUDA_SUCCESS) [[unlikely]] {
        wait_for_unmarked(queue, status);
    }
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
