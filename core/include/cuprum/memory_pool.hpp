// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/device.hpp>
#include <cuprum/ipc.hpp>
#include <cuprum/location.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cuprum {

class Buffer;
class ManagedBuffer;
class MemoryResource;
class Stream;

namespace detail {
struct Access;
struct PoolState;
} // namespace detail

/// What can be asked of a pool, and for some, set. The numbers are the driver's.
enum class PoolAttribute {
    ReuseFollowEventDependencies = 1, // settable: 0 or 1
    ReuseAllowOpportunistic,          // settable: 0 or 1
    ReuseAllowInternalDependencies,   // settable: 0 or 1
    ReleaseThreshold,                 // settable: bytes kept at a synchronisation
    ReservedMemCurrent,
    ReservedMemHigh, // settable to 0, which starts it again from the current value
    UsedMemCurrent,
    UsedMemHigh, // settable to 0, which starts it again from the current value
};

/// What a pool holds and has held, and when it gives memory back, when it was asked.
struct PoolAttributes {
    bool reuse_follow_event_dependencies = false;
    bool reuse_allow_opportunistic = false;
    bool reuse_allow_internal_dependencies = false;
    std::uint64_t release_threshold = 0;
    std::uint64_t reserved_mem_current = 0;
    std::uint64_t reserved_mem_high = 0;
    std::uint64_t used_mem_current = 0;
    std::uint64_t used_mem_high = 0;
};

/// Shares a stream-ordered pool of memory; what the three kinds of pool have in common.
///
/// Closing it gives up this share: buffers that came from it stay valid and keep the pool alive.
class CUPRUM_API MemoryPool {
public:
    /// Allocates, ordered on `stream`, which must belong to a context that can access the memory.
    /// @throws OutOfMemoryError with the bytes asked for and free.
    [[nodiscard]] Buffer allocate(std::size_t bytes, const Stream& stream) const;
    /// Frees memory that was allocated from this pool and is held by no Buffer.
    void deallocate(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) const;

    [[nodiscard]] CUmemoryPool handle() const;
    /// Tells whether the pool is this resource's own: it is destroyed with the last share.
    [[nodiscard]] bool is_handle_owned() const;
    /// Returns the ordinal of the device whose memory this is, -1 for host memory.
    [[nodiscard]] int device_id() const;
    [[nodiscard]] bool is_device_accessible() const;
    [[nodiscard]] bool is_host_accessible() const;
    [[nodiscard]] bool is_managed() const;

    /// Returns all attributes, as of now.
    [[nodiscard]] PoolAttributes attributes() const;
    [[nodiscard]] std::uint64_t attribute(PoolAttribute name) const;
    /// Sets an attribute.
    /// @throws std::invalid_argument if it cannot be set, or not to this value.
    void set_attribute(PoolAttribute name, std::uint64_t value) const;
    /// Gives memory back to the system until at most `keep_bytes` are reserved beyond what is in
    /// use.
    void trim(std::size_t keep_bytes = 0) const;

    /// Tells whether the pool can be shared with other processes.
    [[nodiscard]] bool is_ipc_enabled() const;
    /// Tells whether the pool is another process's, imported here: it cannot allocate.
    [[nodiscard]] bool is_mapped() const;
    /// Returns the handle that other processes import the pool with. Exported once; every call
    /// shares one file descriptor.
    /// @throws std::logic_error if the pool is not IPC-enabled.
    [[nodiscard]] IPCAllocationHandle allocation_handle() const;

    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    void close() noexcept { state_.reset(); }

    /// Returns the resource as others see it.
    [[nodiscard]] std::shared_ptr<MemoryResource> resource() const;

protected:
    MemoryPool(std::shared_ptr<detail::PoolState> state, const char* class_name) noexcept
        : state_(std::move(state)), class_name_(class_name) {}

    /// Returns what is shared.
    /// @throws ClosedError, naming the class, if it was closed.
    [[nodiscard]] detail::PoolState& open() const;

private:
    friend struct detail::Access;

    std::shared_ptr<detail::PoolState> state_;
    const char* class_name_;
};

/// How a device pool is made.
struct DeviceMemoryResourceOptions {
    std::size_t max_size = 0; // bytes the pool may hold; 0 is the driver's limit
    bool ipc_enabled = false; // can be shared with other processes
};

/// Shares a stream-ordered pool of device memory.
class CUPRUM_API DeviceMemoryResource : public MemoryPool {
public:
    /// Wraps the device's current pool, which others in the process share. If that pool would give
    /// all memory back at every synchronisation (the driver's default), it is told to keep it.
    explicit DeviceMemoryResource(const Device& device);
    /// Makes a pool of its own.
    DeviceMemoryResource(const Device& device, const DeviceMemoryResourceOptions& options);
    /// Wraps a pool made elsewhere, without owning it; `owner` is kept alive with it.
    [[nodiscard]] static DeviceMemoryResource from_handle(const Device& device, CUmemoryPool handle,
                                                          std::shared_ptr<void> owner = {});
    /// Imports a pool of another process, which then maps buffers but does not allocate.
    [[nodiscard]] static DeviceMemoryResource
    from_allocation_handle(const Device& device, const IPCAllocationHandle& handle);

    [[nodiscard]] Device device() const;

    /// Returns the other devices that may access the pool's memory, as of now, in order.
    [[nodiscard]] std::vector<Device> peer_accessible_by() const;
    /// Makes these, and no other devices but its own, able to access the pool's memory.
    /// @throws std::invalid_argument if a device cannot reach it; nothing is changed then.
    void set_peer_accessible_by(std::span<const Device> peers) const;
    /// Gives and takes away access in one driver call; none if there is nothing to change.
    /// @throws std::invalid_argument if a device cannot reach it; nothing is changed then.
    void update_peer_access(std::span<const Device> give, std::span<const Device> take) const;
    /// Tells whether kernels of a device may read and write the pool's memory.
    [[nodiscard]] bool is_accessible_from(const Device& device) const;

private:
    friend struct detail::Access;

    explicit DeviceMemoryResource(std::shared_ptr<detail::PoolState> state) noexcept;
};

/// How a pinned pool is made.
struct PinnedMemoryResourceOptions {
    std::size_t max_size = 0;        // bytes the pool may hold; 0 is the driver's limit
    bool ipc_enabled = false;        // can be shared with other processes
    std::optional<int> numa_id = {}; // none: the system's choice; with IPC, the current device's
};

/// Shares a stream-ordered pool of host memory that devices can reach.
class CUPRUM_API PinnedMemoryResource : public MemoryPool {
public:
    /// Wraps the process's current pool of pinned memory. Needs a driver for CUDA 13.0.
    PinnedMemoryResource();
    /// Makes a pool of its own.
    /// @throws std::invalid_argument for a negative NUMA node.
    explicit PinnedMemoryResource(const PinnedMemoryResourceOptions& options);
    /// Imports a pool of another process, which then maps buffers but does not allocate.
    [[nodiscard]] static PinnedMemoryResource
    from_allocation_handle(const IPCAllocationHandle& handle);

    /// Returns the NUMA node of the memory, -1 if the system places it.
    [[nodiscard]] int numa_id() const;

private:
    friend struct detail::Access;

    explicit PinnedMemoryResource(std::shared_ptr<detail::PoolState> state) noexcept;
};

/// How a managed pool is made.
struct ManagedMemoryResourceOptions {
    std::optional<Location> preferred_location = {}; // where memory rests; none: where it is used
};

/// Shares a stream-ordered pool of memory that moves between host and devices by itself. Needs a
/// driver for CUDA 13.0.
class CUPRUM_API ManagedMemoryResource : public MemoryPool {
public:
    /// Wraps the process's current pool of managed memory.
    /// @throws std::logic_error if a device cannot access managed memory while the host does.
    ManagedMemoryResource();
    /// Makes a pool of its own. Where host and device cannot access managed memory at the same
    /// time, this warns, once per process.
    explicit ManagedMemoryResource(const ManagedMemoryResourceOptions& options);

    [[nodiscard]] ManagedBuffer allocate(std::size_t bytes, const Stream& stream) const;
    /// Returns where memory rests, nothing if no place is preferred.
    [[nodiscard]] std::optional<Location> preferred_location() const;

private:
    friend struct detail::Access;

    explicit ManagedMemoryResource(std::shared_ptr<detail::PoolState> state) noexcept;
};

} // namespace cuprum
