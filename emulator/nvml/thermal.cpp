// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Temperature and fans. They are invented: see sensors.hpp.

#include "controls.hpp"
#include "row.hpp"

#include <algorithm>

namespace cuprum::nvml {

int threshold_c(nvmlTemperatureThresholds_t threshold) {
    switch (threshold) {
    case NVML_TEMPERATURE_THRESHOLD_SHUTDOWN:
        return 100;
    case NVML_TEMPERATURE_THRESHOLD_SLOWDOWN:
    case NVML_TEMPERATURE_THRESHOLD_MEM_MAX:
        return 95;
    case NVML_TEMPERATURE_THRESHOLD_GPU_MAX:
        return 90;
    default:
        fail(NVML_ERROR_NOT_SUPPORTED);
    }
}

} // namespace cuprum::nvml

using namespace cuprum::nvml;
using cuprum::emulator::usage::Control;

namespace {

constexpr unsigned int RPM_PER_PER_CENT = 30;
constexpr int HIGHEST_SENSOR_VALUE_C = 127;

void require_fan(const State& state, unsigned int index, unsigned int fan) {
    if (state.sensors.fan_count[index] == 0) {
        fail(NVML_ERROR_NOT_SUPPORTED);
    }
    require(fan < state.sensors.fan_count[index]);
}

unsigned int fan_speed(const State& state, unsigned int index) {
    const std::uint64_t set = state.board().get(index, Control::FanSpeed);
    return set != 0 ? static_cast<unsigned int>(set - 1) : state.sensors.fan_speed_percent[index];
}

} // namespace

ROW(nvmlDeviceGetTemperature, const State& state, Index index, nvmlTemperatureSensors_t sensor_type,
    unsigned int& temperature) {
    require(sensor_type == NVML_TEMPERATURE_GPU);
    temperature = state.sensors.temperature_c[index];
}

ROW(nvmlDeviceGetTemperatureV, const State& state, Index index, nvmlTemperature_t& temperature) {
    require_version(temperature.version, nvmlTemperature_v1);
    require(temperature.sensorType == NVML_TEMPERATURE_GPU);
    temperature.temperature = static_cast<int>(state.sensors.temperature_c[index]);
}

ROW(nvmlDeviceGetTemperatureThreshold, Index /*device*/, nvmlTemperatureThresholds_t threshold_type,
    unsigned int& temperature) {
    require(threshold_type >= 0, threshold_type < NVML_TEMPERATURE_THRESHOLD_COUNT);
    temperature = threshold_c(threshold_type);
}

ROW(nvmlDeviceGetMarginTemperature, const State& state, Index index,
    nvmlMarginTemperature_t& margin) {
    require_version(margin.version, nvmlMarginTemperature_v1);
    const int limit = threshold_c(NVML_TEMPERATURE_THRESHOLD_SLOWDOWN);
    margin.marginTemperature =
        std::max(0, limit - static_cast<int>(state.sensors.temperature_c[index]));
}

ROW(nvmlDeviceGetThermalSettings, const State& state, Index index, unsigned int sensor_index,
    nvmlGpuThermalSettings_t& thermal_settings) {
    require(sensor_index == 0 || sensor_index == NVML_THERMAL_TARGET_ALL);
    thermal_settings = {};
    thermal_settings.count = 1;
    auto& sensor = thermal_settings.sensor[0];
    sensor.controller = NVML_THERMAL_CONTROLLER_GPU_INTERNAL;
    sensor.defaultMinTemp = 0;
    sensor.defaultMaxTemp = HIGHEST_SENSOR_VALUE_C;
    sensor.currentTemp = static_cast<int>(state.sensors.temperature_c[index]);
    sensor.target = NVML_THERMAL_TARGET_GPU;
}

// ---- fans ----

ROW(nvmlDeviceGetNumFans, const State& state, Index index, unsigned int& num_fans) {
    num_fans = state.sensors.fan_count[index];
}

ROW(nvmlDeviceGetFanSpeed, const State& state, Index index, unsigned int& speed) {
    require_fan(state, index, 0);
    speed = fan_speed(state, index);
}

ROW(nvmlDeviceGetFanSpeed_v2, const State& state, Index index, unsigned int fan,
    unsigned int& speed) {
    require_fan(state, index, fan);
    speed = fan_speed(state, index);
}

ALIAS(nvmlDeviceGetTargetFanSpeed, nvmlDeviceGetFanSpeed_v2);

ROW(nvmlDeviceGetFanSpeedRPM, const State& state, Index index, nvmlFanSpeedInfo_t& fan_speed_info) {
    require_version(fan_speed_info.version, nvmlFanSpeedInfo_v1);
    require_fan(state, index, fan_speed_info.fan);
    fan_speed_info.speed = fan_speed(state, index) * RPM_PER_PER_CENT;
}

ROW(nvmlDeviceGetMinMaxFanSpeed, const State& state, Index index, unsigned int& min_speed,
    unsigned int& max_speed) {
    require_fan(state, index, 0);
    min_speed = 0;
    max_speed = 100;
}

ROW(nvmlDeviceGetFanControlPolicy_v2, const State& state, Index index, unsigned int fan,
    nvmlFanControlPolicy_t& policy) {
    require_fan(state, index, fan);
    policy = state.board().get(index, Control::FanSpeed) != 0
                 ? NVML_FAN_POLICY_MANUAL
                 : NVML_FAN_POLICY_TEMPERATURE_CONTINOUS_SW;
}

ROW(nvmlDeviceSetFanControlPolicy, const State& state, Index index, unsigned int fan,
    nvmlFanControlPolicy_t policy) {
    require_fan(state, index, fan);
    require(policy <= NVML_FAN_POLICY_MANUAL);
    set_control(state, index, Control::FanSpeed,
                policy == NVML_FAN_POLICY_MANUAL ? fan_speed(state, index) + 1 : 0);
}

ROW(nvmlDeviceSetFanSpeed_v2, const State& state, Index index, unsigned int fan,
    unsigned int speed) {
    require_fan(state, index, fan);
    require(speed <= 100);
    set_control(state, index, Control::FanSpeed, speed + 1);
}

ALIAS(nvmlDeviceSetDefaultFanSpeed_v2, nvmlDeviceSetFanControlPolicy,
      NVML_FAN_POLICY_TEMPERATURE_CONTINOUS_SW);

ROW(nvmlDeviceGetCoolerInfo, const State& state, Index index, nvmlCoolerInfo_t& cooler_info) {
    require_version(cooler_info.version, nvmlCoolerInfo_v1);
    require_fan(state, index, cooler_info.index);
    cooler_info.signalType = NVML_THERMAL_COOLER_SIGNAL_VARIABLE;
    cooler_info.target = NVML_THERMAL_COOLER_TARGET_GPU;
}
