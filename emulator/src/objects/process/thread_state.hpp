// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/devices/context.hpp"
#include "objects/devices/green_context.hpp"
#include "objects/streams/stream.hpp"

#include <cuda.h>

#include <memory>
#include <utility>
#include <vector>

namespace cuprum::emulator {

/// A context on a thread's stack.
struct CurrentContext {
    std::shared_ptr<Context> context;
    std::shared_ptr<GreenContext> green; // whose resources it uses, or nullptr

    /// Returns the handle that the program uses for it.
    [[nodiscard]] CUcontext handle() const;
};

/// What the driver keeps for each thread.
struct ThreadState {
    std::vector<CurrentContext> contexts; // the last one is current
    std::vector<std::pair<std::uint64_t, std::shared_ptr<Stream>>> default_streams; // by context id
    bool null_is_per_thread = false; // inside a _ptsz or _ptds entry point
    CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
};

/// Returns the calling thread's state.
///
/// Created on first use and destroyed with the thread. Safe to call while the thread or the process
/// ends.
[[nodiscard]] ThreadState& thread_state();

/// Returns the calling thread's context, or nullptr.
[[nodiscard]] std::shared_ptr<Context> current_context_or_null();

/// Returns the calling thread's context and checks that it can be used.
///
/// @throws DriverError INVALID_CONTEXT, CONTEXT_IS_DESTROYED or the context's sticky error.
[[nodiscard]] const std::shared_ptr<Context>& current_context();

/// Returns the current green context, or nullptr.
[[nodiscard]] std::shared_ptr<GreenContext> current_green();

/// Replaces the top of the thread's stack of contexts. An empty value pops it.
void set_current_context(CurrentContext context);

/// Returns the calling thread's own default stream in a context.
[[nodiscard]] std::shared_ptr<Stream> per_thread_stream(Context& context);

} // namespace cuprum::emulator
