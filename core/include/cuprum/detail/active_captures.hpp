// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Captured work outlives the call that enqueues it, so the graph keeps its buffers alive.

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/detail/handle_argument.hpp>

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace cuprum {

class Buffer;
class Stream;

namespace detail {

/// The number of streams that graph builders of this process capture now.
CUPRUM_API extern std::atomic<unsigned> active_captures;

/// Lets the graph that a stream is captured into keep buffers alive. Null pointers are skipped.
/// Does nothing if no graph builder captures the stream.
CUPRUM_API void retain_buffers(const Stream& stream, std::span<const Buffer* const> buffers);

/// Does the same with any object, for bindings.
CUPRUM_API void retain_object(const Stream& stream, std::shared_ptr<void> object);

/// A Buffer, or a TypedBuffer, which has one.
template <typename T>
concept HasBuffer = std::is_base_of_v<Buffer, T> || requires(const T& argument) {
    { argument.buffer() } -> std::same_as<const Buffer&>;
};

/// Returns the buffer that an argument of a kernel has, or null.
template <typename T>
[[nodiscard]] constexpr const Buffer* buffer_of(const T& argument) noexcept {
    if constexpr (std::is_base_of_v<Buffer, T>) {
        return &argument;
    } else if constexpr (HasBuffer<T>) {
        return &argument.buffer();
    } else {
        return nullptr;
    }
}

/// Lets a graph keep a texture or surface alive; does nothing for other arguments.
template <typename Argument>
void retain_if_handle(const Stream& stream, const Argument& argument) {
    if constexpr (PassedByHandle<Argument>) {
        retain_handle(stream, argument);
    }
}

/// A TensorMapDescriptor, which keeps its memory alive by other means than a Buffer.
template <typename T>
concept HasOwner = requires(const T& argument) {
    { argument.owner() } -> std::same_as<const std::shared_ptr<void>&>;
};

/// Returns the owners that arguments of a kernel have as one object; null if there is none.
template <typename... Arguments>
[[nodiscard]] std::shared_ptr<void> owner_of_all(const Arguments&... arguments) {
    if constexpr ((HasOwner<Arguments> || ...)) {
        constexpr std::size_t COUNT = (std::size_t{HasOwner<Arguments>} + ...);
        auto owners = std::make_shared<std::array<std::shared_ptr<void>, COUNT>>();
        std::size_t next = 0;
        const auto add = [&](const auto& argument) {
            if constexpr (HasOwner<std::decay_t<decltype(argument)>>) {
                (*owners)[next++] = argument.owner();
            }
        };
        (add(arguments), ...);
        return COUNT == 1 ? owners->front() : owners;
    } else {
        return {};
    }
}

/// Lets a graph keep the memory, textures and surfaces of a kernel's arguments alive. Costs one
/// load while nothing is captured.
template <typename... Arguments>
void retain_arguments(const Stream& stream, const Arguments&... arguments) {
    if constexpr (((HasBuffer<Arguments> || HasOwner<Arguments> || PassedByHandle<Arguments>) ||
                   ...)) {
        if (active_captures.load(std::memory_order_relaxed) != 0) [[unlikely]] {
            if constexpr ((HasBuffer<Arguments> || ...)) {
                const Buffer* const buffers[] = {buffer_of(arguments)...};
                retain_buffers(stream, buffers);
            }
            (retain_if_handle(stream, arguments), ...);
            if (auto owner = owner_of_all(arguments...)) {
                retain_object(stream, std::move(owner));
            }
        }
    }
}

} // namespace detail

} // namespace cuprum
