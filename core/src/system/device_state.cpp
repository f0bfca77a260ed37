// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The changing state of a device: modes, load, clocks, cooling, neighbours, fields.

#include "system/query.hpp"

#include <cuprum/system/clock.hpp>
#include <cuprum/system/cooling.hpp>
#include <cuprum/system/device.hpp>
#include <cuprum/system/ecc.hpp>
#include <cuprum/system/events.hpp>
#include <cuprum/system/inforom.hpp>
#include <cuprum/system/mig.hpp>
#include <cuprum/system/nvlink.hpp>
#include <cuprum/system/power.hpp>

#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace cuprum::system {

using namespace nvml_abi;

namespace {

/// NVML's way to say that a number is not known.
constexpr unsigned long long NOT_AVAILABLE = ~0ULL;
constexpr unsigned NO_INSTANCE = ~0U;
/// Processes that may start between two calls.
constexpr unsigned MORE_PROCESSES = 5;

template <typename Entry>
std::vector<ProcessInfo> list_processes(const Entry& entry, ::nvmlDevice_st* device) {
    const auto answer = query_list<nvmlProcessInfo_t>(
        entry.name,
        [&](unsigned* count, nvmlProcessInfo_t* processes) {
            return nvml::try_call(entry, native(device), count, processes);
        },
        MORE_PROCESSES);
    std::vector<ProcessInfo> processes;
    for (const nvmlProcessInfo_t& process : answer) {
        ProcessInfo info{.pid = process.pid,
                         .used_gpu_memory = std::nullopt,
                         .gpu_instance_id = std::nullopt,
                         .compute_instance_id = std::nullopt};
        if (process.usedGpuMemory != NOT_AVAILABLE) {
            info.used_gpu_memory = process.usedGpuMemory;
        }
        if (process.gpuInstanceId != NO_INSTANCE) {
            info.gpu_instance_id = process.gpuInstanceId;
        }
        if (process.computeInstanceId != NO_INSTANCE) {
            info.compute_instance_id = process.computeInstanceId;
        }
        processes.push_back(info);
    }
    return processes;
}

/// Asks for reasons under the name that they have since driver 535, or under the older one.
template <typename Newer, typename Older>
std::vector<ClockEventReason> reasons(const Newer& newer, const Older& older,
                                      ::nvmlDevice_st* device) {
    unsigned long long mask = 0;
    nvmlReturn_t status = nvml::try_call(newer, native(device), &mask);
    if (status == NVML_ERROR_FUNCTION_NOT_FOUND) {
        status = nvml::try_call(older, native(device), &mask);
    }
    if (status != NVML_SUCCESS) {
        nvml::raise(status, newer.name);
    }
    return bits_of<ClockEventReason>(mask);
}

/// Reads a set of CPUs or NUMA nodes, which NVML stores in words of 64 bits.
template <typename Entry>
std::vector<unsigned> affinity(const Entry& entry, ::nvmlDevice_st* device, AffinityScope scope) {
    constexpr unsigned word_bits = 64;
    const auto cpus = static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
    std::vector<unsigned long> words((cpus + word_bits - 1) / word_bits);
    nvml::call(entry, native(device), static_cast<unsigned>(words.size()), words.data(),
               static_cast<nvmlAffinityScope_t>(scope));
    std::vector<unsigned> members;
    for (std::size_t word = 0; word < words.size(); ++word) {
        for (unsigned bit = 0; bit < word_bits; ++bit) {
            if ((words[word] >> bit & 1UL) != 0) {
                members.push_back(static_cast<unsigned>(word) * word_bits + bit);
            }
        }
    }
    return members;
}

FieldValue::Value value_of(const nvmlFieldValue_t& field) {
    switch (field.valueType) {
    case NVML_VALUE_TYPE_DOUBLE:
        return field.value.dVal;
    case NVML_VALUE_TYPE_UNSIGNED_INT:
        return std::uint64_t{field.value.uiVal};
    case NVML_VALUE_TYPE_UNSIGNED_LONG:
        return std::uint64_t{field.value.ulVal};
    case NVML_VALUE_TYPE_UNSIGNED_LONG_LONG:
        return std::uint64_t{field.value.ullVal};
    case NVML_VALUE_TYPE_SIGNED_LONG_LONG:
        return std::int64_t{field.value.sllVal};
    case NVML_VALUE_TYPE_SIGNED_INT:
        return std::int64_t{field.value.siVal};
    case NVML_VALUE_TYPE_UNSIGNED_SHORT:
        return std::uint64_t{field.value.usVal};
    default:
        throw std::runtime_error("NVML returned field " + std::to_string(field.fieldId) +
                                 " with type " + std::to_string(field.valueType) +
                                 ", which is not known here; update Cuprum");
    }
}

std::vector<nvmlFieldValue_t> native_fields(std::span<const FieldQuery> fields) {
    std::vector<nvmlFieldValue_t> natives(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
        natives[i].fieldId = static_cast<unsigned>(fields[i].field_id);
        natives[i].scopeId = fields[i].scope_id;
    }
    return natives;
}

void check_index(const char* what, unsigned index, unsigned count) {
    if (index >= count) {
        throw std::invalid_argument(std::string(what) + " is " + std::to_string(index) +
                                    (count == 0 ? ", but the device has none"
                                                : ", expected 0 to " + std::to_string(count - 1)));
    }
}

} // namespace

Inforom Device::inforom() const noexcept {
    return Inforom(handle_);
}

Mig Device::mig() const noexcept {
    return Mig(handle_);
}

Ecc Device::ecc() const noexcept {
    return Ecc(handle_);
}

Power Device::power() const noexcept {
    return Power(handle_);
}

Temperature Device::temperature() const noexcept {
    return Temperature(handle_);
}

Clock Device::clock(ClockType type) const noexcept {
    return {handle_, type};
}

bool Device::is_persistence_mode_enabled() const {
    return query_enabled(nvml::table().nvmlDeviceGetPersistenceMode, handle_);
}

void Device::set_persistence_mode_enabled(bool enabled) const {
    nvml::call(nvml::table().nvmlDeviceSetPersistenceMode, native(handle_),
               enabled ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED);
}

bool Device::is_c2c_enabled() const {
    return query<nvmlC2cModeInfo_v1_t>(nvml::table().nvmlDeviceGetC2cModeInfoV, handle_)
               .isC2cEnabled != 0;
}

std::optional<AddressingMode> Device::addressing_mode() const {
    nvmlDeviceAddressingMode_t answer{};
    answer.version = nvmlDeviceAddressingMode_v1;
    nvml::call(nvml::table().nvmlDeviceGetAddressingMode, native(handle_), &answer);
    if (answer.value == NVML_DEVICE_ADDRESSING_MODE_NONE) {
        return std::nullopt;
    }
    return static_cast<AddressingMode>(answer.value);
}

bool Device::is_display_connected() const {
    return query_enabled(nvml::table().nvmlDeviceGetDisplayMode, handle_);
}

bool Device::is_display_active() const {
    return query_enabled(nvml::table().nvmlDeviceGetDisplayActive, handle_);
}

RepairStatus Device::repair_status() const {
    nvmlRepairStatus_t answer{};
    answer.version = nvmlRepairStatus_v1;
    nvml::call(nvml::table().nvmlDeviceGetRepairStatus, native(handle_), &answer);
    return {answer.bChannelRepairPending != 0, answer.bTpcRepairPending != 0};
}

MemoryInfo Device::memory_info() const {
    nvmlMemory_v2_t answer{};
    answer.version = nvmlMemory_v2;
    nvml::call(nvml::table().nvmlDeviceGetMemoryInfo_v2, native(handle_), &answer);
    return {answer.total, answer.free, answer.used, answer.reserved};
}

BAR1MemoryInfo Device::bar1_memory_info() const {
    const auto answer = query<nvmlBAR1Memory_t>(nvml::table().nvmlDeviceGetBAR1MemoryInfo, handle_);
    return {answer.bar1Total, answer.bar1Free, answer.bar1Used};
}

Utilization Device::utilization() const {
    const auto answer =
        query<nvmlUtilization_t>(nvml::table().nvmlDeviceGetUtilizationRates, handle_);
    return {answer.gpu, answer.memory};
}

EngineUtilization Device::encoder_utilization() const {
    const auto [percent, period] =
        query_two<unsigned>(nvml::table().nvmlDeviceGetEncoderUtilization, handle_);
    return {percent, period};
}

EngineUtilization Device::decoder_utilization() const {
    const auto [percent, period] =
        query_two<unsigned>(nvml::table().nvmlDeviceGetDecoderUtilization, handle_);
    return {percent, period};
}

std::vector<ProcessInfo> Device::compute_running_processes() const {
    return list_processes(nvml::table().nvmlDeviceGetComputeRunningProcesses_v3, handle_);
}

std::vector<ProcessInfo> Device::graphics_running_processes() const {
    return list_processes(nvml::table().nvmlDeviceGetGraphicsRunningProcesses_v3, handle_);
}

std::vector<ProcessInfo> Device::mps_compute_running_processes() const {
    return list_processes(nvml::table().nvmlDeviceGetMPSComputeRunningProcesses_v3, handle_);
}

std::vector<ProcessUtilization> Device::process_utilization(std::uint64_t since_us) const {
    const auto& entry = nvml::table().nvmlDeviceGetProcessUtilization;
    const auto answer = query_list<nvmlProcessUtilizationSample_t>(
        entry.name,
        [&](unsigned* count, nvmlProcessUtilizationSample_t* samples) {
            const nvmlReturn_t status =
                nvml::try_call(entry, native(handle_), samples, count, since_us);
            if (status == NVML_ERROR_NOT_FOUND) { // there are no newer samples
                *count = 0;
                return NVML_SUCCESS;
            }
            return status;
        },
        MORE_PROCESSES);
    std::vector<ProcessUtilization> utilization;
    for (const nvmlProcessUtilizationSample_t& sample : answer) {
        utilization.push_back({sample.pid, sample.timeStamp, sample.smUtil, sample.memUtil,
                               sample.encUtil, sample.decUtil});
    }
    return utilization;
}

AutoBoost Device::auto_boosted_clocks() const {
    const auto [current, standard] =
        query_two<nvmlEnableState_t>(nvml::table().nvmlDeviceGetAutoBoostedClocksEnabled, handle_);
    return {current == NVML_FEATURE_ENABLED, standard == NVML_FEATURE_ENABLED};
}

std::vector<ClockEventReason> Device::clock_event_reasons() const {
    return reasons(nvml::table().nvmlDeviceGetCurrentClocksEventReasons,
                   nvml::table().nvmlDeviceGetCurrentClocksThrottleReasons, handle_);
}

std::vector<ClockEventReason> Device::supported_clock_event_reasons() const {
    return reasons(nvml::table().nvmlDeviceGetSupportedClocksEventReasons,
                   nvml::table().nvmlDeviceGetSupportedClocksThrottleReasons, handle_);
}

std::optional<int> Device::performance_state() const {
    const auto state = query<nvmlPstates_t>(nvml::table().nvmlDeviceGetPerformanceState, handle_);
    return state == NVML_PSTATE_UNKNOWN ? std::nullopt : std::optional<int>(state);
}

std::vector<int> Device::supported_pstates() const {
    std::array<nvmlPstates_t, NVML_MAX_GPU_PERF_PSTATES> states{};
    states.fill(NVML_PSTATE_UNKNOWN);
    nvml::call(nvml::table().nvmlDeviceGetSupportedPerformanceStates, native(handle_),
               states.data(), static_cast<unsigned>(sizeof(states)));
    std::vector<int> known;
    std::copy_if(states.begin(), states.end(), std::back_inserter(known),
                 [](nvmlPstates_t state) { return state != NVML_PSTATE_UNKNOWN; });
    return known;
}

DynamicPStates Device::dynamic_pstates() const {
    const auto answer =
        query<nvmlGpuDynamicPstatesInfo_t>(nvml::table().nvmlDeviceGetDynamicPstatesInfo, handle_);
    static_assert(std::tuple_size_v<DynamicPStates> == NVML_MAX_GPU_UTILIZATIONS);
    DynamicPStates states;
    for (std::size_t i = 0; i < states.size(); ++i) {
        const auto& part = answer.utilization[i];
        states[i] = {part.bIsPresent != 0, part.percentage, part.incThreshold, part.decThreshold};
    }
    return states;
}

CoolerInfo Device::cooler() const {
    nvmlCoolerInfo_t answer{};
    answer.version = nvmlCoolerInfo_v1;
    nvml::call(nvml::table().nvmlDeviceGetCoolerInfo, native(handle_), &answer);
    CoolerInfo info;
    if (answer.signalType == NVML_THERMAL_COOLER_SIGNAL_TOGGLE ||
        answer.signalType == NVML_THERMAL_COOLER_SIGNAL_VARIABLE) {
        info.signal_type = static_cast<CoolerControl>(answer.signalType);
    }
    info.targets = bits_of<CoolerTarget>(static_cast<unsigned>(answer.target));
    return info;
}

Fan Device::fan(unsigned index) const {
    check_index("fan", index, num_fans());
    return {handle_, index};
}

unsigned Device::nvlink_count() const {
    const FieldQuery field = FieldId::DevNvlinkLinkCount;
    const FieldValue::Value count = field_values({&field, 1}).front().value();
    return std::visit([](auto number) { return static_cast<unsigned>(number); }, count);
}

NvLink Device::nvlink(unsigned link) const {
    check_index("link", link, nvlink_count());
    return {handle_, link};
}

std::vector<NvLink> Device::nvlinks() const {
    std::vector<NvLink> links;
    const unsigned count = nvlink_count();
    for (unsigned i = 0; i < count; ++i) {
        links.push_back(NvLink(handle_, i));
    }
    return links;
}

std::vector<unsigned> Device::cpu_affinity(AffinityScope scope) const {
    return affinity(nvml::table().nvmlDeviceGetCpuAffinityWithinScope, handle_, scope);
}

std::vector<unsigned> Device::memory_affinity(AffinityScope scope) const {
    return affinity(nvml::table().nvmlDeviceGetMemoryAffinity, handle_, scope);
}

void Device::set_cpu_affinity() const {
    nvml::call(nvml::table().nvmlDeviceSetCpuAffinity, native(handle_));
}

void Device::clear_cpu_affinity() const {
    nvml::call(nvml::table().nvmlDeviceClearCpuAffinity, native(handle_));
}

std::vector<Device> Device::topology_nearest_gpus(GpuTopologyLevel level) const {
    const auto& entry = nvml::table().nvmlDeviceGetTopologyNearestGpus;
    const auto handles =
        query_list<nvmlDevice_t>(entry.name, [&](unsigned* count, nvmlDevice_t* devices) {
            return nvml::try_call(entry, native(handle_),
                                  static_cast<nvmlGpuTopologyLevel_t>(level), count, devices);
        });
    std::vector<Device> devices;
    for (const nvmlDevice_t handle : handles) {
        devices.push_back(Device(handle_of(handle)));
    }
    return devices;
}

std::vector<FieldValue> Device::field_values(std::span<const FieldQuery> fields) const {
    std::vector<FieldValue> values;
    if (fields.empty()) { // NVML refuses that
        return values;
    }
    std::vector<nvmlFieldValue_t> natives = native_fields(fields);
    nvml::call(nvml::table().nvmlDeviceGetFieldValues, native(handle_),
               static_cast<int>(natives.size()), natives.data());
    for (const nvmlFieldValue_t& field : natives) {
        const bool is_valid = field.nvmlReturn == NVML_SUCCESS;
        values.emplace_back(FieldQuery(static_cast<FieldId>(field.fieldId), field.scopeId),
                            field.timestamp, field.latencyUsec, field.nvmlReturn,
                            is_valid ? value_of(field) : FieldValue::Value());
    }
    return values;
}

void Device::clear_field_values(std::span<const FieldQuery> fields) const {
    if (fields.empty()) {
        return;
    }
    std::vector<nvmlFieldValue_t> natives = native_fields(fields);
    nvml::call(nvml::table().nvmlDeviceClearFieldValues, native(handle_),
               static_cast<int>(natives.size()), natives.data());
}

DeviceEvents Device::register_events(std::span<const EventType> types) const {
    return {handle_, types};
}

std::vector<EventType> Device::supported_event_types() const {
    return bits_of<EventType>(
        query<unsigned long long>(nvml::table().nvmlDeviceGetSupportedEventTypes, handle_));
}

} // namespace cuprum::system
