// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/detail/nvml_types.hpp>
#include <cuprum/system/values.hpp>

#include <vector>

namespace cuprum::system {

/// One fan of a device, from Device::fan(). Speeds are in percent of the maximum.
///
/// @code
/// const cuprum::system::Device gpu(0);
/// if (gpu.num_fans() > 0) {
///     const cuprum::system::Fan fan = gpu.fan(0);
///     std::printf("%u %%\n", fan.speed());
/// }
/// @endcode
class CUPRUM_API Fan {
public:
    /// Returns the number of the fan.
    [[nodiscard]] unsigned index() const noexcept { return index_; }

    /// Returns the intended speed. It may exceed 100, and a blocked fan does not lower it.
    [[nodiscard]] unsigned speed() const;
    /// Sets the speed. From then on the driver no longer controls the fan. Needs root.
    void set_speed(unsigned percent) const;
    /// Returns the speed in revolutions per minute.
    [[nodiscard]] unsigned speed_rpm() const;
    /// Returns the speed that the fan should have, in percent of the highest.
    [[nodiscard]] unsigned target_speed() const;
    /// Returns the lowest and the highest speed that can be set, in percent.
    [[nodiscard]] Range speed_limits() const;
    /// Returns who controls the fan.
    [[nodiscard]] FanControlPolicy control_policy() const;
    /// Lets the driver control the fan again. Needs root.
    void set_default_speed() const;

private:
    friend class Device;

    Fan(::nvmlDevice_st* device, unsigned index) noexcept : device_(device), index_(index) {}

    ::nvmlDevice_st* device_;
    unsigned index_;
};

/// The temperatures of a device in degrees Celsius, from Device::temperature().
///
/// @code
/// const cuprum::system::Temperature temperature = cuprum::system::Device(0).temperature();
/// std::printf("%d degrees Celsius\n", temperature.gpu());
/// @endcode
class CUPRUM_API Temperature {
public:
    /// Returns the temperature of the GPU.
    [[nodiscard]] int gpu() const;
    /// Returns a temperature at which the device does something, in degrees Celsius.
    [[nodiscard]] unsigned threshold(TemperatureThreshold threshold) const;
    /// Returns how far the temperature is from the nearest slowdown.
    [[nodiscard]] int margin() const;
    /// Returns the sensors of a target, or of all.
    [[nodiscard]] std::vector<ThermalSensor> sensors(ThermalTarget target) const;

private:
    friend class Device;

    explicit Temperature(::nvmlDevice_st* device) noexcept : device_(device) {}

    ::nvmlDevice_st* device_;
};

} // namespace cuprum::system
