// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The link to the host. Its speed is invented; the traffic is that of copies between host and
// device, of all processes.

#include "pcie.hpp"

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

nvmlReturn_t link_value(nvmlDevice_t device, unsigned int* value, unsigned int constant) {
    return value_entry(device, value, [&](const State&, unsigned int) { return constant; });
}

} // namespace

extern "C" {

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int* max_link_gen) {
    return link_value(device, max_link_gen, LINK_GENERATION);
}

nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device,
                                                   unsigned int* max_link_gen_device) {
    return link_value(device, max_link_gen_device, LINK_GENERATION);
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned int* curr_link_gen) {
    return link_value(device, curr_link_gen, LINK_GENERATION);
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int* max_link_width) {
    return link_value(device, max_link_width, LINK_WIDTH);
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned int* curr_link_width) {
    return link_value(device, curr_link_width, LINK_WIDTH);
}

nvmlReturn_t nvmlDeviceGetPcieSpeed(nvmlDevice_t device, unsigned int* pcie_speed) {
    return link_value(device, pcie_speed, LINK_SPEED_MBPS);
}

nvmlReturn_t nvmlDeviceGetPcieLinkMaxSpeed(nvmlDevice_t device, unsigned int* max_speed) {
    return link_value(device, max_speed, NVML_PCIE_LINK_MAX_SPEED_16000MBPS);
}

nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned int* value) {
    return link_value(device, value, 0);
}

nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter,
                                         unsigned int* value) {
    return value_entry(device, value, [&](const State& state, unsigned int index) {
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
        return static_cast<double>(moved) / 1000.0 / seconds.count(); // kB/s
    });
}

} // extern "C"
