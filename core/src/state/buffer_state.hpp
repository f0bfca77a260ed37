// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"
#include "state/context_state.hpp"

#include <cuprum/memory_resource.hpp>
#include <cuprum/stream.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>

namespace cuprum::detail {

/// What the driver knows of a pointer that came from elsewhere.
struct PointerInfo {
    int device_id = -1; // -1 for host memory
    bool is_device_accessible = false;
    bool is_host_accessible = false;
    bool is_managed = false;
};

/// A piece of memory, where it came from, and how it will be freed. Destroying the state frees it.
struct BufferState {
    // What a pool's buffer needs comes first, in one line of the cache.
    CUdeviceptr pointer = 0;
    std::size_t size = 0;                          // bytes
    std::shared_ptr<MemoryResource> resource;      // null for wrapped memory, which is not freed
    Stream stream{std::shared_ptr<StreamState>()}; // the free is ordered on it; closed if none
    bool is_plain = false; // of a pool, and to be freed on a stream that is not a default one
    std::shared_ptr<ContextState> context; // current while freeing; null, the stream's, if plain
    std::shared_ptr<ContextState> home;    // that it was made in, kept as long as it; null if plain
    unsigned made_at = 0;                  // the home's count of resets when it was made
    std::shared_ptr<void> owner;           // of wrapped memory
    std::unique_ptr<const IPCBufferDescriptor> imported; // as what, from another process
    std::thread::id thread;             // whose per-thread default stream `stream` means
    std::shared_ptr<BufferState> whole; // what a slice is part of; it frees nothing
    std::atomic<const PointerInfo*> pointer_info = nullptr; // of wrapped memory; owned

    BufferState() = default;
    ~BufferState();
    BufferState(const BufferState&) = delete;
    BufferState& operator=(const BufferState&) = delete;

    /// Returns the state that frees the memory.
    [[nodiscard]] BufferState& whole_state() noexcept { return whole != nullptr ? *whole : *this; }

    /// Records the stream that the memory will be freed on, and its context. The first one is
    /// also where it was made.
    void free_on(const Stream& next);
    /// The same, when nearly always it is the one that was recorded before.
    void free_again_on(const Stream& next);
    /// Records the context that memory is freed in which came without a stream.
    void free_in(std::shared_ptr<ContextState> place);

private:
    /// Frees memory that is plain; says no if it has to be done in its context.
    [[nodiscard]] bool is_freed_plainly() noexcept;
    void free_in_context() noexcept;
    /// Tells whether the recorded stream means here and now what it meant.
    [[nodiscard]] bool is_stream_usable() const;
};

/// Tells whether memory moves between host and devices by itself: its resource knows, or the
/// driver.
[[nodiscard]] bool is_managed(BufferState& buffer);

} // namespace cuprum::detail
