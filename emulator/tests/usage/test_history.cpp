// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How busy time is kept by period.

#include "usage/record.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace cuprum::emulator::usage {

namespace {

/// Returns the time of a period, or nothing if its slot belongs to another one.
std::uint64_t busy_ns(const History& history, std::uint64_t period) {
    const std::uint64_t slot = history.slots[period % SLOT_COUNT].load();
    return slot >> 32 == (period & 0xffffffffU) ? (slot & 0xffffffffU) * BUSY_UNIT_NS : 0;
}

} // namespace

TEST(History, time_within_a_period_adds_up) {
    History history{};
    const std::uint64_t start = 100 * SLOT_NS;
    history.add(start + 6400, start + 12800);
    history.add(start + 64000, start + 70400);
    EXPECT_EQ(busy_ns(history, 100), 12800U);
    EXPECT_EQ(busy_ns(history, 99), 0U);
    EXPECT_EQ(busy_ns(history, 101), 0U);
}

TEST(History, time_is_divided_between_periods) {
    History history{};
    history.add(100 * SLOT_NS + SLOT_NS / 2, 102 * SLOT_NS + SLOT_NS / 4);
    EXPECT_EQ(busy_ns(history, 100), SLOT_NS / 2);
    EXPECT_EQ(busy_ns(history, 101), SLOT_NS);
    EXPECT_EQ(busy_ns(history, 102), SLOT_NS / 4);
}

TEST(History, a_new_period_replaces_the_one_before_it_in_its_slot) {
    History history{};
    history.add(100 * SLOT_NS, 100 * SLOT_NS + 6400);
    history.add((100 + SLOT_COUNT) * SLOT_NS, (100 + SLOT_COUNT) * SLOT_NS + 640);
    EXPECT_EQ(busy_ns(history, 100 + SLOT_COUNT), 640U);
}

TEST(History, only_the_last_periods_of_a_long_time_are_kept) {
    History history{};
    history.add(10 * SLOT_NS, 1000 * SLOT_NS + 64);
    EXPECT_EQ(busy_ns(history, 1000), 64U);
    for (std::uint64_t period = 1000 - SLOT_COUNT + 1; period < 1000; ++period) {
        EXPECT_EQ(busy_ns(history, period), SLOT_NS) << period;
    }
}

TEST(History, a_time_that_ends_before_it_begins_does_not_count) {
    History history{};
    history.add(200 * SLOT_NS, 100 * SLOT_NS);
    history.add(5, 5);
    for (const Counter& slot : history.slots) {
        EXPECT_EQ(slot.load(), 0U);
    }
}

TEST(History, threads_lose_no_time) {
    History history{};
    constexpr int turns = 10000;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int turn = 0; turn < turns; ++turn) {
                history.add(7 * SLOT_NS, 7 * SLOT_NS + BUSY_UNIT_NS);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(busy_ns(history, 7), 4 * turns * BUSY_UNIT_NS);
}

} // namespace cuprum::emulator::usage
