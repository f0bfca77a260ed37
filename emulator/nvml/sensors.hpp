// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The values that no part of the machine can measure, because the device does not exist. Users can
// set them, one environment variable each. A variable may list values for several devices, with
// commas between them; the last value is that of all further devices.

#pragma once

#include <cstdint>
#include <vector>

namespace cuprum::nvml {

/// One value per device.
class PerDevice {
public:
    explicit PerDevice(std::vector<unsigned int> values) : values_(std::move(values)) {}

    [[nodiscard]] unsigned int operator[](unsigned int device) const {
        return values_[device < values_.size() ? device : values_.size() - 1];
    }

private:
    std::vector<unsigned int> values_;
};

struct Sensors {
    PerDevice temperature_c;        // CUPRUM_EMULATOR_TEMPERATURE
    PerDevice power_w;              // CUPRUM_EMULATOR_POWER
    PerDevice power_limit_w;        // CUPRUM_EMULATOR_POWER_LIMIT
    PerDevice sm_clock_mhz;         // CUPRUM_EMULATOR_SM_CLOCK
    PerDevice memory_clock_mhz;     // CUPRUM_EMULATOR_MEMORY_CLOCK
    PerDevice fan_count;            // CUPRUM_EMULATOR_FANS
    PerDevice fan_speed_percent;    // CUPRUM_EMULATOR_FAN_SPEED
    PerDevice performance_state;    // CUPRUM_EMULATOR_PERFORMANCE_STATE
    PerDevice corrected_errors;     // CUPRUM_EMULATOR_ECC_ERRORS, before the colon
    PerDevice uncorrected_errors;   // CUPRUM_EMULATOR_ECC_ERRORS, after the colon
    bool has_ecc = false;           // CUPRUM_EMULATOR_ECC_ERRORS is set
    std::uint64_t clock_events = 0; // CUPRUM_EMULATOR_CLOCK_EVENTS, as NVML's bits
};

/// Reads the environment. @throws std::invalid_argument naming a variable that is wrong.
[[nodiscard]] Sensors read_sensors();

} // namespace cuprum::nvml
