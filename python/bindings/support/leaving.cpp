// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/leaving.hpp"

#include <cxxabi.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace cuprum::python {

namespace {

constinit std::atomic<bool> is_leaving{false};
constinit std::atomic<int> threads_inside{0};

void leave() noexcept;

/// Counts the calling thread, unless the interpreter is gone.
[[nodiscard]] bool enter() noexcept {
    // NOTE: counted before asking, so that close_python() either is seen here or sees us.
    threads_inside.fetch_add(1);
    if (!is_python_gone()) {
        return true;
    }
    leave();
    return false;
}

void leave() noexcept {
    if (threads_inside.fetch_sub(1) == 1) {
        threads_inside.notify_all();
    }
}

} // namespace

PythonScope::PythonScope() noexcept : is_inside_(enter()) {
    if (is_inside_) {
        state_ = PyGILState_Ensure();
    }
}

PythonScope::~PythonScope() {
    if (is_inside_) {
        PyGILState_Release(state_);
        leave();
    }
}

PythonGate::PythonGate() noexcept : is_inside_(enter()) {}

PythonGate::~PythonGate() {
    if (is_inside_) {
        leave();
    }
}

void watch_for_forks() {
    (void)::pthread_atfork(nullptr, nullptr, [] { threads_inside.store(0); });
}

void close_python() noexcept {
    is_leaving.store(true);
    PyThreadState* const saved = PyEval_SaveThread();
    for (int count = threads_inside.load(); count != 0; count = threads_inside.load()) {
        threads_inside.wait(count);
    }
    PyEval_RestoreThread(saved);
}

bool is_python_gone() noexcept {
    return is_leaving.load() || Py_IsInitialized() == 0;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Waits for the process to end.
[[noreturn]] void stop_thread() noexcept {
    for (;;) {
        ::pause();
    }
}

} // namespace

} // namespace cuprum::python

// The linker puts these in the place of Python's functions in this module, nanobind's calls
// included (--wrap in CMakeLists.txt).

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's names
extern "C" {

void __real_PyEval_RestoreThread(PyThreadState* state);
PyGILState_STATE __real_PyGILState_Ensure();

void __wrap_PyEval_RestoreThread(PyThreadState* state) {
    try {
        __real_PyEval_RestoreThread(state);
    } catch (const abi::__forced_unwind&) {
        cuprum::python::stop_thread(); // not to be left: that would end the process
    }
}

PyGILState_STATE __wrap_PyGILState_Ensure() {
    try {
        return __real_PyGILState_Ensure();
    } catch (const abi::__forced_unwind&) {
        cuprum::python::stop_thread();
    }
}

} // extern "C"
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
