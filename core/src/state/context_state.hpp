// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"

#include <memory>

namespace cuprum::detail {

struct DeviceState;

/// A context: a device's primary one, or somebody else's that we only name.
struct ContextState {
    CUcontext handle = nullptr;
    DeviceState* device = nullptr;
    bool is_primary = false;
};

/// Returns the state for a driver context, the shared one if it is a device's primary context.
[[nodiscard]] std::shared_ptr<ContextState> context_state(CUcontext handle);

/// Returns the context that is current on the calling thread.
/// @throws CUDAError, saying that `what` needs one, if there is none.
[[nodiscard]] CUcontext current_context(const char* what);

} // namespace cuprum::detail
