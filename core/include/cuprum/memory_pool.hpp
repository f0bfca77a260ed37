// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/device.hpp>
#include <cuprum/ipc.hpp>
#include <cuprum/location.hpp>
#include <cuprum/memory_resource.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cuprum {

class Buffer;
class ManagedBuffer;
class Stream;

namespace detail {
struct Access;
struct PoolState;
} // namespace detail

/// An attribute of a pool; some can be set. The numbers are the driver's.
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

/// All attributes of a pool at one moment.
struct PoolAttributes {
    bool reuse_follow_event_dependencies = false; // reuse memory whose free an event orders before
    bool reuse_allow_opportunistic = false;       // reuse memory whose free is complete
    bool reuse_allow_internal_dependencies =
        false;                           // reuse memory and let the stream wait for its free
    std::uint64_t release_threshold = 0; // bytes that the pool keeps when a stream is synchronised
    std::uint64_t reserved_mem_current = 0; // bytes that the pool has
    std::uint64_t reserved_mem_high = 0;    // the most bytes that the pool had
    std::uint64_t used_mem_current = 0;     // bytes that buffers use
    std::uint64_t used_mem_high = 0;        // the most bytes that buffers used
};

/// A stream-ordered pool of memory; the base of the three kinds of pool.
///
/// All methods may be called from several threads at once. A pool of our own is destroyed with the
/// last pointer and the last buffer; pools of others are left alone.
///
/// @code
/// const auto pool = cuprum::DeviceMemoryResource::create(device, {.max_size = 1 << 24});
/// pool->set_attribute(cuprum::PoolAttribute::ReleaseThreshold, 1 << 20);
/// const cuprum::Buffer memory = pool->allocate(1024, stream);
/// assert(pool->attributes().used_mem_current >= 1024);
/// @endcode
class CUPRUM_API MemoryPool : public MemoryResource {
public:
    ~MemoryPool() override;
    MemoryPool(const MemoryPool&) = delete;
    MemoryPool& operator=(const MemoryPool&) = delete;

    /// Allocates, ordered on `stream`, which must belong to a context that can access the memory.
    /// @throws OutOfMemoryError with the bytes asked for and free.
    [[nodiscard]] Buffer allocate(std::size_t bytes, const Stream& stream);
    [[nodiscard]] CUdeviceptr allocate_bytes(std::size_t bytes, const Stream& stream) final;
    /// Frees memory that was allocated from this pool and is held by no Buffer.
    void deallocate_bytes(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) final;

    /// Returns the driver's `CUmemoryPool`.
    [[nodiscard]] CUmemoryPool handle() const noexcept;
    /// Returns whether this object made or imported the pool, and destroys it.
    [[nodiscard]] bool is_handle_owned() const noexcept;

    /// Returns true.
    [[nodiscard]] bool is_device_accessible() const noexcept final { return true; }

    /// Returns whether the host can read and write the memory directly.
    [[nodiscard]] bool is_host_accessible() const noexcept final;
    [[nodiscard]] bool is_managed() const noexcept final;
    [[nodiscard]] int device_id() const noexcept final;

    /// Returns the current values of all attributes.
    [[nodiscard]] PoolAttributes attributes() const;
    /// Returns the current value of one attribute.
    [[nodiscard]] std::uint64_t attribute(PoolAttribute name) const;
    /// Sets an attribute.
    /// @throws std::invalid_argument if it cannot be set, or not to this value.
    void set_attribute(PoolAttribute name, std::uint64_t value) const;
    /// Gives memory back to the system until at most `keep_bytes` are reserved beyond what is in
    /// use.
    void trim(std::size_t keep_bytes = 0) const;

    /// Returns whether the pool can be shared with other processes.
    [[nodiscard]] bool is_ipc_enabled() const noexcept;
    /// Returns whether the pool was imported from another process: it cannot allocate.
    [[nodiscard]] bool is_mapped() const noexcept;
    /// Returns the handle that other processes import the pool with. Exported once; every call
    /// shares one file descriptor.
    /// @throws std::logic_error if the pool is not IPC-enabled.
    [[nodiscard]] IPCAllocationHandle allocation_handle() const;

protected:
    explicit MemoryPool(std::unique_ptr<detail::PoolState> state) noexcept;
    [[nodiscard]] Buffer make_buffer(std::size_t bytes, const Stream& stream) final;

private:
    friend struct detail::Access;

    std::unique_ptr<detail::PoolState> state_;
};

/// How a device pool is made.
struct DeviceMemoryResourceOptions {
    std::size_t max_size = 0; // bytes the pool may hold; 0 is the driver's limit
    bool ipc_enabled = false; // can be shared with other processes
};

/// A stream-ordered pool of device memory.
///
/// @code
/// const auto pool = cuprum::DeviceMemoryResource::create(device);
/// const cuprum::Buffer memory = pool->allocate(1024, stream);
/// @endcode
class CUPRUM_API DeviceMemoryResource final : public MemoryPool {
public:
    /// Wraps the device's current pool, which everybody in the process shares.
    ///
    /// The driver's default is that a pool returns all unused memory to the system at every
    /// synchronisation. If the pool still has that setting (a release threshold of 0), this sets
    /// the threshold to the maximum, so that the pool keeps its memory. The change affects the
    /// whole process; undo it with set_attribute(PoolAttribute::ReleaseThreshold, 0).
    [[nodiscard]] static std::shared_ptr<DeviceMemoryResource> create(const Device& device);
    /// Makes a new pool.
    [[nodiscard]] static std::shared_ptr<DeviceMemoryResource>
    create(const Device& device, const DeviceMemoryResourceOptions& options);
    /// Wraps a pool made elsewhere, without owning it; `owner` is kept alive with it.
    [[nodiscard]] static std::shared_ptr<DeviceMemoryResource>
    from_handle(const Device& device, CUmemoryPool handle, std::shared_ptr<void> owner = {});
    /// Imports a pool of another process, which then maps buffers but does not allocate.
    [[nodiscard]] static std::shared_ptr<DeviceMemoryResource>
    from_allocation_handle(const Device& device, const IPCAllocationHandle& handle);

    /// Returns the device whose memory the pool hands out.
    [[nodiscard]] Device device() const;

    /// Returns the other devices that may access the pool's memory now, in order.
    [[nodiscard]] std::vector<Device> peer_accessible_by() const;
    /// Lets exactly these other devices access the pool's memory.
    /// @throws std::invalid_argument if a device cannot reach it; nothing is changed then.
    void set_peer_accessible_by(std::span<const Device> peers) const;

    /// Sets a list of devices: `set_peer_accessible_by({Device(1)})`.
    void set_peer_accessible_by(std::initializer_list<Device> peers) const {
        set_peer_accessible_by(std::span(peers.begin(), peers.size()));
    }

    /// Gives and takes away access in one driver call; none if there is nothing to change.
    /// @throws std::invalid_argument if a device cannot reach it; nothing is changed then.
    void update_peer_access(std::span<const Device> give, std::span<const Device> take) const;
    /// Returns whether kernels of a device may read and write the pool's memory.
    [[nodiscard]] bool is_accessible_from(const Device& device) const;

private:
    explicit DeviceMemoryResource(std::unique_ptr<detail::PoolState> state) noexcept;
};

/// How a pinned pool is made.
struct PinnedMemoryResourceOptions {
    std::size_t max_size = 0;        // bytes the pool may hold; 0 is the driver's limit
    bool ipc_enabled = false;        // can be shared with other processes
    std::optional<int> numa_id = {}; // none: the system's choice; with IPC, the current device's
};

/// A stream-ordered pool of host memory that devices can reach.
///
/// @code
/// const auto pool = cuprum::PinnedMemoryResource::create();
/// const cuprum::Buffer staging = pool->allocate(1024, stream);
/// stream.sync(); // the memory is the host's to use from here on
/// staging.as_span<int>()[0] = 1;
/// @endcode
class CUPRUM_API PinnedMemoryResource final : public MemoryPool {
public:
    /// Wraps the process's current pool of pinned memory. Needs a driver for CUDA 13.0. Sets the
    /// release threshold as DeviceMemoryResource::create does.
    [[nodiscard]] static std::shared_ptr<PinnedMemoryResource> create();
    /// Makes a new pool.
    /// @throws std::invalid_argument for a negative NUMA node.
    [[nodiscard]] static std::shared_ptr<PinnedMemoryResource>
    create(const PinnedMemoryResourceOptions& options);
    /// Imports a pool of another process, which then maps buffers but does not allocate.
    [[nodiscard]] static std::shared_ptr<PinnedMemoryResource>
    from_allocation_handle(const IPCAllocationHandle& handle);

    /// Returns the NUMA node of the memory, -1 if the system places it.
    [[nodiscard]] int numa_id() const noexcept;

private:
    explicit PinnedMemoryResource(std::unique_ptr<detail::PoolState> state) noexcept;
};

/// How a managed pool is made.
struct ManagedMemoryResourceOptions {
    std::optional<Location> preferred_location = {}; // where memory rests; none: where it is used
};

/// A stream-ordered pool of memory that migrates between host and devices by itself. Needs a driver
/// for CUDA 13.0.
///
/// @code
/// const auto pool = cuprum::ManagedMemoryResource::create();
/// const cuprum::ManagedBuffer memory = pool->allocate(1024, stream);
/// assert(memory.is_host_accessible() && memory.is_device_accessible());
/// @endcode
class CUPRUM_API ManagedMemoryResource final : public MemoryPool {
public:
    /// Wraps the process's current pool of managed memory. Sets the release threshold as
    /// DeviceMemoryResource::create does.
    /// @throws std::logic_error if a device cannot access managed memory while the host does.
    [[nodiscard]] static std::shared_ptr<ManagedMemoryResource> create();
    /// Makes a new pool. Where host and device cannot access managed memory at the same time, this
    /// warns once per process.
    [[nodiscard]] static std::shared_ptr<ManagedMemoryResource>
    create(const ManagedMemoryResourceOptions& options);

    /// Allocates managed memory, ordered on `stream`.
    [[nodiscard]] ManagedBuffer allocate(std::size_t bytes, const Stream& stream);
    /// Returns where memory rests, nothing if no place is preferred.
    [[nodiscard]] std::optional<Location> preferred_location() const;

private:
    explicit ManagedMemoryResource(std::unique_ptr<detail::PoolState> state) noexcept;
};

} // namespace cuprum
