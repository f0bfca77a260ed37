// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/graph/graph.hpp>

#include "driver/call.hpp"
#include "driver/current.hpp"
#include "graph/executable_state.hpp"
#include "graph/graph_state.hpp"
#include "launch/recent_launches.hpp"
#include "stream/stream_state.hpp"
#include "support/never_destroyed.hpp"
#include "support/text.hpp"

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

const detail::LaunchName& launch_name() {
    static detail::NeverDestroyed<detail::LaunchName> only("a graph");
    return *only;
}

} // namespace

CUgraphExec Graph::handle() const {
    detail::ExecutableState& state = detail::open(*this);
    state.is_shared = true;
    return state.handle;
}

[[gnu::hot]] void Graph::launch(const Stream& stream) const {
    const detail::StreamState& queue = detail::open(stream);
    detail::ExecutableState& state = detail::open(*this);
    if (detail::is_capturing(queue)) [[unlikely]] {
        state.is_shared = true;
    }
    enqueue(table().cuGraphLaunch, state.handle, queue);
    // NOTE: not before, since an earlier launch may still run if this one fails.
    if (!state.last_stream.has_value() ||
        Access::state(*state.last_stream) != Access::state(stream)) [[unlikely]] {
        state.last_stream = stream;
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

} // namespace cuprum
