// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Measures two implementations in turns, so that other load on the machine affects both.
//
// Each turn is measured twice: as elapsed time, and as processor time of all threads of the
// process. On a shared machine, processor time shows the cost of the code itself.

#pragma once

#include <chrono>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace turns {

/// The figures of one side, in milliseconds, one per turn.
struct Times {
    std::vector<double> wall;
    std::vector<double> processor;
};

/// Returns the processor time of the process so far, in milliseconds.
inline double processor_ms() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// Runs `body` once and adds its times.
inline void take(Times& times, const std::function<void()>& body) {
    const double processor = processor_ms();
    const auto begin = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - begin;
    times.wall.push_back(wall.count());
    times.processor.push_back(processor_ms() - processor);
}

/// Returns a list of figures as JSON.
inline std::string json(const std::vector<double>& values) {
    std::string text = "[";
    for (const double value : values) {
        text += (text.size() > 1 ? ", " : "") + std::to_string(value);
    }
    return text + "]";
}

inline std::string json(const Times& times) {
    return "{\"wall\": " + json(times.wall) + ", \"processor\": " + json(times.processor) + "}";
}

} // namespace turns
