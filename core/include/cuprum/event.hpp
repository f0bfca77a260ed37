// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/context.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>

#include <chrono>
#include <memory>

namespace cuprum {

namespace detail {
struct EventState;
}

/// How an event is made.
struct EventOptions {
    bool timing_enabled = false; // elapsed time can be asked for; recording costs a little more
    bool blocking_sync = false;  // sync() sleeps instead of spinning
};

/// Marks a point in the work of one stream.
///
/// Events come from `Stream::record()` or `Device::create_event()`; copies share one driver event,
/// which is destroyed with the last of them. Safe to query from several threads at once, not to
/// close while another thread uses it.
class CUPRUM_API Event {
public:
    /// Makes an event in a context; it counts as done until it is recorded.
    [[nodiscard]] static Event create(const Context& context, const EventOptions& options = {});
    /// Wraps an event made elsewhere, without owning it.
    [[nodiscard]] static Event from_handle(CUevent handle);

    [[nodiscard]] CUevent handle() const;
    [[nodiscard]] bool is_timing_enabled() const;
    [[nodiscard]] bool is_blocking_sync() const;
    /// Returns the context it was made in; nothing for a foreign event.
    [[nodiscard]] std::optional<Context> context() const;

    /// Tells, without waiting, whether the recorded work is done.
    /// @throws CUDAError if that work failed.
    [[nodiscard]] bool is_done() const;
    /// Blocks the calling thread until the recorded work is done.
    /// @throws CUDAError if the work itself failed; the context is then unusable.
    void sync() const;
    /// Returns the time from `earlier` to this event in milliseconds, about half a microsecond
    /// exact.
    /// @throws CUDAError if either lacks timing, was not recorded, or is not done; the text says
    /// which.
    [[nodiscard]] float milliseconds_since(const Event& earlier) const;

    /// Returns the milliseconds between two events.
    friend float operator-(const Event& later, const Event& earlier) {
        return later.milliseconds_since(earlier);
    }

    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this copy's share of the event. Calling it again does nothing.
    void close() noexcept { state_.reset(); }

    /// Compares handles.
    friend CUPRUM_API bool operator==(const Event& left, const Event& right) noexcept;

    /// For the library itself.
    explicit Event(std::shared_ptr<detail::EventState> state) noexcept : state_(std::move(state)) {}

    [[nodiscard]] const std::shared_ptr<detail::EventState>& state() const noexcept {
        return state_;
    }

private:
    std::shared_ptr<detail::EventState> state_;
};

} // namespace cuprum
