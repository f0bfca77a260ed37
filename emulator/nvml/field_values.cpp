// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Values by number. Each is what another function returns.

#include "controls.hpp"
#include "pcie.hpp"
#include "row.hpp"

#include <chrono>

using namespace cuprum::nvml;

namespace {

constexpr int MOST_FIELDS = 65536; // more is surely a negative or wild number

void set_value(nvmlFieldValue_t& field, unsigned int value) {
    field.valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
    field.value.uiVal = value;
}

void set_value(nvmlFieldValue_t& field, unsigned long long value) {
    field.valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
    field.value.ullVal = value;
}

void set_value(nvmlFieldValue_t& field, int value) {
    field.valueType = NVML_VALUE_TYPE_SIGNED_INT;
    field.value.siVal = value;
}

/// Returns how far the temperature is below a threshold.
int margin_c(const State& state, unsigned int index, nvmlTemperatureThresholds_t threshold) {
    return threshold_c(threshold) - static_cast<int>(state.sensors.temperature_c[index]);
}

/// Fills in one value; fails with NOT_SUPPORTED for fields that the device does not have.
void read_field(const State& state, unsigned int index, nvmlFieldValue_t& field) {
    switch (field.fieldId) {
    case NVML_FI_DEV_ECC_CURRENT:
    case NVML_FI_DEV_ECC_PENDING:
        require_ecc(state);
        return set_value(field, unsigned{NVML_FEATURE_ENABLED});
    case NVML_FI_DEV_ECC_SBE_VOL_TOTAL:
    case NVML_FI_DEV_ECC_SBE_AGG_TOTAL:
        return set_value(field, ecc_errors(state, index, NVML_MEMORY_ERROR_TYPE_CORRECTED));
    case NVML_FI_DEV_ECC_DBE_VOL_TOTAL:
    case NVML_FI_DEV_ECC_DBE_AGG_TOTAL:
        return set_value(field, ecc_errors(state, index, NVML_MEMORY_ERROR_TYPE_UNCORRECTED));
    case NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION:
        return set_value(field, energy_mj(state, index));
    case NVML_FI_DEV_POWER_AVERAGE:
    case NVML_FI_DEV_POWER_INSTANT:
        return set_value(field, power_mw(state, index));
    case NVML_FI_DEV_POWER_MIN_LIMIT:
        return set_value(field, least_power_limit_mw(state, index));
    case NVML_FI_DEV_POWER_MAX_LIMIT:
    case NVML_FI_DEV_POWER_DEFAULT_LIMIT:
        return set_value(field, state.sensors.power_limit_w[index] * 1000);
    case NVML_FI_DEV_POWER_CURRENT_LIMIT:
    case NVML_FI_DEV_POWER_REQUESTED_LIMIT:
        return set_value(field, power_limit_mw(state, index));
    case NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT:
        return set_value(field, margin_c(state, index, NVML_TEMPERATURE_THRESHOLD_SHUTDOWN));
    case NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT:
        return set_value(field, margin_c(state, index, NVML_TEMPERATURE_THRESHOLD_SLOWDOWN));
    case NVML_FI_DEV_TEMPERATURE_MEM_MAX_TLIMIT:
        return set_value(field, margin_c(state, index, NVML_TEMPERATURE_THRESHOLD_MEM_MAX));
    case NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT:
        return set_value(field, margin_c(state, index, NVML_TEMPERATURE_THRESHOLD_GPU_MAX));
    case NVML_FI_DEV_PCIE_REPLAY_COUNTER:
    case NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER:
    case NVML_FI_DEV_NVLINK_LINK_COUNT:
    case NVML_FI_DEV_C2C_LINK_COUNT:
        return set_value(field, 0U);
    case NVML_FI_DEV_PCIE_COUNT_TX_BYTES:
        return set_value(
            field, static_cast<unsigned long long>(traffic_of(state, index).from_device_bytes));
    case NVML_FI_DEV_PCIE_COUNT_RX_BYTES:
        return set_value(field,
                         static_cast<unsigned long long>(traffic_of(state, index).to_device_bytes));
    default:
        fail(NVML_ERROR_NOT_SUPPORTED);
    }
}

long long microseconds_now() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

} // namespace

ROW(nvmlDeviceGetFieldValues, const State& state, Index index, int values_count,
    nvmlFieldValue_t* values) {
    require(values_count > 0, values_count <= MOST_FIELDS, values);
    for (int each = 0; each < values_count; ++each) {
        nvmlFieldValue_t& field = values[each];
        field.timestamp = microseconds_now();
        field.value.ullVal = 0;
        field.valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
        field.nvmlReturn = entry([&](const State&) { read_field(state, index, field); });
        field.latencyUsec = microseconds_now() - field.timestamp;
    }
}

ROW(nvmlDeviceClearFieldValues, Index /*device*/, int values_count, nvmlFieldValue_t* values) {
    require(values_count > 0, values_count <= MOST_FIELDS, values);
    for (int each = 0; each < values_count; ++each) {
        // Counters that are always 0 are cleared already; others cannot be.
        const bool is_zero = values[each].fieldId == NVML_FI_DEV_PCIE_REPLAY_COUNTER ||
                             values[each].fieldId == NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER;
        values[each].nvmlReturn = is_zero ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
    }
}
