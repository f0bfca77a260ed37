// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// An old libnvidia-ml.so with one device, for tests and benchmarks of the Python package. Each
// function can be told to fail. Functions that driver 535 lacks are missing here too.

#include "nvml/nvml.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

using namespace nvml_abi;

namespace {

constexpr const char* UUID = "GPU-00000000-1111-2222-3333-444444444444";

std::string failing_function; // empty if none fails
int failure = 0;
int live_sets = 0;

nvmlReturn_t answer(const char* function) {
    return !failing_function.empty() && failing_function == function
               ? static_cast<nvmlReturn_t>(failure)
               : NVML_SUCCESS;
}

nvmlReturn_t write(const char* function, const char* text, char* place, unsigned length) {
    const nvmlReturn_t status = answer(function);
    if (status == NVML_SUCCESS && std::strlen(text) < length) {
        std::strcpy(place, text);
    }
    return status;
}

template <typename T>
nvmlReturn_t store(const char* function, T value, T* place) {
    *place = value;
    return answer(function);
}

nvmlDevice_t the_device() {
    return reinterpret_cast<nvmlDevice_t>(&failure);
}

} // namespace

extern "C" {

#define EXPORT [[gnu::visibility("default")]]

/// Makes a function return a code from now on; an empty name ends that.
EXPORT void fake_nvml_fail(const char* function, int code) {
    failing_function = function;
    failure = code;
}

EXPORT int fake_nvml_live_sets() {
    return live_sets;
}

EXPORT nvmlReturn_t nvmlInit_v2() {
    return answer("nvmlInit_v2");
}

EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned length) {
    return write("nvmlSystemGetDriverVersion", "535.54.03", version, length);
}

EXPORT nvmlReturn_t nvmlSystemGetProcessName(unsigned, char* name, unsigned length) {
    return write("nvmlSystemGetProcessName", "/bin/program", name, length);
}

EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
    return store("nvmlDeviceGetCount_v2", 1U, count);
}

EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
    return index == 0 ? store("nvmlDeviceGetHandleByIndex_v2", the_device(), device)
                      : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
    return std::strcmp(uuid, UUID) == 0 ? store("nvmlDeviceGetHandleByUUID", the_device(), device)
                                        : NVML_ERROR_NOT_FOUND;
}

EXPORT nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t, unsigned* index) {
    return store("nvmlDeviceGetIndex", 0U, index);
}

EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t, char* uuid, unsigned length) {
    return write("nvmlDeviceGetUUID", UUID, uuid, length);
}

EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t, char* name, unsigned length) {
    return write("nvmlDeviceGetName", "Fake GPU", name, length);
}

EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t, nvmlMemory_v2_t* memory) {
    memory->total = 100;
    memory->free = 70;
    memory->used = 20;
    memory->reserved = 10;
    return answer("nvmlDeviceGetMemoryInfo_v2");
}

EXPORT nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t, nvmlUtilization_t* utilization) {
    return store("nvmlDeviceGetUtilizationRates", nvmlUtilization_t{30, 40}, utilization);
}

EXPORT nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t, unsigned* power) {
    return store("nvmlDeviceGetPowerUsage", 123456U, power);
}

EXPORT nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t, nvmlPstates_t* state) {
    return store("nvmlDeviceGetPerformanceState", NVML_PSTATE_8, state);
}

EXPORT nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t, nvmlTemperatureSensors_t,
                                             unsigned* temperature) {
    return store("nvmlDeviceGetTemperature", 55U, temperature);
}

EXPORT nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t, nvmlClockType_t, nvmlClockId_t,
                                       unsigned* clock) {
    return store("nvmlDeviceGetClock", 1500U, clock);
}

EXPORT nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t,
                                                              unsigned long long* reasons) {
    return store("nvmlDeviceGetCurrentClocksThrottleReasons", 0x24ULL, reasons);
}

EXPORT nvmlReturn_t nvmlDeviceGetFanControlPolicy_v2(nvmlDevice_t, unsigned,
                                                     nvmlFanControlPolicy_t* policy) {
    return store("nvmlDeviceGetFanControlPolicy_v2", nvmlFanControlPolicy_t{1}, policy);
}

EXPORT nvmlReturn_t nvmlDeviceGetNumFans(nvmlDevice_t, unsigned* count) {
    return store("nvmlDeviceGetNumFans", 1U, count);
}

EXPORT nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t, nvmlEnableState_t* mode) {
    return store("nvmlDeviceGetPersistenceMode", NVML_FEATURE_ENABLED, mode);
}

EXPORT nvmlReturn_t nvmlDeviceSetPersistenceMode(nvmlDevice_t, nvmlEnableState_t) {
    return answer("nvmlDeviceSetPersistenceMode");
}

EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t, unsigned* count,
                                                            nvmlProcessInfo_t* processes) {
    if (*count < 2) {
        *count = 2;
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    *count = 2;
    processes[0] = {10, 1000, ~0U, ~0U};
    processes[1] = {11, ~0ULL, ~0U, ~0U}; // its memory is not known
    return answer("nvmlDeviceGetComputeRunningProcesses_v3");
}

EXPORT nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t, unsigned* is_mig) {
    return store("nvmlDeviceIsMigDeviceHandle", 0U, is_mig);
}

EXPORT nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t, unsigned long long* types) {
    return store("nvmlDeviceGetSupportedEventTypes", 0ULL, types);
}

EXPORT nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set) {
    ++live_sets;
    return store("nvmlEventSetCreate", reinterpret_cast<nvmlEventSet_t>(&live_sets), set);
}

EXPORT nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t) {
    --live_sets;
    return answer("nvmlEventSetFree");
}

EXPORT nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t, unsigned long long types,
                                             nvmlEventSet_t) {
    return types == 0 ? answer("nvmlDeviceRegisterEvents") : NVML_ERROR_NOT_SUPPORTED;
}

EXPORT nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t, nvmlEventData_t*, unsigned) {
    return NVML_ERROR_TIMEOUT;
}

} // extern "C"
