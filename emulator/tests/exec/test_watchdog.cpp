// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The watchdog: kernels that hang are ended with a report, and kernels that are only slow are not.

#include "exec/harness.hpp"
#include "exec/published_code.hpp"
#include "exec/watchdog.hpp"
#include "interp/probe.hpp"

#include <chrono>
#include <sys/ptrace.h>
#include <thread>

namespace cuprum::emulator {

namespace {

using exec::Engine;
using test::Launch;
using test::ptx_module;
using test::Shape;
using test::TestDevice;
using U = std::uint32_t;

/// How long slow kernels run: twice the watchdog's time, and more.
constexpr std::chrono::milliseconds SLOW{2500};

class Watchdog : public testing::Test {
protected:
    // Two workers, so that some blocks are suspended and appear in reports, on any machine.
    void SetUp() override {
        Engine::instance().configure({.worker_count = 2, .watchdog_seconds = 1});
    }

    void TearDown() override { Engine::instance().configure({}); }

    [[nodiscard]] std::shared_ptr<const bytecode::Kernel> compile(const std::string& body) {
        auto kernel = device_.compile(ptx_module(
            ".visible .entry k(.param .u64 flag, .param .u32 count) {\n"
            ".reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .shared .align 8 .b64 s[4];\n"
            "ld.param.u64 %rd1, [flag]; ld.param.u32 %r9, [count];\n"
            "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n" +
            body + "\nret;\n}"));
        EXPECT_TRUE(kernel) << device_.log;
        return kernel;
    }

    /// Runs a kernel that hangs. Expects a report with all parts.
    void expect_hang(const std::string& body, Shape shape,
                     std::initializer_list<const char*> parts) {
        auto* const flag = device_.allocate<U>(16);
        const auto kernel = compile(body);
        ASSERT_TRUE(kernel);
        const Fault fault = Launch(device_, kernel, shape, flag, U{0}).wait();
        EXPECT_EQ(fault.kind, FaultKind::Timeout) << fault.report;
        EXPECT_TRUE(fault.report.starts_with("deadlock: for 1 seconds")) << fault.report;
        EXPECT_NE(fault.report.find("in kernel k, block ("), std::string::npos) << fault.report;
        for (const char* part : parts) {
            EXPECT_NE(fault.report.find(part), std::string::npos) << part << "\n" << fault.report;
        }
    }

    /// Runs a kernel whose parameter `count` decides how long it takes, first shortly, then so that
    /// it takes longer than the watchdog allows kernels that hang.
    void expect_slow(const std::string& body, Shape shape, U first_count) {
        auto* const flag = device_.allocate<U>(16);
        const auto kernel = compile(body);
        ASSERT_TRUE(kernel);
        const auto time = [&](U count) {
            std::memset(flag, 0, 16 * sizeof(U));
            const auto begin = std::chrono::steady_clock::now();
            const Fault fault = Launch(device_, kernel, shape, flag, count).wait();
            EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin);
        };
        double count = first_count;
        std::chrono::duration<double> took = time(first_count);
        while (took < SLOW && count < 4e9 && !HasFailure()) {
            count = std::min(4e9, count * std::clamp(1.2 * SLOW / took, 1.5, 100.0));
            took = time(static_cast<U>(count));
        }
        EXPECT_GE(took, SLOW);
    }

    TestDevice device_;
};

} // namespace

// ---- kernels that hang --------------------------------------------------------------------------

TEST_F(Watchdog, ends_a_wait_for_a_flag_in_global_memory) {
    expect_hang(
        "setp.lt.u32 %p1, %r1, 32; @!%p1 bra MEET;\n"
        "SPIN: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra SPIN;\n"
        "MEET: bar.sync 0;",
        {.grid = 2, .block = 64},
        {"warp 0: lanes 0-31 repeat a loop that waits for a value in memory",
         "at PTX line 9: ld.volatile.global.u32 %r3, [%rd1];",
         "warp 1: lanes 0-31 wait at barrier 0", "(CUPRUM_EMULATOR_WATCHDOG)"});
}

TEST_F(Watchdog, names_a_block_that_another_worker_runs) {
    // Two blocks on two workers: neither is suspended.
    auto* const flag = device_.allocate<U>(16);
    const auto kernel = compile(
        "LOOP: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p1, %r3, 0; @%p1 bra LOOP;");
    ASSERT_TRUE(kernel);
    const Fault fault = Launch(device_, kernel, Shape{.grid = 2}, flag, U{0}).wait();
    EXPECT_EQ(fault.kind, FaultKind::Timeout) << fault.report;
    for (const char* block : {"block (0, 0, 0)", "block (1, 0, 0)"}) {
        EXPECT_NE(fault.report.find(block), std::string::npos) << fault.report;
    }
}

TEST_F(Watchdog, ends_a_wait_for_a_flag_in_shared_memory) {
    expect_hang("st.shared.u32 [s], 0; bar.sync 0;\n"
                "SPIN: ld.volatile.shared.u32 %r3, [s]; setp.eq.u32 %p2, %r3, 0; @%p2 bra SPIN;",
                {.block = 96}, {"warp 2: lanes 0-31 repeat a loop", "ld.volatile.shared.u32"});
}

TEST_F(Watchdog, ends_a_wait_for_a_lock_that_nobody_releases) {
    // All threads but one wait for a lock, whose owner exits with it.
    expect_hang("LOCK: atom.global.cas.b32 %r3, [%rd1], 0, 1; setp.ne.u32 %p2, %r3, 0;\n"
                "@%p2 bra LOCK;",
                {.grid = 3, .block = 64}, {"a value in memory", "atom.global.cas.b32"});
}

TEST_F(Watchdog, ends_a_wait_by_atomics_that_change_nothing) {
    expect_hang("SPIN: atom.global.add.u32 %r3, [%rd1], 0; setp.eq.u32 %p2, %r3, 0;\n"
                "@%p2 bra SPIN;",
                {}, {"atom.global.add.u32"});
    expect_hang("mov.u32 %r4, 1; st.global.u32 [%rd1], %r4;\n"
                "SPIN: atom.global.exch.b32 %r3, [%rd1], 1; setp.eq.u32 %p2, %r3, 1;\n"
                "@%p2 bra SPIN;",
                {}, {"atom.global.exch.b32"});
}

TEST_F(Watchdog, ends_waits_by_atomics_whatever_is_checked) {
    // Three blocks wait in three ways, and each would be enough to go on for ever.
    const std::string body =
        "setp.eq.u32 %p1, %r2, 1; @%p1 bra EXCHANGE; setp.eq.u32 %p1, %r2, 2; @%p1 bra ADD;\n"
        "COMPARE: atom.global.cas.b32 %r3, [%rd1], 1, 1; setp.ne.u32 %p2, %r3, 0;\n"
        "@%p2 bra COMPARE; ret;\n"
        "EXCHANGE: atom.global.exch.b32 %r3, [%rd1], 1; setp.eq.u32 %p2, %r3, 1;\n"
        "@%p2 bra EXCHANGE; ret;\n"
        "ADD: atom.global.add.u32 %r3, [%rd1], 0; setp.eq.u32 %p2, %r3, 1; @%p2 bra ADD;";
    for (const std::uint8_t checks :
         {CHECK_MEMORY, CHECK_INITIALIZED, CHECK_RACES, CHECK_GRAPHS, SHAKE}) {
        SCOPED_TRACE(checks);
        device_.enable_checks(checks);
        auto* const flag = device_.allocate<U>(16);
        *flag = 1;
        const auto kernel = compile(body);
        ASSERT_TRUE(kernel);
        const Fault fault = Launch(device_, kernel, Shape{.grid = 3}, flag, U{0}).wait();
        EXPECT_EQ(fault.kind, FaultKind::Timeout) << fault.report;
        EXPECT_NE(fault.report.find("for a value in memory"), std::string::npos) << fault.report;
    }
}

TEST_F(Watchdog, ends_a_wait_with_calls_and_checks) {
    // The checks record what is passed to the function, which recursion keeps from being inlined.
    device_.enable_checks(CHECK_INITIALIZED);
    const auto kernel = device_.compile(ptx_module(R"(
.func (.param .b32 result) deep(.param .align 4 .b8 pair[8]) {
    .reg .pred %p; .reg .b32 %r<3>;
    ld.param.u32 %r1, [pair];
    setp.eq.u32 %p, %r1, 0;
    @%p bra DONE;
    .param .align 4 .b8 passed[8];
    .param .b32 back;
    sub.u32 %r1, %r1, 1;
    st.param.b32 [passed], %r1;
    st.param.b32 [passed+4], %r1;
    call (back), deep, (passed);
DONE:
    st.param.b32 [result], %r1;
    ret;
}
.visible .entry k(.param .u64 flag) {
    .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd;
    .param .align 4 .b8 passed[8];
    .param .b32 back;
    ld.param.u64 %rd, [flag];
SPIN:
    st.param.b32 [passed], 2;
    st.param.b32 [passed+4], 2;
    call (back), deep, (passed);
    ld.param.b32 %r2, [back];
    ld.volatile.global.u32 %r1, [%rd];
    setp.eq.u32 %p, %r1, 0;
    @%p bra SPIN;
    ret;
})"));
    ASSERT_TRUE(kernel) << device_.log;
    auto* const flag = device_.allocate<U>(16);
    const Fault fault = Launch(device_, kernel, Shape{}, flag).wait();
    EXPECT_EQ(fault.kind, FaultKind::Timeout) << fault.report;
}

TEST_F(Watchdog, ends_a_wait_that_sleeps_longer_and_longer) {
    expect_hang("mov.u32 %r4, 8;\n"
                "SPIN: ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.ne.u32 %p2, %r3, 0;\n"
                "@%p2 bra DONE; nanosleep.u32 %r4; setp.lt.u32 %p3, %r4, 256;\n"
                "@%p3 shl.b32 %r4, %r4, 1; bra SPIN; DONE:",
                {.grid = 4}, {"a loop that waits for a value in memory"}); // asleep or reading
}

TEST_F(Watchdog, ends_a_wait_for_an_mbarrier_and_shows_its_counts) {
    // The loop also watches a flag, so that the wait cannot simply block.
    expect_hang("setp.ne.u32 %p1, %r1, 0; @%p1 bra WAIT;\n"
                "mbarrier.init.shared.b64 [s], 3;\n"
                "mbarrier.arrive.shared.b64 %rd3, [s];\n"
                "WAIT: bar.sync 0; mov.b64 %rd3, 0;\n"
                "SPIN: mbarrier.test_wait.parity.shared.b64 %p2, [s], 0; @%p2 bra DONE;\n"
                "ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p3, %r3, 0; @%p3 bra SPIN;\n"
                "DONE:",
                {.block = 64},
                {"for the mbarrier at byte 0 of shared memory, whose phase needs 2 more arrivals "
                 "(parity 0",
                 "mbarrier.test_wait", "for a value in memory"});
}

TEST_F(Watchdog, ends_barriers_whose_other_threads_wait_for_a_flag) {
    // Warp 0 waits at a named barrier for warp 1, which waits for a flag.
    expect_hang("setp.lt.u32 %p1, %r1, 32; @%p1 bra MEET;\n"
                "SPIN: ld.volatile.shared.u32 %r3, [s]; setp.ne.u32 %p2, %r3, 77; @%p2 bra SPIN;\n"
                "MEET: bar.sync 3, 64;",
                {.block = 64},
                {"warp 0: lanes 0-31 wait at barrier 3, where 32 of 64", "warp 1: lanes 0-31 "
                                                                         "repeat a loop"});
}

TEST_F(Watchdog, ends_a_cluster_whose_other_block_waits_for_a_flag) {
    const std::string body =
        "setp.eq.u32 %p1, %r2, 0; @%p1 bra MEET;\n"
        "SPIN: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra SPIN;\n"
        "MEET: barrier.cluster.arrive; barrier.cluster.wait;";
    auto* const flag = device_.allocate<U>(16);
    const auto kernel = device_.compile(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 flag) {\n"
        ".reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
        "ld.param.u64 %rd1, [flag]; mov.u32 %r2, %ctaid.x;\n" +
        body + "\nret;\n}");
    ASSERT_TRUE(kernel) << device_.log;
    const Fault fault = Launch(device_, kernel, Shape{.grid = 2, .cluster = 2}, flag).wait();
    EXPECT_EQ(fault.kind, FaultKind::Timeout) << fault.report;
    for (const char* part :
         {"block (0, 0, 0)", "wait at the barrier of the cluster, where 32 of 64",
          "block (1, 0, 0)", "repeat a loop that waits for a value in memory"}) {
        EXPECT_NE(fault.report.find(part), std::string::npos) << part << "\n" << fault.report;
    }
}

TEST_F(Watchdog, ends_a_grid_barrier_that_one_block_misses) {
    expect_hang(
        "setp.eq.u32 %p1, %r2, 2; @%p1 ret;\n"
        "setp.ne.u32 %p2, %r1, 0; @%p2 bra MEET; red.release.gpu.global.add.u32 [%rd1], 1;\n"
        "SPIN: ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.lt.u32 %p3, %r3, 8;\n"
        "@%p3 bra SPIN;\n"
        "MEET: bar.sync 0;",
        {.grid = 8, .block = 64, .is_cooperative = true},
        {"63 of 64 threads have arrived", "ld.acquire.gpu.global.u32"});
}

TEST_F(Watchdog, ends_blocks_that_wait_for_blocks_which_cannot_start) {
    // More blocks than a device holds at a time, without a cooperative launch.
    expect_hang("setp.ne.u32 %p2, %r1, 0; @%p2 bra MEET; red.global.add.u32 [%rd1], 1;\n"
                "SPIN: ld.volatile.global.u32 %r3, [%rd1]; setp.lt.u32 %p3, %r3, 2000;\n"
                "@%p3 bra SPIN;\n"
                "MEET: bar.sync 0;",
                {.grid = 2000, .block = 32}, {"more blocks"});
}

TEST_F(Watchdog, ends_a_wait_that_reads_a_clock_to_choose_how_long_to_sleep) {
    // As waits of libcu++ do.
    expect_hang("mov.u64 %rd3, %globaltimer;\n"
                "SPIN: ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.ne.u32 %p2, %r3, 0;\n"
                "@%p2 bra DONE; mov.u64 %rd4, %globaltimer; sub.u64 %rd5, %rd4, %rd3;\n"
                "shr.u64 %rd5, %rd5, 2; setp.lt.u64 %p3, %rd5, 1000000; @%p3 bra SHORT;\n"
                "mov.u32 %r4, 1000000; nanosleep.u32 %r4; bra SPIN;\n"
                "SHORT: cvt.u32.u64 %r4, %rd5; nanosleep.u32 %r4; bra SPIN; DONE:",
                {}, {"ld.acquire.gpu.global.u32"});
}

TEST_F(Watchdog, ends_a_loop_that_does_nothing) {
    expect_hang("HERE: bra HERE;", {}, {"warp 0: lanes 0-31 repeat a loop"});
}

TEST_F(Watchdog, knows_instructions_by_their_forms_and_not_by_their_handlers) {
    // Other code may have other handlers. The wait must still show its counts, and a sleep whose
    // guard depends on a clock must not look like a way out of the loop.
    const auto compiled =
        compile("mov.u64 %rd3, %globaltimer; setp.ne.u32 %p1, %r1, 0; @%p1 bra SPIN;\n"
                "mbarrier.init.shared.b64 [s], 3;\n"
                "SPIN: bar.warp.sync 0xffffffff;\n"
                "mbarrier.test_wait.parity.shared.b64 %p2, [s], 0; @%p2 bra DONE;\n"
                "mov.u64 %rd4, %globaltimer; sub.u64 %rd5, %rd4, %rd3; cvt.u32.u64 %r4, %rd5;\n"
                "and.b32 %r4, %r4, 1023; setp.lt.u32 %p3, %r4, 512; @%p3 nanosleep.u32 %r4;\n"
                "bra SPIN; DONE:");
    ASSERT_TRUE(compiled);
    const auto code = std::make_shared<test::CountingCode>(compiled);
    const auto kernel = test::CountingCode::kernel_with(code);
    code->publish_counting();
    device_.set_constants(kernel.get(), device_.constants(compiled.get()));
    auto* const flag = device_.allocate<U>(16);
    const Fault fault = Launch(device_, kernel, Shape{}, flag, U{0}).wait();
    EXPECT_EQ(fault.kind, FaultKind::Timeout) << fault.report;
    EXPECT_NE(fault.report.find("whose phase needs 3 more arrivals"), std::string::npos)
        << fault.report;
    EXPECT_GT(test::CountingCode::for_warps, 0u);
}

// ---- kernels that are slow ----------------------------------------------------------------------

TEST_F(Watchdog, leaves_a_computation_in_registers_alone) {
    expect_slow("mov.u32 %r3, 0; mov.u32 %r4, 7;\n"
                "LOOP: mad.lo.u32 %r4, %r4, 1664525, 1013904223; add.u32 %r3, %r3, 1;\n"
                "setp.lt.u32 %p1, %r3, %r9; @%p1 bra LOOP;\n"
                "st.global.u32 [%rd1], %r4;",
                {}, 2'000'000);
}

TEST_F(Watchdog, leaves_a_computation_in_shared_memory_alone) {
    // The inner loop has a round number of steps, so that blocks always yield at the same step.
    expect_slow("st.shared.u32 [s], 0; bar.sync 0;\n"
                "OUTER: mov.u32 %r3, 0;\n"
                "INNER: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 1024; @%p1 bra INNER;\n"
                "mov.u32 %r5, 0; ld.shared.u32 %r4, [s]; add.u32 %r4, %r4, 1; bar.sync 0;\n"
                "st.shared.u32 [s], %r4; setp.lt.u32 %p2, %r4, %r9; mov.u32 %r4, 0;\n"
                "bar.sync 0; @%p2 bra OUTER;",
                {.block = 32}, 1'000);
}

TEST_F(Watchdog, leaves_a_computation_in_global_memory_alone) {
    // Registers return to the same values; only a counter in memory moves.
    expect_slow("OUTER: mov.u32 %r3, 0;\n"
                "INNER: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 1024; @%p1 bra INNER;\n"
                "red.global.add.u32 [%rd1], 1; ld.volatile.global.u32 %r4, [%rd1];\n"
                "setp.lt.u32 %p2, %r4, %r9; mov.u32 %r4, 0; @%p2 bra OUTER;",
                {}, 32'000);
}

TEST_F(Watchdog, leaves_a_wait_for_a_computing_block_alone) {
    expect_slow("setp.ne.u32 %p1, %r2, 0; @%p1 bra SPIN;\n"
                "mov.u32 %r3, 0;\n"
                "LOOP: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r9; @%p1 bra LOOP;\n"
                "mov.u32 %r4, 1; st.release.gpu.global.u32 [%rd1], %r4; ret;\n"
                "SPIN: ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0;\n"
                "@%p2 bra SPIN;",
                {.grid = 4}, 1'000'000);
}

TEST_F(Watchdog, leaves_a_wait_for_the_clock_alone) {
    expect_slow("mov.u64 %rd3, %globaltimer; mul.wide.u32 %rd4, %r9, 1000000;\n"
                "SPIN: mov.u64 %rd5, %globaltimer; sub.u64 %rd6, %rd5, %rd3;\n"
                "setp.lt.u64 %p1, %rd6, %rd4; @%p1 bra SPIN;",
                {}, 2600);
}

TEST_F(Watchdog, leaves_a_wait_with_a_time_limit_alone) {
    expect_slow(
        "mov.u64 %rd3, %globaltimer; mul.wide.u32 %rd4, %r9, 1000000;\n"
        "SPIN: ld.volatile.global.u32 %r3, [%rd1]; setp.ne.u32 %p2, %r3, 0; @%p2 bra DONE;\n"
        "nanosleep.u32 1000; mov.u64 %rd5, %globaltimer; sub.u64 %rd6, %rd5, %rd3;\n"
        "setp.ge.u64 %p1, %rd6, %rd4; @%p1 exit; bra SPIN; DONE:",
        {.grid = 2}, 2600);
}

TEST_F(Watchdog, leaves_a_kernel_alone_while_no_host_thread_waits) {
    const auto kernel = compile("SPIN: ld.volatile.global.u32 %r3, [%rd1];\n"
                                "setp.eq.u32 %p2, %r3, 0; @%p2 bra SPIN;");
    ASSERT_TRUE(kernel);
    auto* const flag = device_.allocate<U>(16);
    Launch launch(device_, kernel, Shape{.grid = 3}, flag, U{0});
    std::this_thread::sleep_for(SLOW);
    std::atomic_ref(*flag).store(1);
    EXPECT_EQ(launch.wait().kind, FaultKind::None);
}

TEST_F(Watchdog, ends_a_kernel_whose_host_asks_again_and_again) {
    const auto kernel = compile("SPIN: ld.volatile.global.u32 %r3, [%rd1];\n"
                                "setp.eq.u32 %p2, %r3, 0; @%p2 bra SPIN;");
    ASSERT_TRUE(kernel);
    auto* const flag = device_.allocate<U>(16);
    Launch launch(device_, kernel, Shape{}, flag, U{0});
    while (!launch.is_done()) { // ctest ends this test if the watchdog does not
        Engine::instance().watchdog().note_poll();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(launch.wait().kind, FaultKind::Timeout);
}

TEST_F(Watchdog, waits_longer_if_the_host_can_write_memory_without_a_call) {
    Engine::instance().watchdog().add_host_memory(1);
    const auto kernel = compile("SPIN: ld.volatile.global.u32 %r3, [%rd1];\n"
                                "setp.eq.u32 %p2, %r3, 0; @%p2 bra SPIN;");
    ASSERT_TRUE(kernel);
    auto* const flag = device_.allocate<U>(16);
    Launch launch(device_, kernel, Shape{}, flag, U{0});
    std::thread other([&] {
        std::this_thread::sleep_for(SLOW);
        std::atomic_ref(*flag).store(1);
    });
    EXPECT_EQ(launch.wait().kind, FaultKind::None);
    other.join();
    Engine::instance().watchdog().add_host_memory(-1);
}

TEST_F(Watchdog, leaves_a_kernel_alone_while_a_host_function_runs) {
    Engine::instance().watchdog().add_host_function(1);
    const auto kernel = compile("SPIN: ld.volatile.global.u32 %r3, [%rd1];\n"
                                "setp.eq.u32 %p2, %r3, 0; @%p2 bra SPIN;");
    ASSERT_TRUE(kernel);
    auto* const flag = device_.allocate<U>(16);
    Launch launch(device_, kernel, Shape{}, flag, U{0});
    std::thread other([&] {
        std::this_thread::sleep_for(SLOW);
        std::atomic_ref(*flag).store(1);
        Engine::instance().watchdog().add_host_function(-1);
    });
    EXPECT_EQ(launch.wait().kind, FaultKind::None);
    other.join();
}

TEST(WatchdogSettings, a_debugger_turns_it_off) {
    // A new process: the engine's threads do not survive a fork. GoogleTest 1.11 has no
    // GTEST_FLAG_SET.
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_EXIT(
        {
            ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); // the test program is the debugger
            Engine::instance().configure({.watchdog_seconds = 1});
            TestDevice device;
            auto* const flag = device.allocate<U>(16);
            const auto kernel = device.compile(
                ptx_module(".visible .entry k(.param .u64 flag) { .reg .pred %p; .reg .b32 %r; "
                           ".reg .b64 %rd;\n"
                           "ld.param.u64 %rd, [flag]; SPIN: ld.volatile.global.u32 %r, [%rd];\n"
                           "setp.eq.u32 %p, %r, 0; @%p bra SPIN; ret; }"));
            Launch launch(device, kernel, Shape{}, flag);
            std::thread other([&] {
                std::this_thread::sleep_for(SLOW);
                std::atomic_ref(*flag).store(1);
            });
            const bool is_fine = launch.wait().kind == FaultKind::None;
            other.join();
            std::_Exit(is_fine ? 0 : 1);
        },
        testing::ExitedWithCode(0), "^$");
}

TEST(WatchdogSettings, a_strict_one_ends_slow_kernels_too) {
    Engine::instance().configure({.watchdog_seconds = 1, .is_watchdog_strict = true});
    TestDevice device;
    const Fault fault = test::run(device, R"(
.visible .entry count() {
    .reg .pred %p<2>; .reg .b64 %rd<2>;
    mov.u64 %rd1, 0;
LOOP:
    add.u64 %rd1, %rd1, 1;
    setp.ne.u64 %p1, %rd1, 0;
    @%p1 bra LOOP;
    ret;
})",
                                  {});
    Engine::instance().configure({});
    EXPECT_EQ(fault.kind, FaultKind::Timeout);
    EXPECT_NE(fault.report.find("timeout: no block has finished for 1 seconds "
                                "(CUPRUM_EMULATOR_WATCHDOG)"),
              std::string::npos)
        << fault.report;
    EXPECT_NE(fault.report.find("warp 0: lanes 0-31 can run"), std::string::npos) << fault.report;
}

TEST(Probe, knows_what_instructions_mean_for_others) {
    for (const char* text :
         {"ld.global.u32 %r1, [%rd1];", "@%p1 ld.volatile.u32 %r1, [%rd1];",
          "@!%p1 atom.global.cas.b32 %r1, [%rd1], 0, 1;", "ld.shared.u32 %r1, [%r2];",
          "tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1, %r2}];",
          "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2;"}) {
        EXPECT_EQ(effect_of(text), Effect::Reads) << text;
    }
    for (const char* text :
         {"st.global.u32 [%rd1], %r1;", "@%p1 st.u32 [%rd1], %r1;", "red.global.add.u32 [%rd1], 1;",
          "cp.async.bulk.global.shared::cta.bulk_group [%rd1], "
          "[%r1], 16;",
          "wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%rd1], {%r1, %r2, %r3, %r4};",
          "sust.b.2d.b32.trap [s, {%r1, %r2}], {%r3};", "call.uni (retval0), vprintf, (p0, p1);",
          "multimem.red.global.add.u32 [%rd1], %r1;"}) {
        EXPECT_EQ(effect_of(text), Effect::Writes) << text;
    }
    for (const char* text :
         {"add.u32 %r1, %r2, %r3;", "st.shared.u32 [%r1], %r2;", "st.local.u32 [%rd1], %r2;",
          "st.param.b32 [param0], %r1;", "ld.param.u64 %rd1, [flag];", "bar.sync 0;",
          "cp.async.ca.shared.global [%r1], [%rd1], 16;", "cp.async.wait_group 0;",
          "red.shared.add.u32 [%r1], 1;", "redux.sync.add.s32 %r1, %r2, -1;",
          "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};", "nanosleep.u32 100;", "ret;",
          ""}) {
        EXPECT_EQ(effect_of(text), Effect::None) << text;
    }
    EXPECT_EQ(effect_of("mov.u64 %rd1, %globaltimer;"), Effect::Clock);
    EXPECT_EQ(effect_of("mov.u32 %r1, %clock;"), Effect::Clock);
    EXPECT_EQ(effect_of("mov.u32 %r1, %tid.x;"), Effect::None);
}

} // namespace cuprum::emulator
