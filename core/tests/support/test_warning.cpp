// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/warn.hpp"
#include "support/warning_log.hpp"

#include <cuprum/warning.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace cuprum {

TEST(Warning, goes_to_the_handler_with_its_kind) {
    testing::WarningLog log;
    detail::warn(WarningKind::Degraded, "slower than asked for");
    EXPECT_EQ(log.take(WarningKind::Degraded), std::vector<std::string>{"slower than asked for"});
    EXPECT_TRUE(log.take(WarningKind::Release).empty());
}

TEST(Warning, without_a_handler_is_one_line_on_stderr) {
    const WarningHandler before = set_warning_handler(nullptr);
    ::testing::internal::CaptureStderr();
    detail::warn(WarningKind::Release, "a stream is left");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "cuprum: warning: a stream is left\n");
    set_warning_handler(before);
}

TEST(Warning, setting_a_handler_returns_the_one_before) {
    int calls = 0;
    const WarningHandler before =
        set_warning_handler([&](WarningKind, std::string_view) { ++calls; });
    WarningHandler mine = set_warning_handler(before);
    ASSERT_TRUE(mine);
    mine(WarningKind::Deprecated, "");
    EXPECT_EQ(calls, 1);
}

TEST(Warning, of_a_handler_that_throws_is_not_lost) {
    const WarningHandler before = set_warning_handler(
        [](WarningKind, std::string_view) { throw std::runtime_error("broken"); });
    ::testing::internal::CaptureStderr();
    detail::warn(WarningKind::Release, "still said");
    EXPECT_NE(::testing::internal::GetCapturedStderr().find("still said"), std::string::npos);
    set_warning_handler(before);
}

TEST(Warning, handler_may_set_another_handler) {
    const WarningHandler before =
        set_warning_handler([](WarningKind, std::string_view) { set_warning_handler(nullptr); });
    detail::warn(WarningKind::Degraded, "first"); // deadlocks if the handler runs under the lock
    EXPECT_FALSE(set_warning_handler(before));
}

} // namespace cuprum
