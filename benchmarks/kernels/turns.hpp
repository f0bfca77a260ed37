// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Measures two ways of doing the same in turns, so that whatever else the machine does meets both.
//
// Each turn is measured twice: by the clock on the wall, and in processor time of all threads of
// the process. On a machine that others use too, the second is what the code itself takes.

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

/// Runs `body` once and adds what it took.
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
