// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/detail/nvml_types.hpp>
#include <cuprum/system/values.hpp>

#include <cstdint>

namespace cuprum::system {

/// The power of a device, from Device::power(). Power is in milliwatts, energy in millijoules.
///
/// @code
/// const cuprum::system::Power power = cuprum::system::Device(0).power();
/// std::printf("%u W\n", power.usage_mw() / 1000);
/// @endcode
class CUPRUM_API Power {
public:
    /// Returns what the device draws. Most devices report the average of the last second.
    [[nodiscard]] unsigned usage_mw() const;
    /// Returns the energy used since the driver was loaded.
    [[nodiscard]] std::uint64_t total_energy_mj() const;
    /// Returns the limit that a user set.
    [[nodiscard]] unsigned limit_mw() const;
    /// Sets the limit. Needs root.
    void set_limit_mw(unsigned limit) const;
    /// Returns the limit after a restart.
    [[nodiscard]] unsigned default_limit_mw() const;
    /// Returns the limits that can be set.
    [[nodiscard]] Range limit_constraints_mw() const;
    /// Returns the limit in force, the least of all that apply.
    [[nodiscard]] unsigned enforced_limit_mw() const;

private:
    friend class Device;

    explicit Power(::nvmlDevice_st* device) noexcept : device_(device) {}

    ::nvmlDevice_st* device_;
};

} // namespace cuprum::system
