// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/context.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/device.hpp>
#include <cuprum/event.hpp>

#include <memory>
#include <optional>

namespace cuprum {

namespace detail {
struct StreamState;
}

/// How a stream is made.
struct StreamOptions {
    bool nonblocking = true; // does not wait for the legacy default stream, nor it for this one
    std::optional<int> priority = {}; // lower runs first; none is the device's lowest
};

/// An ordered queue of work on one device.
///
/// Copies share one driver stream, which is destroyed with the last of them (its queued work still
/// completes). May be used from several threads at once; work enqueued by two threads is ordered by
/// the driver.
class CUPRUM_API Stream {
public:
    /// Makes a stream in a context.
    /// @throws std::invalid_argument if the priority is out of the device's range.
    [[nodiscard]] static Stream create(const Context& context, const StreamOptions& options = {});
    /// Wraps a stream made elsewhere, without owning it; `owner` is kept alive with it.
    [[nodiscard]] static Stream from_handle(CUstream handle, std::shared_ptr<void> owner = {});
    /// Returns the default stream that waits for all blocking streams, in whichever context is
    /// current when it is used.
    [[nodiscard]] static Stream legacy_default();
    /// Returns the calling thread's default stream, in whichever context is current when it is
    /// used.
    [[nodiscard]] static Stream per_thread_default();

    [[nodiscard]] CUstream handle() const;
    [[nodiscard]] bool is_nonblocking() const;
    [[nodiscard]] int priority() const;
    /// Returns the context its work runs in; for the default streams the current one.
    [[nodiscard]] Context context() const;
    [[nodiscard]] Device device() const;

    /// Blocks the calling thread until all work enqueued so far is done.
    /// @throws CUDAError if any of it failed; the context is then unusable.
    void sync() const;
    /// Tells, without waiting, whether all work enqueued so far is done.
    [[nodiscard]] bool is_done() const;
    /// Records a new event after the work enqueued so far.
    [[nodiscard]] Event record(const EventOptions& options = {}) const;
    /// Records an existing event, which then stands for this point.
    void record(const Event& event) const;
    /// Holds back later work on this stream until the event is done. Returns at once.
    void wait(const Event& event) const;
    /// Holds back later work on this stream until what `other` holds now is done. Returns at once.
    void wait(const Stream& other) const;

    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this copy's share. Calling it again does nothing; any other use is a ClosedError.
    void close() noexcept { state_.reset(); }

    /// Compares handles.
    friend CUPRUM_API bool operator==(const Stream& left, const Stream& right) noexcept;

    /// For the library itself.
    explicit Stream(std::shared_ptr<detail::StreamState> state) noexcept
        : state_(std::move(state)) {}

    [[nodiscard]] const std::shared_ptr<detail::StreamState>& state() const noexcept {
        return state_;
    }

private:
    std::shared_ptr<detail::StreamState> state_;
};

} // namespace cuprum
