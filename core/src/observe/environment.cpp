// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "observe/environment.hpp"

#include "support/shared_library.hpp"
#include "observe/nvtx.hpp"
#include "support/warn.hpp"

namespace cuprum::trace {

void read_environment() {
    using driver::environment;
    if (const std::string level = environment("CUPRUM_LOG"); level == "error" || level == "debug") {
        start_log(level == "debug");
    } else if (!level.empty() && level != "off") {
        cuprum::detail::warn(WarningKind::Degraded, "CUPRUM_LOG is '" + level +
                                                        "' and is ignored: expected off, error "
                                                        "(failed driver calls) or debug (all)");
    }
    if (const std::string nvtx = environment("CUPRUM_NVTX"); !nvtx.empty() && nvtx != "0") {
        start_nvtx();
    }
    if (const std::string path = environment("CUPRUM_TRACE"); !path.empty()) {
        start_trace_from_environment(path);
    }
}

} // namespace cuprum::trace
