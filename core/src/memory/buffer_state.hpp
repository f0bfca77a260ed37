// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"
#include "device/context_state.hpp"
#include "driver/handle.hpp"
#include "support/on_demand.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/detail/access.hpp>
#include <cuprum/memory_resource.hpp>
#include <cuprum/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace cuprum::detail {

struct BufferState;

/// What the driver knows of a pointer that came from elsewhere.
struct PointerInfo {
    int device_id = -1;     // -1 for host memory that no device knows
    bool is_device = false; // it is memory of that device
    bool is_device_accessible = false;
    bool is_host_accessible = false;
    bool is_managed = false;
};

/// What only those buffers have that are not plain.
struct UnusualBuffer {
    std::shared_ptr<ContextState> context; // current while freeing
    std::shared_ptr<ContextState> home;    // that it was made in, kept as long as it
    unsigned made_at = 0;                  // the home's count of resets when it was made
    std::uint64_t thread = 0;              // whose per-thread default stream `stream` means, or 0
    std::shared_ptr<void> owner;           // of wrapped memory
    std::shared_ptr<BufferState> whole;    // what a slice is part of; it frees nothing
    std::unique_ptr<const IPCBufferDescriptor> imported; // as what, from another process
    OnDemand<const PointerInfo> pointer_info;            // of wrapped memory
};

/// A piece of memory, where it came from, and how it will be freed. Destroying the state frees it.
///
/// Plain is memory of a pool that will be freed on a stream which is not a default one: that needs
/// no context, and nothing of the unusual part. Nearly all buffers are, so it is kept small.
struct BufferState : MemoryRange {
    std::shared_ptr<MemoryResource> resource;      // null for wrapped memory, which is not freed
    Stream stream = Access::make<Stream>(nullptr); // the free is ordered on it; closed if none
    OnDemand<UnusualBuffer> unusual;
    bool is_plain = false;

    // NOTE: a defaulted one would have all of it set to zero, and then members once more.
    BufferState() noexcept {} // NOLINT(modernize-use-equals-default)

    /// Makes the state of a plain buffer that has no memory yet.
    BufferState(std::shared_ptr<MemoryResource> pool, const Stream& queue) noexcept
        : resource(std::move(pool)), stream(queue), is_plain(true) {}

    ~BufferState();
    BufferState(const BufferState&) = delete;
    BufferState& operator=(const BufferState&) = delete;

    /// Tells whether the memory went with a context that was reset; that of pools does not.
    [[nodiscard]] bool is_lost() const noexcept;

    /// Tells whether it is a part of another one, which frees the memory.
    [[nodiscard]] bool is_part() const noexcept {
        const UnusualBuffer* const more = unusual.peek();
        return more != nullptr && more->whole != nullptr;
    }

    /// Returns the state that frees the memory.
    [[nodiscard]] BufferState& whole_state() noexcept {
        return is_part() ? *unusual.peek()->whole : *this;
    }

    /// Records the stream that the memory will be freed on, and its context. The first one is
    /// also where it was made.
    void free_on(const Stream& next);
    /// The same, when nearly always it is the one that was recorded before.
    void free_again_on(const Stream& next);
    /// Records the context that memory is freed in which came without a stream.
    void free_in(std::shared_ptr<ContextState> place);
    /// Tells whether the recorded stream means here and now what it meant.
    [[nodiscard]] bool is_stream_usable() const;

    /// Hands the memory over to another state, which will free it.
    void hand_over(BufferState& other) noexcept;

private:
    /// Tells whether freeing now would become part of a graph that is being captured, or end its
    /// capture. Graph memory is freed by its graph.
    [[nodiscard]] bool is_held_up() const noexcept;
    /// Leaves the memory to be freed when somebody next looks at what is done, in a host function
    /// that must not call the driver or while a capture is under way; says no if it cannot be.
    [[nodiscard]] bool is_put_off() noexcept;
    /// Frees memory that is plain; says no if it has to be done in its context.
    [[nodiscard]] bool is_freed_plainly() noexcept;
    void free_in_context() noexcept;
};

/// Returns all of a buffer's state.
/// @throws ClosedError, naming the class, if it was closed.
[[nodiscard]] inline BufferState& open(const Buffer& buffer, const char* what = "Buffer") {
    auto& state = static_cast<BufferState&>(open(Access::state(buffer), what));
    check_not_lost(state, what);
    return state;
}

/// Returns a resource as its buffers hold it.
/// @throws std::logic_error if nobody shares it: it was not made with std::make_shared.
[[nodiscard]] std::shared_ptr<MemoryResource> share_of(MemoryResource& resource);

/// Returns what the driver knows of a buffer's memory.
[[nodiscard]] const PointerInfo& pointer_info(BufferState& buffer);

/// Tells whether memory moves between host and devices by itself: its resource knows, or the
/// driver.
[[nodiscard]] bool is_managed(BufferState& buffer);

} // namespace cuprum::detail
