// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The order of execution: random schedules that can be repeated.

#include "exec/grid.hpp"
#include "exec/harness.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>
#include <vector>

namespace cuprum::emulator {

namespace {

using exec::Engine;
using test::run;
using test::Shape;
using test::TestDevice;

/// Runs a kernel in which every thread takes a ticket, with odd and even lanes on different paths.
/// Returns the tickets by thread.
std::vector<std::uint32_t> tickets_of(Shape shape) {
    TestDevice device;
    auto* const next = device.allocate<std::uint32_t>(1);
    auto* const out = device.allocate<std::uint32_t>(shape.grid * shape.block);
    const Fault fault = run(device, R"(
.visible .entry take(.param .u64 next, .param .u64 out) {
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [next];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %rd3, %r4, 4;
    add.u64 %rd4, %rd2, %rd3;
    and.b32 %r5, %r1, 1;
    setp.eq.u32 %p1, %r5, 1;
    @%p1 bra ODD;
    atom.global.add.u32 %r6, [%rd1], 1;
    bra END;
ODD:
    atom.global.add.u32 %r6, [%rd1], 1;
END:
    st.global.u32 [%rd4], %r6;
    ret;
})",
                            shape, next, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    return {out, out + shape.grid * shape.block};
}

std::vector<std::uint32_t> tickets(const exec::EngineSettings& settings, Shape shape) {
    Engine::instance().configure(settings);
    return tickets_of(shape);
}

/// Returns whether every number below the count occurs exactly once.
bool is_permutation(std::vector<std::uint32_t> values) {
    std::ranges::sort(values);
    std::vector<std::uint32_t> expected(values.size());
    std::iota(expected.begin(), expected.end(), 0u);
    return values == expected;
}

exec::EngineSettings random_with(std::uint64_t seed) {
    return {.worker_count = 1, .is_random = true, .seed = seed};
}

TEST(Schedule, the_deterministic_one_runs_blocks_and_warps_in_order) {
    const auto order = tickets({.worker_count = 1}, {.grid = 12, .block = 64});
    EXPECT_TRUE(is_permutation(order));
    for (std::size_t block = 0; block < 12; ++block) {
        EXPECT_EQ(order[block * 64], block * 64) << "the first lane of each block comes first";
        EXPECT_EQ(order[block * 64 + 32], block * 64 + 32) << "warp 1 comes after warp 0";
        EXPECT_EQ(order[block * 64 + 2], block * 64 + 1) << "the lower path comes first";
    }
}

TEST(Schedule, a_random_one_shakes_blocks_warps_and_diverged_lanes) {
    const Shape shape{.grid = 37, .block = 96};
    const auto order = tickets(random_with(1), shape);
    EXPECT_TRUE(is_permutation(order));
    std::vector<std::uint32_t> first_of_block;
    bool is_warp_out_of_order = false;
    bool is_path_out_of_order = false;
    for (std::size_t block = 0; block < shape.grid; ++block) {
        const std::uint32_t* const mine = order.data() + block * shape.block;
        first_of_block.push_back(*std::min_element(mine, mine + shape.block));
        is_warp_out_of_order |= mine[32] < mine[0] || mine[64] < mine[32];
        is_path_out_of_order |= mine[1] < mine[0];
    }
    EXPECT_FALSE(std::ranges::is_sorted(first_of_block));
    EXPECT_TRUE(is_warp_out_of_order);
    EXPECT_TRUE(is_path_out_of_order);
}

TEST(Schedule, grids_of_any_size_run_every_block_once) {
    for (std::uint32_t blocks : {1u, 2u, 3u, 6u, 64u, 97u, 1000u}) {
        EXPECT_TRUE(is_permutation(tickets(random_with(blocks), {.grid = blocks, .block = 2})))
            << blocks;
    }
}

TEST(Schedule, the_same_seed_gives_the_same_run) {
    const Shape shape{.grid = 23, .block = 96};
    const auto first = tickets(random_with(77), shape);
    EXPECT_EQ(tickets(random_with(77), shape), first);
    EXPECT_EQ(tickets(random_with(77), shape), first);
}

TEST(Schedule, one_worker_repeats_a_run_in_which_blocks_yield) {
    // Every seventh block loops for so long that others have their turn meanwhile.
    const std::string text = R"(
.visible .entry take(.param .u64 next, .param .u64 out) {
    .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [next];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd2, %rd3;
    rem.u32 %r2, %r1, 7;
    setp.ne.u32 %p1, %r2, 3;
    @%p1 bra TAKE;
    mov.u32 %r3, 100000;
LOOP:
    sub.u32 %r3, %r3, 1;
    setp.ne.u32 %p2, %r3, 0;
    @%p2 bra LOOP;
TAKE:
    atom.global.add.u32 %r4, [%rd1], 1;
    st.global.u32 [%rd4], %r4;
    ret;
})";
    constexpr std::uint32_t blocks = 600;
    for (const bool is_random : {false, true}) {
        std::vector<std::uint32_t> first;
        for (int i = 0; i < 6; ++i) {
            Engine::instance().configure(is_random ? random_with(3)
                                                   : exec::EngineSettings{.worker_count = 1});
            // What the worker did before has no effect.
            std::atomic<int> tasks = 0;
            while (tasks != i % 3) {
                const int before = tasks;
                ASSERT_TRUE(Engine::instance().post([&] {
                    ++tasks;
                    tasks.notify_all();
                }));
                tasks.wait(before);
            }
            TestDevice device;
            auto* const next = device.allocate<std::uint32_t>(1);
            auto* const out = device.allocate<std::uint32_t>(blocks);
            const Fault fault = run(device, text, {.grid = blocks, .block = 1}, next, out);
            ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
            const std::vector<std::uint32_t> order(out, out + blocks);
            first = i == 0 ? order : first;
            EXPECT_EQ(order, first) << "run " << i << (is_random ? ", random" : "");
        }
    }
}

TEST(Schedule, other_seeds_give_other_orders) {
    const Shape shape{.grid = 16, .block = 64};
    EXPECT_NE(tickets(random_with(1), shape), tickets(random_with(2), shape));
}

TEST(Schedule, the_order_of_a_grid_does_not_depend_on_the_grids_before_it) {
    // Kernels of several streams become ready in an order that differs from run to run.
    const Shape shape{.grid = 23, .block = 96, .grid_id = 5};
    const auto alone = tickets(random_with(77), shape);
    Engine::instance().configure(random_with(77));
    TestDevice device;
    for (int others = 0; others < 3; ++others) {
        (void)run(device, ".visible .entry other() { ret; }", {});
        EXPECT_EQ(tickets_of(shape), alone) << others << " others";
    }
    Shape other = shape;
    other.grid_id = 6;
    EXPECT_NE(tickets_of(other), alone);
}

TEST(Schedule, the_runs_of_a_grid_differ) {
    Engine::instance().configure(random_with(77));
    TestDevice device;
    std::atomic<int> reports = 0;
    exec::GridLaunch launch;
    launch.kernel = device.compile(test::ptx_module(".visible .entry k() { ret; }"));
    ASSERT_TRUE(launch.kernel) << device.log;
    launch.memory = &device.map();
    launch.grid[0] = 1000;
    exec::Grid grid(std::move(launch), [&](const Fault*) { ++reports; }, true);
    std::set<std::uint64_t> first_blocks;
    for (int i = 0; i < 10; ++i) {
        grid.shuffle(7, 1);
        first_blocks.insert(grid.cluster_at(0));
    }
    EXPECT_GT(first_blocks.size(), 5u);
}

TEST(Schedule, a_fault_says_how_to_repeat_it) {
    Engine::instance().configure(random_with(4711));
    TestDevice device;
    const Fault fault = run(device, ".visible .entry stop() { trap; }", {});
    EXPECT_EQ(fault.kind, FaultKind::Trap);
    EXPECT_NE(fault.report.find("CUPRUM_EMULATOR_SCHEDULE=random:4711"), std::string::npos)
        << fault.report;
}

/// Blocks wait for their turn like in CUTLASS's `Semaphore`: `while (__syncthreads_and(state !=
/// turn)) fetch();`, where only thread 0 fetches. Each adds to a sum that depends on the order.
constexpr const char* TURNS = R"(
.visible .entry turns(.param .u64 semaphore, .param .u64 sum) {
    .reg .pred %p<5>; .reg .b32 %r<8>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [semaphore];
    ld.param.u64 %rd2, [sum];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, -1;
    setp.eq.u32 %p1, %r1, 0;
    bra TEST;
FETCH:
    @%p1 ld.acquire.gpu.global.u32 %r3, [%rd1];
TEST:
    setp.ne.u32 %p2, %r3, %r2;
    barrier.cta.red.and.pred %p3, 0, %p2;
    @%p3 bra FETCH;
    bar.sync 0;
    @!%p1 bra RELEASE;
    ld.global.u32 %r4, [%rd2];
    mad.lo.u32 %r4, %r4, 3, %r2;
    st.global.u32 [%rd2], %r4;
RELEASE:
    bar.sync 0;
    add.u32 %r5, %r2, 1;
    @%p1 st.release.gpu.global.u32 [%rd1], %r5;
    ret;
})";

TEST(Schedule, a_spin_loop_with_a_barrier_in_it_gives_way_to_other_blocks) {
    constexpr std::uint32_t blocks = 9;
    std::uint32_t expected = 0;
    for (std::uint32_t block = 0; block < blocks; ++block) {
        expected = expected * 3 + block;
    }
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        Engine::instance().configure(seed == 0 ? exec::EngineSettings{.worker_count = 1}
                                               : random_with(seed));
        for (const std::uint32_t threads : {32u, 64u, 256u}) {
            TestDevice device;
            auto* const semaphore = device.allocate<std::uint32_t>(1);
            auto* const sum = device.allocate<std::uint32_t>(1);
            const Fault fault =
                run(device, TURNS, {.grid = blocks, .block = threads}, semaphore, sum);
            ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
            EXPECT_EQ(*sum, expected) << "seed " << seed << ", " << threads << " threads";
        }
    }
    Engine::instance().configure({});
}

} // namespace

} // namespace cuprum::emulator
