// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/detail/active_captures.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace cuprum {

class AllocNode;

/// The memory that a node of a graph reads or writes: an address, and what keeps it alive.
///
/// Functions that add or update nodes take it, so pass a Buffer, a TypedBuffer, an AllocNode or a
/// pointer. The
/// graph keeps a buffer's memory alive, whatever happens to the Buffer object. Memory behind a
/// plain address belongs to the caller, unless an owner comes with it.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::NodeMemory destination = buffer;
/// definition.memset(destination, 0, 1024); // the graph keeps the buffer alive
/// @endcode
class CUPRUM_API NodeMemory {
public:
    // NOLINTBEGIN(google-explicit-constructor): callers pass what they have
    /// @throws ClosedError if the buffer is closed.
    NodeMemory(const Buffer& buffer);
    /// @throws ClosedError if the node was destroyed.
    NodeMemory(const AllocNode& allocation);

    /// Names the memory of a typed buffer.
    template <detail::HasBuffer T>
        requires(!std::derived_from<T, Buffer>)
    NodeMemory(const T& typed) : NodeMemory(typed.buffer()) {}

    /// Names memory by its address; `owner` is kept alive with the graph.
    NodeMemory(CUdeviceptr address, std::shared_ptr<void> owner = {}) noexcept
        : address_(address), owner_(std::move(owner)) {}

    /// Names memory by a pointer; `owner` is kept alive with the graph.
    template <typename T>
    NodeMemory(T* address, std::shared_ptr<void> owner = {}) noexcept
        : address_(reinterpret_cast<std::uintptr_t>(address)), owner_(std::move(owner)) {}

    // NOLINTEND(google-explicit-constructor)

    /// Returns the address.
    [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }

    /// Returns how many bytes there are; nothing for a plain address.
    [[nodiscard]] std::optional<std::size_t> size() const noexcept { return size_; }

    /// Returns what keeps the memory alive; null if nothing does.
    [[nodiscard]] const std::shared_ptr<void>& owner() const noexcept { return owner_; }

    /// Returns whether a node of a graph allocates the memory.
    [[nodiscard]] bool is_graph_memory() const noexcept { return is_graph_memory_; }

    /// Returns the state of the buffer that this memory is; null for other memory.
    [[nodiscard]] detail::MemoryRange* buffer() const noexcept { return buffer_; }

private:
    CUdeviceptr address_ = 0;
    std::optional<std::size_t> size_;
    std::shared_ptr<void> owner_;
    detail::MemoryRange* buffer_ = nullptr; // what owner_ is, for a Buffer
    bool is_graph_memory_ = false;
};

} // namespace cuprum
