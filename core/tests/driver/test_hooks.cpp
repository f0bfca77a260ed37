// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/hooks.hpp"
#include "driver/table.hpp"
#include "stream/recent_launches.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cuprum::driver {

namespace {

int forks_prepared = 0;

constexpr Hooks TEST_HOOKS{.before_fork = []() noexcept { ++forks_prepared; }};

// A static object with default priority. The library's hooks are registered before it is
// constructed.
const std::vector<std::string> seen_by_static_object = [] {
    const cuprum::detail::LaunchName name("early");
    cuprum::detail::LastLaunch launch;
    launch.watch(CU_STREAM_LEGACY);
    launch.note(name);
    return work_in_flight();
}();

} // namespace

TEST(Hooks, library_hooks_exist_before_static_objects) {
    EXPECT_NE(std::ranges::find(seen_by_static_object, "early on the legacy default stream"),
              seen_by_static_object.end());
}

TEST(Hooks, only_the_functions_that_are_set_run) {
    add_hooks(TEST_HOOKS);
    run_hooks(&Hooks::before_fork);
    run_hooks(&Hooks::after_fork_in_parent); // unlocks what the library's own hooks locked
    EXPECT_EQ(forks_prepared, 1);
}

} // namespace cuprum::driver
