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
    // Ask the library: the entry always has an address, a stub or a fake.
    static const bool has_callback = [] {
        try {
            return Library::resolve("nvrtcSetFlowCallback") != nullptr;
        } catch (const NotSupportedError&) {
            return false;
        }
    }();
    return has_callback;
}

} // namespace cuprum::nvrtc
