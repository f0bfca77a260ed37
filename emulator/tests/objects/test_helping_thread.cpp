// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a thread runs that waits for an operation and helps (exec/helping.cpp).

#include "exec/harness.hpp"
#include "objects/streams/operation.hpp"

#include <atomic>
#include <chrono>

namespace cuprum::emulator {

namespace {

constexpr std::chrono::minutes LONGEST{2};

/// A grid of one block, in a stream.
class TestGrid final : public Operation {
public:
    TestGrid(std::shared_ptr<ErrorState> errors, exec::GridLaunch launch)
        : Operation(std::move(errors)), launch_(std::move(launch)) {}

    std::atomic<std::thread::id> ended_on;

protected:
    void start() noexcept override {
        launch_.awaited_as = static_cast<const Operation*>(this);
        const auto self = std::static_pointer_cast<TestGrid>(shared_from_this());
        exec::Engine::instance().submit(launch_, [self](const Fault*) {
            self->ended_on = std::this_thread::get_id();
            self->finish();
        });
    }

private:
    exec::GridLaunch launch_;
};

/// A quick operation that notes on which thread it has run.
std::shared_ptr<Task> noting_task(const std::shared_ptr<ErrorState>& errors,
                                  std::atomic<std::thread::id>& thread) {
    return std::make_shared<Task>(
        errors, [&thread] { thread = std::this_thread::get_id(); }, Task::Size::Quick);
}

} // namespace

TEST(HelpingThread, runs_what_it_waits_for_and_leaves_the_rest_to_workers) {
    exec::EngineSettings settings;
    settings.worker_count = 2;
    settings.spin_time = std::chrono::milliseconds(100);
    exec::Engine::instance().configure(settings);
    test::TestDevice device;
    const auto errors = std::make_shared<ErrorState>();
    exec::GridLaunch launch;
    launch.kernel = device.compile(test::ptx_module(".visible .entry k() { ret; }"));
    ASSERT_TRUE(launch.kernel) << device.log;
    launch.block[0] = 32;
    launch.memory = &device.map();
    const auto here = std::this_thread::get_id();
    const auto end = std::chrono::steady_clock::now() + LONGEST;
    for (bool has_helped = false; !has_helped;) {
        ASSERT_LT(std::chrono::steady_clock::now(), end) << "no grid has run on this thread";
        // grid -> before -> awaited -> after, and grid -> beside
        std::atomic<std::thread::id> ran_before;
        std::atomic<std::thread::id> ran_beside;
        std::atomic<std::thread::id> ran_after;
        const auto grid = std::make_shared<TestGrid>(errors, launch);
        const auto beside = noting_task(errors, ran_beside);
        const auto before = noting_task(errors, ran_before);
        const auto awaited = std::make_shared<Marker>(errors);
        const auto after = noting_task(errors, ran_after);
        beside->depend_on(grid);
        before->depend_on(grid);
        awaited->depend_on(before);
        after->depend_on(awaited);
        beside->submit();
        before->submit();
        awaited->submit();
        after->submit();
        grid->submit();
        awaited->wait();
        has_helped = grid->ended_on.load() == here;
        EXPECT_EQ(ran_before.load() == here, has_helped);
        after->wait();
        beside->wait();
        EXPECT_NE(ran_after.load(), here);
        EXPECT_NE(ran_beside.load(), here);
        ASSERT_FALSE(testing::Test::HasFailure());
    }
}

} // namespace cuprum::emulator
