// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Power, its limits and energy. They are invented: see sensors.hpp.

#include "controls.hpp"

#include <algorithm>
#include <ctime>

namespace cuprum::nvml {

namespace {

using emulator::usage::Control;

constexpr unsigned int MW_PER_W = 1000;

} // namespace

unsigned int power_limit_mw(const State& state, unsigned int index) {
    const auto set = static_cast<unsigned int>(state.board().get(index, Control::PowerLimit));
    return set != 0 ? set : state.sensors.power_limit_w[index] * MW_PER_W;
}

unsigned int power_mw(const State& state, unsigned int index) {
    return std::min(state.sensors.power_w[index] * MW_PER_W, power_limit_mw(state, index));
}

unsigned int least_power_limit_mw(const State& state, unsigned int index) {
    return state.sensors.power_limit_w[index] * MW_PER_W / 4;
}

unsigned long long energy_mj(const State& state, unsigned int index) {
    timespec up{};
    ::clock_gettime(CLOCK_BOOTTIME, &up);
    const unsigned long long milliseconds = static_cast<unsigned long long>(up.tv_sec) * 1000 +
                                            static_cast<unsigned long long>(up.tv_nsec) / 1000000;
    return milliseconds * state.sensors.power_w[index];
}

} // namespace cuprum::nvml

using namespace cuprum::nvml;
using cuprum::emulator::usage::Control;

extern "C" {

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int* power) {
    return value_entry(device, power, power_mw);
}

nvmlReturn_t nvmlDeviceGetPowerManagementMode(nvmlDevice_t device, nvmlEnableState_t* mode) {
    return value_entry(device, mode,
                       [](const State&, unsigned int) { return NVML_FEATURE_ENABLED; });
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned int* limit) {
    return value_entry(device, limit, power_limit_mw);
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned int* limit) {
    return value_entry(device, limit, power_limit_mw);
}

nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t device,
                                                      unsigned int* default_limit) {
    return value_entry(device, default_limit, [](const State& state, unsigned int index) {
        return state.sensors.power_limit_w[index] * 1000;
    });
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device,
                                                          unsigned int* min_limit,
                                                          unsigned int* max_limit) {
    return device_entry(device, [&](const State& state, unsigned int index) {
        require(min_limit, max_limit);
        *min_limit = least_power_limit_mw(state, index);
        *max_limit = state.sensors.power_limit_w[index] * 1000;
    });
}

nvmlReturn_t nvmlDeviceSetPowerManagementLimit(nvmlDevice_t device, unsigned int limit) {
    return device_entry(device, [&](const State& state, unsigned int index) {
        require(limit >= least_power_limit_mw(state, index),
                limit <= state.sensors.power_limit_w[index] * 1000, limit != 0);
        set_control(state, index, Control::PowerLimit, limit);
    });
}

nvmlReturn_t nvmlDeviceSetPowerManagementLimit_v2(nvmlDevice_t device,
                                                  nvmlPowerValue_v2_t* power_value) {
    if (power_value != nullptr && power_value->version == nvmlPowerValue_v2 &&
        power_value->powerScope == NVML_POWER_SCOPE_GPU) {
        return nvmlDeviceSetPowerManagementLimit(device, power_value->powerValueMw);
    }
    return device_entry(device, [&](const State&, unsigned int) {
        require(power_value);
        require_version(power_value->version, nvmlPowerValue_v2);
        require(power_value->powerScope < NVML_POWER_SCOPE_COUNT);
        fail(NVML_ERROR_NOT_SUPPORTED);
    });
}

nvmlReturn_t nvmlDeviceGetPowerSource(nvmlDevice_t device, nvmlPowerSource_t* power_source) {
    return value_entry(device, power_source,
                       [](const State&, unsigned int) { return NVML_POWER_SOURCE_AC; });
}

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long* energy) {
    return value_entry(device, energy, energy_mj);
}

} // extern "C"
