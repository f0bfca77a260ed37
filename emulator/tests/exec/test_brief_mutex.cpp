// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/brief_mutex.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace cuprum::emulator::exec {

namespace {

/// Lets several threads add to a plain number under a mutex. Some hold it for `pause` each time.
int count_with_threads(int rounds, std::chrono::microseconds pause) {
    constexpr int threads = 8;
    BriefMutex mutex;
    int count = 0;
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
        all.emplace_back([&] {
            for (int round = 0; round < rounds; ++round) {
                const std::lock_guard lock(mutex);
                ++count;
                if (pause.count() != 0) {
                    std::this_thread::sleep_for(pause);
                }
            }
        });
    }
    for (std::thread& thread : all) {
        thread.join();
    }
    return count - threads * rounds;
}

} // namespace

TEST(BriefMutex, one_thread_at_a_time) {
    EXPECT_EQ(count_with_threads(20'000, {}), 0);
}

TEST(BriefMutex, threads_that_sleep_are_woken) {
    // Far longer than the threads watch.
    EXPECT_EQ(count_with_threads(20, std::chrono::milliseconds(1)), 0);
}

TEST(BriefMutex, a_held_one_cannot_be_tried) {
    BriefMutex mutex;
    ASSERT_TRUE(mutex.try_lock());
    EXPECT_FALSE(mutex.try_lock());
    mutex.unlock();
    EXPECT_TRUE(mutex.try_lock());
    mutex.unlock();
}

} // namespace cuprum::emulator::exec
