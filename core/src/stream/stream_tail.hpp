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

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

namespace cuprum::detail {

/// What is known about the end of a stream's work.
struct TailMark {
    enum class Answer : std::uint8_t {
        Event, // `event` is behind everything that was enqueued so far
        Over,  // the work has ended: its context failed, or is gone
        Later, // ask again: the stream is being captured, or the driver failed
        Never, // the stream is gone, and could not be marked before
    };

    Answer answer = Answer::Never;
    std::shared_ptr<EventState> event = {};
    std::exception_ptr failure = {}; // why the driver failed
};

class StreamTail {
public:
    StreamTail(CUstream stream, std::shared_ptr<ContextState> context, unsigned made_at) noexcept
        : stream_(stream), context_(std::move(context)), made_at_(made_at) {}

    /// Records an event behind everything that was enqueued so far. Call it without a lock.
    [[nodiscard]] TailMark mark() noexcept;

    /// Notes that the stream is about to be destroyed. Reports a failure as a warning. Do not call
    /// it in a host function, which must not wait.
    void end() noexcept;

private:
    [[nodiscard]] TailMark record();

    std::mutex mutex_;
    CUstream stream_; // null once it is gone
    const std::shared_ptr<ContextState> context_;
    const unsigned made_at_;             // the context's count of resets then
    TailMark last_;                      // once the stream is gone
    std::shared_ptr<EventState> unused_; // of a record that failed: nothing is released here
};

/// Returns whether the answer to a call about work means that the work has ended: it is done, or
/// its context has failed or is gone. Any other answer may be one to a call that the driver does
/// not allow, as in a host function of others.
[[nodiscard]] bool is_over(int status) noexcept;

/// Warns that nobody knows yet when a launch of a graph ends, and why.
void warn_unmarked(const std::exception_ptr& failure) noexcept;
void warn_unmarked(const char* reason) noexcept;

} // namespace cuprum::detail
