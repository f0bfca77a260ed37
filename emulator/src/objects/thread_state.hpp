// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/context.hpp"
#include "objects/stream.hpp"

#include <cuda.h>

#include <memory>
#include <utility>
#include <vector>

namespace cuprum::emulator {

/// What the driver remembers per thread.
struct ThreadState {
    std::vector<std::shared_ptr<Context>> contexts; // the last one is current; may hold nullptr
    std::vector<std::pair<std::uint64_t, std::shared_ptr<Stream>>> default_streams; // by context id
    bool null_is_per_thread = false; // inside a _ptsz or _ptds entry point
    CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
};

/// Returns the calling thread's state.
///
/// Made on first use and gone with the thread; safe to call while the thread or the process ends.
[[nodiscard]] ThreadState& thread_state();

/// Returns the calling thread's context, nullptr if it has none.
[[nodiscard]] std::shared_ptr<Context> current_context_or_null();

/// Returns the calling thread's context, ready for use.
///
/// @throws DriverError INVALID_CONTEXT, CONTEXT_IS_DESTROYED or the context's sticky error.
[[nodiscard]] const std::shared_ptr<Context>& current_context();

/// Replaces the top of the thread's stack of contexts; nullptr pops it.
void set_current_context(std::shared_ptr<Context> context);

/// Returns the calling thread's own default stream in a context.
[[nodiscard]] std::shared_ptr<Stream> per_thread_stream(Context& context);

} // namespace cuprum::emulator
