// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Power, its limits and energy. They are invented: see sensors.hpp.

#include "controls.hpp"
#include "row.hpp"

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

namespace {

void set_power_limit(const State& state, unsigned int index, unsigned int limit) {
    require(limit >= least_power_limit_mw(state, index),
            limit <= state.sensors.power_limit_w[index] * 1000, limit != 0);
    set_control(state, index, Control::PowerLimit, limit);
}

} // namespace

ROW(nvmlDeviceGetPowerUsage, const State& state, Index index, unsigned int& power) {
    power = power_mw(state, index);
}

ALIAS(nvmlDeviceGetPowerManagementMode, constant<NVML_FEATURE_ENABLED>);

ROW(nvmlDeviceGetPowerManagementLimit, const State& state, Index index, unsigned int& limit) {
    limit = power_limit_mw(state, index);
}

ROW(nvmlDeviceGetEnforcedPowerLimit, const State& state, Index index, unsigned int& limit) {
    limit = power_limit_mw(state, index);
}

ROW(nvmlDeviceGetPowerManagementDefaultLimit, const State& state, Index index,
    unsigned int& default_limit) {
    default_limit = state.sensors.power_limit_w[index] * 1000;
}

ROW(nvmlDeviceGetPowerManagementLimitConstraints, const State& state, Index index,
    unsigned int& min_limit, unsigned int& max_limit) {
    min_limit = least_power_limit_mw(state, index);
    max_limit = state.sensors.power_limit_w[index] * 1000;
}

ROW(nvmlDeviceSetPowerManagementLimit, const State& state, Index index, unsigned int limit) {
    set_power_limit(state, index, limit);
}

ROW(nvmlDeviceSetPowerManagementLimit_v2, const State& state, Index index,
    nvmlPowerValue_v2_t& power_value) {
    require_version(power_value.version, nvmlPowerValue_v2);
    require(power_value.powerScope < NVML_POWER_SCOPE_COUNT);
    if (power_value.powerScope != NVML_POWER_SCOPE_GPU) {
        fail(NVML_ERROR_NOT_SUPPORTED);
    }
    set_power_limit(state, index, power_value.powerValueMw);
}

ALIAS(nvmlDeviceGetPowerSource, constant<NVML_POWER_SOURCE_AC>);

ROW(nvmlDeviceGetTotalEnergyConsumption, const State& state, Index index,
    unsigned long long& energy) {
    energy = energy_mj(state, index);
}
