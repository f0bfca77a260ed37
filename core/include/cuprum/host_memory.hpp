// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Memory that is allocated and freed at once, not in a stream's order, and existing host memory.

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/device.hpp>
#include <cuprum/memory_resource.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace cuprum {

/// Page-locked host memory that devices can reach, allocated at once. Slow: pools reuse memory.
///
/// Freeing waits for the stream that it is ordered on.
///
/// @code
/// const auto resource = cuprum::LegacyPinnedMemoryResource::create();
/// const cuprum::Buffer staging = resource->allocate(1024);
/// staging.as_span<int>()[0] = 1;
/// buffer.copy_from(staging, stream);
/// @endcode
class CUPRUM_API LegacyPinnedMemoryResource final : public MemoryResource {
public:
    /// Creates the resource.
    [[nodiscard]] static std::shared_ptr<LegacyPinnedMemoryResource> create();

    using MemoryResource::allocate;
    /// Allocates without a stream; the current context, or else device 0's, knows the memory.
    [[nodiscard]] Buffer allocate(std::size_t bytes);

    [[nodiscard]] CUdeviceptr allocate_bytes(std::size_t bytes, const Stream& stream) override;
    void deallocate_bytes(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) override;

    /// Returns true.
    [[nodiscard]] bool is_device_accessible() const noexcept override { return true; }

    /// Returns true.
    [[nodiscard]] bool is_host_accessible() const noexcept override { return true; }

    [[nodiscard]] int device_id() const noexcept override { return -1; }

    [[nodiscard]] bool is_context_bound() const noexcept override { return true; }

private:
    LegacyPinnedMemoryResource() = default;
};

/// Device memory that is allocated at once, for devices without pools. Freeing waits for the stream
/// that it is ordered on.
///
/// @code
/// const auto resource = cuprum::SynchronousMemoryResource::create(device);
/// const cuprum::Buffer memory = resource->allocate(1024);
/// @endcode
class CUPRUM_API SynchronousMemoryResource final : public MemoryResource {
public:
    /// Creates a resource that allocates on a device.
    [[nodiscard]] static std::shared_ptr<SynchronousMemoryResource> create(const Device& device);

    using MemoryResource::allocate;
    /// Allocates without a stream, in the device's own context.
    [[nodiscard]] Buffer allocate(std::size_t bytes);

    [[nodiscard]] CUdeviceptr allocate_bytes(std::size_t bytes, const Stream& stream) override;
    void deallocate_bytes(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) override;

    /// Returns true.
    [[nodiscard]] bool is_device_accessible() const noexcept override { return true; }

    /// Returns false.
    [[nodiscard]] bool is_host_accessible() const noexcept override { return false; }

    [[nodiscard]] int device_id() const noexcept override { return device_.ordinal(); }

    [[nodiscard]] bool is_context_bound() const noexcept override { return true; }

protected:
    [[nodiscard]] Buffer make_buffer(std::size_t bytes, const Stream& stream) override;

private:
    explicit SynchronousMemoryResource(const Device& device) : device_(device) {}

    Device device_;
};

/// How existing host memory is made known to devices.
struct HostRegistrationOptions {
    bool read_only = false; // devices only read it; needs a device that knows such registrations
    bool io_memory = false; // it is the memory of another device on the bus
};

/// Makes existing host memory known to devices and returns a buffer over it; releasing the buffer
/// waits for its stream, if it has one, and undoes that.
///
/// `owner` is kept alive as long as the buffer. The memory must not be registered already.
/// @throws std::invalid_argument for a null pointer or no bytes.
[[nodiscard]] CUPRUM_API Buffer register_host_memory(void* pointer, std::size_t bytes,
                                                     const HostRegistrationOptions& options = {},
                                                     std::shared_ptr<void> owner = {});

} // namespace cuprum
