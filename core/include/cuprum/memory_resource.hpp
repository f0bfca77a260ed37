// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>

#include <cstddef>
#include <memory>

namespace cuprum {

class Buffer;
class Stream;

/// A source of memory; the base class of all memory resources.
///
/// A std::shared_ptr holds every resource, since its buffers share it: closing a resource means to
/// drop that pointer, and the resource lives until its last buffer is gone. The library's resources
/// have `create()`; make one of your own class with std::make_shared.
///
/// @code
/// const std::shared_ptr<cuprum::MemoryResource>& resource = device.memory_resource();
/// const cuprum::Buffer memory = resource->allocate(1024, stream);
/// @endcode
class CUPRUM_API MemoryResource : public std::enable_shared_from_this<MemoryResource> {
public:
    virtual ~MemoryResource() = default;
    MemoryResource(const MemoryResource&) = delete;
    MemoryResource& operator=(const MemoryResource&) = delete;

    /// Allocates `bytes`, usable in `stream`'s order from here on. The buffer frees the memory
    /// through this resource.
    [[nodiscard]] Buffer allocate(std::size_t bytes, const Stream& stream);

    /// Allocates raw memory for `allocate`, which never asks for 0 bytes.
    [[nodiscard]] virtual CUdeviceptr allocate_bytes(std::size_t bytes, const Stream& stream) = 0;
    /// Frees what `allocate_bytes` returned, ordered on `stream`. The stream is closed for memory
    /// that was allocated without one. May throw; a destructor reports that as a warning.
    virtual void deallocate_bytes(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) = 0;

    /// Returns whether kernels and copies on a device can use the memory.
    [[nodiscard]] virtual bool is_device_accessible() const noexcept = 0;
    /// Returns whether the host can read and write the memory directly.
    [[nodiscard]] virtual bool is_host_accessible() const noexcept = 0;

    /// Returns whether the memory migrates between host and devices by itself.
    [[nodiscard]] virtual bool is_managed() const noexcept { return false; }

    /// Returns the ordinal of the device whose memory this is, -1 for host memory.
    [[nodiscard]] virtual int device_id() const noexcept = 0;

    /// Returns whether memory belongs to the context that it was made in, as that of cuMemAlloc
    /// does. A reset destroys such memory, and its buffers are then not freed. Pools survive.
    [[nodiscard]] virtual bool is_context_bound() const noexcept { return false; }

    /// Returns whether memory may be freed some time after its last buffer is gone.
    ///
    /// A buffer that goes in a host function of a stream, or while its stream is capturing, is then
    /// freed by a later synchronisation. If this returns false, it is freed at once even there.
    [[nodiscard]] virtual bool may_free_later() const noexcept { return true; }

protected:
    MemoryResource() = default;

    /// Makes the buffer for `allocate`: calls `allocate_bytes`, and the buffer frees with
    /// `deallocate_bytes`. Override it to make buffers in another way.
    [[nodiscard]] virtual Buffer make_buffer(std::size_t bytes, const Stream& stream);
};

} // namespace cuprum
