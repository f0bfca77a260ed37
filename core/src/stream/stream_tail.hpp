// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The end of a stream's work, for those who may ask for it after the stream is gone.
//
// An event behind every launch of a graph would cost 130 to 290 ns. Most launches need none: only
// when an executable is destroyed or updated does somebody ask when its last launch ends. So an
// executable notes the tail of the stream of its last launch, which costs one comparison, and the
// event is recorded when it is asked for. If the stream is destroyed first, that records the event.
//
// Only streams of our own have a tail, since only then do we know when they are destroyed.

#pragma once

#include "stream/event_state.hpp"

#include <cuda.h>

#include <exception>
#include <memory>
#include <mutex>
#include <utility>

namespace cuprum::detail {

class StreamTail {
public:
    StreamTail(CUstream stream, std::shared_ptr<ContextState> context, unsigned made_at) noexcept
        : stream_(stream), context_(std::move(context)), made_at_(made_at) {}

    /// Returns an event behind everything that was enqueued so far. Returns null if there is none:
    /// the stream is being captured, a reset destroyed it, or it could not be marked at its end.
    /// @throws CUDAError; std::bad_alloc.
    [[nodiscard]] std::shared_ptr<EventState> mark();

    /// Notes that the stream is about to be destroyed. Reports a failure as a warning.
    void end() noexcept;

private:
    [[nodiscard]] std::shared_ptr<EventState> record();

    std::mutex mutex_;
    CUstream stream_; // null once it is gone
    std::shared_ptr<ContextState> context_;
    unsigned made_at_;                   // the context's count of resets then
    std::shared_ptr<EventState> last_;   // recorded when the stream went; null if that failed
    std::shared_ptr<EventState> unused_; // of a record that failed: nothing is released here
};

/// Warns that nobody can know when a launch of a graph ends, and why.
void warn_unmarked(const std::exception_ptr& failure) noexcept;
void warn_unmarked(const char* reason) noexcept;

} // namespace cuprum::detail
