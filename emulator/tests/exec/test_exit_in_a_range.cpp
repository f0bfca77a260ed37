// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// These tests need their own process, because the engine cannot be started again.

#include "exec/harness.hpp"

#include <chrono>
#include <string>
#include <thread>

namespace cuprum::emulator {

TEST(ExitInARange, blocks_that_never_yield_do_not_hold_up_the_process) {
    test::TestDevice device;
    auto* const out = device.allocate<std::uint32_t>(256);
    // A block must be short, but all of them must take minutes on any machine. Blocks read
    // different words, because a team of blocks reads a common word once.
    std::string reads;
    for (int i = 0; i < 1000; ++i) {
        reads += "    ld.volatile.global.u32 %r1, [%rd1];\n";
    }
    const auto kernel = device.compile(test::ptx_module(R"(
.visible .entry count(.param .u64 out) {
    .reg .b32 %r<3>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r2, %ctaid.x;
    and.b32 %r2, %r2, 255;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd1, %rd1, %rd2;
)" + reads + R"(
    ret;
})"));
    ASSERT_TRUE(kernel) << device.log;
    test::Launch first(device, kernel, {.grid = 0x7fffffff, .block = 1024}, out);
    test::Launch second(device, kernel, {.grid = 0x7fffffff, .block = 32}, out);
    const auto begin = std::chrono::steady_clock::now();
    exec::Engine::instance().shutdown();
    const auto took = std::chrono::steady_clock::now() - begin;
    for (test::Launch* const launch : {&first, &second}) {
        const Fault fault = launch->wait();
        EXPECT_EQ(fault.kind, FaultKind::Timeout);
        EXPECT_NE(fault.report.find("the process exits while kernel count still runs"),
                  std::string::npos)
            << fault.report;
    }
    EXPECT_LT(took, std::chrono::seconds(20)) << "the grace is two seconds";
}

// The only worker takes ranges of a fixed size, whatever its blocks take.
TEST(ExitInARange, the_only_worker_stops_between_two_blocks) {
    exec::Engine::instance().configure({.worker_count = 1});
    test::TestDevice device;
    auto* const out = device.allocate<float>(1);
    std::string steps; // a block runs for about a tenth of a second and does not yield
    for (int i = 0; i < 20; ++i) {
        steps += "    fma.rn.f32 %f1, %f1, %f2, 0f3f000000;\n    ex2.approx.f32 %f2, %f1;\n";
    }
    const auto kernel = device.compile(test::ptx_module(R"(
.visible .entry count(.param .u64 out) {
    .reg .pred %p; .reg .b32 %r; .reg .f32 %f<3>; .reg .b64 %rd;
    ld.param.u64 %rd, [out];
    mov.u32 %r, 0; mov.f32 %f1, 0f3f800000; mov.f32 %f2, 0f3f800000;
AGAIN:
)" + steps + R"(
    add.u32 %r, %r, 1; setp.lt.u32 %p, %r, 2500; @%p bra AGAIN;
    st.global.f32 [%rd], %f1;
    ret;
})"));
    ASSERT_TRUE(kernel) << device.log;
    test::Launch launch(device, kernel, {.grid = 100'000, .block = 1024}, out);
    // Behind the first block, which is a range of its own.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const auto begin = std::chrono::steady_clock::now();
    exec::Engine::instance().shutdown();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
    EXPECT_EQ(launch.wait().kind, FaultKind::Timeout);
}

} // namespace cuprum::emulator
