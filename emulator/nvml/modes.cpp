// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Modes, and errors of memory. Errors are what the user sets: see sensors.hpp.

#include "controls.hpp"
#include "row.hpp"

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

ROW(nvmlDeviceGetPersistenceMode, const State& state, Index index, nvmlEnableState_t& mode) {
    mode = state.board().get(index, Control::PersistenceMode) == 1 + NVML_FEATURE_ENABLED
               ? NVML_FEATURE_ENABLED
               : NVML_FEATURE_DISABLED;
}

ROW(nvmlDeviceSetPersistenceMode, const State& state, Index index, nvmlEnableState_t mode) {
    require(mode == NVML_FEATURE_DISABLED || mode == NVML_FEATURE_ENABLED);
    set_control(state, index, Control::PersistenceMode, 1U + static_cast<unsigned int>(mode));
}

ALIAS(nvmlDeviceGetComputeMode, constant<NVML_COMPUTEMODE_DEFAULT>);

ROW(nvmlDeviceSetComputeMode, Index /*device*/, nvmlComputeMode_t mode) {
    require(mode >= NVML_COMPUTEMODE_DEFAULT, mode < NVML_COMPUTEMODE_COUNT);
    if (mode != NVML_COMPUTEMODE_DEFAULT) {
        fail(NVML_ERROR_NOT_SUPPORTED); // the driver would not obey
    }
}

ROW(nvmlDeviceGetGridLicensableFeatures_v4, Index /*device*/,
    nvmlGridLicensableFeatures_t& features) {
    features = nvmlGridLicensableFeatures_t{}; // nothing needs a licence
}

ALIAS(nvmlDeviceGetDisplayMode, constant<NVML_FEATURE_DISABLED>);
ALIAS(nvmlDeviceGetDisplayActive, constant<NVML_FEATURE_DISABLED>);

ROW(nvmlDeviceGetAddressingMode, Index /*device*/, nvmlDeviceAddressingMode_t& mode) {
    require_version(mode.version, nvmlDeviceAddressingMode_v1);
    mode.value = NVML_DEVICE_ADDRESSING_MODE_NONE;
}

ALIAS(nvmlDeviceIsMigDeviceHandle, constant<0>);
ALIAS(nvmlDeviceGetVirtualizationMode, constant<NVML_GPU_VIRTUALIZATION_MODE_NONE>);
ALIAS(nvmlDeviceGetMaxMigDeviceCount, constant<0>);

// ---- errors of memory ----

ROW(nvmlDeviceGetEccMode, const State& state, Index /*device*/, nvmlEnableState_t& current,
    nvmlEnableState_t& pending) {
    require_ecc(state);
    current = NVML_FEATURE_ENABLED;
    pending = NVML_FEATURE_ENABLED;
}

ROW(nvmlDeviceGetDefaultEccMode, const State& state, Index /*device*/,
    nvmlEnableState_t& default_mode) {
    require_ecc(state);
    default_mode = NVML_FEATURE_ENABLED;
}

ROW(nvmlDeviceGetTotalEccErrors, const State& state, Index index, nvmlMemoryErrorType_t error_type,
    nvmlEccCounterType_t counter_type, unsigned long long& ecc_counts) {
    require(counter_type >= 0, counter_type < NVML_ECC_COUNTER_TYPE_COUNT);
    ecc_counts = ecc_errors(state, index, error_type);
}

ROW(nvmlDeviceGetDetailedEccErrors, const State& state, Index index,
    nvmlMemoryErrorType_t error_type, nvmlEccCounterType_t counter_type,
    nvmlEccErrorCounts_t& ecc_counts) {
    require(counter_type >= 0, counter_type < NVML_ECC_COUNTER_TYPE_COUNT);
    ecc_counts = {.l1Cache = 0,
                  .l2Cache = 0,
                  .deviceMemory = ecc_errors(state, index, error_type),
                  .registerFile = 0};
}

ROW(nvmlDeviceGetMemoryErrorCounter, const State& state, Index index,
    nvmlMemoryErrorType_t error_type, nvmlEccCounterType_t counter_type,
    nvmlMemoryLocation_t location_type, unsigned long long& count) {
    require(counter_type >= 0, counter_type < NVML_ECC_COUNTER_TYPE_COUNT, location_type >= 0,
            location_type < NVML_MEMORY_LOCATION_COUNT);
    const unsigned long long errors = ecc_errors(state, index, error_type);
    // All errors that a user sets are errors of device memory.
    count = location_type == NVML_MEMORY_LOCATION_DEVICE_MEMORY ? errors : 0;
}
