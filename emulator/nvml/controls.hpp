// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Values that nothing can measure, and that several functions report. They come from environment
// variables (sensors.hpp) and from NVML's own setters, whose effect all processes of the user see.

#pragma once

#include "library.hpp"

namespace cuprum::nvml {

/// Sets a value for all processes; fails with OPERATING_SYSTEM if it cannot be kept.
void set_control(const State& state, unsigned int index, emulator::usage::Control control,
                 std::uint64_t value);

[[nodiscard]] unsigned int power_mw(const State& state, unsigned int index);
[[nodiscard]] unsigned int power_limit_mw(const State& state, unsigned int index);
[[nodiscard]] unsigned int least_power_limit_mw(const State& state, unsigned int index);

/// Returns the energy since the machine started, at constant power.
[[nodiscard]] unsigned long long energy_mj(const State& state, unsigned int index);

/// Returns a threshold; fails with NOT_SUPPORTED if the device does not have it.
[[nodiscard]] int threshold_c(nvmlTemperatureThresholds_t threshold);

/// Fails with NOT_SUPPORTED unless the user gave the device ECC.
void require_ecc(const State& state);

/// Returns the number of errors of a kind; fails with NOT_SUPPORTED without ECC.
[[nodiscard]] unsigned long long ecc_errors(const State& state, unsigned int index,
                                            nvmlMemoryErrorType_t type);

} // namespace cuprum::nvml
