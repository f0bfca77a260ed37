// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/nvml.hpp"
#include "system/query.hpp"

// The parts of a device: clocks, fans, sensors, memory checks, links, power.

#include <cuprum/system/clock.hpp>
#include <cuprum/system/cooling.hpp>
#include <cuprum/system/device.hpp>
#include <cuprum/system/ecc.hpp>
#include <cuprum/system/enums.hpp>
#include <cuprum/system/field_value.hpp>
#include <cuprum/system/inforom.hpp>
#include <cuprum/system/mig.hpp>
#include <cuprum/system/nvlink.hpp>
#include <cuprum/system/pci_info.hpp>
#include <cuprum/system/power.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum::system {

using namespace nvml_abi;

#define CUPRUM_NVML_QUERY(Class, function, type, entry, handle)                                    \
    decltype(std::declval<Class>().function()) Class::function() const {                           \
        return query<type>(nvml::table().entry, handle);                                           \
    }
#include "system/queries.def"
#undef CUPRUM_NVML_QUERY

namespace {

nvmlClockType_t native_type(ClockType type) {
    return static_cast<nvmlClockType_t>(type);
}

nvmlPstates_t native_pstate(int pstate) {
    constexpr int last = 15;
    if (pstate < 0 || pstate > last) {
        throw std::invalid_argument("pstate is " + std::to_string(pstate) +
                                    ", expected 0 (the fastest) to 15");
    }
    return static_cast<nvmlPstates_t>(pstate);
}

} // namespace

unsigned Clock::current_mhz(ClockId id) const {
    return query<unsigned>(nvml::table().nvmlDeviceGetClock, device_, native_type(type_),
                           static_cast<nvmlClockId_t>(id));
}

unsigned Clock::max_mhz() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetMaxClockInfo, device_, native_type(type_));
}

unsigned Clock::max_customer_boost_mhz() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetMaxCustomerBoostClock, device_,
                           native_type(type_));
}

Range Clock::limits_of_pstate_mhz(int pstate) const {
    const auto [min, max] = query_two<unsigned>(nvml::table().nvmlDeviceGetMinMaxClockOfPState,
                                                device_, native_type(type_), native_pstate(pstate));
    return {min, max};
}

ClockOffsets Clock::offsets(int pstate) const {
    nvmlClockOffset_t answer{};
    answer.version = nvmlClockOffset_v1;
    answer.type = native_type(type_);
    answer.pstate = native_pstate(pstate);
    nvml::call(nvml::table().nvmlDeviceGetClockOffsets, native(device_), &answer);
    return {answer.clockOffsetMHz, answer.minClockOffsetMHz, answer.maxClockOffsetMHz};
}

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

bool Ecc::is_enabled() const {
    return query_two<nvmlEnableState_t>(nvml::table().nvmlDeviceGetEccMode, device_).first ==
           NVML_FEATURE_ENABLED;
}

bool Ecc::is_pending() const {
    return query_two<nvmlEnableState_t>(nvml::table().nvmlDeviceGetEccMode, device_).second ==
           NVML_FEATURE_ENABLED;
}

void Ecc::set_enabled(bool enabled) const {
    nvml::call(nvml::table().nvmlDeviceSetEccMode, native(device_),
               enabled ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED);
}

std::uint64_t Ecc::total_errors(MemoryErrorType type, EccCounter counter) const {
    return query<unsigned long long>(nvml::table().nvmlDeviceGetTotalEccErrors, device_,
                                     static_cast<nvmlMemoryErrorType_t>(type),
                                     static_cast<nvmlEccCounterType_t>(counter));
}

void Ecc::clear_errors(EccCounter counter) const {
    nvml::call(nvml::table().nvmlDeviceClearEccErrorCounts, native(device_),
               static_cast<nvmlEccCounterType_t>(counter));
}

RemappedRows Ecc::remapped_rows() const {
    unsigned corrected = 0;
    unsigned uncorrected = 0;
    unsigned is_pending = 0;
    unsigned has_failed = 0;
    nvml::call(nvml::table().nvmlDeviceGetRemappedRows, native(device_), &corrected, &uncorrected,
               &is_pending, &has_failed);
    return {corrected, uncorrected, is_pending != 0, has_failed != 0};
}

std::string_view explain(ClockEventReason reason) noexcept {
    switch (reason) {
    case ClockEventReason::None:
        return "nothing holds the clocks back";
    case ClockEventReason::GpuIdle:
        return "no work runs on the device, so its clocks are low";
    case ClockEventReason::ApplicationsClocksSetting:
        return "a user limited the clocks of applications";
    case ClockEventReason::SwPowerCap:
        return "the device draws as much power as its limit allows";
    case ClockEventReason::HwSlowdown:
        return "the device halved its clocks or more to protect itself from heat or from a lack of "
               "power";
    case ClockEventReason::SyncBoost:
        return "the device runs at the clocks of the slowest of its synchronised group";
    case ClockEventReason::SwThermalSlowdown:
        return "the driver lowered the clocks because the device or its memory is hot";
    case ClockEventReason::HwThermalSlowdown:
        return "the device is too hot and halved its clocks or more";
    case ClockEventReason::HwPowerBrakeSlowdown:
        return "the power supply of the machine asked the device to draw less";
    case ClockEventReason::DisplayClockSetting:
        return "the clocks follow what the displays need";
    }
    return "a reason that this version does not know";
}

void FieldValue::validate() const {
    if (status_ != nvml_abi::NVML_SUCCESS) {
        const auto status = static_cast<nvml_abi::nvmlReturn_t>(status_);
        const std::string field = "field " + std::to_string(static_cast<unsigned>(field_id()));
        nvml::raise(status, "nvmlDeviceGetFieldValues",
                    status == nvml_abi::NVML_ERROR_NOT_SUPPORTED
                        ? "this device does not have " + field + "; treat its value as unknown"
                        : "");
    }
}

FieldValue::Value FieldValue::value() const {
    validate();
    return value_;
}

std::string Inforom::version(InforomObject object) const {
    return query_text<NVML_DEVICE_INFOROM_VERSION_BUFFER_SIZE>(
        nvml::table().nvmlDeviceGetInforomVersion, native(device_),
        static_cast<nvmlInforomObject_t>(object));
}

std::string Inforom::image_version() const {
    return query_text<NVML_DEVICE_INFOROM_VERSION_BUFFER_SIZE>(
        nvml::table().nvmlDeviceGetInforomImageVersion, native(device_));
}

void Inforom::validate() const {
    nvml::call(nvml::table().nvmlDeviceValidateInforom, native(device_));
}

FlushTime Inforom::bbx_flush_time() const {
    unsigned long long timestamp = 0;
    unsigned long duration = 0;
    nvml::call(nvml::table().nvmlDeviceGetLastBBXFlushTime, native(device_), &timestamp, &duration);
    return {timestamp, duration};
}

std::string Inforom::board_part_number() const {
    return query_text<NVML_DEVICE_PART_NUMBER_BUFFER_SIZE>(
        nvml::table().nvmlDeviceGetBoardPartNumber, native(device_));
}

bool Mig::is_mig_device() const {
    return query<unsigned>(nvml::table().nvmlDeviceIsMigDeviceHandle, device_) != 0;
}

bool Mig::is_enabled() const {
    return query_two<unsigned>(nvml::table().nvmlDeviceGetMigMode, device_).first ==
           NVML_FEATURE_ENABLED;
}

bool Mig::is_pending() const {
    return query_two<unsigned>(nvml::table().nvmlDeviceGetMigMode, device_).second ==
           NVML_FEATURE_ENABLED;
}

void Mig::set_enabled(bool enabled) const {
    const auto& entry = nvml::table().nvmlDeviceSetMigMode;
    const unsigned mode = enabled ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
    nvmlReturn_t activation = NVML_SUCCESS;
    nvml::call(entry, native(device_), mode, &activation);
    if (activation != NVML_SUCCESS) {
        nvml::raise(activation, entry.name,
                    "the mode is noted but not active yet; end the programs that use the device, "
                    "or reset it (nvidia-smi --gpu-reset)");
    }
}

Device Mig::parent() const {
    return Device::from_handle(handle_of(
        query<nvmlDevice_t>(nvml::table().nvmlDeviceGetDeviceHandleFromMigDeviceHandle, device_)));
}

Device Mig::device(unsigned index) const {
    return Device::from_handle(handle_of(
        query<nvmlDevice_t>(nvml::table().nvmlDeviceGetMigDeviceHandleByIndex, device_, index)));
}

std::vector<Device> Mig::devices() const {
    std::vector<Device> devices;
    const auto& entry = nvml::table().nvmlDeviceGetMigDeviceHandleByIndex;
    const unsigned count = device_count();
    for (unsigned i = 0; i < count; ++i) {
        nvmlDevice_t device{};
        const nvmlReturn_t status = nvml::try_call(entry, native(device_), i, &device);
        if (status == NVML_SUCCESS) {
            devices.push_back(Device::from_handle(handle_of(device)));
        } else if (status != NVML_ERROR_NOT_FOUND) { // not every place is taken
            nvml::raise(status, entry.name);
        }
    }
    return devices;
}

NvLinkVersion NvLink::version() const {
    // By NVML's number; 0 stands for an invalid version.
    static constexpr std::array<NvLinkVersion, 9> VERSIONS{
        {{0, 0}, {1, 0}, {2, 0}, {2, 2}, {3, 0}, {3, 1}, {4, 0}, {5, 0}, {6, 0}}};
    const auto number = query<unsigned>(nvml::table().nvmlDeviceGetNvLinkVersion, device_, index_);
    if (number == 0 || number >= VERSIONS.size()) {
        throw std::runtime_error("NVML reports version number " + std::to_string(number) +
                                 " for NVLink " + std::to_string(index_) +
                                 ", which is not known here; update Cuprum");
    }
    return VERSIONS[number];
}

bool NvLink::is_active() const {
    return query_enabled(nvml::table().nvmlDeviceGetNvLinkState, device_, index_);
}

unsigned PciInfo::rx_throughput() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetPcieThroughput, device_,
                           NVML_PCIE_UTIL_RX_BYTES);
}

unsigned PciInfo::tx_throughput() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetPcieThroughput, device_,
                           NVML_PCIE_UTIL_TX_BYTES);
}

void Power::set_limit_mw(unsigned limit) const {
    nvml::call(nvml::table().nvmlDeviceSetPowerManagementLimit, native(device_), limit);
}

Range Power::limit_constraints_mw() const {
    const auto [min, max] =
        query_two<unsigned>(nvml::table().nvmlDeviceGetPowerManagementLimitConstraints, device_);
    return {min, max};
}

} // namespace cuprum::system
