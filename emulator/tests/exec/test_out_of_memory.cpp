// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Workers that run out of memory end the kernel, and not the process. Calls that run out of memory
// fail, and can be repeated. The program replaces `operator new` and lets chosen allocations fail.

#include "exec/engine_state.hpp"
#include "exec/harness.hpp"
#include "objects/streams/shared_event.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>

namespace {

/// How many allocations of workers succeed before one fails; negative: all succeed.
std::atomic<int> successes_left{-1};
/// Whether all allocations fail after the first one that does.
std::atomic<bool> is_lasting{false};
std::atomic<int> failures{0};
/// Whether allocations of the calling thread, which is no worker, fail too.
thread_local bool is_included = false;

/// Returns whether the calling thread gets memory.
bool may_allocate() {
    const bool is_concerned = cuprum::emulator::exec::this_worker != nullptr || is_included;
    if (!is_concerned || successes_left < 0) {
        return true;
    }
    if (is_lasting ? successes_left > 0 && successes_left-- > 0 : successes_left-- > 0) {
        return true;
    }
    ++failures;
    return false;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
    void* const memory = may_allocate()
                             ? std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment)
                             : nullptr;
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

} // namespace

void* operator new(std::size_t bytes) {
    return allocate(bytes, alignof(std::max_align_t));
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocate(bytes, static_cast<std::size_t>(alignment));
}

// Replace these too. Memory from a sanitizer's version would go to our operator delete.
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
    return std::malloc(bytes);
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
    std::free(memory);
}

namespace cuprum::emulator {

namespace {

using exec::Engine;
using test::ptx_module;
using test::Shape;
using test::TestDevice;

/// A kernel, and how it ends if memory suffices.
struct Scenario {
    const char* body;
    std::uint32_t blocks;
    FaultKind ends_with;
    std::uint8_t checks = 0;
};

/// In all of them, %rd1 is the address of 64 words of device memory.
constexpr Scenario SCENARIOS[] = {
    // a report
    {"st.global.u32 [0], %r1;", 3, FaultKind::IllegalAddress},
    // blocks that are suspended while others run
    {"atom.global.add.u32 %r2, [%rd1], 1;\n"
     "SPIN: ld.volatile.global.u32 %r3, [%rd1]; setp.lt.u32 %p1, %r3, 20; @%p1 bra SPIN;",
     20, FaultKind::None},
    // the memory of the checks, and their report
    {"st.global.u32 [%rd1], %r1;", 3, FaultKind::Race,
     CHECK_MEMORY | CHECK_INITIALIZED | CHECK_RACES},
};

class OutOfMemory : public testing::Test {
protected:
    void TearDown() override { successes_left = -1; }

    /// Runs a scenario in which a worker's allocation number `number` fails. Returns whether there
    /// were so many.
    static bool run(const Scenario& scenario, int number) {
        TestDevice device;
        if (scenario.checks != 0) {
            device.enable_checks(scenario.checks);
        }
        auto* const words = device.allocate<std::uint32_t>(64);
        const auto kernel =
            device.compile(ptx_module(".visible .entry k(.param .u64 words) {\n"
                                      ".reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
                                      "ld.param.u64 %rd1, [words]; mov.u32 %r1, %ctaid.x;\n" +
                                      std::string(scenario.body) + "\nret;\n}"));
        EXPECT_TRUE(kernel) << device.log;
        exec::GridLaunch launch;
        launch.kernel = kernel;
        launch.constants = device.constants(kernel.get());
        launch.grid[0] = scenario.blocks;
        launch.memory = &device.map();
        launch.sm_count = 32;
        launch.parameters.resize(sizeof words);
        std::memcpy(launch.parameters.data(), &words, sizeof words);
        Fault fault;
        std::atomic<bool> is_done = false;
        failures = 0;
        successes_left = number;
        Engine::instance().submit(std::move(launch), [&](const Fault* found) {
            successes_left = -1;
            fault = found != nullptr ? *found : Fault{};
            is_done = true;
            is_done.notify_one();
        });
        is_done.wait(false);
        successes_left = -1;
        if (failures == 0) {
            EXPECT_EQ(fault.kind, scenario.ends_with) << fault.report;
            return false;
        }
        const bool is_named = fault.report.find("out of host memory") != std::string::npos &&
                              fault.report.find("kernel k") != std::string::npos;
        EXPECT_TRUE(is_named || is_lasting || fault.kind == scenario.ends_with)
            << "allocation " << number << ": " << fault.report;
        return true;
    }

    static void fail_one_after_the_other() {
        for (const Scenario& scenario : SCENARIOS) {
            SCOPED_TRACE(scenario.body);
            int number = 0;
            while (!HasFailure() && run(scenario, number)) {
                ++number;
                EXPECT_FALSE(run(scenario, -1)) << "the next kernel runs";
                test::restart_engine({.worker_count = 1}); // nothing is kept for the next one
            }
            EXPECT_GT(number, 1);
        }
    }
};

TEST_F(OutOfMemory, one_allocation_that_fails_ends_the_kernel_only) {
    test::restart_engine({.worker_count = 1});
    is_lasting = false;
    fail_one_after_the_other();
}

TEST_F(OutOfMemory, so_do_all_allocations_from_some_time_on) {
    test::restart_engine({.worker_count = 1});
    is_lasting = true;
    fail_one_after_the_other();
}

TEST_F(OutOfMemory, opening_an_event_of_another_process_can_be_repeated) {
    is_lasting = false;
    int to_parent[2];
    int to_child[2];
    ASSERT_EQ(::pipe(to_parent), 0);
    ASSERT_EQ(::pipe(to_child), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) { // creates the event and keeps it until the parent closes its pipe
        ::close(to_child[1]);
        const auto event = SharedEvent::create();
        const SharedAddress address = event->address();
        char end = 0;
        const bool is_sent = ::write(to_parent[1], &address, sizeof address) == sizeof address;
        std::_Exit(is_sent && ::read(to_child[0], &end, 1) == 0 ? 0 : 1);
    }
    ::close(to_child[0]);
    SharedAddress address;
    ASSERT_EQ(::read(to_parent[0], &address, sizeof address), ssize_t{sizeof address});
    std::shared_ptr<SharedEvent> opened;
    int number = 0;
    for (; opened == nullptr && number < 100; ++number) {
        is_included = true;
        successes_left = number;
        try {
            opened = SharedEvent::open(address);
        } catch (const std::bad_alloc&) { // the next round has one allocation more
        }
        is_included = false;
    }
    EXPECT_NE(opened, nullptr);
    EXPECT_GT(number, 3); // the event, its share and its place in the list were refused once each
    ::close(to_child[1]);
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // they need address space

/// Runs a kernel with eight workers in a process that has room for two more stacks. Ends the
/// process with 0 if all blocks have run.
[[noreturn]] void run_with_little_address_space() {
    test::restart_engine({.worker_count = 8});
    TestDevice device;
    auto* const words = device.allocate<std::uint32_t>(1);
    const auto kernel = device.compile(ptx_module(R"(
.visible .entry k(.param .u64 words) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [words];
    red.global.add.u32 [%rd1], 1;
    ret;
})"));
    constexpr rlim_t stack_bytes = rlim_t{8} << 20;
    constexpr rlim_t page_bytes = 4096;
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit address_space{};
    address_space.rlim_cur = address_space.rlim_max =
        pages * page_bytes + 2 * stack_bytes + stack_bytes / 2;
    (void)::setrlimit(RLIMIT_AS, &address_space);
    const Fault fault = test::Launch(device, kernel, Shape{.grid = 100}, words).wait();
    std::_Exit(fault.kind == FaultKind::None && *words == 100 * 32 ? 0 : 1);
}

TEST_F(OutOfMemory, workers_that_cannot_be_started_leave_the_work_to_the_others) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_EXIT(run_with_little_address_space(), testing::ExitedWithCode(0), "");
}

#endif

} // namespace

} // namespace cuprum::emulator
