// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/context.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/text.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace cuprum {

namespace detail {
struct Access;
struct EventState;
} // namespace detail

/// Time between two events, about half a microsecond exact.
using Milliseconds = std::chrono::duration<float, std::milli>;

/// How an event is made.
struct EventOptions {
    bool timing_enabled = false; // elapsed time can be asked for; recording costs a little more
    bool blocking_sync = false;  // sync() sleeps instead of spinning
    bool ipc_enabled = false;    // other processes can wait for it; excludes timing
};

/// How an event is recorded or waited for in a stream that is being captured.
enum class EventUse {
    Normal,   // orders the work of the graph
    External, // becomes a node of the graph, for work outside it
};

/// Names an event of another process. Plain bytes: send them any way you like.
struct IPCEventDescriptor {
    std::array<std::byte, 64> bytes{}; // the driver's name of the event
    bool blocking_sync = false;        // how the event was made; not compared

    friend bool operator==(const IPCEventDescriptor& left, const IPCEventDescriptor& right) {
        return left.bytes == right.bytes;
    }
};

/// Marks a point in the work of one stream.
///
/// Events come from `Stream::record()` or `Device::create_event()`; copies share one driver event,
/// which is destroyed with the last of them. Safe to query from several threads at once, not to
/// close while another thread uses it.
///
/// @code
/// const cuprum::Event done = stream.record();
/// done.sync(); // waits for the work that was enqueued before
/// assert(done.is_done());
/// @endcode
class CUPRUM_API Event {
public:
    /// Makes an event in a context; it counts as done until it is recorded.
    [[nodiscard]] static Event create(const Context& context, const EventOptions& options = {});
    /// Wraps an event made elsewhere, without owning it.
    [[nodiscard]] static Event from_handle(CUevent handle);
    /// Opens an event of another process in the current context, which `context()` does not return.
    [[nodiscard]] static Event from_ipc_descriptor(const IPCEventDescriptor& descriptor);

    /// Returns the driver's `CUevent`.
    [[nodiscard]] CUevent handle() const;
    /// Returns whether the event has a time.
    [[nodiscard]] bool is_timing_enabled() const;
    /// Returns whether `sync()` sleeps instead of spinning.
    [[nodiscard]] bool is_blocking_sync() const;
    /// Returns whether other processes can wait for the event.
    [[nodiscard]] bool is_ipc_enabled() const;
    /// Returns what another process needs to open this event.
    /// @throws std::logic_error if it was made without `ipc_enabled`.
    [[nodiscard]] IPCEventDescriptor ipc_descriptor() const;
    /// Returns the context that it was made in; nothing for an event made elsewhere.
    [[nodiscard]] std::optional<Context> context() const;

    /// Returns whether the recorded work is done. Never waits.
    /// @throws CUDAError if that work failed.
    [[nodiscard]] bool is_done() const;
    /// Blocks the calling thread until the recorded work is done.
    /// @throws CUDAError if the work itself failed; the context is then unusable.
    void sync() const;
    /// Returns the milliseconds from `earlier` to this event. `TimedEvent` has `later - earlier`,
    /// which cannot be asked of events without timing.
    /// @throws CUDAError if either lacks timing, was not recorded, or is not done; the text says
    /// which.
    [[nodiscard]] float milliseconds_since(const Event& earlier) const;

    /// Returns whether `close()` was called.
    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this copy's share of the event. Calling it again does nothing.
    void close() noexcept { state_.reset(); }

    /// Compares handles.
    friend CUPRUM_API bool operator==(const Event& left, const Event& right) noexcept;

private:
    friend struct detail::Access;

    explicit Event(std::shared_ptr<detail::EventState> state) noexcept : state_(std::move(state)) {}

    std::shared_ptr<detail::EventState> state_;
};

/// An event that has a time. Made by `Stream::record_timed()` or `Device::create_timed_event()`.
///
/// @code
/// const cuprum::TimedEvent start = stream.record_timed();
/// cuprum::launch(stream, {.block = 32}, kernel, buffer);
/// const cuprum::TimedEvent end = stream.record_timed();
/// end.sync();
/// std::printf("%.3f ms\n", static_cast<double>((end - start).count()));
/// @endcode
class CUPRUM_API TimedEvent : public Event {
public:
    /// Makes an event with timing in a context; `options` may leave `timing_enabled` out.
    [[nodiscard]] static TimedEvent create(const Context& context, EventOptions options = {});
    /// Takes an event that was made with timing.
    /// @throws std::invalid_argument if it was not.
    explicit TimedEvent(Event event);

    /// Returns the time between two events.
    /// @throws CUDAError if either was not recorded or is not done; the text says which.
    friend Milliseconds operator-(const TimedEvent& later, const TimedEvent& earlier) {
        return Milliseconds(later.milliseconds_since(earlier));
    }
};

/// Returns the handle for messages and logs. Makes no driver call.
[[nodiscard]] CUPRUM_API std::string to_string(const Event& event);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::Event> {
    [[nodiscard]] CUPRUM_API std::size_t operator()(const cuprum::Event& event) const noexcept;
};

template <>
struct std::hash<cuprum::TimedEvent> : std::hash<cuprum::Event> {};
