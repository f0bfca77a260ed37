// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Tests of how work grows with its input. Linear work on eight times the input is eight times as
// much, quadratic work 64 times as much.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <functional>
#include <limits>
#include <type_traits>

namespace cuprum::testing {

/// How much larger the large input is, and how much more work it may take. The room between 8 and
/// 24 is for sorting, caches and busy machines.
constexpr std::size_t INPUT_GROWTH = 8;
constexpr double MAX_WORK_GROWTH = 24;

/// Returns the processor time that this thread has used, in seconds.
[[nodiscard]] inline double thread_seconds() {
    std::timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    constexpr double NANOSECOND = 1e-9;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * NANOSECOND;
}

/// Expects the work on an input to grow about as fast as the input.
///
/// `prepare(size)` makes an input and is not measured. `work(input)` either returns a count of what
/// it did, such as comparisons, or returns nothing. Then the processor time of this thread is
/// measured, as the best of three runs, so `size` should give it a millisecond or more.
template <typename Prepare, typename Work>
void expect_scales(std::size_t size, Prepare prepare, Work work) {
    using Input = std::decay_t<std::invoke_result_t<Prepare&, std::size_t>>;
    using Count = std::invoke_result_t<Work&, Input&>;
    const auto measure = [&](std::size_t input_size) {
        Input input = prepare(input_size);
        if constexpr (std::is_void_v<Count>) {
            const double start = thread_seconds();
            std::invoke(work, input);
            return thread_seconds() - start;
        } else {
            return static_cast<double>(std::invoke(work, input));
        }
    };
    constexpr int RUNS = std::is_void_v<Count> ? 3 : 1;
    double small = std::numeric_limits<double>::max();
    double large = std::numeric_limits<double>::max();
    for (int run = 0; run < RUNS && !::testing::Test::HasFailure(); ++run) {
        small = std::min(small, measure(size));
        large = std::min(large, measure(size * INPUT_GROWTH));
    }
    EXPECT_LE(large, small * MAX_WORK_GROWTH)
        << "input of " << size << ": " << small << (std::is_void_v<Count> ? " s" : " steps")
        << ", input of " << size * INPUT_GROWTH << ": " << large << ", " << large / small
        << " times as much";
}

/// The same for work that needs nothing but a size.
template <typename Work>
void expect_scales(std::size_t size, Work work) {
    expect_scales(size, std::identity{}, [&](std::size_t& count) { return work(count); });
}

} // namespace cuprum::testing
