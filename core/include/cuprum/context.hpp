// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/context_settings.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/text.hpp>
#include <cuprum/device.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace cuprum {

namespace detail {
struct Access;
struct ContextState;
} // namespace detail

class DeviceResources;
class Event;

/// A context: the driver's state for one device in this process.
///
/// Copies share one driver context. A context that this library created is destroyed with the last
/// copy; streams, events and buffers created in it keep it alive.
///
/// @code
/// const cuprum::Context context = cuprum::Context::create(device);
/// const cuprum::Stream stream = cuprum::Stream::create(context);
/// stream.sync();
/// @endcode
class CUPRUM_API Context {
public:
    /// Returns the context that is current on the calling thread, or nothing.
    [[nodiscard]] static std::optional<Context> current();
    /// Creates a context on a device, beside the primary one. It does not become current.
    /// `Device::create_context` creates green contexts.
    [[nodiscard]] static Context create(const Device& device, const ContextFlags& flags = {});
    /// Wraps a context that another library created, without owning it.
    [[nodiscard]] static Context from_handle(CUcontext handle);

    /// Returns the driver's `CUcontext`.
    [[nodiscard]] CUcontext handle() const;
    /// Returns the device that the context belongs to.
    [[nodiscard]] Device device() const;
    /// Returns whether this is a device's primary context.
    [[nodiscard]] bool is_primary() const;
    /// Returns whether this is a green context that this library created.
    [[nodiscard]] bool is_green() const;
    /// Returns a number that identifies the context. The process never uses it again.
    [[nodiscard]] std::uint64_t id() const;
    /// Returns what this context has of the device: all of it, or the part of a green context.
    [[nodiscard]] DeviceResources resources() const;
    /// Blocks until all work in this context is done.
    void sync() const;

    /// Makes this context current on the calling thread, on top of the current one. Every push
    /// needs a pop(); prefer the guard CurrentContext.
    void push() const;
    /// Removes the current context from the top and returns it.
    /// @throws CUDAError if no context is current.
    static Context pop();

    /// Records an event after all work enqueued in this context so far, on all its streams. The
    /// event must belong to this context.
    void record(const Event& event) const;
    /// Makes later work on all streams of this context wait for the event. Returns at once.
    void wait(const Event& event) const;

    /// Returns the current value of a limit.
    [[nodiscard]] std::size_t limit(Limit which) const;
    /// Sets a limit. The driver may round the value up.
    void set_limit(Limit which, std::size_t value) const;
    /// Returns how the context divides memory between the L1 cache and shared memory.
    [[nodiscard]] CacheConfig cache_config() const;
    /// Sets how the context divides memory between the L1 cache and shared memory.
    void set_cache_config(CacheConfig config) const;
    /// Returns the flags of the context.
    [[nodiscard]] ContextFlags flags() const;
    /// Changes the flags of the context.
    void set_flags(const ContextFlags& flags) const;
    /// Returns all persisting lines of the L2 cache to normal use.
    void reset_persisting_l2_cache() const;

    /// Returns whether `close()` was called.
    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this share. Closing twice is harmless; any other use raises ClosedError.
    void close() noexcept { state_.reset(); }

    /// Compares handles. All closed objects are equal.
    friend CUPRUM_API bool operator==(const Context& left, const Context& right) noexcept;

private:
    friend struct detail::Access;

    explicit Context(std::shared_ptr<detail::ContextState> state) noexcept
        : state_(std::move(state)) {}

    std::shared_ptr<detail::ContextState> state_;
};

/// A guard that makes a context current for a scope, then restores the previous one. It costs one
/// query if the context is current already.
///
/// @code
/// const cuprum::Context context = cuprum::Context::create(device);
/// {
///     const cuprum::CurrentContext current(context);
///     assert(cuprum::Context::current() == context);
/// } // the previous context is current again
/// @endcode
class CUPRUM_API CurrentContext {
public:
    /// Makes a context current on the calling thread until the guard is destroyed.
    [[nodiscard]] explicit CurrentContext(const Context& context);
    ~CurrentContext();
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;

private:
    std::shared_ptr<detail::ContextState> kept_;
    bool is_pushed_ = false;
};

/// Returns handle and device for messages and logs. Makes no driver call.
[[nodiscard]] CUPRUM_API std::string to_string(const Context& context);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::Context> {
    [[nodiscard]] CUPRUM_API std::size_t operator()(const cuprum::Context& context) const noexcept;
};
