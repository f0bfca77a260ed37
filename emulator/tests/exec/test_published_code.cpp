// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Code that is published while a grid runs (bytecode/code_source.hpp). Blocks in lockstep and teams
// run it from their next entry on, as single warps do.

#include "exec/block.hpp"
#include "exec/harness.hpp"
#include "exec/published_code.hpp"
#include "exec/team.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace cuprum::emulator {

namespace {

using exec::Block;
using exec::Engine;
using exec::Grid;
using exec::GridLaunch;
using exec::Team;
using test::CountingCode;
using test::ptx_module;
using U = std::uint32_t;

constexpr U THREADS = 64; // of a block
constexpr U BLOCKS = 2048;

/// Each thread stores its number in the grid times `m`.
constexpr const char* PROLOGUE = R"(
.visible .entry k(.param .u64 out, .param .u32 m) {
.reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<4>;
ld.param.u64 %d0, [out]; ld.param.u32 %r0, [m];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
)";
constexpr const char* PRODUCT = "mul.lo.u32 %r6, %r4, %r0;\n";
constexpr const char* LOOP = R"(
mov.u32 %r5, 0; mov.u32 %r6, 0;
LOOP: add.u32 %r6, %r6, %r4; add.u32 %r5, %r5, 1; setp.lt.u32 %p, %r5, %r0; @%p bra LOOP;
)";
constexpr const char* EPILOGUE = R"(
mul.wide.u32 %d1, %r4, 4; add.u64 %d1, %d0, %d1; st.global.u32 [%d1], %r6; ret;
})";

class PublishedCode : public testing::Test {
protected:
    void TearDown() override { Engine::instance().configure({}); }

    /// Compiles a kernel. Skips the test if blocks do not run in lockstep on this machine.
    void compile(const char* body) {
        const auto compiled = device_.compile(ptx_module(std::string(PROLOGUE) + body + EPILOGUE));
        ASSERT_TRUE(compiled) << device_.log;
        if (compiled->lockstep.empty()) {
            GTEST_SKIP() << "no lockstep at this level";
        }
        source_ = std::make_shared<CountingCode>(compiled);
        kernel_ = CountingCode::kernel_with(source_);
        device_.set_constants(kernel_.get(), device_.constants(compiled.get()));
    }

    [[nodiscard]] std::shared_ptr<Grid> grid_of(U m) {
        GridLaunch launch;
        launch.kernel = kernel_;
        launch.constants = device_.constants(kernel_.get());
        launch.grid[0] = BLOCKS;
        launch.block[0] = THREADS;
        launch.memory = &device_.map();
        launch.parameters.resize(kernel_->parameter_bytes);
        std::memcpy(launch.parameters.data(), &out_, sizeof out_);
        std::memcpy(launch.parameters.data() + sizeof out_, &m, sizeof m);
        return std::make_shared<Grid>(std::move(launch), [](const Fault*) {});
    }

    void expect_results(U blocks, U m) const {
        for (U i = 0; i < blocks * THREADS; ++i) {
            ASSERT_EQ(out_[i], i * m) << i;
        }
    }

    /// Runs a kernel a few times. Replaces its code all the time, and checks the results.
    void publish_while_running(const char* body) {
        constexpr U factor = 200;
        constexpr int launches = 5;
        ASSERT_NO_FATAL_FAILURE(compile(body));
        if (IsSkipped()) {
            return;
        }
        Engine::instance().configure({.worker_count = 2});
        for (int i = 0; i < launches; ++i) {
            std::memset(out_, 0, std::size_t{BLOCKS} * THREADS * sizeof *out_);
            test::Launch launch(device_, kernel_, {.grid = BLOCKS, .block = THREADS}, out_, factor);
            while (!launch.is_done()) {
                source_->publish_counting();
                std::this_thread::yield();
                source_->publish_counting_without_lockstep();
                std::this_thread::yield();
                source_->publish_own();
                std::this_thread::yield();
            }
            const Fault fault = launch.wait();
            ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
            expect_results(BLOCKS, factor);
        }
    }

    test::TestDevice device_;
    U* out_ = device_.allocate<U>(std::size_t{BLOCKS} * THREADS);
    std::shared_ptr<const bytecode::Kernel> kernel_;
    std::shared_ptr<CountingCode> source_;
};

} // namespace

TEST_F(PublishedCode, blocks_in_lockstep_run_it_from_the_next_block_on) {
    ASSERT_NO_FATAL_FAILURE(compile(PRODUCT));
    if (IsSkipped()) {
        return;
    }
    const auto grid = grid_of(3);
    Block block;
    PendingReductions reductions;
    const auto run = [&](std::uint64_t number) {
        block.start(grid, number, 0, reductions);
        EXPECT_EQ(block.run(), Block::Outcome::Finished);
    };
    run(0);
    EXPECT_EQ(CountingCode::for_blocks, 0u);

    source_->publish_counting();
    run(1);
    const std::uint64_t in_a_block = CountingCode::for_blocks;
    EXPECT_GT(in_a_block, 0u);
    run(2);
    EXPECT_EQ(CountingCode::for_blocks, 2 * in_a_block);

    // Without handlers for lockstep, every warp runs alone.
    source_->publish_counting_without_lockstep();
    const std::uint64_t before = CountingCode::for_warps;
    run(3);
    EXPECT_GE(CountingCode::for_warps, before + 2 * in_a_block); // two warps

    source_->publish_own();
    const std::uint64_t after = CountingCode::for_warps;
    run(4);
    EXPECT_EQ(CountingCode::for_blocks, 2 * in_a_block);
    EXPECT_EQ(CountingCode::for_warps, after);

    // The same code as before the warps ran alone: they must start again nevertheless.
    source_->publish_counting();
    run(5);
    source_->publish_own_without_lockstep();
    run(6);
    source_->publish_counting();
    run(7);
    expect_results(8, 3);
}

TEST_F(PublishedCode, a_block_that_has_yielded_continues_with_it) {
    ASSERT_NO_FATAL_FAILURE(compile(LOOP));
    if (IsSkipped()) {
        return;
    }
    constexpr U rounds = 100'000; // more than a block runs at a time
    const auto grid = grid_of(rounds);
    Block block;
    PendingReductions reductions;
    block.start(grid, 0, 0, reductions);
    ASSERT_EQ(block.run(), Block::Outcome::Yielded);
    EXPECT_EQ(CountingCode::for_blocks, 0u);

    source_->publish_counting();
    ASSERT_EQ(block.run(), Block::Outcome::Yielded);
    const std::uint64_t counted = CountingCode::for_blocks;
    EXPECT_GT(counted, 0u);

    // The warps part where they are, and the next block is in lockstep again.
    source_->publish_counting_without_lockstep();
    ASSERT_EQ(block.run(), Block::Outcome::Yielded);
    EXPECT_EQ(CountingCode::for_blocks, counted);
    EXPECT_GT(CountingCode::for_warps, 0u);

    source_->publish_counting();
    Block::Outcome outcome{};
    while ((outcome = block.run()) == Block::Outcome::Yielded) {
    }
    EXPECT_EQ(outcome, Block::Outcome::Finished);
    EXPECT_EQ(CountingCode::for_blocks, counted);
    block.start(grid, 1, 0, reductions);
    while ((outcome = block.run()) == Block::Outcome::Yielded) {
    }
    EXPECT_EQ(outcome, Block::Outcome::Finished);
    EXPECT_GT(CountingCode::for_blocks, counted);
    expect_results(2, rounds);
}

TEST_F(PublishedCode, teams_run_it_from_the_next_team_on) {
    ASSERT_NO_FATAL_FAILURE(compile(PRODUCT));
    if (IsSkipped()) {
        return;
    }
    const auto grid = grid_of(5);
    Team team;
    PendingReductions reductions;
    team.configure(*grid, BLOCKS, 0, reductions);
    ASSERT_TRUE(team.is_useful());
    U next = 0;
    const auto run = [&] {
        EXPECT_EQ(team.run(next, 4), Team::Outcome::Finished);
        EXPECT_EQ(team.block_count(), 4u);
        next += 4;
    };
    run();
    EXPECT_EQ(CountingCode::for_blocks, 0u);

    source_->publish_counting();
    run();
    const std::uint64_t counted = CountingCode::for_blocks;
    EXPECT_GT(counted, 0u);

    source_->publish_counting_without_lockstep();
    EXPECT_FALSE(team.is_useful());

    source_->publish_own();
    ASSERT_TRUE(team.is_useful());
    run();
    EXPECT_EQ(CountingCode::for_blocks, counted);
    expect_results(next, 5);
}

TEST_F(PublishedCode, results_of_teams_stay_right_while_another_thread_publishes) {
    publish_while_running(PRODUCT);
}

TEST_F(PublishedCode, results_of_blocks_stay_right_while_another_thread_publishes) {
    publish_while_running(LOOP);
}

} // namespace cuprum::emulator
