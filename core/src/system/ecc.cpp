// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/system/ecc.hpp>

#include "system/query.hpp"

namespace cuprum::system {

using namespace nvml_abi;

bool Ecc::is_enabled() const {
    return query_two<nvmlEnableState_t>(nvml::table().nvmlDeviceGetEccMode, device_).first ==
           NVML_FEATURE_ENABLED;
}

bool Ecc::is_pending() const {
    return query_two<nvmlEnableState_t>(nvml::table().nvmlDeviceGetEccMode, device_).second ==
           NVML_FEATURE_ENABLED;
}

void Ecc::set_enabled(bool enabled) const {
    nvml::call(nvml::table().nvmlDeviceSetEccMode, native(device_),
               enabled ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED);
}

std::uint64_t Ecc::total_errors(MemoryErrorType type, EccCounter counter) const {
    return query<unsigned long long>(nvml::table().nvmlDeviceGetTotalEccErrors, device_,
                                     static_cast<nvmlMemoryErrorType_t>(type),
                                     static_cast<nvmlEccCounterType_t>(counter));
}

void Ecc::clear_errors(EccCounter counter) const {
    nvml::call(nvml::table().nvmlDeviceClearEccErrorCounts, native(device_),
               static_cast<nvmlEccCounterType_t>(counter));
}

RemappedRows Ecc::remapped_rows() const {
    unsigned corrected = 0;
    unsigned uncorrected = 0;
    unsigned is_pending = 0;
    unsigned has_failed = 0;
    nvml::call(nvml::table().nvmlDeviceGetRemappedRows, native(device_), &corrected, &uncorrected,
               &is_pending, &has_failed);
    return {corrected, uncorrected, is_pending != 0, has_failed != 0};
}

} // namespace cuprum::system
