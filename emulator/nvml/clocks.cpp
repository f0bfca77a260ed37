// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Clocks and performance states. They are invented: see sensors.hpp.

#include "controls.hpp"
#include "row.hpp"

#include <algorithm>

using namespace cuprum::nvml;
using cuprum::emulator::usage::Control;

namespace {

bool is_memory_clock(nvmlClockType_t type) {
    require(type >= NVML_CLOCK_GRAPHICS, type < NVML_CLOCK_COUNT);
    return type == NVML_CLOCK_MEM;
}

unsigned int max_clock_mhz(const State& state, unsigned int index, nvmlClockType_t type) {
    return is_memory_clock(type) ? state.sensors.memory_clock_mhz[index]
                                 : state.sensors.sm_clock_mhz[index];
}

unsigned int clock_mhz(const State& state, unsigned int index, nvmlClockType_t type) {
    const bool is_memory = is_memory_clock(type);
    const unsigned int highest = max_clock_mhz(state, index, type);
    const auto most = static_cast<unsigned int>(
        state.board().get(index, is_memory ? Control::MemoryClockMax : Control::GraphicsClockMax));
    return most == 0 ? highest : std::min(highest, most);
}

template <bool IsMemory>
nvmlReturn_t lock_clocks(nvmlDevice_t device, unsigned int min_mhz, unsigned int max_mhz) {
    return device_entry(device, [&](const State& state, unsigned int index) {
        require(min_mhz <= max_mhz, max_mhz != 0);
        set_control(state, index, IsMemory ? Control::MemoryClockMin : Control::GraphicsClockMin,
                    min_mhz);
        set_control(state, index, IsMemory ? Control::MemoryClockMax : Control::GraphicsClockMax,
                    max_mhz);
    });
}

nvmlReturn_t unlock_clocks(nvmlDevice_t device, bool is_memory) {
    return device_entry(device, [&](const State& state, unsigned int index) {
        set_control(state, index, is_memory ? Control::MemoryClockMin : Control::GraphicsClockMin,
                    0);
        set_control(state, index, is_memory ? Control::MemoryClockMax : Control::GraphicsClockMax,
                    0);
    });
}

nvmlPstates_t state_of(const State& state, unsigned int index) {
    return static_cast<nvmlPstates_t>(state.sensors.performance_state[index]);
}

} // namespace

ROW(nvmlDeviceGetClockInfo, const State& state, Index index, nvmlClockType_t type,
    unsigned int& clock) {
    clock = clock_mhz(state, index, type);
}

ROW(nvmlDeviceGetMaxClockInfo, const State& state, Index index, nvmlClockType_t type,
    unsigned int& clock) {
    clock = max_clock_mhz(state, index, type);
}

ROW(nvmlDeviceGetClock, const State& state, Index index, nvmlClockType_t clock_type,
    nvmlClockId_t clock_id, unsigned int& clock_mhz_out) {
    require(clock_id >= NVML_CLOCK_ID_CURRENT, clock_id < NVML_CLOCK_ID_COUNT);
    const unsigned int clock = clock_mhz(state, index, clock_type);
    if (clock_id != NVML_CLOCK_ID_CURRENT) {
        fail(NVML_ERROR_NOT_SUPPORTED);
    }
    clock_mhz_out = clock;
}

ROW(nvmlDeviceGetClockOffsets, const State& state, Index index, nvmlClockOffset_t& info) {
    require_version(info.version, nvmlClockOffset_v1);
    (void)is_memory_clock(info.type);
    require(info.pstate == state_of(state, index));
    info.clockOffsetMHz = 0; // clocks cannot be offset
    info.minClockOffsetMHz = 0;
    info.maxClockOffsetMHz = 0;
}

ROW(nvmlDeviceGetMinMaxClockOfPState, const State& state, Index index, nvmlClockType_t type,
    nvmlPstates_t pstate, unsigned int& min_clock_mhz, unsigned int& max_clock_mhz_out) {
    require(pstate == state_of(state, index));
    max_clock_mhz_out = max_clock_mhz(state, index, type);
    min_clock_mhz = max_clock_mhz_out;
}

ROW(nvmlDeviceGetSupportedMemoryClocks, const State& state, Index index, unsigned int* count,
    unsigned int* clocks_mhz) {
    write_array(std::vector{state.sensors.memory_clock_mhz[index]}, count, clocks_mhz);
}

ROW(nvmlDeviceGetSupportedGraphicsClocks, const State& state, Index index,
    unsigned int memory_clock_mhz, unsigned int& count, unsigned int* clocks_mhz) {
    if (memory_clock_mhz != state.sensors.memory_clock_mhz[index]) {
        fail(NVML_ERROR_NOT_FOUND);
    }
    write_array(std::vector{state.sensors.sm_clock_mhz[index]}, &count, clocks_mhz);
}

ALIAS(nvmlDeviceSetGpuLockedClocks, lock_clocks<false>);
ALIAS(nvmlDeviceResetGpuLockedClocks, unlock_clocks, false);
ALIAS(nvmlDeviceSetMemoryLockedClocks, lock_clocks<true>);
ALIAS(nvmlDeviceResetMemoryLockedClocks, unlock_clocks, true);

ROW(nvmlDeviceGetPerformanceState, const State& state, Index index, nvmlPstates_t& pstate) {
    pstate = state_of(state, index);
}

ALIAS(nvmlDeviceGetPowerState, nvmlDeviceGetPerformanceState);

ROW(nvmlDeviceGetSupportedPerformanceStates, const State& state, Index index,
    nvmlPstates_t* pstates, unsigned int size) {
    require(pstates);
    const std::size_t room = size / sizeof *pstates; // in bytes, unlike other functions
    if (room == 0) {
        fail(NVML_ERROR_INSUFFICIENT_SIZE);
    }
    std::fill_n(pstates, room, NVML_PSTATE_UNKNOWN);
    pstates[0] = state_of(state, index);
}
