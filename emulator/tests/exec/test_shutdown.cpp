// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/harness.hpp"

#include <atomic>

namespace cuprum::emulator {

namespace {

constexpr const char* FOREVER = R"(
.visible .entry forever(.param .u64 flag) {
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [flag];
SPIN:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra SPIN;
    ret;
})";

} // namespace

TEST(Shutdown, a_running_kernel_is_given_up_and_later_work_is_refused) {
    test::TestDevice device;
    auto* flag = device.allocate<std::uint32_t>(1);
    const auto kernel = device.compile(test::ptx_module(FOREVER));
    ASSERT_TRUE(kernel) << device.log;
    test::Launch launch(device, kernel, {}, flag);
    std::atomic<bool> has_run = false;
    EXPECT_TRUE(exec::Engine::instance().post([&] { has_run = true; }));
    exec::Engine::instance().shutdown();
    EXPECT_TRUE(has_run);
    EXPECT_EQ(launch.wait().kind, FaultKind::Timeout);
    EXPECT_EQ(test::Launch(device, kernel, {}, flag).wait().kind, FaultKind::Timeout);
    EXPECT_FALSE(exec::Engine::instance().post([] { FAIL() << "the workers are gone"; }));
    exec::Engine::instance().shutdown();
}

TEST(Shutdown, a_kernel_that_a_waiting_thread_runs_is_given_up_too) {
    exec::Engine& engine = exec::Engine::instance();
    exec::EngineSettings settings;
    settings.worker_count = 2;
    engine.configure(settings);
    test::TestDevice device;
    auto* flag = device.allocate<std::uint32_t>(1);
    const auto kernel = device.compile(test::ptx_module(FOREVER));
    ASSERT_TRUE(kernel) << device.log;
    *flag = 1;
    (void)test::Launch(device, kernel, {}, flag).wait(); // a worker watches now
    *flag = 0;
    test::Launch launch(device, kernel, {.awaited_as = &engine}, flag);
    std::thread waiting([&] { // runs the kernel, unless a worker was faster
        (void)engine.help([](const void*) { return true; });
        EXPECT_EQ(launch.wait().kind, FaultKind::Timeout);
    });
    engine.shutdown();
    waiting.join();
}

} // namespace cuprum::emulator
