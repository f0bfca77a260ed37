// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/context.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/text.hpp>
#include <cuprum/device.hpp>
#include <cuprum/event.hpp>
#include <cuprum/stream_attributes.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace cuprum {

class GraphBuilder;

namespace detail {
struct Access;
struct StreamState;
} // namespace detail

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
///
/// @code
/// const cuprum::Stream first = device.create_stream();
/// const cuprum::Stream second = device.create_stream();
/// cuprum::launch(first, {.block = 32}, kernel, buffer);
/// second.wait(first); // later work of `second` runs after the kernel
/// second.sync();
/// @endcode
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

    /// Returns the legacy default stream, or the calling thread's own if the environment variable
    /// CUPRUM_PER_THREAD_DEFAULT_STREAM is a number other than 0.
    [[nodiscard]] static Stream default_stream();

    /// Returns the driver's `CUstream`.
    [[nodiscard]] CUstream handle() const;
    /// Returns a number that no other stream of this process has had or will have.
    [[nodiscard]] std::uint64_t id() const;
    /// Returns whether the stream is independent of the legacy default stream.
    [[nodiscard]] bool is_nonblocking() const;
    /// Returns the priority; lower runs first.
    [[nodiscard]] int priority() const;
    /// Returns the context its work runs in; for the default streams the current one.
    [[nodiscard]] Context context() const;
    /// Returns the device that its work runs on.
    [[nodiscard]] Device device() const;
    /// Returns the part of the device that the stream's context has.
    [[nodiscard]] DeviceResources resources() const;

    /// Blocks the calling thread until all work enqueued so far is done.
    /// @throws CUDAError if any of it failed; the context is then unusable.
    void sync() const;
    /// Returns whether all work enqueued so far is done. Never waits.
    [[nodiscard]] bool is_done() const;
    /// Records a new event after the work enqueued so far.
    [[nodiscard]] Event record(const EventOptions& options = {}) const;
    /// Records a new event that has a time.
    [[nodiscard]] TimedEvent record_timed(EventOptions options = {}) const;
    /// Records an existing event, which then stands for this point.
    void record(const Event& event, EventUse use = EventUse::Normal) const;
    /// Holds back later work on this stream until the event is done. Returns at once.
    void wait(const Event& event, EventUse use = EventUse::Normal) const;
    /// Holds back later work on this stream until what `other` holds now is done. Returns at once.
    void wait(const Stream& other) const;

    /// Calls a function on a thread of the driver, in this stream's order. Returns at once.
    ///
    /// The function must not call CUDA, directly or through this library, nor wait for work that
    /// does. If it throws, the library sends a warning of kind HostFunction and the stream goes on.
    /// It is never called if earlier work of the context failed. What it captures is released
    /// later, on a thread that calls this library. If a GraphBuilder captures the stream, every
    /// launch of the graph calls the function, and the graph owns it.
    void launch_host(std::function<void()> function) const;

    /// Returns a builder that makes a graph of what is enqueued on this stream. It does not begin
    /// yet. Include `cuprum/graph/graph_builder.hpp`.
    [[nodiscard]] GraphBuilder create_graph_builder() const;

    /// Writes a value to memory of the device, in this stream's order.
    /// @throws std::invalid_argument if the address is not aligned to the value's size.
    void write_value(CUdeviceptr address, std::uint32_t value,
                     const WriteValueOptions& options = {}) const;
    /// Writes an 8-byte value to memory of the device, in this stream's order.
    void write_value(CUdeviceptr address, std::uint64_t value,
                     const WriteValueOptions& options = {}) const;
    /// Holds back later work on this stream until memory holds a value. Returns at once.
    /// @throws std::invalid_argument if the address is not aligned to the value's size.
    void wait_value(CUdeviceptr address, std::uint32_t value,
                    const WaitValueOptions& options = {}) const;
    /// Holds back later work on this stream until memory holds an 8-byte value.
    void wait_value(CUdeviceptr address, std::uint64_t value,
                    const WaitValueOptions& options = {}) const;

    /// Sets the priority of work that is enqueued later.
    void set_priority(int priority) const;
    /// Returns how threads wait for the stream.
    [[nodiscard]] SynchronizationPolicy synchronization_policy() const;
    /// Sets how threads wait for the stream.
    void set_synchronization_policy(SynchronizationPolicy policy) const;
    /// Returns the domain of fences in work that is enqueued later.
    [[nodiscard]] MemorySyncDomain memory_sync_domain() const;
    /// Sets the domain of fences in work that is enqueued later.
    void set_memory_sync_domain(MemorySyncDomain domain) const;
    /// Returns the hardware's domains that the logical ones stand for.
    [[nodiscard]] MemorySyncDomainMap memory_sync_domain_map() const;
    /// Sets the hardware's domains that the logical ones stand for.
    void set_memory_sync_domain_map(const MemorySyncDomainMap& map) const;
    /// Returns how work that is enqueued later uses the L2 cache.
    [[nodiscard]] AccessPolicyWindow access_policy_window() const;
    /// Sets how work that is enqueued later uses the L2 cache.
    void set_access_policy_window(const AccessPolicyWindow& window) const;
    /// Takes over all attributes of another stream of the same context.
    void copy_attributes_from(const Stream& other) const;

    /// Returns whether `close()` was called.
    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this copy's share. Calling it again does nothing; any other use is a ClosedError.
    void close() noexcept { state_.reset(); }

    /// Compares handles.
    friend CUPRUM_API bool operator==(const Stream& left, const Stream& right) noexcept;

private:
    friend struct detail::Access;

    explicit Stream(std::shared_ptr<detail::StreamState> state) noexcept
        : state_(std::move(state)) {}

    std::shared_ptr<detail::StreamState> state_;
};

/// Returns handle and device for messages and logs. Makes no driver call.
[[nodiscard]] CUPRUM_API std::string to_string(const Stream& stream);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::Stream> {
    [[nodiscard]] CUPRUM_API std::size_t operator()(const cuprum::Stream& stream) const noexcept;
};
