// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/hooks.hpp"
#include "observe/log.hpp"
#include "support/shared_library.hpp"
#include "support/warn.hpp"

#include <string>

namespace cuprum::trace {

namespace {

constexpr driver::Hooks OBSERVE_HOOKS{
    .before_first_use = read_environment,
    .after_init = finish_at_exit,
    .before_exit = finish,
    .before_fork = before_fork,
    .after_fork_in_parent = after_fork_in_parent,
    .after_fork_in_child = after_fork_in_child,
};
[[gnu::init_priority(driver::HOOKS_PRIORITY)]] const driver::AddedHooks
    observe_hooks(OBSERVE_HOOKS);

} // namespace

void read_environment() {
    using cuprum::detail::environment;
    if (const std::string level = environment("CUPRUM_LOG"); level == "error" || level == "debug") {
        start_log(level == "debug");
    } else if (!level.empty() && level != "off") {
        cuprum::detail::warn(WarningKind::Degraded, "CUPRUM_LOG is '" + level +
                                                        "' and is ignored: expected off, error "
                                                        "(failed driver calls) or debug (all)");
    }
    std::string problem;
    static_cast<void>(cuprum::detail::progress_delay(problem));
    if (!problem.empty()) {
        cuprum::detail::warn(WarningKind::Degraded, problem);
    }
    if (const std::string nvtx = environment("CUPRUM_NVTX"); !nvtx.empty() && nvtx != "0") {
        start_nvtx();
    }
    if (const std::string path = environment("CUPRUM_TRACE"); !path.empty()) {
        start_trace_from_environment(path);
    }
}

} // namespace cuprum::trace
