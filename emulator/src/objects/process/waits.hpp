// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

namespace cuprum::emulator {

/// Waits for something that nobody announces: a value in memory, a semaphore or an event of another
/// process. One thread looks at all of them, so that a wait costs no thread.
class Waits {
public:
    /// Returns the process's waits; never destroyed.
    [[nodiscard]] static Waits& instance();

    /// Starts the thread, unless it runs. Calls that lead to add() do this while they can still
    /// fail.
    ///
    /// @throws DriverError OPERATING_SYSTEM if there can be no more threads.
    void start_thread();

    /// Calls `is_over` again and again until it returns true, then `done`. The calls may come at
    /// once, on this thread. Both must be brief and throw nothing.
    void add(std::function<bool()> is_over, std::function<void()> done);

private:
    struct Wait {
        std::function<bool()> is_over;
        std::function<void()> done;
    };

    void serve() noexcept;

    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<Wait> added_;
    bool has_thread_ = false;
};

} // namespace cuprum::emulator
