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

/// An attribute of a device's graph memory. The numbers are the driver's.
enum class GraphMemoryAttribute {
    UsedMemCurrent = 0,
    UsedMemHigh, // can be set to 0, which resets it to the current value
    ReservedMemCurrent,
    ReservedMemHigh, // can be set to 0, which resets it to the current value
};

/// A source of memory that belongs to the graph being captured. Get it with `of`.
///
/// Only capturing streams can allocate from it. If the graph does not free the memory itself, close
/// the buffer on any stream after the graph has run.
///
/// @code
/// const auto resource = cuprum::GraphMemoryResource::of(device);
/// const cuprum::GraphDefinition definition = cuprum::capture(stream, [&] {
///     cuprum::Buffer scratch = resource->allocate(128, stream);
///     cuprum::launch(stream, {.block = 32}, kernel, scratch);
///     scratch.close(stream);
/// });
/// @endcode
class CUPRUM_API GraphMemoryResource final : public MemoryResource {
public:
    /// Returns the graph memory of a device. There is one object per device.
    [[nodiscard]] static std::shared_ptr<GraphMemoryResource> of(const Device& device);

    /// @throws std::logic_error if the stream is not capturing; std::invalid_argument if it is
    /// another device's.
    [[nodiscard]] CUdeviceptr allocate_bytes(std::size_t bytes, const Stream& stream) override;
    void deallocate_bytes(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) override;

    /// Returns true.
    [[nodiscard]] bool is_device_accessible() const noexcept override { return true; }

    /// Returns false.
    [[nodiscard]] bool is_host_accessible() const noexcept override { return false; }

    [[nodiscard]] int device_id() const noexcept override { return device_.ordinal(); }

    /// Returns the current value of an attribute.
    [[nodiscard]] std::uint64_t attribute(GraphMemoryAttribute name) const;
    /// Sets an attribute.
    /// @throws std::invalid_argument if it cannot be set, or not to this value.
    void set_attribute(GraphMemoryAttribute name, std::uint64_t value) const;
    /// Returns memory that no graph uses at the moment to the system.
    void trim() const;

private:
    explicit GraphMemoryResource(const Device& device) : device_(device) {}

    Device device_;
};

} // namespace cuprum
