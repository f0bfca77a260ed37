// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A waiting thread that runs a grid itself (exec/helping.cpp). A worker may always be faster, so
// the tests repeat a launch until it has run on the thread that waits.

#include "exec/harness.hpp"

#include <pthread.h>

#include <atomic>
#include <cfenv>
#include <chrono>

namespace cuprum::emulator {

namespace {

using exec::Engine;
using test::Launch;
using test::ptx_module;
using test::Shape;
using test::TestDevice;
using U = std::uint32_t;

constexpr std::chrono::minutes LONGEST{2};

constexpr const char* ADD_ONE = R"(
.visible .entry add_one(.param .u64 out) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    red.global.add.u32 [%rd1], 1;
    ret;
})";

constexpr const char* AWAIT_FLAG = R"(
.visible .entry await_flag(.param .u64 flag) {
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [flag];
SPIN:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra SPIN;
    st.global.u32 [%rd1+4], %r1;
    ret;
})";

bool always(const void* /*awaited_as*/) {
    return true;
}

class Helping : public testing::Test {
protected:
    /// Configures two workers that watch for long.
    void SetUp() override {
        settings_.worker_count = 2;
        settings_.spin_time = std::chrono::milliseconds(100);
        engine_.configure(settings_);
    }

    void TearDown() override { engine_.configure({}); }

    std::shared_ptr<const bytecode::Kernel> compile(const char* text) {
        auto kernel = device_.compile(ptx_module(text));
        EXPECT_TRUE(kernel) << device_.log;
        return kernel;
    }

    /// Returns a launch of ADD_ONE.
    exec::GridLaunch launch_of(const std::shared_ptr<const bytecode::Kernel>& kernel,
                               U* out) const {
        exec::GridLaunch launch;
        launch.kernel = kernel;
        launch.constants = device_.constants(kernel.get());
        launch.block[0] = 32;
        launch.memory = &device_.map();
        launch.awaited_as = &device_;
        launch.parameters.resize(kernel->parameter_bytes);
        std::memcpy(launch.parameters.data(), &out, sizeof out);
        return launch;
    }

    /// Repeats `body`, which returns whether a launch has ended on this thread, until it has.
    template <typename Body>
    static void repeat_until_it_ran_here(const Body& body) {
        const auto end = std::chrono::steady_clock::now() + LONGEST;
        while (!body()) {
            ASSERT_LT(std::chrono::steady_clock::now(), end) << "no launch has run on this thread";
            ASSERT_FALSE(HasFailure());
        }
    }

    exec::EngineSettings settings_;
    Engine& engine_ = Engine::instance();
    TestDevice device_;
};

} // namespace

TEST_F(Helping, a_waiting_thread_runs_a_grid_of_one_block) {
    U* const out = device_.allocate<U>(1);
    const auto kernel = compile(ADD_ONE);
    U count = 0;
    repeat_until_it_ran_here([&] {
        Launch launch(device_, kernel, {.awaited_as = &device_}, out);
        const bool has_helped = engine_.help([&](const void* what) { return what == &device_; });
        EXPECT_TRUE(!has_helped || launch.is_done());
        EXPECT_EQ(launch.wait().kind, FaultKind::None);
        EXPECT_EQ(launch.has_ended_here(), has_helped);
        EXPECT_EQ(*out, ++count * 32);
        return has_helped;
    });
    EXPECT_FALSE(engine_.help(always)) << "nothing is left to do";
}

TEST_F(Helping, a_grid_that_nobody_waits_for_runs_on_a_worker) {
    U* const out = device_.allocate<U>(1);
    const auto kernel = compile(ADD_ONE);
    for (U count = 1; count <= 200; ++count) {
        Launch launch(device_, kernel, {.awaited_as = &device_}, out);
        if (count % 2 == 0) {
            EXPECT_FALSE(engine_.help([](const void*) { return false; }));
        }
        EXPECT_EQ(launch.wait().kind, FaultKind::None);
        EXPECT_FALSE(launch.has_ended_here());
        ASSERT_EQ(*out, count * 32);
    }
}

TEST_F(Helping, other_work_is_not_held_up_by_a_grid_that_nobody_waits_for) {
    U* const out = device_.allocate<U>(2);
    const auto kernel = compile(ADD_ONE);
    for (U count = 1; count <= 100; ++count) {
        Launch first(device_, kernel, {.awaited_as = &device_}, out);
        Launch second(device_, kernel, {.awaited_as = &engine_}, out);
        Launch many(device_, kernel, {.grid = 50}, out + 1);
        std::atomic<bool> has_run = false;
        EXPECT_TRUE(engine_.post([&] { has_run = true; }));
        for (Launch* const launch : {&first, &second, &many}) {
            EXPECT_EQ(launch->wait().kind, FaultKind::None);
        }
        while (!has_run) {
            std::this_thread::yield();
        }
        ASSERT_EQ(out[0], count * 64);
        ASSERT_EQ(out[1], count * 50 * 32);
    }
}

TEST_F(Helping, what_follows_on_the_grid_runs_on_a_worker) {
    // The guest itself does not look for work, and all workers may sleep.
    settings_.spin_time = std::chrono::microseconds(20);
    engine_.configure(settings_);
    U* const out = device_.allocate<U>(1);
    const auto kernel = compile(ADD_ONE);
    const exec::GridLaunch launch = launch_of(kernel, out);
    const auto this_thread = std::this_thread::get_id();
    int round = 0;
    int ran_here = 0;
    repeat_until_it_ran_here([&] {
        std::atomic<int> ended = 0;
        std::atomic<bool> is_here = false;
        engine_.submit(launch, [&](const Fault*) {
            is_here = std::this_thread::get_id() == this_thread;
            const auto end_one = [&](const Fault*) { ++ended; };
            if (round % 2 == 0) {
                EXPECT_TRUE(engine_.post([&] { ++ended; }));
            } else {
                engine_.submit(launch, end_one);
            }
            ++ended;
        });
        (void)engine_.help(always);
        if (round % 4 == 1) {
            (void)engine_.help(always); // perhaps the second grid
        }
        const auto end = std::chrono::steady_clock::now() + LONGEST;
        while (ended != 2 && std::chrono::steady_clock::now() < end) {
            std::this_thread::yield();
        }
        EXPECT_EQ(ended, 2) << "round " << round;
        ran_here += is_here ? 1 : 0;
        std::this_thread::sleep_for(std::chrono::microseconds(round % 50));
        return ++round >= 400 && ran_here >= 20;
    });
}

TEST_F(Helping, only_grids_of_one_block_are_left_to_waiting_threads) {
    U* const out = device_.allocate<U>(1);
    const auto kernel = compile(ADD_ONE);
    for (int i = 0; i < 50; ++i) {
        Launch many(device_, kernel, {.grid = 2, .awaited_as = &device_}, out);
        EXPECT_FALSE(engine_.help(always));
        (void)many.wait();
        Launch unknown(device_, kernel, {}, out);
        EXPECT_FALSE(engine_.help(always));
        (void)unknown.wait();
    }
}

TEST_F(Helping, a_random_order_is_left_to_the_workers) {
    settings_.is_random = true;
    engine_.configure(settings_);
    U* const out = device_.allocate<U>(1);
    const auto kernel = compile(ADD_ONE);
    for (int i = 0; i < 50; ++i) {
        Launch launch(device_, kernel, {.awaited_as = &device_}, out);
        EXPECT_FALSE(engine_.help(always));
        (void)launch.wait();
    }
}

TEST_F(Helping, the_floating_point_mode_of_the_thread_has_no_effect_and_stays) {
    U* const out = device_.allocate<U>(2);
    // A subnormal product, and one third.
    const auto kernel = compile(R"(
.visible .entry numbers(.param .u64 out) {
    .reg .b64 %rd<2>; .reg .f32 %f<4>;
    ld.param.u64 %rd1, [out];
    mov.f32 %f1, 0f00800000;
    mul.rn.f32 %f2, %f1, 0f3f000000;
    div.rn.f32 %f3, 0f3f800000, 0f40400000;
    st.global.f32 [%rd1], %f2;
    st.global.f32 [%rd1+4], %f3;
    ret;
})");
    std::fenv_t before;
    std::fegetenv(&before);
    std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
    constexpr unsigned flush_to_zero = 0x8040;
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | flush_to_zero);
#endif
    repeat_until_it_ran_here([&] {
        out[0] = out[1] = 0;
        Launch launch(device_, kernel, {.awaited_as = &device_}, out);
        (void)engine_.help(always);
        EXPECT_EQ(launch.wait().kind, FaultKind::None);
        EXPECT_EQ(out[0], 0x00400000u);
        EXPECT_EQ(out[1], 0x3eaaaaabu);
        EXPECT_EQ(std::fegetround(), FE_UPWARD);
#if defined(__x86_64__)
        EXPECT_EQ(__builtin_ia32_stmxcsr() & flush_to_zero, flush_to_zero);
#endif
        return launch.has_ended_here();
    });
    std::fesetenv(&before);
}

TEST_F(Helping, the_thread_cannot_be_cancelled_while_it_helps) {
    U* const out = device_.allocate<U>(1);
    const exec::GridLaunch launch = launch_of(compile(ADD_ONE), out);
    const auto cancel_state = [] {
        int state = 0;
        (void)::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        (void)::pthread_setcancelstate(state, nullptr);
        return state;
    };
    repeat_until_it_ran_here([&] {
        std::atomic<int> inside = -1;
        engine_.submit(launch, [&](const Fault*) { inside = cancel_state(); });
        const bool has_helped = engine_.help(always);
        while (inside == -1) {
            std::this_thread::yield();
        }
        EXPECT_TRUE(!has_helped || inside == PTHREAD_CANCEL_DISABLE);
        EXPECT_EQ(cancel_state(), PTHREAD_CANCEL_ENABLE);
        return has_helped;
    });
}

TEST_F(Helping, a_small_stack_is_not_used) {
    struct Case {
        TestDevice& device;
        std::shared_ptr<const bytecode::Kernel> kernel;
        U* out;
        bool has_helped;
    };

    Case a_case{device_, compile(ADD_ONE), device_.allocate<U>(1), false};
    pthread_attr_t attributes;
    ASSERT_EQ(::pthread_attr_init(&attributes), 0);
    constexpr std::size_t small = 256 * 1024;
    ASSERT_EQ(::pthread_attr_setstacksize(&attributes, small), 0);
    pthread_t thread{};
    const auto launch_and_help = [](void* data) -> void* {
        auto& it = *static_cast<Case*>(data);
        for (int i = 0; i < 100; ++i) {
            Launch launch(it.device, it.kernel, {.awaited_as = data}, it.out);
            it.has_helped = Engine::instance().help(always) || it.has_helped;
            (void)launch.wait();
        }
        return nullptr;
    };
    ASSERT_EQ(::pthread_create(&thread, &attributes, launch_and_help, &a_case), 0);
    ::pthread_join(thread, nullptr);
    ::pthread_attr_destroy(&attributes);
    EXPECT_FALSE(a_case.has_helped);
    EXPECT_EQ(*a_case.out, 100u * 32);
}

TEST_F(Helping, a_block_may_wait_for_the_host_and_for_other_grids) {
    U* const flag = device_.allocate<U>(2);
    U* const out = device_.allocate<U>(1);
    const auto kernel = compile(AWAIT_FLAG);
    const auto other = compile(ADD_ONE);
    U count = 0;
    repeat_until_it_ran_here([&] {
        flag[0] = flag[1] = 0;
        Launch launch(device_, kernel, {.awaited_as = &device_}, flag);
        std::thread host([&] { // sets the flag once more work has run beside the kernel
            EXPECT_EQ(Launch(device_, other, {.grid = 40}, out).wait().kind, FaultKind::None);
            std::atomic_ref(flag[0]).store(7);
        });
        const bool has_helped = engine_.help(always);
        EXPECT_EQ(launch.wait().kind, FaultKind::None);
        host.join();
        EXPECT_EQ(flag[1], 7u);
        EXPECT_EQ(*out, ++count * 40 * 32);
        return has_helped; // the block may have ended on a worker, because it yields
    });
}

TEST_F(Helping, the_watchdog_ends_a_kernel_that_hangs_on_the_waiting_thread) {
    settings_.watchdog_seconds = 1;
    engine_.configure(settings_);
    U* const flag = device_.allocate<U>(2);
    const auto kernel = compile(AWAIT_FLAG);
    repeat_until_it_ran_here([&] {
        Launch launch(device_, kernel, {.awaited_as = &device_}, flag);
        const bool has_helped = engine_.help(always);
        std::atomic_ref(flag[0]).store(has_helped ? 0 : 1); // a worker has it: try again soon
        const Fault fault = launch.wait();
        std::atomic_ref(flag[0]).store(0);
        if (!has_helped) {
            return false;
        }
        EXPECT_EQ(fault.kind, FaultKind::Timeout);
        EXPECT_NE(fault.report.find("deadlock"), std::string::npos) << fault.report;
        return true;
    });
}

TEST_F(Helping, a_fault_is_reported_as_always) {
    const auto kernel = compile(ADD_ONE);
    std::string report;
    repeat_until_it_ran_here([&] {
        Launch launch(device_, kernel, {.awaited_as = &device_}, std::uint64_t{16});
        (void)engine_.help(always);
        const Fault fault = launch.wait();
        EXPECT_EQ(fault.kind, FaultKind::IllegalAddress);
        report = report.empty() ? fault.report : report;
        EXPECT_EQ(fault.report, report);
        return launch.has_ended_here();
    });
}

TEST_F(Helping, many_threads_launch_and_wait) {
    constexpr int threads = 6;
    constexpr U launches = 300;
    U* const out = device_.allocate<U>(threads);
    const auto kernel = compile(ADD_ONE);
    std::vector<std::thread> hosts;
    for (int i = 0; i < threads; ++i) {
        hosts.emplace_back([&, i] {
            for (U count = 0; count < launches; ++count) {
                Launch launch(device_, kernel, {.awaited_as = &out[i]}, out + i);
                (void)engine_.help([&](const void* what) { return what == &out[i]; });
                EXPECT_EQ(launch.wait().kind, FaultKind::None);
            }
        });
    }
    for (std::thread& host : hosts) {
        host.join();
    }
    for (int i = 0; i < threads; ++i) {
        EXPECT_EQ(out[i], launches * 32);
    }
}

TEST(HelpingOneWorker, a_fixed_order_is_left_to_the_worker) {
    exec::EngineSettings settings;
    settings.worker_count = 1;
    settings.spin_time = std::chrono::milliseconds(100);
    Engine::instance().configure(settings);
    TestDevice device;
    U* const out = device.allocate<U>(1);
    const auto kernel = device.compile(ptx_module(ADD_ONE));
    ASSERT_TRUE(kernel) << device.log;
    for (int i = 0; i < 50; ++i) {
        Launch launch(device, kernel, {.awaited_as = &device}, out);
        EXPECT_FALSE(Engine::instance().help(always));
        (void)launch.wait();
    }
}

} // namespace cuprum::emulator
