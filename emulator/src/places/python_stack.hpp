// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Where a Python program is.
//
// The driver knows nothing of Python and is not linked with it: what it needs is looked up in the
// process by name. Two ways lead to the frames of the current thread. With the GIL held there is
// the public interface. Without it (callers release it around calls that wait) nothing of that may
// be used, and taking it could wait for ever, for a thread that has it and waits for a lock of our
// caller. Then the interpreter's own dump of a thread's frames is read, which is made for crashes
// and needs no lock; the thread's frames stand still, since it is here. Python 3.13 and 3.14 do
// not export it.

#pragma once

#include <string>

namespace cuprum::emulator::places {

/// Returns where the current thread is in Python, innermost first, one line each:
/// "in load() at train.py:12". Empty when it is not in Python.
///
/// The program's own lines are returned, a few of them, where there are any: those of the cuprum
/// package, and in front of the program's those of installed packages and of the standard library,
/// are left out. Leaves errors that Python has as they are, and runs no Python code.
[[nodiscard]] std::string capture_python();

} // namespace cuprum::emulator::places
