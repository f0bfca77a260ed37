// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Measures one operation both ways, with hand-written calls and with objects, in turns.

#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace in_turns {

/// The cost of one operation with hand-written calls, and what objects add to it.
struct Paired {
    double driver_s = 0;
    double added_s = 0;
};

inline constexpr int ROUNDS = 61;
inline constexpr int WARM_UP = 30;
inline constexpr int ROUNDS_A_STREAM = 6;

/// Work between turns, outside the measured time.
struct Between {
    std::function<void()> settle; // waits for the device
    std::function<void()> renew;  // replaces the streams
};

template <typename Call>
double seconds_a_call(int loops, const Call& call) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < loops; ++i) {
        call();
    }
    const auto end = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(end - begin).count() / loops;
}

inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Measures both ways in short turns, in changing order, and waits for the device between turns,
/// outside the measured time.
///
/// The driver's cost of an operation depends on what the process did before, so only measurements
/// side by side can be compared. The overhead of objects is the median of the differences within a
/// round. Two streams of one driver can differ by as much as the overhead, so both sides replace
/// their stream from time to time.
template <typename Raw, typename Object>
Paired measure_in_turns(int loops, const Between& between, const Raw& raw, const Object& object) {
    const auto turn = [&](const auto& call) {
        // Warm up, because the other side has filled the caches.
        static_cast<void>(seconds_a_call(WARM_UP, call));
        const double seconds = seconds_a_call(loops, call);
        between.settle();
        return seconds;
    };
    static_cast<void>(turn(raw));
    static_cast<void>(turn(object));
    std::vector<double> driver;
    std::vector<double> added;
    for (int round = 0; round < ROUNDS; ++round) {
        if (round % ROUNDS_A_STREAM == 0) {
            between.renew();
        }
        const bool is_raw_first = round % 2 == 0;
        const double first = is_raw_first ? turn(raw) : turn(object);
        const double second = is_raw_first ? turn(object) : turn(raw);
        driver.push_back(is_raw_first ? first : second);
        added.push_back(is_raw_first ? second - first : first - second);
    }
    return {median(driver), median(added)};
}

/// Registers one operation both ways; each function performs it once. `loops` is the number of
/// calls per turn.
template <typename Raw, typename Object>
void compare(const std::string& name, int loops, const Between& between, Raw raw, Object object) {
    const auto result = [=, known = std::make_shared<std::optional<Paired>>()] {
        if (!known->has_value()) {
            *known = measure_in_turns(loops, between, raw, object);
        }
        return **known;
    };
    const auto report = [&](const char* side, auto seconds) {
        benchmark::RegisterBenchmark((name + side).c_str(),
                                     [=](benchmark::State& state) {
                                         for (auto _ : state) {
                                             state.SetIterationTime(seconds(result()));
                                         }
                                     })
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(benchmark::kNanosecond);
    };
    report("/driver", [](const Paired& paired) { return paired.driver_s; });
    report("/cuprum", [](const Paired& paired) { return paired.driver_s + paired.added_s; });
}

} // namespace in_turns
