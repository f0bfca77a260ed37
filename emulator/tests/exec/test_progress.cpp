// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The line that shows how far a kernel is. It appears where stderr leads, here a pipe. This test
// needs its own process, because progress is on or off when the workers start.

#include "exec/harness.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>

namespace cuprum::emulator {

namespace {

/// Sends stderr to a pipe until it is destroyed.
class ErrorPipe {
public:
    ErrorPipe() : before_(::dup(STDERR_FILENO)) {
        EXPECT_EQ(::pipe(ends_.data()), 0);
        ::dup2(ends_[1], STDERR_FILENO);
    }

    ~ErrorPipe() {
        ::dup2(before_, STDERR_FILENO);
        for (const int each : {before_, ends_[0], ends_[1]}) {
            ::close(each);
        }
    }

    ErrorPipe(const ErrorPipe&) = delete;
    ErrorPipe& operator=(const ErrorPipe&) = delete;

    /// Waits until some text has been written.
    void read_until(std::string_view part) {
        while (text.find(part) == std::string::npos) {
            std::array<char, 256> bytes{};
            const ssize_t count = ::read(ends_[0], bytes.data(), bytes.size());
            ASSERT_GT(count, 0);
            text.append(bytes.data(), static_cast<std::size_t>(count));
        }
    }

    std::string text;

private:
    int before_;
    std::array<int, 2> ends_{};
};

} // namespace

TEST(Progress, counts_the_blocks_of_long_kernels_and_leaves_no_line_behind) {
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
    ErrorPipe errors;
    // The block that waits is suspended again and again, and moves between the workers.
    test::Launch first(device, kernel, {.grid = 64}, flags, std::uint32_t{63});
    test::Launch second(device, kernel, {.grid = 4}, flags + 1, std::uint32_t{0});
    errors.read_until("cuprum emulator: kernel wait: 63 of 64 blocks (98 %), ");
    std::atomic_ref(flags[0]).store(1);
    EXPECT_EQ(first.wait().kind, FaultKind::None);
    errors.read_until("cuprum emulator: kernel wait: 3 of 4 blocks (75 %), ");
    std::atomic_ref(flags[1]).store(1);
    EXPECT_EQ(second.wait().kind, FaultKind::None);
    // The line was erased before the kernel counted as done.
    ASSERT_EQ(::write(STDERR_FILENO, "the end", 7), 7);
    errors.read_until("the end");
    EXPECT_TRUE(errors.text.ends_with("\r\x1b[Kthe end")) << errors.text;
    exec::Engine::instance().shutdown();
}

} // namespace cuprum::emulator
