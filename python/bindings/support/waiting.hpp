// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Waiting for the device without losing Ctrl-C.
//
// The driver's waiting calls cannot be interrupted, and Python runs signal handlers on its main
// thread only. So the main thread polls: it spins for a short time, then sleeps for a small share
// of the time that has passed, and runs signal handlers between two sleeps. A short wait ends as
// fast as the driver's own, a long one costs less processor time than the driver's spinning does.
// All other threads call the driver.

#pragma once

#include <cuprum/context.hpp>
#include <cuprum/event.hpp>
#include <cuprum/stream.hpp>

namespace cuprum::python {

/// Blocks, without the GIL, until work is done. Call it with the GIL held.
///
/// If a signal handler raises, as Python's own does for Ctrl-C, the wait ends with its exception.
/// The work continues.
/// @throws CUDAError if the work failed.
void sync_with_signals(const Stream& stream);
void sync_with_signals(const Event& event);
void sync_with_signals(const Context& context);

} // namespace cuprum::python
