// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/device.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cuprum {

class Buffer;
class Stream;

namespace detail {
struct PoolState;
}

/// Where memory comes from. Derive from it to allocate in a way of your own; make it with
/// std::make_shared, since buffers share it.
class CUPRUM_API MemoryResource : public std::enable_shared_from_this<MemoryResource> {
public:
    virtual ~MemoryResource() = default;
    MemoryResource(const MemoryResource&) = delete;
    MemoryResource& operator=(const MemoryResource&) = delete;

    /// Allocates `bytes`, usable in `stream`'s order from here on. The buffer frees it through this
    /// resource.
    [[nodiscard]] Buffer allocate(std::size_t bytes, const Stream& stream);

    /// Allocates raw memory; for `allocate`, which never asks for 0 bytes (they give a null
    /// pointer).
    [[nodiscard]] virtual CUdeviceptr allocate_bytes(std::size_t bytes, const Stream& stream) = 0;
    /// Frees what `allocate_bytes` gave, ordered on `stream`. May throw; a buffer that frees itself
    /// in its destructor reports that as a warning.
    virtual void deallocate_bytes(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) = 0;

    [[nodiscard]] virtual bool is_device_accessible() const noexcept = 0;
    [[nodiscard]] virtual bool is_host_accessible() const noexcept = 0;
    /// Returns the ordinal of the device whose memory this is, -1 for host memory.
    [[nodiscard]] virtual int device_id() const noexcept = 0;

protected:
    MemoryResource() = default;
};

/// How a device pool is made.
struct DeviceMemoryResourceOptions {
    std::size_t max_size = 0; // bytes the pool may hold; 0 is the driver's limit
};

/// What a pool holds and has held, and when it gives memory back.
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

/// Shares a stream-ordered pool of device memory.
///
/// Closing it gives up this share: buffers that came from it stay valid and keep the pool alive.
class CUPRUM_API DeviceMemoryResource {
public:
    /// Wraps the device's current pool, which others in the process share. If that pool would give
    /// all memory back at every synchronisation (the driver's default), it is told to keep it.
    explicit DeviceMemoryResource(const Device& device);
    /// Makes a pool of its own.
    DeviceMemoryResource(const Device& device, const DeviceMemoryResourceOptions& options);

    /// Allocates, ordered on `stream`, which must belong to a context that can access the device.
    /// @throws OutOfMemoryError with the bytes asked for and free.
    [[nodiscard]] Buffer allocate(std::size_t bytes, const Stream& stream) const;
    /// Frees memory that was allocated from this pool and is held by no Buffer.
    void deallocate(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) const;

    [[nodiscard]] CUmemoryPool handle() const;
    [[nodiscard]] bool is_handle_owned() const;
    [[nodiscard]] Device device() const;
    [[nodiscard]] int device_id() const;

    [[nodiscard]] bool is_device_accessible() const noexcept { return true; }

    [[nodiscard]] bool is_host_accessible() const noexcept { return false; }

    [[nodiscard]] PoolAttributes attributes() const;
    /// Gives memory back to the device until at most `keep_bytes` are reserved beyond what is in
    /// use.
    void trim(std::size_t keep_bytes = 0) const;

    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    void close() noexcept { state_.reset(); }

    /// Returns the resource as others see it.
    [[nodiscard]] std::shared_ptr<MemoryResource> resource() const;

private:
    std::shared_ptr<detail::PoolState> state_;
};

} // namespace cuprum
