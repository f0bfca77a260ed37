// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

namespace cuprum::emulator {

/// Threads for work that may block: host functions, waits for a value in memory.
///
/// A thread is added whenever all others are busy, so that a blocked host function does not delay
/// those of other streams. Idle threads are used again. Threads are detached and end with the
/// process.
class HostThreads {
public:
    /// Returns the process's threads; never destroyed.
    [[nodiscard]] static HostThreads& instance();

    /// Runs a function soon, on one of the threads. Functions start in the order given.
    void run(std::function<void()> function);

private:
    void serve();

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> queue_;
    std::size_t idle_ = 0;
};

} // namespace cuprum::emulator
