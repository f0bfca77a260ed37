// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How graphs give up Python objects.
//
// A graph keeps the arguments of its kernels, its callbacks and the owners of its memory alive. The
// driver drops them: it calls a destructor on some thread, possibly in the middle of one of its own
// functions. Neither CUDA nor Python may be called there. So two lists are filled there: one of the
// core with what a node held, and one here with Python objects. Python's main thread empties both
// soon, through one call of Py_AddPendingCall. If Python's queue of such calls is full, the next
// use of a graph tries again. When the interpreter exits, what is left is freed with the process.

#pragma once

#include <nanobind/nanobind.h>

#include <memory>

namespace cuprum::python {

namespace nb = nanobind;

/// Keeps a Python object alive for a graph, hidden from the garbage collector. The last share may
/// be given up on any thread, with or without the GIL, even inside the driver.
[[nodiscard]] std::shared_ptr<void> keep_for_graph(nb::object object);

/// Asks the main thread to release what graphs have given up, if it has not been asked yet. Costs
/// two loads if there is nothing. Safe on any thread.
void schedule_releases() noexcept;

/// Has the core call schedule_releases() when a graph gives something up. Call it once.
void watch_for_releases() noexcept;

} // namespace cuprum::python
