// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/device.hpp>
#include <cuprum/location.hpp>
#include <cuprum/memory_resource.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace cuprum {

/// What physical memory is like.
enum class VirtualMemoryAllocation { Pinned, Managed };

/// How physical memory can be handed to other processes.
enum class VirtualMemoryHandle { None, PosixFileDescriptor, Win32Kmt, Fabric };

/// Which of the driver's two granularities sizes are rounded up to.
enum class VirtualMemoryGranularity { Minimum, Recommended };

/// What a device, or the host, may do with memory.
enum class VirtualMemoryAccess { None, Read, ReadWrite };

/// How virtual memory is made.
struct VirtualMemoryResourceOptions {
    VirtualMemoryAllocation allocation_type = VirtualMemoryAllocation::Pinned; // pinned or managed
    LocationKind location_type = LocationKind::Device; // a device or the host
    VirtualMemoryHandle handle_type =
        VirtualMemoryHandle::PosixFileDescriptor; // how other processes open it
    VirtualMemoryGranularity granularity =
        VirtualMemoryGranularity::Recommended;  // what sizes are rounded up to
    bool gpu_direct_rdma = false;               // other devices on the bus can reach the memory
    CUdeviceptr addr_hint = 0;                  // where to reserve addresses if they are free
    std::optional<std::size_t> addr_align = {}; // of the addresses; none: the granularity
    std::vector<Device> peers = {};             // further devices that may access the memory
    VirtualMemoryAccess self_access = VirtualMemoryAccess::ReadWrite; // of where the memory lies
    VirtualMemoryAccess peer_access = VirtualMemoryAccess::ReadWrite; // of the peers
};

/// Allocates by reserving addresses and mapping physical memory there, so that an allocation can
/// grow: in place if the addresses behind it are free, else under new addresses, never by copying.
///
/// Allocating and freeing happen at once. Freeing first waits for the stream that it is ordered on
/// or, without one, for the context, which ends stream captures in it.
///
/// @code
/// const auto resource = cuprum::VirtualMemoryResource::create(device);
/// const cuprum::Buffer memory = resource->allocate(1 << 20);
/// const cuprum::Buffer larger = resource->modify_allocation(memory, 1 << 22); // same contents
/// @endcode
class CUPRUM_API VirtualMemoryResource final : public MemoryResource {
public:
    /// @throws CUDAError if the device cannot do this, or not with GPUDirect RDMA if that is asked
    /// for; std::invalid_argument for options that contradict each other.
    [[nodiscard]] static std::shared_ptr<VirtualMemoryResource>
    create(const Device& device, const VirtualMemoryResourceOptions& options = {});
    ~VirtualMemoryResource() override;
    VirtualMemoryResource(const VirtualMemoryResource&) = delete;
    VirtualMemoryResource& operator=(const VirtualMemoryResource&) = delete;

    using MemoryResource::allocate;
    /// Allocates at least `bytes`: the buffer's size is rounded up to the granularity. The memory
    /// is there when this returns.
    [[nodiscard]] Buffer allocate(std::size_t bytes);

    /// Makes an allocation of this resource at least `bytes` large, under the resource's options or
    /// new ones, which become the resource's; what it holds stays.
    ///
    /// If the addresses behind it are free, it grows in place: the result is the same buffer, and
    /// every copy of it sees the new size. If not, the result is another buffer over the same
    /// memory and more. The old buffer stays usable at its old address until it is closed. If
    /// nothing is to be added, only access is set anew. On failure nothing changes. Threads may
    /// call this for one buffer at the same time, and read its size meanwhile.
    /// @throws std::invalid_argument if the buffer is not a whole allocation of this resource.
    [[nodiscard]] Buffer modify_allocation(const Buffer& buffer, std::size_t bytes);
    /// Grows an allocation or changes its access, and returns the buffer to use from now on.
    [[nodiscard]] Buffer modify_allocation(const Buffer& buffer, std::size_t bytes,
                                           const VirtualMemoryResourceOptions& options);

    /// Returns how memory is made.
    [[nodiscard]] VirtualMemoryResourceOptions options() const;
    /// Returns the device whose memory this is; nothing for memory of the host.
    [[nodiscard]] std::optional<Device> device() const;
    /// Returns what sizes are rounded up to.
    [[nodiscard]] std::size_t granularity() const;

    [[nodiscard]] CUdeviceptr allocate_bytes(std::size_t bytes, const Stream& stream) override;
    void deallocate_bytes(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) override;

    /// Returns whether a device can use the memory.
    [[nodiscard]] bool is_device_accessible() const noexcept override;
    /// Returns whether the host can read and write the memory directly.
    [[nodiscard]] bool is_host_accessible() const noexcept override;
    [[nodiscard]] int device_id() const noexcept override;

protected:
    [[nodiscard]] Buffer make_buffer(std::size_t bytes, const Stream& stream) override;

private:
    struct Allocations;

    VirtualMemoryResource(const Device& device, const VirtualMemoryResourceOptions& options);

    Device device_;
    std::unique_ptr<Allocations> allocations_;
};

} // namespace cuprum
