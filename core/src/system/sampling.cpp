// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/system/sampling.hpp>

#include "system/query.hpp"

#include <cuprum/error.hpp>
#include <cuprum/system/clock.hpp>
#include <cuprum/system/cooling.hpp>
#include <cuprum/system/power.hpp>

#include <limits>
#include <stdexcept>
#include <string>
#include <thread>

namespace cuprum::system {

namespace {

/// Returns what a query answers, or nothing if the device cannot answer it now.
template <typename Query>
auto if_supported(const Query& query) -> std::optional<decltype(query())> {
    try {
        return query();
    } catch (const NVMLError& error) {
        switch (error.code()) {
        case nvml_abi::NVML_ERROR_NOT_SUPPORTED:
        case nvml_abi::NVML_ERROR_NO_PERMISSION:
        case nvml_abi::NVML_ERROR_FUNCTION_NOT_FOUND:
        case nvml_abi::NVML_ERROR_INVALID_ARGUMENT: // a MIG device
        case nvml_abi::NVML_ERROR_NO_DATA:
        case nvml_abi::NVML_ERROR_NOT_READY:
            return std::nullopt;
        default:
            throw;
        }
    }
}

} // namespace

Sample read_sample(const Device& device) {
    Sample sample;
    sample.time = std::chrono::system_clock::now();
    if (const auto utilization = if_supported([&] { return device.utilization(); })) {
        sample.gpu_utilization = utilization->gpu;
        sample.memory_utilization = utilization->memory;
    }
    if (const auto memory = if_supported([&] { return device.memory_info(); })) {
        sample.memory_used = memory->used;
        sample.memory_total = memory->total;
    }
    sample.temperature = if_supported([&] { return device.temperature().gpu(); });
    sample.power_mw = if_supported([&] { return device.power().usage_mw(); });
    sample.energy_mj = if_supported([&] { return device.power().total_energy_mj(); });
    sample.sm_clock_mhz = if_supported([&] { return device.clock(ClockType::SM).current_mhz(); });
    sample.memory_clock_mhz =
        if_supported([&] { return device.clock(ClockType::Memory).current_mhz(); });
    sample.clock_event_reasons = if_supported([&] { return device.clock_event_reasons(); });
    return sample;
}

SampleRange::SampleRange(const Device& device, const SampleOptions& options)
    : device_(device), options_(options) {
    if (options_.interval.count() <= 0) {
        throw std::invalid_argument("interval is " + std::to_string(options_.interval.count()) +
                                    " ns, expected more than 0");
    }
}

SampleRange::Iterator::Iterator(const SampleRange& range)
    : range_(&range), left_(range.options_.count.value_or(std::numeric_limits<std::size_t>::max())),
      due_(std::chrono::steady_clock::now()) {
    if (left_ != 0) {
        sample_ = read_sample(range.device_);
    }
}

SampleRange::Iterator& SampleRange::Iterator::operator++() {
    if (range_->options_.count && --left_ == 0) {
        return *this;
    }
    const auto interval = range_->options_.interval;
    const auto now = std::chrono::steady_clock::now();
    due_ += interval;
    if (due_ < now) { // the reader is late
        due_ += (now - due_ + interval - std::chrono::nanoseconds(1)) / interval * interval;
    }
    std::this_thread::sleep_until(due_);
    sample_ = read_sample(range_->device_);
    return *this;
}

} // namespace cuprum::system
