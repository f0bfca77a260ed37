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

/// Shares a context. A context that we made is destroyed with the last share of it; streams, events
/// and buffers made in it hold shares too.
class CUPRUM_API Context {
public:
    /// Returns the context that is current on the calling thread, or nothing.
    [[nodiscard]] static std::optional<Context> current();
    /// Makes a context of its own on a device, beside the primary one. It does not become current.
    /// `Device::create_context` makes green contexts.
    [[nodiscard]] static Context create(const Device& device, const ContextFlags& flags = {});
    /// Wraps a context made elsewhere, without owning it.
    [[nodiscard]] static Context from_handle(CUcontext handle);

    [[nodiscard]] CUcontext handle() const;
    [[nodiscard]] Device device() const;
    /// Tells whether this is a device's primary context.
    [[nodiscard]] bool is_primary() const;
    /// Tells whether this is a green context that we made.
    [[nodiscard]] bool is_green() const;
    /// Returns a number that no other context of this process has had or will have.
    [[nodiscard]] std::uint64_t id() const;
    /// Asks what this context has of the device: all, or the part of a green context.
    [[nodiscard]] DeviceResources resources() const;
    /// Blocks until all work in this context is done.
    void sync() const;

    /// Makes this context current on the calling thread, on top of what is current. Every push
    /// needs its pop(); the guard CurrentContext sees to that.
    void push() const;
    /// Takes the current context from the top and returns it.
    /// @throws CUDAError if no context is current.
    static Context pop();

    /// Records an event after all work enqueued in this context so far, on whatever stream. It must
    /// belong to this context.
    void record(const Event& event) const;
    /// Holds back later work of all streams of this context until the event is done. Returns at
    /// once.
    void wait(const Event& event) const;

    [[nodiscard]] std::size_t limit(Limit which) const;
    /// Changes a limit; the driver may round the value up.
    void set_limit(Limit which, std::size_t value) const;
    [[nodiscard]] CacheConfig cache_config() const;
    void set_cache_config(CacheConfig config) const;
    [[nodiscard]] ContextFlags flags() const;
    void set_flags(const ContextFlags& flags) const;
    /// Gives all lines of the L2 cache that are kept for one access pattern back to normal use.
    void reset_persisting_l2_cache() const;

    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this share. Calling it again does nothing.
    void close() noexcept { state_.reset(); }

    /// Compares handles.
    friend CUPRUM_API bool operator==(const Context& left, const Context& right) noexcept;

private:
    friend struct detail::Access;

    explicit Context(std::shared_ptr<detail::ContextState> state) noexcept
        : state_(std::move(state)) {}

    std::shared_ptr<detail::ContextState> state_;
};

/// Makes a context current for a scope and restores what was current before. Does nothing when it
/// is current already.
class CUPRUM_API CurrentContext {
public:
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
