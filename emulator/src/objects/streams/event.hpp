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

/// Marks a point in the work of a stream; recording again moves the mark.
class Event final : public Object {
public:
    Event(std::shared_ptr<Context> context, unsigned flags);

    /// Makes a second event of what another process, or this one, shares.
    Event(std::shared_ptr<Context> context, std::shared_ptr<SharedEvent> shared);

    /// Throws INVALID_HANDLE unless the event can be recorded in `stream`.
    void check_recordable(const Stream& stream) const;

    /// Puts the mark behind everything given to `stream` so far. In a capture the event then stands
    /// for a point of it, unless `is_external`.
    void record(Stream& stream, bool is_external = false);

    /// Puts the mark behind the work that `streams` and `joining` hold now. Later work does not
    /// wait for it. Only an event that other processes share is recorded in `joining`.
    void record(const std::vector<std::shared_ptr<Stream>>& streams, Stream& joining);

    /// Holds back later work of `stream` until the mark, where it is now, is reached.
    void hold_back(Stream& stream, bool is_external = false) const;

    /// Tells whether the mark was reached; true before the first record().
    ///
    /// @throws DriverError EXTERNAL_DEVICE if the process that recorded it failed or died.
    [[nodiscard]] bool is_done() const;

    /// Blocks until the mark is reached; throws as is_done() does.
    void synchronize() const;

    /// Returns milliseconds between two marks.
    ///
    /// @throws DriverError INVALID_HANDLE without timing or record, NOT_READY before both are
    /// reached.
    [[nodiscard]] static float elapsed_ms(const Event& begin, const Event& end);

    [[nodiscard]] Context& context() const noexcept { return *context_; }

    /// Tells, cheaply, whether the event may stand for a point in a capture.
    [[nodiscard]] bool may_be_captured() const noexcept {
        return is_captured_.load(std::memory_order_relaxed);
    }

    /// Returns the point that the event stands for. Only under the lock of captures.
    [[nodiscard]] const Capture::Point& point() const noexcept { return point_; }

    /// Makes the event stand for a point, or for none. Only under the lock of captures.
    void set_point(Capture::Point point);

    [[nodiscard]] unsigned flags() const noexcept { return flags_; }

    /// Returns what other processes see of the event; nullptr unless it is made for that.
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
    std::uint64_t shared_number_ = 0; // of the record that mark_ stands for
};

} // namespace cuprum::emulator
