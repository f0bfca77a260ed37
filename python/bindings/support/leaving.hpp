// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Driver threads and daemon threads while the interpreter exits.
//
// Before Python 3.14, a thread that takes the GIL of an exiting interpreter is ended at once, by
// unwinding its stack. The unwinding passes C++ functions that must not throw, which aborts the
// process. Two measures prevent that. Driver threads run Python code inside a PythonScope: the
// interpreter waits for those inside and admits no more. Python's own threads, which return from a
// driver call, stop where they take the GIL and wait there for the process to end.

#pragma once

#include <nanobind/nanobind.h>

namespace cuprum::python {

/// Lets any thread run Python code: takes the GIL, unless the interpreter is gone.
class PythonScope {
public:
    [[nodiscard]] PythonScope() noexcept;
    ~PythonScope();

    PythonScope(const PythonScope&) = delete;
    PythonScope& operator=(const PythonScope&) = delete;

    /// Returns whether Python code can run. If not, the interpreter is gone.
    explicit operator bool() const noexcept { return is_inside_; }

private:
    bool is_inside_ = false;
    PyGILState_STATE state_{};
};

/// Keeps the interpreter from exiting, without the GIL: for what needs no GIL but an interpreter.
class PythonGate {
public:
    [[nodiscard]] PythonGate() noexcept;
    ~PythonGate();

    PythonGate(const PythonGate&) = delete;
    PythonGate& operator=(const PythonGate&) = delete;

    /// Returns whether there is an interpreter.
    explicit operator bool() const noexcept { return is_inside_; }

private:
    bool is_inside_ = false;
};

/// Returns whether Python can no longer be called.
[[nodiscard]] bool is_python_gone() noexcept;

/// Prepares for forks: in a child, only the thread that forked exists. Call it once.
void watch_for_forks();

/// Admits no more threads and waits, without the GIL, for those inside. Call it when the
/// interpreter exits.
void close_python() noexcept;

} // namespace cuprum::python
