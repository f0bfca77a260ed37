// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Several threads that use everything at once, and objects in a forked child.

#include "stream/active_captures.hpp"
#include "stream/recent_launches.hpp"
#include "support/device_test.hpp"

#include <unistd.h>

#include <atomic>
#include <functional>
#include <optional>
#include <sys/wait.h>
#include <thread>

namespace cuprum {
namespace {

constexpr int THREADS = 8;
constexpr int ROUNDS = 20;

constexpr const char* SOURCE = R"(
extern "C" __global__ void add(int* values, int amount) { values[threadIdx.x] += amount; })";

class ThreadTest : public testing::DeviceTest {
protected:
    /// Creates the primary contexts, which live as long as the process, before anything is counted.
    static void SetUpTestSuite() {
        try {
            for (const Device& each : Device::all()) {
                static_cast<void>(each.primary_context().handle());
            }
        } catch (const LibraryNotFoundError&) { // every test then reports that it is skipped
        }
    }

    static void run_on_threads(const std::function<void(int)>& work) {
        std::vector<std::thread> threads;
        std::atomic<int> failures = 0;
        for (int i = 0; i < THREADS; ++i) {
            threads.emplace_back([&, i] {
                try {
                    work(i);
                } catch (const std::exception& error) {
                    ++failures;
                    ADD_FAILURE() << error.what();
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        EXPECT_EQ(failures, 0);
    }

    static Device device_for(int thread) {
        const auto all = Device::all();
        return all[static_cast<std::size_t>(thread) % all.size()];
    }
};

TEST_F(ThreadTest, each_makes_uses_and_closes_objects_of_its_own) {
    const ObjectCode code = compile(SOURCE);
    run_on_threads([&](int thread) {
        const Device mine = device_for(thread);
        for (int round = 0; round < ROUNDS; ++round) {
            const Stream work = mine.create_stream();
            Buffer buffer = mine.allocate(32 * sizeof(int), work);
            buffer.fill(std::uint32_t{5}, work);
            launch(work, LaunchConfig(1, 32), code.get_kernel("add"), buffer, thread);
            const Event done = work.record();
            std::vector<int> values(32);
            buffer.copy_to_host(std::span<int>(values), work);
            done.sync();
            work.sync();
            EXPECT_EQ(values[31], 5 + thread);
        }
    });
}

TEST_F(ThreadTest, all_use_one_stream_one_kernel_and_one_configuration) {
    const ObjectCode code = compile(SOURCE);
    const Kernel kernel = code.get_kernel("add");
    const LaunchConfig config(1, 32);
    Buffer buffer = device().allocate(32 * sizeof(int), stream());
    buffer.fill(std::uint8_t{0}, stream());
    run_on_threads([&](int) {
        for (int round = 0; round < ROUNDS; ++round) {
            launch(stream(), config, kernel, buffer, 1);
        }
    });
    EXPECT_EQ(download<int>(buffer), std::vector<int>(32, THREADS * ROUNDS));
}

TEST_F(ThreadTest, copies_share_a_handle_that_dies_with_the_last) {
    const Stream shared = device().create_stream();
    run_on_threads([&](int) {
        for (int round = 0; round < ROUNDS; ++round) {
            Stream copy = shared;
            EXPECT_TRUE(copy == shared);
            copy.close();
        }
    });
    shared.sync();
}

TEST_F(ThreadTest, memory_is_freed_from_another_thread_with_no_context_current) {
    std::vector<Buffer> buffers;
    for (int i = 0; i < THREADS; ++i) {
        buffers.push_back(device().allocate(1024, stream()));
    }
    run_on_threads([&](int thread) { buffers[static_cast<std::size_t>(thread)].close(); });
}

TEST_F(ThreadTest, object_code_is_loaded_only_once) {
    for (int round = 0; round < 5; ++round) {
        const ObjectCode code = compile(SOURCE);
        std::atomic<std::uintptr_t> handle = 0;
        run_on_threads([&](int) {
            const auto mine = reinterpret_cast<std::uintptr_t>(code.get_kernel("add").handle());
            std::uintptr_t none = 0;
            if (!handle.compare_exchange_strong(none, mine)) {
                EXPECT_EQ(handle, mine);
            }
        });
    }
}

TEST_F(ThreadTest, a_forked_child_fails_cleanly) {
    Buffer buffer = device().allocate(64, stream());
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        static std::string told;
        set_warning_handler([](WarningKind, std::string_view text) { told += text; });
        bool is_refused = false;
        try {
            static_cast<void>(device().create_stream());
        } catch (const CUDAError& error) {
            is_refused = error.code() == 3; // not initialised
        }
        buffer.close(); // must not call the driver
        ::_exit(is_refused && told.find("spawn") != std::string::npos ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(ThreadTest, a_forked_child_destroys_its_objects_whatever_other_threads_do) {
    constexpr int children = 100;
    constexpr unsigned longest_s = 60;
    std::atomic<bool> is_over = false;
    const auto use = [&] {
        while (!is_over) {
            const detail::LaunchName name("a kernel");
            static_cast<void>(detail::listed_captures());
        }
    };
    std::thread threads[] = {std::thread(use), std::thread(use)};
    for (int index = 0; index < children; ++index) {
        std::optional<detail::LaunchName> name("a kernel of the child");
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            ::alarm(longest_s); // ends a child that hangs
            name.reset();
            static_cast<void>(detail::listed_captures());
            ::_exit(0);
        }
        int status = -1;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
    is_over = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
}

} // namespace
} // namespace cuprum
