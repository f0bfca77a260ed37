// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/system/cooling.hpp>

#include "system/query.hpp"

#include <algorithm>

namespace cuprum::system {

using namespace nvml_abi;

unsigned Fan::speed() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetFanSpeed_v2, device_, index_);
}

void Fan::set_speed(unsigned percent) const {
    nvml::call(nvml::table().nvmlDeviceSetFanSpeed_v2, native(device_), index_, percent);
}

unsigned Fan::speed_rpm() const {
    nvmlFanSpeedInfo_t answer{};
    answer.version = nvmlFanSpeedInfo_v1;
    answer.fan = index_;
    nvml::call(nvml::table().nvmlDeviceGetFanSpeedRPM, native(device_), &answer);
    return answer.speed;
}

unsigned Fan::target_speed() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetTargetFanSpeed, device_, index_);
}

Range Fan::speed_limits() const {
    const auto [min, max] = query_two<unsigned>(nvml::table().nvmlDeviceGetMinMaxFanSpeed, device_);
    return {min, max};
}

FanControlPolicy Fan::control_policy() const {
    return static_cast<FanControlPolicy>(query<nvmlFanControlPolicy_t>(
        nvml::table().nvmlDeviceGetFanControlPolicy_v2, device_, index_));
}

void Fan::set_default_speed() const {
    nvml::call(nvml::table().nvmlDeviceSetDefaultFanSpeed_v2, native(device_), index_);
}

int Temperature::gpu() const {
    nvmlTemperature_t answer{};
    answer.version = nvmlTemperature_v1;
    answer.sensorType = NVML_TEMPERATURE_GPU;
    const auto& newer = nvml::table().nvmlDeviceGetTemperatureV;
    const nvmlReturn_t status = nvml::try_call(newer, native(device_), &answer);
    if (status == NVML_ERROR_FUNCTION_NOT_FOUND) [[unlikely]] { // before driver 570
        return static_cast<int>(
            query<unsigned>(nvml::table().nvmlDeviceGetTemperature, device_, NVML_TEMPERATURE_GPU));
    }
    if (status != NVML_SUCCESS) [[unlikely]] {
        nvml::raise(status, newer.name);
    }
    return answer.temperature;
}

unsigned Temperature::threshold(TemperatureThreshold threshold) const {
    return query<unsigned>(nvml::table().nvmlDeviceGetTemperatureThreshold, device_,
                           static_cast<nvmlTemperatureThresholds_t>(threshold));
}

int Temperature::margin() const {
    nvmlMarginTemperature_t answer{};
    answer.version = nvmlMarginTemperature_v1;
    nvml::call(nvml::table().nvmlDeviceGetMarginTemperature, native(device_), &answer);
    return answer.marginTemperature;
}

std::vector<ThermalSensor> Temperature::sensors(ThermalTarget target) const {
    const auto answer = query<nvmlGpuThermalSettings_t>(nvml::table().nvmlDeviceGetThermalSettings,
                                                        device_, static_cast<unsigned>(target));
    std::vector<ThermalSensor> sensors;
    const unsigned count = std::min(answer.count, NVML_MAX_THERMAL_SENSORS_PER_GPU);
    for (unsigned i = 0; i < count; ++i) {
        const auto& sensor = answer.sensor[i];
        sensors.push_back({static_cast<ThermalController>(sensor.controller), sensor.defaultMinTemp,
                           sensor.defaultMaxTemp, sensor.currentTemp,
                           static_cast<ThermalTarget>(sensor.target)});
    }
    return sensors;
}

} // namespace cuprum::system
