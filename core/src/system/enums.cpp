// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/system/enums.hpp>

namespace cuprum::system {

std::string_view explain(ClockEventReason reason) noexcept {
    switch (reason) {
    case ClockEventReason::None:
        return "nothing holds the clocks back";
    case ClockEventReason::GpuIdle:
        return "no work runs on the device, so its clocks are low";
    case ClockEventReason::ApplicationsClocksSetting:
        return "a user limited the clocks of applications";
    case ClockEventReason::SwPowerCap:
        return "the device draws as much power as its limit allows";
    case ClockEventReason::HwSlowdown:
        return "the device halved its clocks or more to protect itself from heat or from a lack of "
               "power";
    case ClockEventReason::SyncBoost:
        return "the device runs at the clocks of the slowest of its synchronised group";
    case ClockEventReason::SwThermalSlowdown:
        return "the driver lowered the clocks because the device or its memory is hot";
    case ClockEventReason::HwThermalSlowdown:
        return "the device is too hot and halved its clocks or more";
    case ClockEventReason::HwPowerBrakeSlowdown:
        return "the power supply of the machine asked the device to draw less";
    case ClockEventReason::DisplayClockSetting:
        return "the clocks follow what the displays need";
    }
    return "a reason that this version does not know";
}

} // namespace cuprum::system
