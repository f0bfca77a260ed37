// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// nanosleep: threads sleep for the requested time, while other threads run.

#include "exec/harness.hpp"

#include <chrono>

namespace cuprum::emulator {

namespace {

using test::Launch;
using test::ptx_module;
using test::Shape;
using test::TestDevice;
using UL = std::uint64_t;

/// The two clocks may differ by a few microseconds.
constexpr UL TOLERANCE_NS = 50'000;

std::string kernel_of(const std::string& body) {
    return ptx_module(".visible .entry k(.param .u64 out) {\n"
                      ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
                      "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n"
                      "mul.wide.u32 %rd2, %r1, 8; add.u64 %rd2, %rd1, %rd2;\n" +
                      body + "\nret;\n}");
}

} // namespace

TEST(Sleep, lasts_as_long_as_it_says) {
    TestDevice device;
    auto* out = device.allocate<UL>(64);
    const auto kernel = device.compile(kernel_of("mov.u64 %rd3, %globaltimer;\n"
                                                 "nanosleep.u32 800000;\n"
                                                 "mov.u64 %rd4, %globaltimer;\n"
                                                 "sub.u64 %rd5, %rd4, %rd3;\n"
                                                 "st.global.u64 [%rd2], %rd5;"));
    ASSERT_TRUE(kernel) << device.log;
    EXPECT_EQ(Launch(device, kernel, Shape{.block = 64}, out).wait().kind, FaultKind::None);
    EXPECT_GE(out[0], 800'000u - TOLERANCE_NS);
    EXPECT_GE(out[63], 800'000u - TOLERANCE_NS);
}

TEST(Sleep, is_for_the_lanes_that_ask_for_it) {
    TestDevice device;
    auto* out = device.allocate<UL>(32);
    const auto kernel = device.compile(kernel_of("mov.u64 %rd3, %globaltimer;\n"
                                                 "setp.lt.u32 %p1, %r1, 4;\n"
                                                 "@%p1 nanosleep.u32 700000;\n"
                                                 "mov.u64 %rd4, %globaltimer;\n"
                                                 "sub.u64 %rd5, %rd4, %rd3;\n"
                                                 "st.global.u64 [%rd2], %rd5;"));
    ASSERT_TRUE(kernel) << device.log;
    EXPECT_EQ(Launch(device, kernel, Shape{}, out).wait().kind, FaultKind::None);
    EXPECT_GE(out[3], 700'000u - TOLERANCE_NS);
    EXPECT_LT(out[4], out[3]);
    EXPECT_LT(out[31], out[0]);
}

TEST(Sleep, lets_other_warps_and_lanes_go_on) {
    // Lane 0 of warp 0 waits for the flags of lane 1 and of warp 1, and sleeps most of the time.
    TestDevice device;
    auto* out = device.allocate<UL>(64);
    const auto kernel = device.compile(kernel_of("setp.eq.u32 %p1, %r1, 0; @%p1 bra WAIT;\n"
                                                 "st.volatile.global.u64 [%rd2], 1; bra DONE;\n"
                                                 "WAIT: nanosleep.u32 1000;\n"
                                                 "ld.volatile.global.u64 %rd3, [%rd1+8];\n"
                                                 "ld.volatile.global.u64 %rd4, [%rd1+256];\n"
                                                 "and.b64 %rd5, %rd3, %rd4;\n"
                                                 "setp.eq.u64 %p2, %rd5, 0; @%p2 bra WAIT;\n"
                                                 "st.volatile.global.u64 [%rd1], 2;\nDONE:"));
    ASSERT_TRUE(kernel) << device.log;
    EXPECT_EQ(Launch(device, kernel, Shape{.block = 64}, out).wait().kind, FaultKind::None);
    EXPECT_EQ(out[0], 2u);
    EXPECT_EQ(out[63], 1u);
}

TEST(Sleep, of_many_blocks_passes_at_the_same_time) {
    TestDevice device;
    auto* out = device.allocate<UL>(32);
    const auto kernel = device.compile(kernel_of("nanosleep.u32 1000000;"));
    ASSERT_TRUE(kernel) << device.log;
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(Launch(device, kernel, Shape{.grid = 512}, out).wait().kind, FaultKind::None);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(took.count(), 1.0);
    EXPECT_LT(took.count(), 256.0); // two workers take this long if blocks do not sleep at once
}

TEST(Sleep, does_not_keep_another_grid_from_running) {
    TestDevice device;
    auto* out = device.allocate<UL>(32);
    const auto sleeping = device.compile(
        kernel_of("LOOP: nanosleep.u32 1000000; ld.volatile.global.u64 %rd3, [%rd1];\n"
                  "setp.eq.u64 %p1, %rd3, 0; @%p1 bra LOOP;"));
    const auto waking = device.compile(kernel_of("st.volatile.global.u64 [%rd1], 1;"));
    ASSERT_TRUE(sleeping && waking) << device.log;
    Launch first(device, sleeping, Shape{.grid = 32}, out);
    Launch second(device, waking, Shape{.block = 1}, out);
    EXPECT_EQ(second.wait().kind, FaultKind::None);
    EXPECT_EQ(first.wait().kind, FaultKind::None);
}

TEST(Sleep, is_no_progress_for_the_watchdog) {
    TestDevice device;
    auto* out = device.allocate<UL>(32);
    const auto kernel = device.compile(kernel_of("LOOP: nanosleep.u32 100000; bra LOOP;"));
    ASSERT_TRUE(kernel) << device.log;
    exec::Engine::instance().configure({.watchdog_seconds = 1});
    const Fault fault = Launch(device, kernel, Shape{}, out).wait();
    exec::Engine::instance().configure({});
    EXPECT_EQ(fault.kind, FaultKind::Timeout);
    EXPECT_NE(fault.report.find("lanes 0-31 sleep"), std::string::npos) << fault.report;
}

} // namespace cuprum::emulator
