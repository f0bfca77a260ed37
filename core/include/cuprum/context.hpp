// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/device.hpp>

#include <memory>
#include <optional>

namespace cuprum {

namespace detail {
struct ContextState;
}

/// Shares a context. The driver's context is given up with the last share.
class CUPRUM_API Context {
public:
    /// Returns the context that is current on the calling thread, or nothing.
    [[nodiscard]] static std::optional<Context> current();
    /// Wraps a context made elsewhere, without owning it.
    [[nodiscard]] static Context from_handle(CUcontext handle);

    [[nodiscard]] CUcontext handle() const;
    [[nodiscard]] Device device() const;
    /// Tells whether this is a device's primary context.
    [[nodiscard]] bool is_primary() const;
    /// Blocks until all work in this context is done.
    void sync() const;

    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this share. Calling it again does nothing.
    void close() noexcept { state_.reset(); }

    /// Compares handles.
    friend CUPRUM_API bool operator==(const Context& left, const Context& right) noexcept;

    /// For the library itself.
    explicit Context(std::shared_ptr<detail::ContextState> state) noexcept
        : state_(std::move(state)) {}

    [[nodiscard]] const std::shared_ptr<detail::ContextState>& state() const noexcept {
        return state_;
    }

private:
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

} // namespace cuprum
