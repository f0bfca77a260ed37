// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The line that shows how far a kernel is. It appears only on the terminal that controls the
// process, so each test runs in a child with a terminal of its own. Run each test in a process of
// its own, as ctest does: the workers must start in the child.

#include "builtins/status_line.hpp"
#include "exec/harness.hpp"

#include <pty.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <utility>

namespace cuprum::emulator {

namespace {

using builtins::StatusLine;

constexpr std::string_view BELOW =
    "\033D\033M\0337\033D\r\033[K"; // to the line below, which is erased
constexpr std::string_view ERASED = "\033D\033M\0337\033D\r\033[K\0338";

/// The terminal that controls this process, which stderr leads to.
class OwnTerminal {
public:
    OwnTerminal() {
        EXPECT_NE(::setsid(), -1);
        EXPECT_EQ(::openpty(&primary_, &secondary_, nullptr, nullptr, nullptr), 0);
        EXPECT_EQ(::ioctl(secondary_, TIOCSCTTY, 0), 0);
        EXPECT_EQ(::dup2(secondary_, STDERR_FILENO), STDERR_FILENO);
    }

    /// Waits until some text has been written.
    void read_until(std::string_view part) {
        while (text.find(part) == std::string::npos) {
            std::array<char, 256> bytes{};
            const ssize_t count = ::read(primary_, bytes.data(), bytes.size());
            ASSERT_GT(count, 0);
            text.append(bytes.data(), static_cast<std::size_t>(count));
        }
    }

    /// Returns all that was written, and forgets it.
    std::string take() {
        constexpr std::string_view end = "<end>";
        EXPECT_EQ(::write(secondary_, end.data(), end.size()), 5);
        read_until(end);
        std::string all;
        all.swap(text);
        return all.substr(0, all.find(end));
    }

    std::string text;

private:
    int primary_ = -1;
    int secondary_ = -1;
};

/// Runs a part of a test in a child process. The child has no threads but its own.
void run_in_child(const std::function<void()>& body) {
    const pid_t child = ::fork();
    ASSERT_NE(child, -1);
    if (child == 0) {
        body();
        (void)std::fflush(stdout); // the reports of failures
        ::_exit(testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) << status;
}

void draw(std::string_view text) {
    const auto held = StatusLine::instance().hold();
    StatusLine::instance().draw(text);
}

void watch_two_kernels() {
    exec::Engine::instance().configure(
        {.worker_count = 2, .progress_after = std::chrono::milliseconds(1)});
    test::TestDevice device;
    auto* const flags = device.allocate<std::uint32_t>(2);
    const auto kernel = device.compile(test::ptx_module(R"(
.visible .entry wait(.param .u64 flag, .param .u32 last) {
    .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [flag];
    ld.param.u32 %r1, [last];
    mov.u32 %r2, %ctaid.x;
    setp.ne.u32 %p1, %r1, %r2;
    @%p1 bra END;
SPIN:
    ld.volatile.global.u32 %r3, [%rd1];
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra SPIN;
END:
    ret;
})"));
    ASSERT_TRUE(kernel) << device.log;
    OwnTerminal errors;
    std::optional<exec::HostWait> waiting(std::in_place);
    // The block that waits is suspended again and again, and moves between the workers.
    test::Launch first(device, kernel, {.grid = 64}, flags, std::uint32_t{63});
    test::Launch second(device, kernel, {.grid = 4}, flags + 1, std::uint32_t{0});
    errors.read_until("cuprum emulator: kernel wait: 63 of 64 blocks (98 %), ");
    std::atomic_ref(flags[0]).store(1);
    EXPECT_EQ(first.wait().kind, FaultKind::None);
    errors.read_until("cuprum emulator: kernel wait: 3 of 4 blocks (75 %), ");
    std::atomic_ref(flags[1]).store(1);
    EXPECT_EQ(second.wait().kind, FaultKind::None);
    waiting.reset();
    const std::string text = errors.take();
    EXPECT_TRUE(text.ends_with(ERASED)) << text;
    exec::Engine::instance().shutdown();
}

} // namespace

TEST(StatusLine, is_drawn_only_while_a_host_thread_waits) {
    run_in_child([] {
        OwnTerminal terminal;
        StatusLine::instance().enable(true);
        draw("nobody waits");
        EXPECT_EQ(terminal.take(), "");
        {
            const exec::HostWait first;
            draw("one waits");
            EXPECT_EQ(terminal.take(), std::string(BELOW) + "one waits\0338");
            {
                const exec::HostWait second;
            }
            EXPECT_EQ(terminal.take(), ERASED); // the second thread may print now
            draw("one still waits");
            EXPECT_EQ(terminal.take(), std::string(BELOW) + "one still waits\0338");
        }
        EXPECT_EQ(terminal.take(), ERASED);
        draw("nobody waits again");
        EXPECT_EQ(terminal.take(), "");
    });
}

TEST(StatusLine, is_erased_before_a_thread_knows_that_its_work_is_done) {
    run_in_child([] {
        OwnTerminal terminal;
        StatusLine& line = StatusLine::instance();
        line.enable(true);
        do { // a poll counts for a short time only
            line.note_poll();
            draw("polled");
        } while (terminal.take() != std::string(BELOW) + "polled\0338");
        line.end_poll();
        EXPECT_EQ(terminal.take(), ERASED);
        draw("nobody asks");
        EXPECT_EQ(terminal.take(), "");
    });
}

TEST(StatusLine, does_not_follow_stderr_into_a_file) {
    run_in_child([] {
        OwnTerminal terminal;
        StatusLine::instance().enable(true);
        std::array<int, 2> ends{};
        ASSERT_EQ(::pipe(ends.data()), 0);
        {
            const exec::HostWait waiting;
            draw("on the terminal");
            ASSERT_EQ(::dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
            draw("in the file");
        } // nothing is erased either
        ASSERT_EQ(::write(STDERR_FILENO, "!", 1), 1);
        std::array<char, 64> bytes{};
        EXPECT_EQ(::read(ends[0], bytes.data(), bytes.size()), 1);
        EXPECT_EQ(terminal.take(), std::string(BELOW) + "on the terminal\0338");
    });
}

TEST(StatusLine, needs_the_terminal_that_controls_the_process) {
    run_in_child([] {
        int primary = -1;
        int secondary = -1;
        ASSERT_NE(::setsid(), -1); // without a terminal
        ASSERT_EQ(::openpty(&primary, &secondary, nullptr, nullptr, nullptr), 0);
        ASSERT_EQ(::dup2(secondary, STDERR_FILENO), STDERR_FILENO);
        StatusLine::instance().enable(true);
        const exec::HostWait waiting;
        draw("not ours");
        ASSERT_EQ(::write(STDERR_FILENO, "!", 1), 1);
        std::array<char, 64> bytes{};
        EXPECT_EQ(::read(primary, bytes.data(), bytes.size()), 1);
    });
}

TEST(StatusLine, does_not_wait_for_a_terminal_whose_output_is_stopped) {
    run_in_child([] {
        OwnTerminal terminal;
        StatusLine::instance().enable(true);
        ASSERT_EQ(::tcflow(STDERR_FILENO, TCOOFF), 0);
        {
            const exec::HostWait waiting;
            draw("stopped");
        }
        ASSERT_EQ(::tcflow(STDERR_FILENO, TCOON), 0);
        EXPECT_EQ(terminal.take(), "");
    });
}

TEST(StatusLine, a_child_does_not_wait_for_a_thread_of_its_parent) {
    run_in_child([] {
        OwnTerminal terminal;
        StatusLine& line = StatusLine::instance();
        line.enable(true);
        const auto held = line.hold(); // as the thread that draws may, when another one forks
        run_in_child([&] {
            line.forget_after_fork();
            line.make_room();
        });
    });
}

TEST(Progress, counts_the_blocks_of_long_kernels_and_leaves_no_line_behind) {
    run_in_child([] { watch_two_kernels(); });
}

} // namespace cuprum::emulator
