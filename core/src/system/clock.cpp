// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/system/clock.hpp>

#include "system/query.hpp"

#include <stdexcept>
#include <string>

namespace cuprum::system {

using namespace nvml_abi;

namespace {

nvmlClockType_t native_type(ClockType type) {
    return static_cast<nvmlClockType_t>(type);
}

nvmlPstates_t native_pstate(int pstate) {
    constexpr int last = 15;
    if (pstate < 0 || pstate > last) {
        throw std::invalid_argument("pstate is " + std::to_string(pstate) +
                                    ", expected 0 (the fastest) to 15");
    }
    return static_cast<nvmlPstates_t>(pstate);
}

} // namespace

unsigned Clock::current_mhz(ClockId id) const {
    return query<unsigned>(nvml::table().nvmlDeviceGetClock, device_, native_type(type_),
                           static_cast<nvmlClockId_t>(id));
}

unsigned Clock::max_mhz() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetMaxClockInfo, device_, native_type(type_));
}

unsigned Clock::max_customer_boost_mhz() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetMaxCustomerBoostClock, device_,
                           native_type(type_));
}

Range Clock::limits_of_pstate_mhz(int pstate) const {
    const auto [min, max] = query_two<unsigned>(nvml::table().nvmlDeviceGetMinMaxClockOfPState,
                                                device_, native_type(type_), native_pstate(pstate));
    return {min, max};
}

ClockOffsets Clock::offsets(int pstate) const {
    nvmlClockOffset_t answer{};
    answer.version = nvmlClockOffset_v1;
    answer.type = native_type(type_);
    answer.pstate = native_pstate(pstate);
    nvml::call(nvml::table().nvmlDeviceGetClockOffsets, native(device_), &answer);
    return {answer.clockOffsetMHz, answer.minClockOffsetMHz, answer.maxClockOffsetMHz};
}

} // namespace cuprum::system
