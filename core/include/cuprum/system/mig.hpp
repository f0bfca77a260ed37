// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/detail/nvml_types.hpp>

#include <vector>

namespace cuprum::system {

class Device;

/// The division of a device into smaller ones (MIG), from Device::mig().
///
/// @code
/// const cuprum::system::Mig mig = cuprum::system::Device(0).mig();
/// for (const cuprum::system::Device& part : mig.devices()) {
///     std::puts(part.uuid().c_str());
/// }
/// @endcode
class CUPRUM_API Mig {
public:
    /// Returns whether the device is itself a part of another.
    [[nodiscard]] bool is_mig_device() const;
    /// Returns whether the device is partitioned.
    [[nodiscard]] bool is_enabled() const;
    /// Returns whether it is enabled after the next reset.
    [[nodiscard]] bool is_pending() const;
    /// Enables or disables it. Needs root, and on some devices a reset.
    /// @throws NVMLError also if the device refuses to change at once, as while it is in use.
    void set_enabled(bool enabled) const;
    /// Returns how many MIG devices there can be at most, 0 if there are none.
    [[nodiscard]] unsigned device_count() const;
    /// Returns the device that this one is a part of.
    [[nodiscard]] Device parent() const;
    /// @throws NVMLError of the kind NOT_FOUND if there is none with this index.
    [[nodiscard]] Device device(unsigned index) const;
    /// Returns the MIG devices that exist.
    [[nodiscard]] std::vector<Device> devices() const;

private:
    friend class Device;

    explicit Mig(::nvmlDevice_st* device) noexcept : device_(device) {}

    ::nvmlDevice_st* device_;
};

} // namespace cuprum::system
