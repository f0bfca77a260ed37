// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/idle_workers.hpp"
#include "interp/clock.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace cuprum::emulator::exec {

namespace {

constexpr std::uint64_t MILLISECOND = 1'000'000;

} // namespace

TEST(IdleWorkers, the_last_one_is_called_first_and_no_more_than_wanted) {
    IdleWorkers idle;
    idle.resize(3);
    for (std::uint32_t worker : {0u, 1u, 2u}) {
        idle.enter(worker);
    }
    EXPECT_EQ(idle.count(), 3u);
    EXPECT_EQ(idle.call(1), 0u) << "nobody sleeps";
    EXPECT_EQ(idle.count(), 2u);
    EXPECT_TRUE(idle.wait(2, 0, IdleWorkers::FOREVER));
    EXPECT_FALSE(idle.wait(1, 0, now_ns() + MILLISECOND));
    idle.leave(1);
    EXPECT_EQ(idle.count(), 1u);
    EXPECT_EQ(idle.call(100), 0u);
    EXPECT_TRUE(idle.wait(0, 0, IdleWorkers::FOREVER));
    EXPECT_EQ(idle.count(), 0u);
    EXPECT_EQ(idle.call(1), 0u);
}

TEST(IdleWorkers, a_called_worker_sees_what_was_prepared_for_it) {
    IdleWorkers idle;
    idle.resize(2);
    int prepared[2] = {};
    for (int round = 1; round <= 100; ++round) {
        idle.enter(0);
        idle.enter(1);
        std::thread worker([&] {
            EXPECT_TRUE(idle.wait(1, 0, IdleWorkers::FOREVER)); // sleeps at once
            EXPECT_EQ(prepared[1], round);
        });
        idle.wake(idle.call(1, [&](std::uint32_t number) { prepared[number] = round; }));
        worker.join();
        EXPECT_EQ(prepared[0], 0) << "nobody has called it";
        idle.leave(0);
    }
}

TEST(IdleWorkers, a_wait_ends_at_its_time) {
    IdleWorkers idle;
    idle.resize(1);
    idle.enter(0);
    const std::uint64_t begin = now_ns();
    EXPECT_FALSE(idle.wait(0, MILLISECOND, begin + 5 * MILLISECOND));
    EXPECT_GE(now_ns() - begin, 5 * MILLISECOND);
    idle.leave(0);
    EXPECT_EQ(idle.call(1), 0u) << "it has left";
}

TEST(IdleWorkers, a_call_after_the_time_and_before_leaving_is_not_lost) {
    IdleWorkers idle;
    idle.resize(1);
    idle.enter(0);
    EXPECT_FALSE(idle.wait(0, 0, now_ns()));
    (void)idle.call(1);
    idle.leave(0); // the worker looks for work anyway
    idle.enter(0);
    EXPECT_EQ(idle.count(), 1u);
    EXPECT_FALSE(idle.wait(0, 0, now_ns() + MILLISECOND)) << "an old call must not count";
    idle.leave(0);
}

TEST(IdleWorkers, a_note_that_stays_ends_the_wait) {
    IdleWorkers idle;
    idle.resize(2);
    EXPECT_FALSE(idle.leave_note()) << "nobody is idle";
    idle.enter(0);
    idle.enter(1);
    ASSERT_TRUE(idle.leave_note());
    EXPECT_FALSE(idle.wait(1, MILLISECOND, IdleWorkers::FOREVER));
    idle.leave(1);
    idle.take_note();
    EXPECT_FALSE(idle.wait(0, MILLISECOND, now_ns() + MILLISECOND)) << "it was for the other one";
    EXPECT_FALSE(idle.leave_note()) << "worker 0 sleeps";
    idle.leave(0);
}

TEST(IdleWorkers, a_note_that_is_taken_back_does_not_end_the_wait) {
    IdleWorkers idle;
    idle.resize(1);
    idle.enter(0);
    ASSERT_TRUE(idle.leave_note());
    idle.take_note();
    const std::uint64_t begin = now_ns();
    EXPECT_FALSE(idle.wait(0, MILLISECOND, begin + 5 * MILLISECOND));
    EXPECT_GE(now_ns() - begin, 5 * MILLISECOND);
    idle.leave(0);
}

TEST(IdleWorkers, no_note_is_lost_while_the_worker_falls_asleep) {
    constexpr int rounds = 2000;
    IdleWorkers idle;
    idle.resize(1);
    std::mutex mutex;
    int noted = 0;
    int called = 0;
    int done = 0;
    std::thread worker([&] {
        for (;;) {
            {
                const std::lock_guard lock(mutex);
                if (noted != 0) {
                    idle.take_note();
                }
                done += noted + called;
                noted = called = 0;
                if (done == rounds) {
                    return;
                }
                idle.enter(0);
            }
            if (!idle.wait(0, 2'000, IdleWorkers::FOREVER)) {
                const std::lock_guard lock(mutex);
                idle.leave(0);
            }
        }
    });
    for (int round = 0; round < rounds; ++round) {
        std::uint32_t sleepers = 0;
        {
            const std::lock_guard lock(mutex);
            if (idle.leave_note()) {
                noted = 1;
            } else {
                called = 1;
                sleepers = idle.call(1);
            }
        }
        idle.wake(sleepers);
        for (bool is_done = false; !is_done; std::this_thread::yield()) {
            const std::lock_guard lock(mutex);
            is_done = done == round + 1;
        }
    }
    worker.join();
}

TEST(IdleWorkers, all_sleepers_are_woken_at_once_and_no_call_is_lost) {
    constexpr std::uint32_t workers = 40; // more than the groups of sleepers
    constexpr int rounds = 200;
    IdleWorkers idle;
    idle.resize(workers);
    std::mutex mutex;
    int work = 0;
    bool is_over = false;
    std::vector<std::thread> threads;
    for (std::uint32_t worker = 0; worker < workers; ++worker) {
        threads.emplace_back([&, worker] {
            for (;;) {
                {
                    const std::lock_guard lock(mutex);
                    if (work != 0) {
                        --work;
                        continue;
                    }
                    if (is_over) {
                        return;
                    }
                    idle.enter(worker);
                }
                ASSERT_TRUE(idle.wait(worker, worker % 2 * 1000, IdleWorkers::FOREVER));
            }
        });
    }
    for (int round = 0; round < rounds; ++round) {
        std::uint32_t sleepers = 0;
        {
            const std::lock_guard lock(mutex);
            work += round % 50;
            sleepers = idle.call(static_cast<std::uint64_t>(round % 50));
        }
        idle.wake(sleepers);
        if (round % 10 == 0) { // let them fall asleep
            std::this_thread::sleep_for(std::chrono::microseconds(500));
        }
    }
    std::uint32_t sleepers = 0;
    {
        const std::lock_guard lock(mutex);
        is_over = true;
        sleepers = idle.call(workers);
    }
    idle.wake(sleepers);
    for (auto& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(work, 0);
}

} // namespace cuprum::emulator::exec
