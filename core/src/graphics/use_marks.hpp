// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Events behind the work that uses an object.
//
// The driver does not keep some objects alive for work that is enqueued, for example external
// semaphores. Such an object records an event behind each use. A later use on the same stream
// records the same event again, because the stream's work ends in order. So there are about as many
// events as streams. The object may be destroyed once all of them are done.

#pragma once

#include "stream/event_state.hpp"
#include "stream/stream_state.hpp"

#include <cuprum/stream.hpp>

#include <list>
#include <memory>
#include <mutex>

namespace cuprum::detail {

/// An event behind work on a stream.
struct UseMark {
    std::shared_ptr<EventState> event;
    std::weak_ptr<StreamState> queue;
    bool is_on_legacy_stream = false; // of the event's context

    /// Returns whether the work has ended. Call it in relaxed capture mode. An error that says
    /// nothing about the work means no, for example that the driver may not be called here.
    [[nodiscard]] bool is_done() const noexcept;
};

/// The marks of one object. Thread-safe.
///
/// NOTE: no lock is held while work is enqueued. A thread that waits there for room in a full queue
/// may depend on a signal that another thread is about to enqueue.
class UseMarks {
public:
    /// A mark to record. It goes back to the others at the end of the scope.
    class Taken {
    public:
        Taken(UseMarks& home, std::list<UseMark> mark) noexcept
            : home_(home), mark_(std::move(mark)) {}

        ~Taken();
        Taken(const Taken&) = delete;
        Taken& operator=(const Taken&) = delete;

        /// Records the mark on its stream, twice if that fails. Returns the status of the first
        /// attempt, and sets `is_recorded`.
        [[nodiscard]] CUresult record(CUstream stream, bool& is_recorded) const noexcept;

    private:
        UseMarks& home_;
        std::list<UseMark> mark_; // of one
    };

    /// Returns a mark for work on a stream, whose context is current.
    /// @throws CUDAError if there must be a new one, and the driver refuses it.
    [[nodiscard]] Taken take(const Stream& stream);

    /// Returns all marks and forgets them.
    [[nodiscard]] std::list<UseMark> take_all() noexcept;

private:
    std::mutex mutex_;
    std::list<UseMark> marks_; // guarded by `mutex_`
};

} // namespace cuprum::detail
