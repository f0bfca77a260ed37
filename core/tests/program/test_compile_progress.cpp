// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a forked child sees of compilations of its parent. python/tests/observe/test_progress.py
// tests the line itself.

#include "program/progress.hpp"

#include <gtest/gtest.h>

#include <pty.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <thread>

namespace cuprum::detail {

namespace {

int status_of(pid_t child) {
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
}

/// Waits until some text is on the terminal.
void read_until(int terminal, std::string_view part) {
    std::string text;
    while (text.find(part) == std::string::npos) {
        std::array<char, 256> bytes{};
        const ssize_t count = ::read(terminal, bytes.data(), bytes.size());
        ASSERT_GT(count, 0);
        text.append(bytes.data(), static_cast<std::size_t>(count));
    }
}

/// Compiles on a thread, and meanwhile in a child, on a terminal of this process.
void compile_in_parent_and_child() {
    ASSERT_EQ(::setenv("TERM", "xterm", 1), 0);
    ASSERT_EQ(::setenv("CUPRUM_PROGRESS", "1", 1), 0);
    int primary = -1;
    int secondary = -1;
    std::array<int, 2> ends{};
    ASSERT_NE(::setsid(), -1);
    ASSERT_EQ(::openpty(&primary, &secondary, nullptr, nullptr, nullptr), 0);
    ASSERT_EQ(::ioctl(secondary, TIOCSCTTY, 0), 0);
    ASSERT_EQ(::dup2(secondary, STDERR_FILENO), STDERR_FILENO);
    ASSERT_EQ(::pipe(ends.data()), 0);

    std::mutex mutex;
    std::condition_variable changed;
    bool is_over = false;
    std::thread thread([&] {
        const CompileProgress progress("compiling first.cu");
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return is_over; });
    });
    read_until(primary, "cuprum: compiling first.cu, ");
    const pid_t child = ::fork();
    if (child == 0) {
        char byte = 0;
        const CompileProgress progress("compiling second.cu");
        const bool is_read = ::read(ends[0], &byte, 1) == 1;
        ::_exit(is_read ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    read_until(primary, "cuprum: compiling second.cu, "); // not "and 1 more"
    EXPECT_EQ(::write(ends[1], "!", 1), 1);
    EXPECT_EQ(status_of(child), 0);
    {
        const std::lock_guard lock(mutex);
        is_over = true;
    }
    changed.notify_all();
    thread.join();
}

} // namespace

TEST(CompileProgress, a_child_does_not_show_what_its_parent_compiles) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizer allows no threads in children of programs with threads";
#endif
    const pid_t child = ::fork();
    ASSERT_NE(child, -1);
    if (child == 0) {
        compile_in_parent_and_child();
        (void)std::fflush(stdout); // the reports of failures
        ::_exit(testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    EXPECT_EQ(status_of(child), 0);
}

} // namespace cuprum::detail
