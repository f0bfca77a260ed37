// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/device.hpp>
#include <cuprum/memory_resource.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cuprum {

/// What can be asked of a device's graph memory, and for some, set. The numbers are the driver's.
enum class GraphMemoryAttribute {
    UsedMemCurrent = 0,
    UsedMemHigh, // settable to 0, which starts it again from the current value
    ReservedMemCurrent,
    ReservedMemHigh, // settable to 0, which starts it again from the current value
};

/// Allocates memory that belongs to the graph being captured. Make it with `of`.
///
/// Only streams that are capturing can allocate from it. Memory that the graph does not free itself
/// may be freed, once the graph has run, by closing the buffer on any stream.
class CUPRUM_API GraphMemoryResource final : public MemoryResource {
public:
    /// Returns the graph memory of a device; there is one per device.
    [[nodiscard]] static std::shared_ptr<GraphMemoryResource> of(const Device& device);

    /// @throws std::logic_error if the stream is not capturing; std::invalid_argument if it is
    /// another device's.
    [[nodiscard]] CUdeviceptr allocate_bytes(std::size_t bytes, const Stream& stream) override;
    void deallocate_bytes(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) override;

    [[nodiscard]] bool is_device_accessible() const noexcept override { return true; }

    [[nodiscard]] bool is_host_accessible() const noexcept override { return false; }

    [[nodiscard]] int device_id() const noexcept override { return device_.ordinal(); }

    [[nodiscard]] std::uint64_t attribute(GraphMemoryAttribute name) const;
    /// Sets an attribute.
    /// @throws std::invalid_argument if it cannot be set, or not to this value.
    void set_attribute(GraphMemoryAttribute name, std::uint64_t value) const;
    /// Gives memory back that no graph uses at the moment.
    void trim() const;

private:
    explicit GraphMemoryResource(const Device& device) : device_(device) {}

    Device device_;
};

} // namespace cuprum
