// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "sensors.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <nvml/nvml.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace cuprum::nvml {

namespace {

struct ClockEvent {
    std::string_view word;
    unsigned long long bit;
};

constexpr std::array<ClockEvent, 9> CLOCK_EVENTS{{
    {"applications_clocks", nvml_abi::nvmlClocksEventReasonApplicationsClocksSetting},
    {"sw_power_cap", nvml_abi::nvmlClocksEventReasonSwPowerCap},
    {"hw_slowdown", nvml_abi::nvmlClocksThrottleReasonHwSlowdown},
    {"sync_boost", nvml_abi::nvmlClocksEventReasonSyncBoost},
    {"sw_thermal_slowdown", nvml_abi::nvmlClocksEventReasonSwThermalSlowdown},
    {"hw_thermal_slowdown", nvml_abi::nvmlClocksThrottleReasonHwThermalSlowdown},
    {"hw_power_brake", nvml_abi::nvmlClocksThrottleReasonHwPowerBrakeSlowdown},
    {"display_clocks", nvml_abi::nvmlClocksEventReasonDisplayClockSetting},
    {"none", nvml_abi::nvmlClocksEventReasonNone},
}};

std::optional<std::string> sensor_variable(const char* name) {
    const char* text = ::secure_getenv(name);
    return text == nullptr || *text == '\0' ? std::nullopt : std::optional<std::string>(text);
}

[[noreturn]] void refuse_sensor(const char* name, const std::string& value,
                                const std::string& expected) {
    throw std::invalid_argument(std::string(name) + "='" + value + "' is not valid: expected " +
                                expected);
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t at = 0; at <= text.size(); ++at) {
        if (at == text.size() || text[at] == separator) {
            parts.push_back(text.substr(begin, at - begin));
            begin = at + 1;
        }
    }
    return parts;
}

/// Returns a whole number that is not larger than `largest`, or nothing.
std::optional<unsigned int> parse_number(const std::string& text, unsigned int largest) {
    const bool is_number =
        !text.empty() && text.size() <= 9 &&
        std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
    if (!is_number || std::stoul(text) > largest) {
        return std::nullopt;
    }
    return static_cast<unsigned int>(std::stoul(text));
}

PerDevice read_numbers(const char* name, unsigned int fallback, unsigned int most) {
    const auto text = sensor_variable(name);
    if (!text) {
        return PerDevice({fallback});
    }
    std::vector<unsigned int> values;
    for (const std::string& part : split(*text, ',')) {
        const auto value = parse_number(part, most);
        if (!value) {
            refuse_sensor(name, *text,
                          "whole numbers from 0 to " + std::to_string(most) +
                              ", one per device with commas between them");
        }
        values.push_back(*value);
    }
    return PerDevice(std::move(values));
}

std::uint64_t read_clock_events() {
    constexpr const char* name = "CUPRUM_EMULATOR_CLOCK_EVENTS";
    const auto text = sensor_variable(name);
    std::uint64_t events = 0;
    for (const std::string& word : text ? split(*text, ',') : std::vector<std::string>{}) {
        const auto* const found = std::ranges::find(CLOCK_EVENTS, word, &ClockEvent::word);
        if (found == CLOCK_EVENTS.end()) {
            std::string words;
            for (const ClockEvent& each : CLOCK_EVENTS) {
                words += (words.empty() ? "" : ", ") + std::string(each.word);
            }
            refuse_sensor(name, *text, "a list of " + words);
        }
        events |= found->bit;
    }
    return events;
}

/// Returns the corrected and the uncorrected errors; nothing if the device has no ECC.
std::optional<std::pair<PerDevice, PerDevice>> read_ecc_errors() {
    constexpr const char* name = "CUPRUM_EMULATOR_ECC_ERRORS";
    constexpr unsigned int most = 999999999;
    const auto text = sensor_variable(name);
    if (!text) {
        return std::nullopt;
    }
    std::vector<unsigned int> corrected;
    std::vector<unsigned int> uncorrected;
    for (const std::string& part : split(*text, ',')) {
        const std::vector<std::string> counts = split(part, ':');
        const auto first = parse_number(counts.front(), most);
        const auto second = parse_number(counts.back(), most);
        if (counts.size() != 2 || !first || !second) {
            refuse_sensor(name, *text,
                          "corrected and uncorrected errors, as in 3:0, one pair per device");
        }
        corrected.push_back(*first);
        uncorrected.push_back(*second);
    }
    return std::pair(PerDevice(std::move(corrected)), PerDevice(std::move(uncorrected)));
}

} // namespace

Sensors read_sensors() {
    const auto errors = read_ecc_errors();
    const PerDevice none({0});
    return {
        .temperature_c = read_numbers("CUPRUM_EMULATOR_TEMPERATURE", 40, 127),
        .power_w = read_numbers("CUPRUM_EMULATOR_POWER", 50, 10000),
        .power_limit_w = read_numbers("CUPRUM_EMULATOR_POWER_LIMIT", 300, 10000),
        .sm_clock_mhz = read_numbers("CUPRUM_EMULATOR_SM_CLOCK", 1000, 10000),
        .memory_clock_mhz = read_numbers("CUPRUM_EMULATOR_MEMORY_CLOCK", 1000, 20000),
        .fan_count = read_numbers("CUPRUM_EMULATOR_FANS", 1, 8),
        .fan_speed_percent = read_numbers("CUPRUM_EMULATOR_FAN_SPEED", 30, 100),
        .performance_state = read_numbers("CUPRUM_EMULATOR_PERFORMANCE_STATE", 0, 15),
        .corrected_errors = errors ? errors->first : none,
        .uncorrected_errors = errors ? errors->second : none,
        .has_ecc = errors.has_value(),
        .clock_events = read_clock_events(),
    };
}

} // namespace cuprum::nvml
