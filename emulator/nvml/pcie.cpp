// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The link to the host. Its speed is invented; the traffic is that of copies between host and
// device, of all processes.

#include "pcie.hpp"

#include "row.hpp"

#include <chrono>
#include <thread>

namespace cuprum::nvml {

Traffic traffic_of(const State& state, unsigned int index) {
    Traffic sum;
    for (const auto& process : state.processes()) {
        if (index < process.devices.size()) {
            sum.from_device_bytes += process.devices[index].device_to_host_bytes;
            sum.to_device_bytes += process.devices[index].host_to_device_bytes;
        }
    }
    return sum;
}

} // namespace cuprum::nvml

using namespace cuprum::nvml;

namespace {

constexpr unsigned int LINK_GENERATION = 4;
constexpr unsigned int LINK_WIDTH = 16;
constexpr unsigned int LINK_SPEED_MBPS = 16000; // of one lane
/// NVML measures the throughput while the caller waits.
constexpr std::chrono::milliseconds THROUGHPUT_INTERVAL{20};

} // namespace

ALIAS(nvmlDeviceGetMaxPcieLinkGeneration, constant<LINK_GENERATION>);
ALIAS(nvmlDeviceGetGpuMaxPcieLinkGeneration, constant<LINK_GENERATION>);
ALIAS(nvmlDeviceGetCurrPcieLinkGeneration, constant<LINK_GENERATION>);
ALIAS(nvmlDeviceGetMaxPcieLinkWidth, constant<LINK_WIDTH>);
ALIAS(nvmlDeviceGetCurrPcieLinkWidth, constant<LINK_WIDTH>);
ALIAS(nvmlDeviceGetPcieSpeed, constant<LINK_SPEED_MBPS>);
ALIAS(nvmlDeviceGetPcieLinkMaxSpeed, constant<NVML_PCIE_LINK_MAX_SPEED_16000MBPS>);
ALIAS(nvmlDeviceGetPcieReplayCounter, constant<0>);

ROW(nvmlDeviceGetPcieThroughput, const State& state, Index index, nvmlPcieUtilCounter_t counter,
    unsigned int& value) {
    require(counter >= NVML_PCIE_UTIL_TX_BYTES, counter < NVML_PCIE_UTIL_COUNT);
    const auto bytes = [&] {
        const Traffic traffic = traffic_of(state, index);
        return counter == NVML_PCIE_UTIL_TX_BYTES ? traffic.from_device_bytes
                                                  : traffic.to_device_bytes;
    };
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    const std::uint64_t before = bytes();
    std::this_thread::sleep_for(THROUGHPUT_INTERVAL);
    const std::uint64_t after = bytes();
    const std::chrono::duration<double> seconds = Clock::now() - begin;
    // A process that ended meanwhile takes its traffic with it.
    const std::uint64_t moved = after > before ? after - before : 0;
    value = static_cast<double>(moved) / 1000.0 / seconds.count(); // kB/s
}
