// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>

namespace cuprum::emulator {

/// Threads for functions of the program, which may block.
///
/// A thread is added whenever all others are busy, so that a blocked host function does not delay
/// those of other streams. If the system refuses one, functions wait for the threads that there
/// are. Idle threads are used again. Threads are detached and end with the process.
class HostThreads {
public:
    /// Returns the process's threads; never destroyed.
    [[nodiscard]] static HostThreads& instance();

    /// Makes sure that there is a thread. Calls that lead to run() do this while they can still
    /// fail.
    ///
    /// @throws DriverError OPERATING_SYSTEM if there can be no more threads.
    void start_thread();

    /// Runs a function soon, on one of the threads. Functions start in the order given. They throw
    /// nothing.
    void run(std::function<void()> function);

private:
    void add_thread();
    void serve() noexcept;

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> queue_;
    std::size_t threads_ = 0;
    std::size_t idle_ = 0;
};

/// Calls a function of the program. An exception that leaves it does not end the process: the
/// report is returned, empty if there was none.
[[nodiscard]] std::string call_host_function(const std::function<void()>& function) noexcept;

} // namespace cuprum::emulator
