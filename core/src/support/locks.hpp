// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/warn.hpp"

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace cuprum::detail {

/// Locks a mutex for a scope in which the driver is called, or anything else that may warn. The
/// warnings of the scope are sent once the mutex is free: their handler may run code of the
/// program, which may need the same mutex or hold another one.
class QuietLock {
public:
    [[nodiscard]] explicit QuietLock(std::mutex& mutex) : lock_(mutex) {}

    /// Frees the mutex before the scope ends.
    void unlock() { lock_.unlock(); }

private:
    LateWarnings warnings_; // destroyed after the lock
    std::unique_lock<std::mutex> lock_;
};

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

/// Makes forks wait for a mutex, so that a child finds it unlocked. For the mutexes of the process
/// that destructors take: a child destroys its objects when it exits, and the thread that held the
/// mutex in the moment of the fork does not exist there.
///
/// `GET` returns the mutex. Call this once for each, and for mutexes that are held together in the
/// reverse of the order in which they are locked. No thread may fork while it holds one.
template <auto GET>
[[nodiscard]] bool keep_unlocked_in_children() noexcept {
    const auto unlock = [] { GET().unlock(); };
    return ::pthread_atfork([] { GET().lock(); }, unlock, unlock) == 0;
}

} // namespace cuprum::detail
