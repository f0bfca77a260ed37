// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/settings.hpp"

#include "interp/memory_map.hpp"
#include "objects/devices/identity.hpp"
#include "objects/memory/host_room.hpp"
#include "objects/process/host_limits.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

namespace cuprum::emulator {

namespace {

constexpr std::uint64_t GIB = std::uint64_t{1} << 30;
constexpr std::uint64_t MIN_MEMORY_BYTES = std::uint64_t{1} << 20;
constexpr std::uint64_t MAX_MEMORY_BYTES = 256 * GIB;
constexpr std::uint64_t DEFAULT_MEMORY_BYTES = 16 * GIB;
constexpr std::uint32_t MAX_DEVICES = 64;
constexpr std::uint32_t MAX_MULTIPROCESSORS = 1024;
constexpr std::uint32_t MAX_WORKERS = 1024;
constexpr std::uint32_t MAX_WATCHDOG_SECONDS = 86400;
constexpr std::uint32_t MAX_PROGRESS_SECONDS = 86400;
constexpr std::uint32_t DEFAULT_PROGRESS_SECONDS = 3;

/// The supported compute capabilities. Others are refused.
constexpr std::array<std::string_view, 15> COMPUTE_CAPABILITIES{
    "7.0", "7.2",  "7.5",  "8.0",  "8.6",  "8.7",  "8.8", "8.9",
    "9.0", "10.0", "10.3", "10.7", "11.0", "12.0", "12.1"};

std::optional<std::string> variable(const char* name);
[[noreturn]] void refuse(const std::string& name, const std::string& value,
                         const std::string& expected);
std::uint32_t count_setting(const char* name, std::uint32_t fallback, std::uint32_t maximum,
                            std::uint32_t minimum = 1);
std::string choice(const char* name, std::initializer_list<std::string_view> words,
                   std::string_view fallback);
std::string one_of(std::initializer_list<std::string_view> words);
bool is_decimal(const std::string& text);
bool has_terminal();
std::uint8_t read_checks();
void read_schedule(Settings& settings);
void read_watchdog(Settings& settings);
void read_progress(Settings& settings);
std::uint64_t default_memory_bytes();

} // namespace

Settings read_settings() {
    Settings settings;
    settings.device_count = count_setting("CUPRUM_EMULATOR_DEVICES", 1, MAX_DEVICES);
    settings.worker_count = count_setting("CUPRUM_EMULATOR_WORKERS",
                                          std::min(usable_processors(), MAX_WORKERS), MAX_WORKERS);
    settings.multiprocessor_count = count_setting(
        "CUPRUM_EMULATOR_MULTIPROCESSORS", settings.multiprocessor_count, MAX_MULTIPROCESSORS);
    if (const auto text = variable("CUPRUM_EMULATOR_COMPUTE_CAPABILITY")) {
        if (std::ranges::find(COMPUTE_CAPABILITIES, *text) == COMPUTE_CAPABILITIES.end()) {
            std::string known;
            for (const std::string_view each : COMPUTE_CAPABILITIES) {
                known += (known.empty() ? "" : ", ") + std::string(each);
            }
            refuse("CUPRUM_EMULATOR_COMPUTE_CAPABILITY", *text, "one of " + known);
        }
        const auto dot = text->find('.');
        settings.major = static_cast<std::uint32_t>(std::stoul(text->substr(0, dot)));
        settings.minor = static_cast<std::uint32_t>(std::stoul(text->substr(dot + 1)));
    }
    if (const auto text = variable(DRIVER_VERSION_VARIABLE);
        text && parse_driver_version(*text) == 0) {
        refuse(DRIVER_VERSION_VARIABLE, *text, "a CUDA version from 12.0 to 13.9, such as 13.4");
    }
    settings.memory_bytes = default_memory_bytes();
    if (const auto text = variable("CUPRUM_EMULATOR_MEMORY")) {
        const std::string expected = "a size such as 512M or 4G, from 1M to 256G";
        try {
            settings.memory_bytes = parse_bytes(*text);
        } catch (const std::invalid_argument&) {
            refuse("CUPRUM_EMULATOR_MEMORY", *text, expected);
        }
        if (settings.memory_bytes < MIN_MEMORY_BYTES || settings.memory_bytes > MAX_MEMORY_BYTES) {
            refuse("CUPRUM_EMULATOR_MEMORY", *text, expected);
        }
    }
    settings.checks = read_checks();
    settings.stops_at_report =
        choice("CUPRUM_EMULATOR_CHECK_ACTION", {"stop", "report"}, "stop") == "stop";
    read_schedule(settings);
    read_watchdog(settings);
    read_progress(settings);
    const std::string compiling = choice("CUPRUM_EMULATOR_JIT", {"off", "auto", "always"}, "auto");
    settings.jit = compiling == "off"      ? jit::Mode::Off
                   : compiling == "always" ? jit::Mode::Always
                                           : jit::Mode::Auto;
    settings.lists_leaks = choice("CUPRUM_EMULATOR_LEAKS", {"0", "1"}, "0") == "1";
#if defined(__x86_64__)
    (void)choice("CUPRUM_EMULATOR_ISA", {"v2", "v3", "v4"}, "v4");
#else
    (void)choice("CUPRUM_EMULATOR_ISA", {"generic"}, "generic");
#endif
    (void)choice("CUPRUM_EMULATOR_LOG", {"off", "error", "warn", "info", "debug"}, "error");
    return settings;
}

LogLevel read_log_level() noexcept {
    const char* text = ::secure_getenv("CUPRUM_EMULATOR_LOG");
    const std::string_view word = text == nullptr ? "" : text;
    return word == "off"     ? LogLevel::Off
           : word == "warn"  ? LogLevel::Warn
           : word == "info"  ? LogLevel::Info
           : word == "debug" ? LogLevel::Debug
                             : LogLevel::Error;
}

std::uint64_t parse_bytes(const std::string& text) {
    std::size_t used = 0;
    const bool starts_with_digit =
        !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0;
    std::uint64_t value = 0;
    try {
        value = starts_with_digit ? std::stoull(text, &used) : 0;
    } catch (const std::out_of_range&) {
        throw std::invalid_argument("size is too large: " + text);
    }
    std::string unit = text.substr(used);
    std::ranges::transform(unit, unit.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::string_view prefixes = "kmgt";
    std::uint32_t shift = 0;
    if (!unit.empty() && prefixes.find(unit[0]) != std::string_view::npos) {
        shift = 10 * (static_cast<std::uint32_t>(prefixes.find(unit[0])) + 1);
        unit.erase(0, 1);
    }
    if (!starts_with_digit || !(unit.empty() || unit == "b" || unit == "ib") ||
        value > (std::numeric_limits<std::uint64_t>::max() >> shift)) {
        throw std::invalid_argument("not a size: " + text);
    }
    return value << shift;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Returns the value of an environment variable. An empty value counts as unset.
std::optional<std::string> variable(const char* name) {
    const char* text = ::secure_getenv(name);
    return text == nullptr || *text == '\0' ? std::nullopt : std::optional<std::string>(text);
}

void refuse(const std::string& name, const std::string& value, const std::string& expected) {
    throw std::invalid_argument(name + "='" + value + "' is not valid: expected " + expected);
}

std::uint32_t count_setting(const char* name, std::uint32_t fallback, std::uint32_t maximum,
                            std::uint32_t minimum) {
    const auto text = variable(name);
    if (!text) {
        return fallback;
    }
    const bool is_number = text->size() <= 6 && is_decimal(*text);
    const std::uint32_t value = is_number ? static_cast<std::uint32_t>(std::stoul(*text)) : 0;
    if (!is_number || value < minimum || value > maximum) {
        refuse(name, *text,
               "a number from " + std::to_string(minimum) + " to " + std::to_string(maximum));
    }
    return value;
}

/// Returns the value of a variable, which must be one of `words`.
std::string choice(const char* name, std::initializer_list<std::string_view> words,
                   std::string_view fallback) {
    const auto text = variable(name);
    if (!text) {
        return std::string(fallback);
    }
    if (std::ranges::find(words, *text) == words.end()) {
        refuse(name, *text, one_of(words));
    }
    return *text;
}

/// Returns "'a', 'b' or 'c'".
std::string one_of(std::initializer_list<std::string_view> words) {
    std::string text;
    std::size_t left = words.size();
    for (const std::string_view word : words) {
        text += "'" + std::string(word) + "'";
        --left;
        text += left > 1 ? ", " : left == 1 ? " or " : "";
    }
    return text;
}

/// Reads a list of checks, as in "memory,races".
std::uint8_t read_checks() {
    constexpr const char* name = "CUPRUM_EMULATOR_CHECK";
    const auto text = variable(name);
    unsigned checks = 0;
    for (std::size_t at = 0; text && at <= text->size();) {
        const std::size_t end = std::min(text->find(',', at), text->size());
        const std::string word = text->substr(at, end - at);
        if (word == "memory" || word == "exact") {
            checks |= CHECK_MEMORY;
        } else if (word == "initialized") {
            checks |= CHECK_INITIALIZED;
        } else if (word == "races") {
            checks |= CHECK_RACES;
        } else if (word == "graphs") {
            checks |= CHECK_GRAPHS;
        } else if (word == "all") {
            checks |= CHECK_MEMORY | CHECK_INITIALIZED | CHECK_RACES | CHECK_GRAPHS;
        } else if (word != "window") {
            refuse(name, *text,
                   "a list of " + one_of({"memory", "initialized", "races", "graphs"}) +
                       " with commas between them, or " + one_of({"all", "window", "exact"}));
        }
        at = end + 1;
    }
    return static_cast<std::uint8_t>(checks);
}

void read_schedule(Settings& settings) {
    constexpr const char* name = "CUPRUM_EMULATOR_SCHEDULE";
    constexpr std::string_view prefix = "random:";
    constexpr std::size_t most_digits = 19; // always fits into 64 bits
    const auto text = variable(name);
    if (!text || *text == "deterministic") {
        return;
    }
    settings.is_random = true;
    if (*text == "random") {
        std::random_device source;
        settings.seed = source(); // 32 bits are easier to type again
        return;
    }
    const std::string digits = text->starts_with(prefix) ? text->substr(prefix.size()) : "";
    if (digits.empty() || digits.size() > most_digits || !is_decimal(digits)) {
        refuse(name, *text, "'deterministic', 'random' or 'random:' and a number");
    }
    settings.seed = std::stoull(digits);
    settings.is_seed_given = true;
}

void read_watchdog(Settings& settings) {
    constexpr const char* name = "CUPRUM_EMULATOR_WATCHDOG";
    constexpr std::string_view suffix = ":strict";
    constexpr std::size_t most_digits = 6;
    const auto text = variable(name);
    if (!text) {
        return;
    }
    settings.is_watchdog_strict = text->ends_with(suffix);
    const std::string digits =
        text->substr(0, text->size() - (settings.is_watchdog_strict ? suffix.size() : 0));
    const bool is_number = !digits.empty() && digits.size() <= most_digits && is_decimal(digits);
    settings.watchdog_seconds =
        is_number ? static_cast<std::uint32_t>(std::stoul(digits)) : MAX_WATCHDOG_SECONDS + 1;
    if (settings.watchdog_seconds > MAX_WATCHDOG_SECONDS) {
        refuse(name, *text,
               "seconds from 0 to " + std::to_string(MAX_WATCHDOG_SECONDS) +
                   ", with ':strict' after them or without");
    }
}

void read_progress(Settings& settings) {
    constexpr const char* name = "CUPRUM_PROGRESS";
    std::uint32_t seconds = DEFAULT_PROGRESS_SECONDS;
    try {
        seconds = count_setting(name, DEFAULT_PROGRESS_SECONDS, MAX_PROGRESS_SECONDS, 0);
    } catch (const std::invalid_argument& error) {
        settings.progress_problem = std::string(error.what()) + "; it is ignored";
    }
    settings.progress_after = std::chrono::seconds(has_terminal() ? seconds : 0);
}

bool is_decimal(const std::string& text) {
    return std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Returns whether stderr is a terminal on which a line can be drawn again.
bool has_terminal() {
    const std::string kind = variable("TERM").value_or("dumb");
    return kind != "dumb" && ::isatty(STDERR_FILENO) == 1;
}

std::uint64_t default_memory_bytes() {
    std::uint64_t bytes = usable_memory_bytes() / 2;
    if (const auto room = memory_room()) { // a part of a container's memory may be in use already
        const std::uint64_t reserve = host_room::reserve_of(room->limit_bytes);
        bytes = std::min(bytes, room->left_bytes - std::min(room->left_bytes, reserve));
        return std::clamp(bytes, MIN_MEMORY_BYTES, DEFAULT_MEMORY_BYTES);
    }
    return bytes == 0 ? GIB : std::clamp(bytes, MIN_MEMORY_BYTES, DEFAULT_MEMORY_BYTES);
}

} // namespace

} // namespace cuprum::emulator
