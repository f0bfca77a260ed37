// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The settings of the emulated device. Each is an environment variable.

#pragma once

#include "jit/tiers.hpp"
#include "objects/process/log.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace cuprum::emulator {

/// The settings of this process, read once by cuInit.
struct Settings {
    std::uint32_t device_count = 1; // CUPRUM_EMULATOR_DEVICES
    std::uint32_t major = 9;        // CUPRUM_EMULATOR_COMPUTE_CAPABILITY=major.minor
    std::uint32_t minor = 0;
    std::uint64_t memory_bytes = 0;          // CUPRUM_EMULATOR_MEMORY, per device
    std::uint32_t worker_count = 1;          // CUPRUM_EMULATOR_WORKERS
    std::uint32_t multiprocessor_count = 16; // CUPRUM_EMULATOR_MULTIPROCESSORS, as reported
    std::uint8_t checks = 0;                 // CUPRUM_EMULATOR_CHECK: bits of Checks
    bool stops_at_report = true;             // CUPRUM_EMULATOR_CHECK_ACTION=stop|report
    bool is_random = false;                  // CUPRUM_EMULATOR_SCHEDULE=deterministic|random[:seed]
    std::uint64_t seed = 0;                  // of a random schedule
    bool is_seed_given = false;
    std::uint32_t watchdog_seconds = 60; // CUPRUM_EMULATOR_WATCHDOG=seconds[:strict]; 0: never
    bool is_watchdog_strict = false;
    jit::Mode jit = jit::Mode::Auto; // CUPRUM_EMULATOR_JIT=off|auto|always
    bool lists_leaks = false;        // CUPRUM_EMULATOR_LEAKS=0|1
    // CUPRUM_PROGRESS=seconds; zero if it is 0 or stderr is not a terminal
    std::chrono::milliseconds progress_after{0};
    std::string progress_problem; // why CUPRUM_PROGRESS is ignored; empty if it is not
};

/// Reads the environment. An invalid CUPRUM_PROGRESS only sets `progress_problem`: programs run
/// without it too.
///
/// @throws std::invalid_argument that names the variable, its value and the valid values.
[[nodiscard]] Settings read_settings();

/// Reads CUPRUM_EMULATOR_LOG. An unknown word counts as the default, Error.
[[nodiscard]] LogLevel read_log_level() noexcept;

/// Parses "512M", "4G", "1073741824". Throws std::invalid_argument.
[[nodiscard]] std::uint64_t parse_bytes(const std::string& text);

} // namespace cuprum::emulator
