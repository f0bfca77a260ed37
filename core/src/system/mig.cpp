// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/system/mig.hpp>

#include "system/query.hpp"

#include <cuprum/system/device.hpp>

namespace cuprum::system {

using namespace nvml_abi;

bool Mig::is_mig_device() const {
    return query<unsigned>(nvml::table().nvmlDeviceIsMigDeviceHandle, device_) != 0;
}

bool Mig::is_enabled() const {
    return query_two<unsigned>(nvml::table().nvmlDeviceGetMigMode, device_).first ==
           NVML_FEATURE_ENABLED;
}

bool Mig::is_pending() const {
    return query_two<unsigned>(nvml::table().nvmlDeviceGetMigMode, device_).second ==
           NVML_FEATURE_ENABLED;
}

void Mig::set_enabled(bool enabled) const {
    const auto& entry = nvml::table().nvmlDeviceSetMigMode;
    const unsigned mode = enabled ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
    nvmlReturn_t activation = NVML_SUCCESS;
    nvml::call(entry, native(device_), mode, &activation);
    if (activation != NVML_SUCCESS) {
        nvml::raise(activation, entry.name,
                    "the mode is noted but not active yet; end the programs that use the device, "
                    "or reset it (nvidia-smi --gpu-reset)");
    }
}

unsigned Mig::device_count() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetMaxMigDeviceCount, device_);
}

Device Mig::parent() const {
    return Device::from_handle(handle_of(
        query<nvmlDevice_t>(nvml::table().nvmlDeviceGetDeviceHandleFromMigDeviceHandle, device_)));
}

Device Mig::device(unsigned index) const {
    return Device::from_handle(handle_of(
        query<nvmlDevice_t>(nvml::table().nvmlDeviceGetMigDeviceHandleByIndex, device_, index)));
}

std::vector<Device> Mig::devices() const {
    std::vector<Device> devices;
    const auto& entry = nvml::table().nvmlDeviceGetMigDeviceHandleByIndex;
    const unsigned count = device_count();
    for (unsigned i = 0; i < count; ++i) {
        nvmlDevice_t device{};
        const nvmlReturn_t status = nvml::try_call(entry, native(device_), i, &device);
        if (status == NVML_SUCCESS) {
            devices.push_back(Device::from_handle(handle_of(device)));
        } else if (status != NVML_ERROR_NOT_FOUND) { // not every place is taken
            nvml::raise(status, entry.name);
        }
    }
    return devices;
}

} // namespace cuprum::system
