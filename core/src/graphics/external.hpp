// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/context_state.hpp"
#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "driver/deferred_release.hpp"
#include "driver/handle.hpp"
#include "stream/event_state.hpp"
#include "stream/stream_state.hpp"

#include <cuprum/error.hpp>
#include <cuprum/graphics/external_memory.hpp>
#include <cuprum/stream.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

namespace cuprum::detail {

/// A duplicate of a file descriptor for the driver. It is closed unless the driver took it over.
class DescriptorCopy {
public:
    /// @throws std::invalid_argument, naming the argument, if the descriptor is not open.
    explicit DescriptorCopy(int descriptor);
    ~DescriptorCopy();
    DescriptorCopy(const DescriptorCopy&) = delete;
    DescriptorCopy& operator=(const DescriptorCopy&) = delete;

    [[nodiscard]] int get() const noexcept { return copy_; }

    /// Leaves the descriptor to the driver.
    void release() noexcept { copy_ = -1; }

private:
    int copy_;
};

/// Imported memory. Destroying the state ends the import; what is mapped from it holds the state.
struct ExternalMemoryState : Owned<CUexternalMemory, &driver::Table::cuDestroyExternalMemory,
                                   "external memory", ReleaseIn::ItsContext> {
    std::size_t size = 0;
    ExternalMemoryType type = ExternalMemoryType::OpaqueFd;

    using Owned::Owned;
};

// Events behind the work that uses an object.
//
// The driver does not keep some objects alive for work that is enqueued, for example external
// semaphores. Such an object records an event behind each use. A later use on the same stream
// records the same event again, because the stream's work ends in order. So there are about as many
// events as streams. The object may be destroyed once all of them are done.

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
