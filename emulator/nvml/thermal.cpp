// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Temperature and fans. They are invented: see sensors.hpp.

#include "controls.hpp"

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

nvmlReturn_t read_fan(nvmlDevice_t device, unsigned int fan, unsigned int* speed) {
    return value_entry(device, speed, [&](const State& state, unsigned int index) {
        require_fan(state, index, fan);
        return fan_speed(state, index);
    });
}

} // namespace

extern "C" {

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor_type,
                                      unsigned int* temperature) {
    return value_entry(device, temperature, [&](const State& state, unsigned int index) {
        require(sensor_type == NVML_TEMPERATURE_GPU);
        return state.sensors.temperature_c[index];
    });
}

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t* temperature) {
    return device_entry(device, [&](const State& state, unsigned int index) {
        require(temperature);
        require_version(temperature->version, nvmlTemperature_v1);
        require(temperature->sensorType == NVML_TEMPERATURE_GPU);
        temperature->temperature = static_cast<int>(state.sensors.temperature_c[index]);
    });
}

nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device,
                                               nvmlTemperatureThresholds_t threshold_type,
                                               unsigned int* temperature) {
    return value_entry(device, temperature, [&](const State&, unsigned int) {
        require(threshold_type >= 0, threshold_type < NVML_TEMPERATURE_THRESHOLD_COUNT);
        return threshold_c(threshold_type);
    });
}

nvmlReturn_t nvmlDeviceGetMarginTemperature(nvmlDevice_t device, nvmlMarginTemperature_t* margin) {
    return device_entry(device, [&](const State& state, unsigned int index) {
        require(margin);
        require_version(margin->version, nvmlMarginTemperature_v1);
        const int limit = threshold_c(NVML_TEMPERATURE_THRESHOLD_SLOWDOWN);
        margin->marginTemperature =
            std::max(0, limit - static_cast<int>(state.sensors.temperature_c[index]));
    });
}

nvmlReturn_t nvmlDeviceGetThermalSettings(nvmlDevice_t device, unsigned int sensor_index,
                                          nvmlGpuThermalSettings_t* thermal_settings) {
    return device_entry(device, [&](const State& state, unsigned int index) {
        require(thermal_settings, sensor_index == 0 || sensor_index == NVML_THERMAL_TARGET_ALL);
        *thermal_settings = {};
        thermal_settings->count = 1;
        auto& sensor = thermal_settings->sensor[0];
        sensor.controller = NVML_THERMAL_CONTROLLER_GPU_INTERNAL;
        sensor.defaultMinTemp = 0;
        sensor.defaultMaxTemp = HIGHEST_SENSOR_VALUE_C;
        sensor.currentTemp = static_cast<int>(state.sensors.temperature_c[index]);
        sensor.target = NVML_THERMAL_TARGET_GPU;
    });
}

// ---- fans ----

nvmlReturn_t nvmlDeviceGetNumFans(nvmlDevice_t device, unsigned int* num_fans) {
    return value_entry(device, num_fans, [](const State& state, unsigned int index) {
        return state.sensors.fan_count[index];
    });
}

nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned int* speed) {
    return read_fan(device, 0, speed);
}

nvmlReturn_t nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, unsigned int fan, unsigned int* speed) {
    return read_fan(device, fan, speed);
}

nvmlReturn_t nvmlDeviceGetTargetFanSpeed(nvmlDevice_t device, unsigned int fan,
                                         unsigned int* target_speed) {
    return read_fan(device, fan, target_speed);
}

nvmlReturn_t nvmlDeviceGetFanSpeedRPM(nvmlDevice_t device, nvmlFanSpeedInfo_t* fan_speed_info) {
    return device_entry(device, [&](const State& state, unsigned int index) {
        require(fan_speed_info);
        require_version(fan_speed_info->version, nvmlFanSpeedInfo_v1);
        require_fan(state, index, fan_speed_info->fan);
        fan_speed_info->speed = fan_speed(state, index) * RPM_PER_PER_CENT;
    });
}

nvmlReturn_t nvmlDeviceGetMinMaxFanSpeed(nvmlDevice_t device, unsigned int* min_speed,
                                         unsigned int* max_speed) {
    return device_entry(device, [&](const State& state, unsigned int index) {
        require(min_speed, max_speed);
        require_fan(state, index, 0);
        *min_speed = 0;
        *max_speed = 100;
    });
}

nvmlReturn_t nvmlDeviceGetFanControlPolicy_v2(nvmlDevice_t device, unsigned int fan,
                                              nvmlFanControlPolicy_t* policy) {
    return value_entry(device, policy, [&](const State& state, unsigned int index) {
        require_fan(state, index, fan);
        return state.board().get(index, Control::FanSpeed) != 0
                   ? NVML_FAN_POLICY_MANUAL
                   : NVML_FAN_POLICY_TEMPERATURE_CONTINOUS_SW;
    });
}

nvmlReturn_t nvmlDeviceSetFanControlPolicy(nvmlDevice_t device, unsigned int fan,
                                           nvmlFanControlPolicy_t policy) {
    return device_entry(device, [&](const State& state, unsigned int index) {
        require_fan(state, index, fan);
        require(policy <= NVML_FAN_POLICY_MANUAL);
        set_control(state, index, Control::FanSpeed,
                    policy == NVML_FAN_POLICY_MANUAL ? fan_speed(state, index) + 1 : 0);
    });
}

nvmlReturn_t nvmlDeviceSetFanSpeed_v2(nvmlDevice_t device, unsigned int fan, unsigned int speed) {
    return device_entry(device, [&](const State& state, unsigned int index) {
        require_fan(state, index, fan);
        require(speed <= 100);
        set_control(state, index, Control::FanSpeed, speed + 1);
    });
}

nvmlReturn_t nvmlDeviceSetDefaultFanSpeed_v2(nvmlDevice_t device, unsigned int fan) {
    return nvmlDeviceSetFanControlPolicy(device, fan, NVML_FAN_POLICY_TEMPERATURE_CONTINOUS_SW);
}

nvmlReturn_t nvmlDeviceGetCoolerInfo(nvmlDevice_t device, nvmlCoolerInfo_t* cooler_info) {
    return device_entry(device, [&](const State& state, unsigned int index) {
        require(cooler_info);
        require_version(cooler_info->version, nvmlCoolerInfo_v1);
        require_fan(state, index, cooler_info->index);
        cooler_info->signalType = NVML_THERMAL_COOLER_SIGNAL_VARIABLE;
        cooler_info->target = NVML_THERMAL_COOLER_TARGET_GPU;
    });
}

} // extern "C"
