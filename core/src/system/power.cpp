// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/system/power.hpp>

#include "system/query.hpp"

namespace cuprum::system {

unsigned Power::usage_mw() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetPowerUsage, device_);
}

std::uint64_t Power::total_energy_mj() const {
    return query<unsigned long long>(nvml::table().nvmlDeviceGetTotalEnergyConsumption, device_);
}

unsigned Power::limit_mw() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetPowerManagementLimit, device_);
}

void Power::set_limit_mw(unsigned limit) const {
    nvml::call(nvml::table().nvmlDeviceSetPowerManagementLimit, native(device_), limit);
}

unsigned Power::default_limit_mw() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetPowerManagementDefaultLimit, device_);
}

Range Power::limit_constraints_mw() const {
    const auto [min, max] =
        query_two<unsigned>(nvml::table().nvmlDeviceGetPowerManagementLimitConstraints, device_);
    return {min, max};
}

unsigned Power::enforced_limit_mw() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetEnforcedPowerLimit, device_);
}

} // namespace cuprum::system
