// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How a buffer is freed.
//
// All copies of a Buffer share one BufferState; a slice has its own, which shares the state of the
// whole. The last share destroys the state, and that frees the memory in the order of one stream:
//
// - the stream that the memory was allocated on, or the one that set_deallocation_stream() named;
// - or the stream that the last share named in close(stream).
//
// A share that is not the last and closes on another stream changes nothing for the others. It
// records an event on its stream, its closing point, and the free waits for that event.
//
// Threads: `pointer`, `resource` and the first part of BufferExtras are fixed before a buffer is
// shared. `size` is atomic, since virtual memory grows. The free order has a lock. A destructor
// needs none: it runs alone.

#pragma once

#include "device/context_state.hpp"
#include "driver/call.hpp"
#include "driver/handle.hpp"
#include "support/locks.hpp"
#include "support/once.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/detail/access.hpp>
#include <cuprum/event.hpp>
#include <cuprum/memory_resource.hpp>
#include <cuprum/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace cuprum::detail {

struct BufferState;

/// What the driver knows about a pointer that came from elsewhere.
struct PointerInfo {
    int device_id = -1;     // -1 for host memory that no device knows
    bool is_device = false; // it is memory of that device
    bool is_device_accessible = false;
    bool is_host_accessible = false;
    bool is_managed = false;
};

/// The stream and the context that a buffer is freed in.
struct FreeOrder {
    Stream stream = Access::make<Stream>(nullptr); // closed if there is none
    std::shared_ptr<ContextState> context;         // current while freeing
    std::uint64_t thread = 0; // whose per-thread default stream `stream` means, or 0

    /// Returns whether `stream` still means on this thread what it meant when it was recorded.
    [[nodiscard]] bool is_usable() const noexcept;
};

/// The point on a stream at which a share was closed.
struct ClosingPoint {
    Stream stream;
    Event reached;
};

/// What only some buffers have; see BufferState::is_plain.
struct BufferExtras {
    // Fixed before the buffer is shared.
    OfContext home;                     // the context that it was made in, kept as long as it
    std::shared_ptr<void> owner;        // of wrapped memory
    std::shared_ptr<BufferState> whole; // of a slice, which frees nothing itself
    std::unique_ptr<const IPCBufferDescriptor> imported; // for memory of another process
    std::shared_ptr<void> import_entry;                  // of such memory: see Imports in ipc.cpp

    // Guarded by BufferState::lock.
    std::shared_ptr<ContextState> context; // see FreeOrder
    std::uint64_t thread = 0;              // see FreeOrder

    std::mutex closing_mutex;
    std::vector<ClosingPoint> closing_points; // guarded by closing_mutex; one for each stream

    OnDemand<const PointerInfo> pointer_info; // of wrapped memory
};

/// A piece of memory, where it came from, and how it is freed. Destroying the state frees it.
///
/// A plain buffer is memory of a pool that is freed on a created stream: this needs no context and
/// no extras. Nearly all buffers are plain, so the state fits one line of the cache.
struct BufferState : MemoryRange {
    std::shared_ptr<MemoryResource> resource;      // null for wrapped memory, which is not freed
    Stream stream = Access::make<Stream>(nullptr); // see FreeOrder; guarded by `lock`
    OnDemand<BufferExtras> extras;
    mutable SpinLock lock;
    bool is_plain = false; // guarded by `lock`

    // NOTE: a defaulted constructor would clear all members first and then set them.
    BufferState() noexcept {} // NOLINT(modernize-use-equals-default)

    /// Makes the state of a plain buffer that has no memory yet.
    BufferState(std::shared_ptr<MemoryResource> pool, const Stream& queue) noexcept
        : resource(std::move(pool)), stream(queue), is_plain(true) {}

    ~BufferState();
    BufferState(const BufferState&) = delete;
    BufferState& operator=(const BufferState&) = delete;

    /// Returns whether a reset destroyed the memory with its context. Pools survive a reset.
    [[nodiscard]] bool is_lost() const noexcept;

    /// Returns whether this is a slice of another buffer, which frees the memory.
    [[nodiscard]] bool is_slice() const noexcept {
        const BufferExtras* const more = extras.peek();
        return more != nullptr && more->whole != nullptr;
    }

    /// Returns the state that frees the memory.
    [[nodiscard]] BufferState& whole_state() noexcept {
        return is_slice() ? *extras.peek()->whole : *this;
    }

    /// Sets the stream and its context for a buffer that is being made: it also belongs there.
    void make_on(const Stream& first);
    /// Sets the context for a buffer that is being made without a stream.
    void make_in(std::shared_ptr<ContextState> place);

    /// Returns the stream and the context that the memory will be freed in. Thread-safe.
    [[nodiscard]] FreeOrder free_order() const;
    /// Returns whether the memory will be freed on this created stream. Thread-safe.
    [[nodiscard]] bool is_freed_on(const Stream& next) const;
    /// Frees on another stream, in the context that it means now. Thread-safe.
    void redirect_free(const Stream& next);
    /// Lets the free wait for the work that a stream holds now. Thread-safe.
    void free_after_work_on(const Stream& next);

private:
    struct Deferred;

    /// Returns whether freeing now would join a stream capture or end it.
    [[nodiscard]] bool is_blocked_by_capture() const noexcept;
    /// Moves the memory to the list of deferred releases; false if it must be freed now.
    [[nodiscard]] bool try_defer_free() noexcept;
    /// Frees plain memory in its stream's order; false if that needs the context.
    [[nodiscard]] bool try_free_on_stream() noexcept;
    /// Frees the memory through its resource, in its context.
    void free_in_context() noexcept;
    /// Lets the free wait for all closing points.
    void wait_for_closing_points() noexcept;
};

/// Returns all of a buffer's state.
/// @throws ClosedError, naming the class, if the buffer is closed or a reset destroyed it.
[[nodiscard]] inline BufferState& open(const Buffer& buffer, const char* what = "Buffer") {
    auto& state = static_cast<BufferState&>(open(Access::state(buffer), what));
    check_not_lost(state, what);
    return state;
}

/// Returns a resource as its buffers hold it.
/// @throws std::logic_error if no std::shared_ptr holds it.
[[nodiscard]] std::shared_ptr<MemoryResource> share_of(MemoryResource& resource);

/// Returns what the driver knows about a buffer's memory.
[[nodiscard]] const PointerInfo& pointer_info(BufferState& buffer);

/// Returns whether the memory migrates between host and devices by itself.
[[nodiscard]] bool is_managed(BufferState& buffer);

} // namespace cuprum::detail
