// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/memory_pool.hpp>

#include <cstddef>
#include <memory>

namespace cuprum {

class Buffer;
class Stream;

/// Where memory comes from. Derive from it to allocate in a way of your own; make it with
/// std::make_shared, since buffers share it.
class CUPRUM_API MemoryResource : public std::enable_shared_from_this<MemoryResource> {
public:
    virtual ~MemoryResource() = default;
    MemoryResource(const MemoryResource&) = delete;
    MemoryResource& operator=(const MemoryResource&) = delete;

    /// Allocates `bytes`, usable in `stream`'s order from here on. The buffer frees it through this
    /// resource.
    [[nodiscard]] virtual Buffer allocate(std::size_t bytes, const Stream& stream);

    /// Allocates raw memory; for `allocate`, which never asks for 0 bytes (they give a null
    /// pointer).
    [[nodiscard]] virtual CUdeviceptr allocate_bytes(std::size_t bytes, const Stream& stream) = 0;
    /// Frees what `allocate_bytes` gave, ordered on `stream`, which is closed for memory that was
    /// allocated without a stream. May throw; a buffer that frees itself in its destructor reports
    /// that as a warning.
    virtual void deallocate_bytes(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) = 0;

    [[nodiscard]] virtual bool is_device_accessible() const noexcept = 0;
    [[nodiscard]] virtual bool is_host_accessible() const noexcept = 0;

    /// Tells whether the memory moves between host and devices by itself.
    [[nodiscard]] virtual bool is_managed() const noexcept { return false; }

    /// Returns the ordinal of the device whose memory this is, -1 for host memory.
    [[nodiscard]] virtual int device_id() const noexcept = 0;

    /// Tells whether memory goes with the context that it was made in, as that of cuMemAlloc does:
    /// a buffer that outlives a reset of its device is then not freed. Pools outlive a reset.
    [[nodiscard]] virtual bool is_context_bound() const noexcept { return false; }

    /// Tells whether memory may be freed some time after its last buffer is gone. If that goes in
    /// a host function of a stream, which must not call the driver, or while the stream that the
    /// free is ordered on is capturing, the memory is then freed by a later synchronisation;
    /// otherwise at once, with that stream.
    [[nodiscard]] virtual bool may_free_later() const noexcept { return true; }

protected:
    MemoryResource() = default;
};

} // namespace cuprum
