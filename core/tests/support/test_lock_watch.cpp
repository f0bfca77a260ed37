// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Locks that hold back warnings, and the check of the tests for locks that do not.

#include "support/lock_watch.hpp"
#include "support/locks.hpp"
#include "support/warn.hpp"
#include "support/warning_log.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

namespace cuprum {
namespace {

using detail::QuietLock;
using Messages = std::vector<std::string>;

TEST(LockWatch, counts_the_mutexes_of_this_thread) {
    std::mutex mutex;
    EXPECT_EQ(testing::held_mutexes(), 0);
    {
        const std::lock_guard lock(mutex);
        EXPECT_EQ(testing::held_mutexes(), 1);
    }
    EXPECT_EQ(testing::held_mutexes(), 0);
}

TEST(LockWatch, a_driver_call_under_a_plain_lock_is_a_failure) {
    std::mutex mutex;
    testing::expect_driver_may_be_called("cuInit");
    EXPECT_NONFATAL_FAILURE(
        {
            const std::lock_guard lock(mutex);
            testing::expect_driver_may_be_called("cuInit");
        },
        "take a QuietLock");
    const QuietLock lock(mutex);
    testing::expect_driver_may_be_called("cuInit");
}

TEST(LockWatch, code_of_the_program_under_a_lock_is_a_failure) {
    std::mutex mutex;
    EXPECT_NONFATAL_FAILURE(
        {
            const std::lock_guard lock(mutex);
            testing::expect_no_lock("a handler");
        },
        "a handler runs while the thread holds mutexes");
}

TEST(QuietLock, sends_the_warnings_of_the_scope_in_order_once_the_mutex_is_free) {
    testing::WarningLog warnings; // whose handler expects no lock
    std::mutex outer;
    std::mutex inner;
    {
        const QuietLock lock(outer);
        detail::warn(WarningKind::Release, "first");
        {
            const QuietLock nested(inner);
            detail::warn(WarningKind::Release, "second");
        }
        detail::warn(WarningKind::Release, "third");
        EXPECT_EQ(warnings.take(WarningKind::Release), Messages{}) << "the mutex is not free yet";
    }
    EXPECT_EQ(warnings.take(WarningKind::Release), (Messages{"first", "second", "third"}));
    detail::warn(WarningKind::Release, "fourth");
    EXPECT_EQ(warnings.take(WarningKind::Release), Messages{"fourth"});
}

TEST(QuietLock, a_handler_may_take_the_same_lock) {
    std::mutex mutex;
    int handled = 0;
    WarningHandler previous = set_warning_handler([&](WarningKind /*kind*/, std::string_view) {
        const QuietLock lock(mutex);
        if (++handled == 1) {
            detail::warn(WarningKind::Release, "again");
        }
    });
    {
        QuietLock lock(mutex);
        detail::warn(WarningKind::Release, "once");
        lock.unlock();
        EXPECT_EQ(handled, 0);
    }
    set_warning_handler(std::move(previous));
    EXPECT_EQ(handled, 2);
}

} // namespace
} // namespace cuprum
