// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"
#include "driver/capture.hpp"
#include "support/lazy.hpp"

#include <cuprum/ipc.hpp>
#include <cuprum/memory_resource.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

namespace cuprum::detail {

struct StreamState;

/// What kind of memory a pool gives.
enum class PoolKind { Device, Pinned, Managed };

/// A pool, as the resource that buffers share. Destroying it destroys the pool if it is ours.
struct PoolState final : MemoryResource {
    CUmemoryPool handle = nullptr;
    PoolKind kind;
    CUmemLocation location; // where its memory lies, or rests if it is managed
    bool is_owned = false;
    bool is_mapped = false;        // another process's
    bool is_ipc_enabled = false;   // the driver agreed to share it
    bool is_kept = false;          // for good: buffers need not count their shares of it
    std::size_t max_size = 0;      // bytes; 0 is no limit of ours
    std::shared_ptr<void> owner;   // of a foreign pool
    Lazy<IPCAllocationHandle> ipc; // what it was exported as, or imported from

    PoolState(PoolKind its_kind, CUmemLocation its_location)
        : kind(its_kind), location(its_location) {}

    ~PoolState() override;
    PoolState(const PoolState&) = delete;
    PoolState& operator=(const PoolState&) = delete;

    Buffer allocate(std::size_t bytes, const Stream& stream) override;
    CUdeviceptr allocate_bytes(std::size_t bytes, const Stream& stream) override;
    void deallocate_bytes(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) override;

    bool is_device_accessible() const noexcept override { return true; }

    bool is_host_accessible() const noexcept override { return kind != PoolKind::Device; }

    bool is_managed() const noexcept override { return kind == PoolKind::Managed; }

    int device_id() const noexcept override {
        return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : -1;
    }

    /// Allocates from a pool; in the plain case at once what MemoryResource::allocate does in
    /// steps.
    [[nodiscard]] static Buffer allocate_from(const std::shared_ptr<PoolState>& pool,
                                              std::size_t bytes, const Stream& stream);

private:
    [[nodiscard]] CUdeviceptr allocate_on(std::size_t bytes, const StreamState& queue);
    /// Refuses what this pool cannot do on this stream, for the pools that are not the plain case.
    void check_special(const Stream& stream) const;
};

/// Frees memory of a pool in the order of a stream that is not capturing. Never ends a capture of
/// another stream; see driver/capture.hpp.
[[nodiscard]] inline CUresult free_pool_memory(CUdeviceptr pointer, CUstream stream) {
    const driver::RelaxedCapture relaxed;
    return driver::table().cuMemFreeAsync(pointer, stream);
}

/// Makes a pool of our own.
[[nodiscard]] std::shared_ptr<PoolState> create_pool(PoolKind kind, CUmemLocation location,
                                                     std::size_t max_size, bool ipc_enabled);

/// Returns the handle by which other processes import a pool, exporting it if that was not done.
[[nodiscard]] IPCAllocationHandle exported(PoolState& pool);

/// Imports a pool of another process.
[[nodiscard]] std::shared_ptr<PoolState> import_pool(PoolKind kind, CUmemLocation location,
                                                     const IPCAllocationHandle& handle);

/// Wraps the pool that the process uses for a kind of memory.
[[nodiscard]] std::shared_ptr<PoolState> current_pool(PoolKind kind, CUmemLocation location);

/// Keeps a pool that is not ours for the life of the process.
void keep_for_good(std::shared_ptr<PoolState> pool);

/// @throws CUDAError if the device has no memory pools.
void require_pools(int device);

/// Warns, once per process, if host and device cannot access managed memory at the same time.
void warn_about_managed_access(const Device& device);

/// Tells whether that was said already; tests say it anew.
[[nodiscard]] std::atomic<bool>& managed_access_warning() noexcept;

[[nodiscard]] std::uint64_t pool_attribute(CUmemoryPool pool, PoolAttribute name);

} // namespace cuprum::detail
