// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Modes, and errors of memory. Errors are what the user sets: see sensors.hpp.

#include "controls.hpp"

namespace cuprum::nvml {

void set_control(const State& state, unsigned int index, emulator::usage::Control control,
                 std::uint64_t value) {
    if (!state.board().set(index, control, value)) {
        fail(NVML_ERROR_OPERATING_SYSTEM);
    }
}

void require_ecc(const State& state) {
    if (!state.sensors.has_ecc) {
        fail(NVML_ERROR_NOT_SUPPORTED);
    }
}

unsigned long long ecc_errors(const State& state, unsigned int index, nvmlMemoryErrorType_t type) {
    require(type >= 0, type < NVML_MEMORY_ERROR_TYPE_COUNT);
    require_ecc(state);
    return type == NVML_MEMORY_ERROR_TYPE_CORRECTED ? state.sensors.corrected_errors[index]
                                                    : state.sensors.uncorrected_errors[index];
}

} // namespace cuprum::nvml

using namespace cuprum::nvml;
using cuprum::emulator::usage::Control;

extern "C" {

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t* mode) {
    return value_entry(device, mode, [](const State& state, unsigned int index) {
        return state.board().get(index, Control::PersistenceMode) == 1 + NVML_FEATURE_ENABLED
                   ? NVML_FEATURE_ENABLED
                   : NVML_FEATURE_DISABLED;
    });
}

nvmlReturn_t nvmlDeviceSetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t mode) {
    return device_entry(device, [&](const State& state, unsigned int index) {
        require(mode == NVML_FEATURE_DISABLED || mode == NVML_FEATURE_ENABLED);
        set_control(state, index, Control::PersistenceMode, 1U + static_cast<unsigned int>(mode));
    });
}

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t* mode) {
    return value_entry(device, mode,
                       [](const State&, unsigned int) { return NVML_COMPUTEMODE_DEFAULT; });
}

nvmlReturn_t nvmlDeviceSetComputeMode(nvmlDevice_t device, nvmlComputeMode_t mode) {
    return device_entry(device, [&](const State&, unsigned int) {
        require(mode >= NVML_COMPUTEMODE_DEFAULT, mode < NVML_COMPUTEMODE_COUNT);
        if (mode != NVML_COMPUTEMODE_DEFAULT) {
            fail(NVML_ERROR_NOT_SUPPORTED); // the driver would not obey
        }
    });
}

nvmlReturn_t nvmlDeviceGetGridLicensableFeatures_v4(nvmlDevice_t device,
                                                    nvmlGridLicensableFeatures_t* features) {
    return value_entry(device, features, [](const State&, unsigned int) {
        return nvmlGridLicensableFeatures_t{}; // nothing needs a licence
    });
}

nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t device, nvmlEnableState_t* display) {
    return value_entry(device, display,
                       [](const State&, unsigned int) { return NVML_FEATURE_DISABLED; });
}

nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t device, nvmlEnableState_t* is_active) {
    return value_entry(device, is_active,
                       [](const State&, unsigned int) { return NVML_FEATURE_DISABLED; });
}

nvmlReturn_t nvmlDeviceGetAddressingMode(nvmlDevice_t device, nvmlDeviceAddressingMode_t* mode) {
    return device_entry(device, [&](const State&, unsigned int) {
        require(mode);
        require_version(mode->version, nvmlDeviceAddressingMode_v1);
        mode->value = NVML_DEVICE_ADDRESSING_MODE_NONE;
    });
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int* is_mig_device) {
    return value_entry(device, is_mig_device, [](const State&, unsigned int) { return 0; });
}

nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t device,
                                             nvmlGpuVirtualizationMode_t* mode) {
    return value_entry(
        device, mode, [](const State&, unsigned int) { return NVML_GPU_VIRTUALIZATION_MODE_NONE; });
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int* count) {
    return value_entry(device, count, [](const State&, unsigned int) { return 0; });
}

// ---- errors of memory ----

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t* current,
                                  nvmlEnableState_t* pending) {
    return device_entry(device, [&](const State& state, unsigned int) {
        require(current, pending);
        require_ecc(state);
        *current = NVML_FEATURE_ENABLED;
        *pending = NVML_FEATURE_ENABLED;
    });
}

nvmlReturn_t nvmlDeviceGetDefaultEccMode(nvmlDevice_t device, nvmlEnableState_t* default_mode) {
    return value_entry(device, default_mode, [](const State& state, unsigned int) {
        require_ecc(state);
        return NVML_FEATURE_ENABLED;
    });
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t error_type,
                                         nvmlEccCounterType_t counter_type,
                                         unsigned long long* ecc_counts) {
    return value_entry(device, ecc_counts, [&](const State& state, unsigned int index) {
        require(counter_type >= 0, counter_type < NVML_ECC_COUNTER_TYPE_COUNT);
        return ecc_errors(state, index, error_type);
    });
}

nvmlReturn_t nvmlDeviceGetDetailedEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t error_type,
                                            nvmlEccCounterType_t counter_type,
                                            nvmlEccErrorCounts_t* ecc_counts) {
    return device_entry(device, [&](const State& state, unsigned int index) {
        require(ecc_counts, counter_type >= 0, counter_type < NVML_ECC_COUNTER_TYPE_COUNT);
        *ecc_counts = {.l1Cache = 0,
                       .l2Cache = 0,
                       .deviceMemory = ecc_errors(state, index, error_type),
                       .registerFile = 0};
    });
}

nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device, nvmlMemoryErrorType_t error_type,
                                             nvmlEccCounterType_t counter_type,
                                             nvmlMemoryLocation_t location_type,
                                             unsigned long long* count) {
    return value_entry(device, count, [&](const State& state, unsigned int index) {
        require(counter_type >= 0, counter_type < NVML_ECC_COUNTER_TYPE_COUNT, location_type >= 0,
                location_type < NVML_MEMORY_LOCATION_COUNT);
        const unsigned long long errors = ecc_errors(state, index, error_type);
        // All errors that a user sets are errors of device memory.
        return location_type == NVML_MEMORY_LOCATION_DEVICE_MEMORY ? errors : 0;
    });
}

} // extern "C"
