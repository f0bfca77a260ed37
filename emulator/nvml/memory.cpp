// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Memory and the processes that use it, as the records of all processes say.

#include "library.hpp"
#include "row.hpp"

#include <algorithm>

using namespace cuprum::nvml;
using cuprum::emulator::usage::ProcessUse;

namespace {

constexpr unsigned int NO_INSTANCE = 0xffffffff; // not a MIG device

struct MemoryUse {
    unsigned long long total;
    unsigned long long used;
};

MemoryUse memory_use(const State& state, unsigned int index) {
    MemoryUse memory{state.settings.memory_bytes, 0};
    for (const ProcessUse& process : state.processes()) {
        if (index < process.devices.size()) {
            memory.used += process.devices[index].used_bytes;
        }
    }
    // Processes do not know of each other: together they may use more than there is.
    memory.used = std::min(memory.used, memory.total);
    return memory;
}

/// Lists the processes that have a context on a device.
template <typename Info>
std::vector<Info> list_processes(const State& state, unsigned int index) {
    std::vector<Info> infos;
    for (const ProcessUse& process : state.processes()) {
        if (index >= process.devices.size() || !process.devices[index].is_used()) {
            continue;
        }
        Info info{};
        info.pid = static_cast<unsigned int>(process.pid);
        info.usedGpuMemory = process.devices[index].used_bytes;
        if constexpr (requires { info.gpuInstanceId; }) {
            info.gpuInstanceId = NO_INSTANCE;
            info.computeInstanceId = NO_INSTANCE;
        }
        infos.push_back(info);
    }
    return infos;
}

template <typename Info>
nvmlReturn_t compute_processes(nvmlDevice_t device, unsigned int* info_count, Info* infos) {
    return device_entry(device, [&](const State& state, unsigned int index) {
        write_array(list_processes<Info>(state, index), info_count, infos);
    });
}

/// Nobody uses the emulated device for graphics or through MPS.
template <typename Info>
nvmlReturn_t no_processes(nvmlDevice_t device, unsigned int* info_count, Info* infos) {
    return device_entry(device, [&](const State&, unsigned int) {
        write_array(std::vector<Info>{}, info_count, infos);
    });
}

} // namespace

ROW(nvmlDeviceGetMemoryInfo, const State& state, Index index, nvmlMemory_t& memory) {
    const MemoryUse use = memory_use(state, index);
    memory = {.total = use.total, .free = use.total - use.used, .used = use.used};
}

ROW(nvmlDeviceGetMemoryInfo_v2, const State& state, Index index, nvmlMemory_v2_t& memory) {
    require_version(memory.version, nvmlMemory_v2);
    const MemoryUse use = memory_use(state, index);
    memory.total = use.total;
    memory.reserved = 0;
    memory.free = use.total - use.used;
    memory.used = use.used;
}

// The host can reach all of the device's memory.
ROW(nvmlDeviceGetBAR1MemoryInfo, const State& state, Index index, nvmlBAR1Memory_t& bar1_memory) {
    const MemoryUse use = memory_use(state, index);
    bar1_memory = {.bar1Total = use.total, .bar1Free = use.total - use.used, .bar1Used = use.used};
}

ROW(nvmlDeviceGetMemoryBusWidth, const State& state, Index /*device*/, unsigned int& bus_width) {
    bus_width = state.attributes[CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH];
}

ALIAS(nvmlDeviceGetComputeRunningProcesses, compute_processes);
ALIAS(nvmlDeviceGetComputeRunningProcesses_v2, compute_processes);
ALIAS(nvmlDeviceGetComputeRunningProcesses_v3, compute_processes);
ALIAS(nvmlDeviceGetGraphicsRunningProcesses, no_processes);
ALIAS(nvmlDeviceGetGraphicsRunningProcesses_v2, no_processes);
ALIAS(nvmlDeviceGetGraphicsRunningProcesses_v3, no_processes);
ALIAS(nvmlDeviceGetMPSComputeRunningProcesses, no_processes);
ALIAS(nvmlDeviceGetMPSComputeRunningProcesses_v2, no_processes);
ALIAS(nvmlDeviceGetMPSComputeRunningProcesses_v3, no_processes);

ROW(nvmlDeviceGetRunningProcessDetailList, const State& state, Index index,
    nvmlProcessDetailList_t& list) {
    require_version(list.version, nvmlProcessDetailList_v1);
    require(list.mode < NVML_PROCESS_MODE_MAX);
    const bool is_compute =
        list.mode == NVML_PROCESS_MODE_COMPUTE || list.mode == NVML_PROCESS_MODE_ALL;
    write_array(is_compute ? list_processes<nvmlProcessDetail_v1_t>(state, index)
                           : std::vector<nvmlProcessDetail_v1_t>{},
                &list.numProcArrayEntries, list.procArray);
}
