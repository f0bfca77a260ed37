// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"
#include "launch/recent_launches.hpp"
#include "device/context_state.hpp"
#include "driver/handle.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/stream.hpp>

#include <atomic>
#include <memory>

namespace cuprum::detail {

/// A driver stream and what it depends on. Destroying the state destroys the stream if it is ours.
struct StreamState {
    CUstream handle = nullptr;
    std::shared_ptr<ContextState> context; // null for the default streams: the current one counts
    bool is_owned = false;
    bool is_default = false; // the legacy or the per-thread token
    // Its handle is known outside, or it has waited for others: only then can it be capturing.
    std::atomic<bool> may_capture = false;
    unsigned made_at = 0;        // the context's count of resets when it was made
    LastLaunch last_launch;      // listed while the stream is ours or a default one
    std::shared_ptr<void> owner; // of a foreign stream

    StreamState() noexcept {} // NOLINT(modernize-use-equals-default): that would clear it twice

    ~StreamState();
    StreamState(const StreamState&) = delete;
    StreamState& operator=(const StreamState&) = delete;

    [[nodiscard]] bool is_lost() const noexcept { return !is_intact(context, made_at); }
};

/// Makes a stream in a context, which must be current unless it is a green one.
[[nodiscard]] std::shared_ptr<StreamState> make_stream(const std::shared_ptr<ContextState>& context,
                                                       const StreamOptions& options);

/// Returns the state of a stream, to use it.
/// @throws ClosedError if the stream is closed or a device reset destroyed it.
[[nodiscard]] inline StreamState& open(const Stream& stream) {
    return open(Access::state(stream), "Stream");
}

/// Returns a stream's handle without marking the stream as shared.
/// @throws ClosedError if the stream is closed or a device reset destroyed it.
[[nodiscard]] inline CUstream handle_of(const Stream& stream) {
    return open(stream).handle;
}

/// Asks the driver whether work on a stream would be captured.
[[nodiscard]] bool ask_whether_capturing(const StreamState& stream);

/// Tells the same; costs nothing while nobody can have begun it.
[[nodiscard]] inline bool is_capturing(const StreamState& stream) {
    return stream.may_capture.load(std::memory_order_relaxed) && ask_whether_capturing(stream);
}

/// Returns the context that work on this stream runs in: its own, or the current one for a default
/// stream.
/// @throws CUDAError if a default stream is used with no context current.
[[nodiscard]] CUcontext context_of(const StreamState& stream);

/// Returns the same as a state that can be kept.
[[nodiscard]] std::shared_ptr<ContextState> context_state_of(const StreamState& stream);

} // namespace cuprum::detail
