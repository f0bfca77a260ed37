// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finds where a Python program is.
//
// The driver is not linked with Python; it looks up the functions it needs by name. There are two
// ways to get the frames of the current thread. If the thread holds the GIL, the public API works.
// Without the GIL (callers release it around calls that wait), that API must not be used. Taking
// the GIL could deadlock, because the thread that holds it may wait for a lock of our caller. In
// that case this file reads the interpreter's own dump of the thread's frames. The dump is made for
// crashes and needs no lock, and the frames cannot change because their thread is here. Python 3.13
// and 3.14 do not export the dump function.

#pragma once

#include <string>

namespace cuprum::emulator::places {

/// Returns where the current thread is in Python, innermost first, one line each: "in load() at
/// train.py:12". Returns an empty string if the thread is not in Python.
///
/// Prefers a few lines of the program itself. Leaves out the cuprum package, and the installed
/// packages and standard-library code that the program called. Preserves pending Python exceptions
/// and runs no Python code.
[[nodiscard]] std::string capture_python();

} // namespace cuprum::emulator::places
