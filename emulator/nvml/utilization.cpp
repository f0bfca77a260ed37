// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How busy the devices are: the time that worker threads spend on kernels, and the time of large
// copies and fills.
//
// 100 per cent means that all worker threads of a process run kernels of the device. Processes add
// up, at most to 100 per cent.

#include "interp/clock.hpp"
#include "library.hpp"
#include "row.hpp"
#include "usage/record.hpp"

#include <algorithm>
#include <chrono>

using namespace cuprum::nvml;
using cuprum::emulator::now_ns;
using cuprum::emulator::usage::DeviceUse;
using cuprum::emulator::usage::ProcessUse;
using cuprum::emulator::usage::SLOT_COUNT;
using cuprum::emulator::usage::SLOT_NS;

namespace {

constexpr unsigned long long SAMPLING_PERIOD_US = SLOT_NS / 1000;
/// The rates are those of half a second: eight whole periods, and what has passed of the current
/// one.
constexpr std::size_t RATE_PERIODS = 8;

/// Idleness, and what CUPRUM_EMULATOR_CLOCK_EVENTS can set. Older clients know no others.
constexpr unsigned long long SUPPORTED_REASONS =
    nvmlClocksEventReasonGpuIdle | nvmlClocksEventReasonApplicationsClocksSetting |
    nvmlClocksEventReasonSwPowerCap | nvmlClocksThrottleReasonHwSlowdown |
    nvmlClocksEventReasonSyncBoost | nvmlClocksEventReasonSwThermalSlowdown |
    nvmlClocksThrottleReasonHwThermalSlowdown | nvmlClocksThrottleReasonHwPowerBrakeSlowdown |
    nvmlClocksEventReasonDisplayClockSetting;

struct Rates {
    unsigned int kernels = 0; // per cent
    unsigned int memory = 0;
};

unsigned long long now_us() {
    return static_cast<unsigned long long>(std::chrono::duration_cast<std::chrono::microseconds>(
                                               std::chrono::system_clock::now().time_since_epoch())
                                               .count());
}

unsigned int per_cent(std::uint64_t busy_ns, std::uint64_t elapsed_ns) {
    if (elapsed_ns == 0) {
        return 0;
    }
    // Round to the nearest, but show that something ran.
    const std::uint64_t value = (busy_ns * 100 + elapsed_ns / 2) / elapsed_ns;
    return static_cast<unsigned int>(
        std::clamp<std::uint64_t>(value, busy_ns * 1000 > elapsed_ns ? 1 : 0, 100));
}

/// Returns the rates of one process in the last whole periods and the current one.
Rates rates_of(const ProcessUse& process, unsigned int index, std::uint64_t now,
               std::size_t whole_periods) {
    if (index >= process.devices.size()) {
        return {};
    }
    const DeviceUse& use = process.devices[index];
    const std::uint64_t elapsed_ns = whole_periods * SLOT_NS + now % SLOT_NS;
    std::uint64_t kernel_ns = 0;
    std::uint64_t memory_ns = 0;
    for (std::size_t slot = SLOT_COUNT - 1 - whole_periods; slot < SLOT_COUNT; ++slot) {
        kernel_ns += use.kernel_history_ns[slot];
        memory_ns += use.memory_history_ns[slot];
    }
    return {per_cent(kernel_ns, elapsed_ns * process.worker_count),
            per_cent(memory_ns, elapsed_ns)};
}

/// Reads all records at a time that is returned with them.
std::pair<std::vector<ProcessUse>, std::uint64_t> read_now(const State& state) {
    const std::uint64_t now = now_ns();
    return {cuprum::emulator::usage::read_processes(state.folder, now), now};
}

Rates device_rates(const State& state, unsigned int index) {
    const auto [processes, now] = read_now(state);
    Rates sum;
    for (const ProcessUse& process : processes) {
        const Rates rates = rates_of(process, index, now, RATE_PERIODS);
        sum.kernels = std::min(sum.kernels + rates.kernels, 100U);
        sum.memory = std::min(sum.memory + rates.memory, 100U);
    }
    return sum;
}

/// Returns one sample per process that used the device since a time stamp; fails with NOT_FOUND if
/// there is none.
template <typename Sample>
std::vector<Sample> process_samples(const State& state, unsigned int index,
                                    unsigned long long last_seen_us) {
    const unsigned long long now_stamp = now_us();
    const unsigned long long since_us = now_stamp > last_seen_us ? now_stamp - last_seen_us : 0;
    const auto [processes, now] = read_now(state);
    const std::size_t periods =
        std::min<std::size_t>(since_us / SAMPLING_PERIOD_US, SLOT_COUNT - 1);
    std::vector<Sample> samples;
    for (const ProcessUse& process : processes) {
        if (since_us == 0 || index >= process.devices.size() || !process.devices[index].is_used()) {
            continue;
        }
        const Rates rates = rates_of(process, index, now, periods);
        Sample sample{};
        sample.pid = static_cast<unsigned int>(process.pid);
        sample.timeStamp = now_stamp;
        sample.smUtil = rates.kernels;
        sample.memUtil = rates.memory;
        samples.push_back(sample);
    }
    if (samples.empty()) {
        fail(NVML_ERROR_NOT_FOUND);
    }
    return samples;
}

} // namespace

ROW(nvmlDeviceGetUtilizationRates, const State& state, Index index,
    nvmlUtilization_t& utilization) {
    const Rates rates = device_rates(state, index);
    utilization = {.gpu = rates.kernels, .memory = rates.memory};
}

ROW(nvmlDeviceGetDynamicPstatesInfo, const State& state, Index index,
    nvmlGpuDynamicPstatesInfo_t& dynamic_pstates_info) {
    dynamic_pstates_info = {};
    const Rates rates = device_rates(state, index);
    const unsigned int values[] = {rates.kernels, rates.memory}; // multiprocessors, memory
    for (std::size_t domain = 0; domain < std::size(values); ++domain) {
        dynamic_pstates_info.utilization[domain].bIsPresent = 1;
        dynamic_pstates_info.utilization[domain].percentage = values[domain];
    }
}

ROW(nvmlDeviceGetProcessUtilization, const State& state, Index index,
    nvmlProcessUtilizationSample_t* utilization, unsigned int& process_samples_count,
    unsigned long long last_seen_timestamp) {
    if (utilization == nullptr) {
        process_samples_count = 0;
    }
    write_array(process_samples<nvmlProcessUtilizationSample_t>(state, index, last_seen_timestamp),
                &process_samples_count, utilization);
}

ROW(nvmlDeviceGetProcessesUtilizationInfo, const State& state, Index index,
    nvmlProcessesUtilizationInfo_t& utilization_info) {
    require_version(utilization_info.version, nvmlProcessesUtilizationInfo_v1);
    if (utilization_info.procUtilArray == nullptr) {
        utilization_info.processSamplesCount = 0;
    }
    write_array(process_samples<nvmlProcessUtilizationInfo_v1_t>(
                    state, index, utilization_info.lastSeenTimeStamp),
                &utilization_info.processSamplesCount, utilization_info.procUtilArray);
}

ROW(nvmlDeviceGetSamples, const State& state, Index index, nvmlSamplingType_t type,
    unsigned long long last_seen_timestamp, nvmlValueType_t& sample_type,
    unsigned int& sample_count, nvmlSample_t* samples) {
    require(type >= 0, type < NVML_SAMPLINGTYPE_COUNT);
    if (type != NVML_GPU_UTILIZATION_SAMPLES && type != NVML_MEMORY_UTILIZATION_SAMPLES) {
        fail(NVML_ERROR_NOT_SUPPORTED);
    }
    sample_type = NVML_VALUE_TYPE_UNSIGNED_INT;
    constexpr unsigned int most = SLOT_COUNT - 1; // the current period is not over yet
    if (samples == nullptr) {
        sample_count = most;
        return;
    }
    const auto [processes, now] = read_now(state);
    const unsigned long long end_us = now_us() - now % SLOT_NS / 1000;
    const unsigned int room = sample_count;
    unsigned int written = 0;
    for (unsigned int period = 0; period < most && written < room; ++period) {
        const unsigned long long stamp = end_us - (most - 1 - period) * SAMPLING_PERIOD_US;
        if (stamp <= last_seen_timestamp) {
            continue;
        }
        unsigned int sum = 0;
        for (const ProcessUse& process : processes) {
            if (index < process.devices.size()) {
                const DeviceUse& use = process.devices[index];
                sum += type == NVML_GPU_UTILIZATION_SAMPLES
                           ? per_cent(use.kernel_history_ns[period], SLOT_NS * process.worker_count)
                           : per_cent(use.memory_history_ns[period], SLOT_NS);
            }
        }
        samples[written].timeStamp = stamp;
        samples[written].sampleValue.uiVal = std::min(sum, 100U);
        ++written;
    }
    sample_count = written;
    if (written == 0) {
        fail(NVML_ERROR_NOT_FOUND);
    }
}

// There are no such engines, so they are never busy.
ROW(nvmlDeviceGetEncoderUtilization, Index /*device*/, unsigned int& utilization,
    unsigned int& sampling_period_us) {
    utilization = 0;
    sampling_period_us = SAMPLING_PERIOD_US;
}

ALIAS(nvmlDeviceGetDecoderUtilization, nvmlDeviceGetEncoderUtilization);
ALIAS(nvmlDeviceGetJpgUtilization, nvmlDeviceGetEncoderUtilization);
ALIAS(nvmlDeviceGetOfaUtilization, nvmlDeviceGetEncoderUtilization);

// ---- why clocks are low ----

ROW(nvmlDeviceGetCurrentClocksEventReasons, const State& state, Index index,
    unsigned long long& clocks_event_reasons) {
    const bool is_idle = device_rates(state, index).kernels == 0;
    clocks_event_reasons =
        state.sensors.clock_events | (is_idle ? nvmlClocksEventReasonGpuIdle : 0);
}

ALIAS(nvmlDeviceGetCurrentClocksThrottleReasons, nvmlDeviceGetCurrentClocksEventReasons);
ALIAS(nvmlDeviceGetSupportedClocksEventReasons, constant<SUPPORTED_REASONS>);
ALIAS(nvmlDeviceGetSupportedClocksThrottleReasons, nvmlDeviceGetSupportedClocksEventReasons);
