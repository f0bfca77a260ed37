// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/nvrtc/call.hpp"

#include <cuprum/error.hpp>

#include <utility>

namespace cuprum::nvrtc {

std::string name_of(nvrtcResult status) {
    return table().nvrtcGetErrorString(status);
}

void raise(nvrtcResult status, const char* call, std::string log, std::vector<std::string> options,
           std::string_view advice) {
    throw NVRTCError(status, name_of(status), call, std::move(log), std::move(options), advice);
}

std::vector<int> supported_architectures() {
    int count = 0;
    call(table().nvrtcGetNumSupportedArchs, &count);
    std::vector<int> architectures(static_cast<std::size_t>(count));
    call(table().nvrtcGetSupportedArchs, architectures.data());
    return architectures;
}

bool can_cancel() {
    // Asked of the library: an entry that was not called yet, or a fake's, has an address anyway.
    static const bool is_there = [] {
        try {
            return resolve("nvrtcSetFlowCallback") != nullptr;
        } catch (const NotSupportedError&) {
            return false;
        }
    }();
    return is_there;
}

} // namespace cuprum::nvrtc
