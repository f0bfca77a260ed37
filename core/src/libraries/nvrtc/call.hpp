// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "libraries/nvrtc/table.hpp"

#include <string>
#include <vector>

namespace cuprum::nvrtc {

/// Returns the name of a result code, such as "NVRTC_ERROR_COMPILATION".
[[nodiscard]] std::string name_of(nvrtcResult status);

/// Throws NVRTCError for a failed call, with the log and options of its compilation. `advice` says
/// what to do.
[[noreturn]] void raise(nvrtcResult status, const char* call, std::string log = {},
                        std::vector<std::string> options = {}, std::string_view advice = {});

/// Calls `entry`. A failure throws an NVRTCError that names it.
template <typename... Params, typename... Args>
void call(const libraries::Entry<nvrtcResult(Params...)>& entry, Args... args) {
    if (const nvrtcResult status = entry(args...); status != NVRTC_SUCCESS) {
        raise(status, entry.name);
    }
}

/// Returns the architectures that this NVRTC compiles for, ascending: 75, 80, 86...
[[nodiscard]] std::vector<int> supported_architectures();

/// Returns whether this NVRTC can end a compilation early.
[[nodiscard]] bool can_cancel();

} // namespace cuprum::nvrtc
