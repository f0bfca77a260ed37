// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Threads of the driver and daemon threads while the interpreter leaves.
//
// Before Python 3.14 a thread that asks for the GIL of an interpreter that is leaving is ended
// there and then, by unwinding its stack: through C++ functions that must not throw, which ends the
// process. Two things keep that away. Threads of the driver run Python code inside a PythonScope:
// the interpreter waits for those inside and lets no more in. Python's own threads, which come back
// from a driver call, are stopped where they ask for the GIL and wait there for the process to end.

#pragma once

#include <nanobind/nanobind.h>

namespace cuprum::python {

/// Lets a thread, Python's or not, run Python code: takes the GIL, if the interpreter is there.
class PythonScope {
public:
    [[nodiscard]] PythonScope() noexcept;
    ~PythonScope();

    PythonScope(const PythonScope&) = delete;
    PythonScope& operator=(const PythonScope&) = delete;

    /// Tells whether Python code can be run; if not, there is nobody left whom it could concern.
    explicit operator bool() const noexcept { return is_inside_; }

private:
    bool is_inside_ = false;
    PyGILState_STATE state_{};
};

/// Prepares for forks: in a child nobody is inside but the thread that forked. Call it once.
void watch_for_forks();

/// Lets no more threads in and waits, without the GIL, for those inside. Call it when the
/// interpreter leaves.
void close_python() noexcept;

} // namespace cuprum::python
