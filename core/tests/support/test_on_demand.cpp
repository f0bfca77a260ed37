// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/once.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace cuprum::detail {

namespace {

std::atomic<int> alive{0};

struct Counted {
    Counted() { ++alive; }

    ~Counted() { --alive; }

    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

    int value = 7;
};

} // namespace

TEST(OnDemand, makes_its_value_when_first_asked_and_once) {
    {
        OnDemand<Counted> part;
        EXPECT_EQ(part.peek(), nullptr);
        EXPECT_EQ(alive, 0);
        Counted& made = part.get();
        EXPECT_EQ(made.value, 7);
        EXPECT_EQ(&part.get(), &made);
        EXPECT_EQ(part.peek(), &made);
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
}

TEST(OnDemand, a_failure_to_make_it_is_tried_again) {
    OnDemand<Counted> part;
    const auto fail = []() -> std::unique_ptr<Counted> { throw std::runtime_error("not now"); };
    EXPECT_THROW(part.get(fail), std::runtime_error);
    EXPECT_EQ(part.peek(), nullptr);
    EXPECT_EQ(part.get().value, 7);
}

TEST(OnDemand, threads_that_come_at_once_get_the_same_one) {
    constexpr int threads = 8;
    {
        OnDemand<Counted> part;
        std::atomic<bool> is_open{false};
        std::vector<Counted*> seen(threads);
        std::vector<std::thread> running;
        for (int i = 0; i < threads; ++i) {
            running.emplace_back([&, i] {
                while (!is_open) {
                    std::this_thread::yield();
                }
                seen[static_cast<std::size_t>(i)] = &part.get();
            });
        }
        is_open = true;
        for (auto& thread : running) {
            thread.join();
        }
        for (const Counted* each : seen) {
            EXPECT_EQ(each, part.peek());
        }
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
}

} // namespace cuprum::detail
