// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <thread>

namespace cuprum::detail {

/// A lock of one byte, without a call if it is free. A thread that waits for it yields again and
/// again. So use it for a few instructions, or where threads hardly ever meet. Use it with
/// std::lock_guard.
class SpinLock {
public:
    void lock() noexcept {
        while (is_held_.exchange(true, std::memory_order_acquire)) [[unlikely]] {
            std::this_thread::yield();
        }
    }

    void unlock() noexcept { is_held_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> is_held_{false};
};

} // namespace cuprum::detail
