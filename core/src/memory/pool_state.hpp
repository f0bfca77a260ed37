// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"
#include "driver/capture.hpp"
#include "support/once.hpp"

#include <cuprum/ipc.hpp>
#include <cuprum/memory_pool.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

namespace cuprum::detail {

struct StreamState;

/// What kind of memory a pool gives.
enum class PoolKind { Device, Pinned, Managed };

/// A driver pool and what it depends on. Destroying the state destroys the pool if it is ours.
struct PoolState {
    CUmemoryPool handle = nullptr;
    PoolKind kind;
    CUmemLocation location; // where its memory lies, or rests if it is managed
    bool is_owned = false;
    bool is_mapped = false;        // imported from another process
    bool is_ipc_enabled = false;   // the driver agreed to share it
    bool is_kept = false;          // for the life of the process: buffers need not count shares
    std::size_t max_size = 0;      // bytes; 0 is no limit of ours
    std::shared_ptr<void> owner;   // of a foreign pool
    Lazy<IPCAllocationHandle> ipc; // what it was exported as, or imported from

    PoolState(PoolKind its_kind, CUmemLocation its_location)
        : kind(its_kind), location(its_location) {}

    ~PoolState();
    PoolState(const PoolState&) = delete;
    PoolState& operator=(const PoolState&) = delete;

    /// Returns the ordinal of the device whose memory it holds, -1 for host memory.
    [[nodiscard]] int device_id() const noexcept {
        return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : -1;
    }
};

/// Allocates from a pool, ordered on a stream.
[[nodiscard]] CUdeviceptr allocate_from_pool(const PoolState& pool, std::size_t bytes,
                                             const StreamState& queue);

/// Checks that an imported pool is not allocated from, and that the stream's device can use a
/// pinned pool. Plain device pools need no check.
void check_special_pool(const PoolState& pool, const StreamState& queue);

/// Frees memory of a pool in the order of a stream that is not capturing. Never ends a capture of
/// another stream; see driver/capture.hpp.
[[nodiscard]] inline CUresult free_pool_memory(CUdeviceptr pointer, CUstream stream) {
    const driver::RelaxedCapture relaxed;
    return driver::table().cuMemFreeAsync(pointer, stream);
}

/// Makes a pool of our own.
[[nodiscard]] std::unique_ptr<PoolState> create_pool(PoolKind kind, CUmemLocation location,
                                                     std::size_t max_size, bool ipc_enabled);

/// Returns the handle by which other processes import a pool, exporting it if that was not done.
[[nodiscard]] IPCAllocationHandle exported(PoolState& pool);

/// Imports a pool of another process.
[[nodiscard]] std::unique_ptr<PoolState> import_pool(PoolKind kind, CUmemLocation location,
                                                     const IPCAllocationHandle& handle);

/// Wraps the pool that the process uses for a kind of memory, and sets its release threshold to the
/// maximum if it is 0, the driver's default.
[[nodiscard]] std::unique_ptr<PoolState> current_pool(PoolKind kind, CUmemLocation location);

/// Keeps a pool that is not ours for the life of the process, so that its buffers need not count
/// their shares of it.
void keep_for_good(std::shared_ptr<MemoryPool> pool);

/// @throws CUDAError if the device has no memory pools.
void require_pools(int device);

/// Warns, once per process, if host and device cannot access managed memory at the same time.
void warn_about_managed_access(const Device& device);

/// Returns whether it warned already; tests reset it.
[[nodiscard]] std::atomic<bool>& managed_access_warning() noexcept;

[[nodiscard]] std::uint64_t pool_attribute(CUmemoryPool pool, PoolAttribute name);

} // namespace cuprum::detail
