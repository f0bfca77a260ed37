// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/context_state.hpp"
#include "driver/call.hpp"
#include "driver/capture.hpp"
#include "driver/deferred_release.hpp"
#include "driver/handle.hpp"
#include "stream/active_captures.hpp"
#include "stream/recent_launches.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/stream.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

namespace cuprum::detail {

/// A driver stream and what it depends on. Destroying the state destroys the stream if it is ours.
/// A default stream has no context: it uses the current one.
struct StreamState : OfContext {
    CUstream handle = nullptr;
    bool is_owned = false;
    bool is_default = false; // the legacy or the per-thread token
    // Others know the handle, or the stream waited for an event: only then can others capture it.
    // The library itself uses handle_of(), which leaves this alone. See can_be_capturing().
    std::atomic<bool> may_capture = false;
    LastLaunch last_launch;      // listed for streams of our own and default streams
    std::shared_ptr<void> owner; // of a foreign stream

    StreamState() noexcept {} // NOLINT(modernize-use-equals-default): that would clear it twice

    ~StreamState();
    StreamState(const StreamState&) = delete;
    StreamState& operator=(const StreamState&) = delete;
};

/// Makes a stream in a context, which must be current unless it is a green one.
[[nodiscard]] std::shared_ptr<StreamState> make_stream(const std::shared_ptr<ContextState>& context,
                                                       const StreamOptions& options);

/// Returns the state of a stream, to use it.
/// @throws ClosedError if the stream is closed or a device reset destroyed it.
[[nodiscard]] inline StreamState& open(const Stream& stream) {
    return open(Access::state(stream), "Stream");
}

/// Returns a stream's handle for a driver call of the library. Unlike Stream::handle(), it does not
/// assume that somebody else may capture the stream from now on.
/// @throws ClosedError if the stream is closed or a device reset destroyed it.
[[nodiscard]] inline CUstream handle_of(const Stream& stream) {
    return open(stream).handle;
}

/// Returns whether a stream can be part of a stream capture: other code may have begun one, or a
/// graph builder captures somewhere.
[[nodiscard]] inline bool can_be_capturing(const StreamState& stream) noexcept {
    return stream.may_capture.load(std::memory_order_relaxed) || has_active_captures();
}

/// Returns whether work on a stream joins a stream capture. Costs two loads if nobody can have
/// begun one.
[[nodiscard]] inline bool is_capturing(const StreamState& stream) {
    return can_be_capturing(stream) &&
           driver::capture_status(stream.handle) != CU_STREAM_CAPTURE_STATUS_NONE;
}

/// Returns the context that work on this stream runs in: its own, or the current one for a default
/// stream.
/// @throws CUDAError if a default stream is used with no context current.
[[nodiscard]] CUcontext context_of(const StreamState& stream);

/// Returns the same as a state that can be kept.
[[nodiscard]] std::shared_ptr<ContextState> context_state_of(const StreamState& stream);

/// A function that a stream calls once, on a thread of the driver. It is destroyed later, by a
/// thread that may call the driver: what it captured may need that.
struct HostFunction final : DeferredRelease {
    explicit HostFunction(std::function<void()> called) noexcept : function(std::move(called)) {}

    std::function<void()> function;
};

/// Calls a HostFunction and defers its release. Reports what it throws as a warning. The driver
/// calls this.
void call_host_function(void* function) noexcept;

} // namespace cuprum::detail
