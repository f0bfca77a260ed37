// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

#include <concepts>
#include <memory>
#include <utility>

namespace cuprum {

class Stream;

namespace detail {

struct Access;
struct HandleState;

/// An object that kernels take as a 64-bit handle: a texture or a surface.
class CUPRUM_API HandleArgument {
public:
    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this share. The last one destroys the object; graphs keep theirs. Calling it again
    /// does nothing.
    void close() noexcept { state_.reset(); }

protected:
    friend struct Access;

    explicit HandleArgument(std::shared_ptr<HandleState> state) noexcept
        : state_(std::move(state)) {}

    HandleArgument(const HandleArgument&) = default;
    HandleArgument(HandleArgument&&) noexcept = default;
    HandleArgument& operator=(const HandleArgument&) = default;
    HandleArgument& operator=(HandleArgument&&) noexcept = default;
    ~HandleArgument() = default;

    std::shared_ptr<HandleState> state_;
};

template <typename T>
concept PassedByHandle = std::derived_from<T, HandleArgument>;

/// Returns the object that an argument of a kernel is, or null.
template <typename T>
[[nodiscard]] constexpr const HandleArgument* handle_of(const T& argument) noexcept {
    if constexpr (PassedByHandle<T>) {
        return &argument;
    } else {
        return nullptr;
    }
}

/// Lets the graph that a stream is captured into keep an object alive.
CUPRUM_API void retain_handle(const Stream& stream, const HandleArgument& argument);

} // namespace detail

} // namespace cuprum
