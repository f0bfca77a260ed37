// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/graphs/capture.hpp"
#include "objects/process/handle_table.hpp"
#include "objects/streams/operation.hpp"
#include "objects/streams/shared_event.hpp"

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace cuprum::emulator {

class Context;
class Stream;

/// A point in the work of a stream. Recording the event again moves the point.
class Event final : public Object, public std::enable_shared_from_this<Event> {
public:
    Event(std::shared_ptr<Context> context, unsigned flags);

    /// Opens an event that another process, or this one, shares.
    Event(std::shared_ptr<Context> context, std::shared_ptr<SharedEvent> shared);

    /// Throws INVALID_HANDLE if the event cannot be recorded in `stream`.
    void check_recordable(const Stream& stream) const;

    /// Records the event after all work that `stream` holds now. If the stream is capturing, the
    /// event becomes a point in the capture, unless `is_external`.
    void record(Stream& stream, bool is_external = false);

    /// Records the event after the work that `streams` and `joining` hold now. Later work does not
    /// wait for it. Only an event that is shared with other processes becomes an operation of
    /// `joining`.
    void record(const std::vector<std::shared_ptr<Stream>>& streams, Stream& joining);

    /// Makes later work of `stream` wait for the event as it is recorded now.
    void hold_back(Stream& stream, bool is_external = false) const;

    /// Returns whether the recorded work is done. True before the first record().
    ///
    /// @throws DriverError EXTERNAL_DEVICE if the process that recorded it failed or died.
    [[nodiscard]] bool is_done() const;

    /// Blocks until the recorded work is done. Throws as is_done() does.
    void synchronize() const;

    /// Returns the milliseconds between two events.
    ///
    /// @throws DriverError INVALID_HANDLE if an event has no timing or was never recorded,
    /// NOT_READY if one is not done.
    [[nodiscard]] static float elapsed_ms(const Event& begin, const Event& end);

    [[nodiscard]] Context& context() const noexcept { return *context_; }

    [[nodiscard]] const void* belongs_to() const noexcept override { return context_.get(); }

    /// Returns whether the event may be a point in a capture. Cheap.
    [[nodiscard]] bool may_be_captured() const noexcept {
        return is_captured_.load(std::memory_order_relaxed);
    }

    /// Returns the event's point in a capture. The lock of captures must be held.
    [[nodiscard]] const Capture::Point& point() const noexcept { return point_; }

    /// Sets or removes the event's point in a capture. The lock of captures must be held.
    void set_point(Capture::Point point);

    [[nodiscard]] unsigned flags() const noexcept { return flags_; }

    /// Returns the mark, nullptr if it was reached or never set.
    [[nodiscard]] std::shared_ptr<Operation> pending_mark() const;

    /// Moves the mark to an operation that someone else submits.
    void set_mark(std::shared_ptr<Operation> mark);

    /// Returns the part of the event that other processes see, or nullptr if it is not shared.
    [[nodiscard]] const std::shared_ptr<SharedEvent>& shared() const noexcept { return shared_; }

private:
    [[nodiscard]] std::shared_ptr<Operation> mark() const;
    void record_shared(Stream& stream);
    void hold_back_shared(Stream& stream) const;

    std::shared_ptr<Context> context_;
    unsigned flags_;
    std::shared_ptr<SharedEvent> shared_;
    mutable std::mutex mutex_;
    std::shared_ptr<Operation> mark_;
    std::atomic<bool> is_captured_{false};
    Capture::Point point_;
    std::uint64_t shared_number_ = 0; // of the record that mark_ belongs to
};

} // namespace cuprum::emulator
