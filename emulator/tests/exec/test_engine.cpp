// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/harness.hpp"
#include "support/scaling.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <optional>

namespace cuprum::emulator {

namespace {

using test::Launch;
using test::ptx_module;
using test::run;
using test::Shape;
using test::TestDevice;

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

constexpr const char* WAIT_FOR_FLAG = R"(
.visible .entry wait_for_flag(.param .u64 flag, .param .u64 out) {
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [flag];
    ld.param.u64 %rd2, [out];
SPIN:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra SPIN;
    red.global.add.u32 [%rd2], 1;
    ret;
})";

constexpr const char* COUNT = R"(
.visible .entry count(.param .u64 out) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    red.global.add.u32 [%rd1], 1;
    ret;
})";

/// Every block waits for all others.
constexpr const char* TOGETHER = R"(
.visible .entry together(.param .u64 arrived, .param .u64 out) {
    .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [arrived];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %nctaid.x;
    red.global.add.u32 [%rd1], 1;
SPIN:
    ld.volatile.global.u32 %r3, [%rd1];
    setp.lt.u32 %p2, %r3, %r1;
    @%p2 bra SPIN;
    red.global.add.u32 [%rd2], 1;
    ret;
})";

} // namespace

TEST(Engine, all_blocks_of_a_large_grid_run_once) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(1);
    const Fault fault = run(device, COUNT, {.grid = 5000, .block = 33}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(*out, 165000u);
}

TEST(Engine, a_block_may_wait_for_a_later_block) {
    TestDevice device;
    auto* flag = device.allocate<std::uint32_t>(1);
    auto* out = device.allocate<std::uint32_t>(1);
    // The last block sets the flag that all others wait for.
    const Fault fault = run(device, R"(
.visible .entry chain(.param .u64 flag, .param .u64 out) {
    .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [flag];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %nctaid.x;
    sub.u32 %r2, %r2, 1;
    setp.eq.u32 %p1, %r1, %r2;
    @%p1 bra SET;
SPIN:
    ld.volatile.global.u32 %r3, [%rd1];
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra SPIN;
    red.global.add.u32 [%rd2], 1;
    ret;
SET:
    st.volatile.global.u32 [%rd1], 1;
    ret;
})",
                            {.grid = 100, .block = 64}, flag, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(*out, 99u * 64);
}

TEST(Engine, a_kernel_may_wait_for_the_host_while_others_run) {
    TestDevice device;
    auto* flag = device.allocate<std::uint32_t>(1);
    auto* out = device.allocate<std::uint32_t>(1);
    auto* other = device.allocate<std::uint32_t>(1);
    const auto waiting = device.compile(ptx_module(WAIT_FOR_FLAG));
    const auto counting = device.compile(ptx_module(COUNT));
    ASSERT_TRUE(waiting && counting) << device.log;
    Launch first(device, waiting, Shape{.grid = 8, .block = 64}, flag, out);
    Launch second(device, counting, Shape{.grid = 4}, other);
    EXPECT_EQ(second.wait().kind, FaultKind::None);
    EXPECT_EQ(*other, 128u);
    EXPECT_EQ(std::atomic_ref(*out).load(), 0u);
    std::atomic<bool> has_run = false;
    EXPECT_TRUE(exec::Engine::instance().post([&] { has_run = true; }));
    while (!has_run) {
    }
    std::atomic_ref(*flag).store(1);
    EXPECT_EQ(first.wait().kind, FaultKind::None);
    EXPECT_EQ(*out, 512u);
}

TEST(Engine, a_cooperative_grid_has_all_its_blocks_resident) {
    TestDevice device;
    auto* arrived = device.allocate<std::uint32_t>(1);
    auto* out = device.allocate<std::uint32_t>(1);
    // More blocks than an ordinary grid keeps resident.
    const Fault fault =
        run(device, TOGETHER, {.grid = 400, .block = 1, .is_cooperative = true}, arrived, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(*out, 400u);
}

TEST(Engine, all_blocks_that_the_device_holds_may_wait_for_each_other) {
    exec::Engine::instance().configure({.watchdog_seconds = 5});
    TestDevice device;
    auto* arrived = device.allocate<std::uint32_t>(1);
    auto* out = device.allocate<std::uint32_t>(1);
    // Programs ask how many blocks a multiprocessor holds, and start that many on each.
    for (const std::uint32_t multiprocessors : {16u, 40u}) {
        const std::uint32_t blocks = 32 * multiprocessors;
        *arrived = *out = 0;
        const Fault fault =
            run(device, TOGETHER, {.grid = blocks, .block = 1, .sm_count = multiprocessors},
                arrived, out);
        EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
        EXPECT_EQ(*out, blocks);
    }
    exec::Engine::instance().configure({});
}

TEST(Engine, what_follows_on_a_grid_need_not_wait_for_its_next_run) {
    exec::EngineSettings settings;
    settings.worker_count = 2;
    settings.watchdog_seconds = 5;
    exec::Engine& engine = exec::Engine::instance();
    engine.configure(settings);
    TestDevice device;
    const auto setting = device.compile(ptx_module(R"(
.visible .entry set(.param .u64 flag) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [flag];
    st.volatile.global.u32 [%rd1], 1;
    ret;
})"));
    // Of two blocks, one ends at once. The other waits for words[1], or for words[2] in the second
    // run.
    const auto waiting = device.compile(ptx_module(R"(
.visible .entry wait(.param .u64 words) {
    .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [words];
    atom.global.add.u32 %r1, [%rd1], 1;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 ret;
    shr.u32 %r1, %r1, 1;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd2, %rd2, %rd1;
SPIN:
    ld.volatile.global.u32 %r3, [%rd2+4];
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra SPIN;
    ret;
})"));
    ASSERT_TRUE(waiting && setting) << device.log;
    for (int round = 0; round < 50; ++round) {
        auto* const words = device.allocate<std::uint32_t>(3);
        const auto ended = std::make_shared<std::promise<FaultKind>>();
        std::optional<Launch> next;
        std::shared_ptr<exec::Grid> grid;
        exec::GridLaunch launch;
        launch.kernel = waiting;
        launch.memory = &device.map();
        launch.grid[0] = 2;
        launch.parameters.resize(sizeof words);
        std::memcpy(launch.parameters.data(), &words, sizeof words);
        int runs = 0;
        grid = exec::Engine::prepare(std::move(launch), [&, ended](const Fault* fault) {
            if (++runs == 2) {
                ended->set_value(fault != nullptr ? fault->kind : FaultKind::None);
                return;
            }
            next.emplace(device, setting, Shape{.block = 1}, words + 2);
            engine.start(grid, 0);
        });
        engine.start(grid, 0);
        // Often the block that ends at once has ended by now, and its worker is idle.
        std::this_thread::sleep_for(std::chrono::milliseconds(round % 5));
        std::atomic_ref(words[1]).store(1);
        const exec::HostWait host_waits;
        ASSERT_EQ(ended->get_future().get(), FaultKind::None) << "round " << round;
        EXPECT_EQ(next->wait().kind, FaultKind::None);
    }
    engine.configure({});
}

TEST(Engine, launches_are_cheap_and_all_are_reported) {
    TestDevice device;
    const auto kernel = device.compile(ptx_module(".visible .entry empty() { ret; }"));
    ASSERT_TRUE(kernel) << device.log;
    constexpr int COUNT_OF_LAUNCHES = 2000;
    std::atomic<int> done = 0;
    for (int i = 0; i < COUNT_OF_LAUNCHES; ++i) {
        exec::GridLaunch launch;
        launch.kernel = kernel;
        launch.memory = &device.map();
        exec::Engine::instance().submit(std::move(launch), [&](const Fault* fault) {
            EXPECT_EQ(fault, nullptr);
            ++done;
        });
    }
    while (done != COUNT_OF_LAUNCHES) {
    }
}

TEST(Engine, a_fault_names_kernel_block_thread_and_line) {
    TestDevice device;
    const Fault fault = run(device, R"(
.visible .entry trapped() {
    .reg .pred %p<2>; .reg .b32 %r<3>;
    mov.u32 %r1, %tid.y;
    mov.u32 %r2, %ctaid.x;
    setp.eq.u32 %p1, %r1, 3;
    setp.eq.and.u32 %p1, %r2, 2, %p1;
    @%p1 trap;
    ret;
})",
                            {.grid = 3, .block = 10, .block_y = 4});
    EXPECT_EQ(fault.kind, FaultKind::Trap);
    EXPECT_TRUE(contains(fault.report, "kernel trapped, block (2, 0, 0), thread (0, 3, 0)"))
        << fault.report;
    EXPECT_TRUE(contains(fault.report, "PTX line 11: @%p1 trap;")) << fault.report;
}

TEST(Engine, an_illegal_address_is_a_fault_and_the_engine_goes_on) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(1);
    const Fault fault = run(device, R"(
.visible .entry wild(.param .u64 out) {
    .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.global.u32 %r1, [%rd1];
    st.global.u32 [%rd1+4], %r1;
    ret;
})",
                            {.grid = 64}, std::uint64_t{16});
    EXPECT_EQ(fault.kind, FaultKind::IllegalAddress);
    EXPECT_TRUE(contains(fault.report, "kernel wild")) << fault.report;
    EXPECT_TRUE(contains(fault.report, "ld.global.u32 %r1, [%rd1];")) << fault.report;
    EXPECT_EQ(run(device, COUNT, {}, out).kind, FaultKind::None);
    EXPECT_EQ(*out, 32u);
}

TEST(Engine, source_lines_are_in_the_report) {
    TestDevice device;
    const Fault fault = run(device, R"(
.visible .entry lined() {
    .loc 1 42 3
    trap;
    ret;
}
.file 1 "kernels/lined.cu"
)",
                            {});
    EXPECT_EQ(fault.kind, FaultKind::Trap);
    EXPECT_TRUE(contains(fault.report, "kernels/lined.cu:42")) << fault.report;
}

TEST(Engine, what_a_grid_holds_may_add_work_when_it_is_released) {
    // Nothing of a grid may be released under the mutex of the queues, which post() locks.
    struct Poster {
        std::atomic<int>* released;

        ~Poster() {
            EXPECT_TRUE(exec::Engine::instance().post([] {}));
            ++*released;
        }
    };

    std::atomic<int> released = 0;
    TestDevice device;
    const auto kernel = device.compile(ptx_module(".visible .entry empty() { ret; }"));
    ASSERT_TRUE(kernel) << device.log;
    constexpr int launches = 200;
    for (int i = 0; i < launches; ++i) {
        exec::GridLaunch launch;
        launch.kernel = kernel;
        launch.constants = device.constants(kernel.get());
        launch.memory = &device.map();
        launch.sm_count = 1;
        launch.grid[0] = i % 2 == 0 ? 1 : 64;
        launch.describe_launch = [poster = std::make_shared<Poster>(&released)] {
            return poster == nullptr ? std::string() : std::string();
        };
        std::promise<void> done;
        exec::Engine::instance().submit(std::move(launch), [&](const Fault*) { done.set_value(); });
        done.get_future().wait();
    }
    for (int i = 0; i < 10'000 && released < launches; ++i) {
        Launch(device, kernel, Shape{}).wait(); // workers look at the queues, and leave them
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(released, launches);
}

TEST(Engine, grids_that_are_ready_together_take_linear_time) {
    const auto run_together = [](std::size_t count) {
        constexpr std::uint32_t workers = 2;
        test::restart_engine({.worker_count = workers});
        TestDevice device;
        const auto kernel = device.compile(ptx_module(".visible .entry empty() { ret; }"));
        EXPECT_TRUE(kernel) << device.log;
        std::promise<void> begin;
        std::promise<void> end;
        std::atomic<std::size_t> running = count;
        const auto may_begin = begin.get_future().share();
        for (std::uint32_t worker = 0; worker < workers; ++worker) {
            EXPECT_TRUE(exec::Engine::instance().post([may_begin] { may_begin.wait(); }));
        }
        for (std::size_t number = 0; number < count; ++number) {
            exec::GridLaunch launch;
            launch.kernel = kernel;
            launch.memory = &device.map();
            launch.sm_count = 1;
            launch.grid[0] = 2;
            exec::Engine::instance().submit(std::move(launch), [&](const Fault*) {
                if (--running == 0) {
                    end.set_value();
                }
            });
        }
        const auto microseconds = [] {
            std::timespec time{};
            ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
            return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
        };
        const double start = microseconds();
        begin.set_value();
        end.get_future().wait();
        Launch(device, kernel, {}).wait(); // whoever looks for work again pays for what is left
        exec::Engine::instance().reset();
        return microseconds() - start;
    };
    test::expect_scales(1000, run_together);
}

TEST(Engine, workers_stand_still_whenever_they_are_held) {
    test::restart_engine({.worker_count = 3});
    TestDevice device;
    auto* words = device.allocate<std::uint32_t>(2);
    const auto kernel = device.compile(ptx_module(R"(
.visible .entry count(.param .u64 words) {
    .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [words];
LOOP:
    atom.global.add.u32 %r1, [%rd1], 1;
    ld.volatile.global.u32 %r2, [%rd1+4];
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra LOOP;
    ret;
})"));
    ASSERT_TRUE(kernel) << device.log;
    Launch launch(device, kernel, {.grid = 3, .block = 1}, words);
    const auto count = [&] { return __atomic_load_n(words, __ATOMIC_SEQ_CST); };
    for (int round = 0; round < 2000 && !HasFailure(); ++round) {
        ASSERT_TRUE(exec::Engine::instance().hold(std::chrono::seconds(30)));
        const std::uint32_t before = count();
        for (int look = 0; look < 2000; ++look) { // workers that go on would count in the meantime
            EXPECT_EQ(count(), before) << "round " << round;
        }
        exec::Engine::instance().release();
    }
    __atomic_store_n(words + 1, 1u, __ATOMIC_SEQ_CST);
    EXPECT_EQ(launch.wait().kind, FaultKind::None);
}

} // namespace cuprum::emulator
