// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Blocks are taken in ranges: every block runs once, and every grid ends with one report.

#include "exec/grid.hpp"
#include "exec/harness.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

namespace cuprum::emulator {

namespace {

using exec::ClusterRange;
using exec::Engine;
using exec::Grid;
using test::Launch;
using test::ptx_module;
using test::run;
using test::Shape;
using test::TestDevice;

/// Every block adds 1 to a word of its own. A block whose number modulo 97 is 5 first counts to
/// `rounds`.
constexpr const char* UNEVEN = R"(
.visible .entry uneven(.param .u64 out, .param .u32 rounds) {
    .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [rounds];
    mov.u32 %r2, %ctaid.x;
    rem.u32 %r3, %r2, 97;
    setp.ne.u32 %p1, %r3, 5;
    @%p1 bra ADD;
    mov.u32 %r4, 0;
LOOP:
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p2, %r4, %r1;
    @%p2 bra LOOP;
ADD:
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    atom.global.add.u32 %r5, [%rd3], 1;
    add.u32 %r5, %r5, %r4;
    ret;
})";

/// A grid that only tests run.
std::shared_ptr<Grid> grid_of(TestDevice& device, std::uint32_t blocks, std::atomic<int>& reports,
                              Fault& reported) {
    exec::GridLaunch launch;
    launch.kernel = device.compile(ptx_module(".visible .entry empty() { ret; }"));
    launch.memory = &device.map();
    launch.grid[0] = blocks;
    return std::make_shared<Grid>(std::move(launch), [&](const Fault* fault) {
        ++reports;
        reported = fault != nullptr ? *fault : Fault{};
    });
}

} // namespace

TEST(Ranges, cheap_and_expensive_blocks_run_once_each) {
    constexpr std::uint32_t blocks = 20000;
    for (const std::uint32_t rounds : {1u, 20000u}) {
        TestDevice device;
        auto* const out = device.allocate<std::uint32_t>(blocks);
        const Fault fault = run(device, UNEVEN, {.grid = blocks, .block = 1},
                                reinterpret_cast<std::uint64_t>(out), rounds);
        ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
        EXPECT_EQ(std::count(out, out + blocks, 1u), blocks);
    }
}

TEST(Ranges, a_block_may_wait_for_a_later_block_of_its_range) {
    // The cheap blocks before them make the ranges long, so both blocks are often in one range.
    Engine::instance().configure({.worker_count = 1});
    TestDevice device;
    auto* const flag = device.allocate<std::uint32_t>(1);
    auto* const out = device.allocate<std::uint32_t>(1);
    const Fault fault = run(device, R"(
.visible .entry wait(.param .u64 flag, .param .u64 out) {
    .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [flag];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %ctaid.x;
    rem.u32 %r2, %r1, 1000;
    setp.eq.u32 %p1, %r2, 999;
    @%p1 bra SET;
    setp.lt.u32 %p1, %r2, 990;
    @%p1 bra END;
    div.u32 %r4, %r1, 1000;
SPIN:
    ld.volatile.global.u32 %r3, [%rd1];
    setp.le.u32 %p2, %r3, %r4;
    @%p2 bra SPIN;
    bra END;
SET:
    atom.global.add.u32 %r5, [%rd1], 1;
    membar.gl;
END:
    red.global.add.u32 [%rd2], 1;
    ret;
})",
                            {.grid = 20000, .block = 1}, flag, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(*out, 20000u);
    EXPECT_EQ(*flag, 20u);
}

TEST(Ranges, a_fault_ends_a_grid_of_two_thousand_million_blocks) {
    TestDevice device;
    auto* const out = device.allocate<std::uint32_t>(1);
    const std::string text = R"(
.visible .entry stop(.param .u64 out) {
    .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    red.global.add.u32 [%rd1], 1;
    mov.u32 %r1, %ctaid.x;
    setp.eq.u32 %p1, %r1, 5000;
    @%p1 trap;
    ret;
})";
    const Fault fault = run(device, text, {.grid = 0x7fffffff, .block = 1}, out);
    EXPECT_EQ(fault.kind, FaultKind::Trap);
    EXPECT_NE(fault.report.find("kernel stop, block (5000, 0, 0)"), std::string::npos)
        << fault.report;
    EXPECT_GT(*out, 0u); // other workers may give up blocks before it
    EXPECT_LT(*out, 0x7fffffffu);
    *out = 0;
    EXPECT_EQ(run(device, text, {.grid = 5000, .block = 1}, out).kind, FaultKind::None);
    EXPECT_EQ(*out, 5000u);
}

TEST(Ranges, a_grid_of_two_thousand_million_blocks_ends) {
    TestDevice device;
    const Fault fault = run(device, ".visible .entry empty() { ret; }", {.grid = 0x7fffffff});
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
}

TEST(Ranges, faults_of_all_blocks_are_one_report) {
    TestDevice device;
    const auto kernel = device.compile(ptx_module(".visible .entry stop() { trap; }"));
    ASSERT_TRUE(kernel) << device.log;
    for (int i = 0; i < 200; ++i) {
        Launch launch(device, kernel, Shape{.grid = 100000});
        EXPECT_EQ(launch.wait().kind, FaultKind::Trap);
    }
}

TEST(Ranges, many_grids_at_once_run_every_block) {
    TestDevice device;
    auto* const out = device.allocate<std::uint32_t>(64);
    const auto kernel = device.compile(ptx_module(R"(
.visible .entry count(.param .u64 out) {
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    .local .align 4 .b8 place[4];
    ld.param.u64 %rd1, [out];
    atom.global.add.u32 %r1, [%rd1], 1;
    st.local.u32 [place], %r1;
    ret;
})"));
    ASSERT_TRUE(kernel) << device.log;
    std::vector<std::unique_ptr<Launch>> launches;
    for (std::uint32_t i = 0; i < 64; ++i) {
        launches.push_back(std::make_unique<Launch>(
            device, kernel, Shape{.grid = 100 + 37 * i, .block = 1}, out + i));
    }
    for (std::uint32_t i = 0; i < 64; ++i) {
        EXPECT_EQ(launches[i]->wait().kind, FaultKind::None);
        EXPECT_EQ(out[i], 100 + 37 * i);
    }
}

TEST(Ranges, the_only_worker_turns_to_another_grid_after_whole_ranges) {
    Engine::instance().configure({.worker_count = 1});
    constexpr std::uint32_t blocks = 50'000;
    TestDevice device;
    auto* const tickets = device.allocate<std::uint32_t>(1);
    auto* const order = device.allocate<std::uint32_t>(2 * blocks); // which grid got each ticket
    const auto kernel = device.compile(ptx_module(R"(
.visible .entry mark(.param .u64 tickets, .param .u64 order, .param .u32 grid) {
    .reg .b32 %r<4>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [tickets];
    ld.param.u64 %rd2, [order];
    ld.param.u32 %r1, [grid];
    atom.global.add.u32 %r2, [%rd1], 1;
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r1;
    ret;
})"));
    ASSERT_TRUE(kernel) << device.log;
    const Shape shape{.grid = blocks, .block = 1};
    Launch first(device, kernel, shape, tickets, order, 1u);
    Launch second(device, kernel, shape, tickets, order, 2u);
    EXPECT_EQ(first.wait().kind, FaultKind::None);
    EXPECT_EQ(second.wait().kind, FaultKind::None);
    EXPECT_EQ(std::count(order, order + 2 * blocks, 1u), blocks);
    EXPECT_EQ(std::count(order, order + 2 * blocks, 2u), blocks);
    std::uint32_t changes = 0;
    for (std::uint32_t i = 1; i < 2 * blocks; ++i) {
        changes += order[i] != order[i - 1] ? 1 : 0;
    }
    EXPECT_LT(changes, blocks / 50);
}

/// The code of a kernel. Counts how often a worker sets up a block for a grid, which it does once
/// in each turn.
class CountedTurns final : public bytecode::CodeSource {
public:
    explicit CountedTurns(std::shared_ptr<const bytecode::Kernel> kernel)
        : kernel_(std::move(kernel)) {}

    [[nodiscard]] const bytecode::CodeSlot& code() override {
        ++count;
        return kernel_->code_source->code();
    }

    std::atomic<int> count = 0;

private:
    std::shared_ptr<const bytecode::Kernel> kernel_;
};

TEST(Ranges, a_grid_without_blocks_to_start_ends_no_turns_of_others) {
    Engine::instance().configure({.worker_count = 1});
    TestDevice device;
    const auto compiled = device.compile(ptx_module(R"(
.visible .entry k(.param .u64 out) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    atom.global.add.u64 %rd1, [%rd1], 1;
    bar.sync 0;
    ret;
})"));
    ASSERT_TRUE(compiled) << device.log;
    const auto turns = std::make_shared<CountedTurns>(compiled);
    const auto counting = std::make_shared<bytecode::Kernel>(*compiled);
    counting->code_source = turns;
    auto* const out = device.allocate<std::uint64_t>(1);
    const auto launch = [&](std::shared_ptr<const bytecode::Kernel> kernel, std::int32_t priority) {
        exec::GridLaunch grid;
        grid.constants = device.constants(compiled.get());
        grid.kernel = std::move(kernel);
        grid.grid[0] = 10'000;
        grid.memory = &device.map();
        grid.priority = priority;
        grid.parameters.resize(sizeof out);
        std::memcpy(grid.parameters.data(), &out, sizeof out);
        return grid;
    };
    // The second grid follows on the first, which is still in the queue, and comes before it there.
    std::atomic<bool> is_done = false;
    Engine::instance().submit(launch(compiled, 0), [&](const Fault*) {
        Engine::instance().submit(launch(counting, -1), [&](const Fault*) {
            is_done = true;
            is_done.notify_one();
        });
    });
    is_done.wait(false);
    EXPECT_EQ(*out, 20'000u);
    EXPECT_LE(turns->count, 2);
}

TEST(Ranges, without_watching_all_launches_still_run) {
    // As with a quota of half a processor.
    Engine::instance().configure({.worker_count = 1, .spin_time = exec::spin_time_for(8, 500)});
    EXPECT_EQ(Engine::instance().spin_time().count(), 0);
    TestDevice device;
    auto* const out = device.allocate<std::uint32_t>(1);
    for (std::uint32_t i = 1; i <= 300; ++i) {
        ASSERT_EQ(run(device, R"(
.visible .entry count(.param .u64 out) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    red.global.add.u32 [%rd1], 1;
    ret;
})",
                      {.grid = 3, .block = 1}, out)
                      .kind,
                  FaultKind::None);
        EXPECT_EQ(*out, 3 * i);
    }
    Engine::instance().configure({});
}

TEST(Ranges, threads_watch_only_where_processors_are_to_spare) {
    EXPECT_EQ(exec::spin_time_for(16, 0), exec::DEFAULT_SPIN_TIME);
    EXPECT_EQ(exec::spin_time_for(1, 0).count(), 0);
    EXPECT_EQ(exec::spin_time_for(16, 500).count(), 0);
    EXPECT_EQ(exec::spin_time_for(16, 1500).count(), 0);
    EXPECT_GT(exec::spin_time_for(16, 4000).count(), 0);
    EXPECT_LT(exec::spin_time_for(16, 4000), exec::DEFAULT_SPIN_TIME);
}

TEST(Ranges, the_rest_of_a_grid_is_shared_fairly) {
    TestDevice device;
    std::atomic<int> reports = 0;
    Fault fault;
    const auto grid = grid_of(device, 1000, reports, fault);
    const ClusterRange first = grid->take(1, 10);
    EXPECT_EQ(first.size(), 1u);
    const ClusterRange second = grid->take(1'000'000, 10);
    EXPECT_EQ(second.next, 1u);
    EXPECT_EQ(second.size(), 999u / 20);
    std::uint64_t taken = first.size() + second.size();
    std::uint64_t next = second.end;
    for (;;) {
        const ClusterRange range = grid->take(1'000'000, 10);
        if (range.is_empty()) {
            break;
        }
        EXPECT_EQ(range.next, next);
        EXPECT_GE(range.size(), 1u);
        next = range.end;
        taken += range.size();
    }
    EXPECT_EQ(taken, 1000u);
    EXPECT_FALSE(grid->has_fresh_blocks());
    grid->finish(999);
    EXPECT_EQ(reports, 0);
    grid->finish(1);
    EXPECT_EQ(reports, 1);
    EXPECT_EQ(fault.kind, FaultKind::None);
}

TEST(Ranges, what_is_given_back_is_taken_again) {
    TestDevice device;
    std::atomic<int> reports = 0;
    Fault fault;
    const auto grid = grid_of(device, 100, reports, fault);
    ClusterRange range = grid->take(50, 1);
    ASSERT_EQ(range.size(), 50u);
    range.next += 10; // ten of them have started
    EXPECT_EQ(grid->take(1000, 1).size(), 25u);
    EXPECT_TRUE(grid->give_back(range));
    EXPECT_TRUE(grid->has_fresh_blocks());
    std::vector<bool> is_taken(100, false);
    for (;;) {
        const ClusterRange again = grid->take(1000, 1);
        if (again.is_empty()) {
            break;
        }
        for (std::uint64_t i = again.next; i < again.end; ++i) {
            EXPECT_FALSE(is_taken[i]) << i;
            is_taken[i] = true;
        }
    }
    EXPECT_EQ(std::count(is_taken.begin(), is_taken.end(), true), 40 + 25);
    EXPECT_FALSE(is_taken[9]);
    EXPECT_TRUE(is_taken[10]);
}

TEST(Ranges, what_is_given_back_starts_in_its_order) {
    TestDevice device;
    std::atomic<int> reports = 0;
    Fault fault;
    const auto grid = grid_of(device, 1000, reports, fault);
    const ClusterRange early = grid->take(10, 1);
    const ClusterRange late = grid->take(10, 1);
    ASSERT_TRUE(grid->give_back(early));
    ASSERT_TRUE(grid->give_back(late));
    std::vector<std::uint64_t> order;
    while (order.size() < 30) {
        for (ClusterRange range = grid->take(4, 1); !range.is_empty(); ++range.next) {
            order.push_back(range.next);
        }
    }
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(Ranges, what_is_given_back_starts_even_if_many_blocks_wait) {
    TestDevice device;
    std::atomic<int> reports = 0;
    Fault fault;
    const auto grid = grid_of(device, 100'000, reports, fault);
    const ClusterRange early = grid->take(10, 1);
    int waiting = 0;
    for (; grid->may_start_more() && waiting < 100'000; ++waiting) {
        grid->add_suspended(1);
    }
    ASSERT_LT(waiting, 100'000) << "memory must have a limit";
    EXPECT_GE(waiting, 256);
    ASSERT_TRUE(grid->give_back(early));
    for (std::uint64_t next = early.next; next != early.end; ++next) {
        ASSERT_TRUE(grid->may_start_more()) << "those that wait may wait for this one";
        const ClusterRange range = grid->take(10, 1);
        EXPECT_EQ(range.next, next);
        EXPECT_EQ(range.size(), 1u) << "it may have to wait, too";
    }
    EXPECT_FALSE(grid->may_start_more());
    EXPECT_TRUE(grid->has_fresh_blocks());
}

TEST(Ranges, blocks_may_wait_for_those_before_them) {
    // The cheap blocks at the beginning make the ranges long. Then each block waits for the one
    // before it, as in a scan over all blocks; every 97th one computes for longer.
    constexpr std::uint32_t blocks = 24'000;
    for (const bool is_random : {false, true}) {
        Engine::instance().configure(
            {.worker_count = 4, .watchdog_seconds = 30, .is_random = is_random, .seed = 7});
        TestDevice device;
        auto* const done = device.allocate<std::uint32_t>(blocks);
        const Fault fault = run(device, R"(
.visible .entry chain(.param .u64 done) {
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [done];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd2, %rd2, %rd1;
    mov.u32 %r6, 1;
    setp.le.u32 %p1, %r1, 20000;
    @%p1 bra END;
    rem.u32 %r2, %r1, 97;
    setp.ne.u32 %p2, %r2, 0;
    @%p2 bra SPIN;
    mov.u32 %r4, 0;
LOOP:
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p3, %r4, 2000;
    @%p3 bra LOOP;
SPIN:
    ld.volatile.global.u32 %r5, [%rd2+-4];
    setp.eq.u32 %p2, %r5, 0;
    @%p2 bra SPIN;
    add.u32 %r6, %r5, 1;
END:
    st.volatile.global.u32 [%rd2], %r6;
    ret;
})",
                                {.grid = blocks, .block = 1}, done);
        EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
        EXPECT_EQ(done[blocks - 1], blocks - 20'000);
    }
    Engine::instance().configure({});
}

TEST(Ranges, a_failed_grid_counts_what_was_given_back) {
    TestDevice device;
    std::atomic<int> reports = 0;
    Fault fault;
    const auto grid = grid_of(device, 100, reports, fault);
    ClusterRange mine = grid->take(20, 1);
    const ClusterRange other = grid->take(20, 1);
    mine.next += 5;
    ASSERT_TRUE(grid->give_back(mine));
    grid->fail({FaultKind::Trap, "stopped"});
    EXPECT_FALSE(grid->give_back(other)) << "the caller counts these";
    EXPECT_FALSE(grid->has_fresh_blocks());
    grid->finish(5);
    EXPECT_EQ(reports, 0);
    grid->finish(other.size());
    EXPECT_EQ(reports, 1);
    EXPECT_EQ(fault.report, "stopped");
}

} // namespace cuprum::emulator
