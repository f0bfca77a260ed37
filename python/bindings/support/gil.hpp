// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// When the GIL is released around a driver call.
//
// Releasing and taking the GIL costs more than many driver calls. So calls that can wait for the
// device, or run long, always release it (nb::gil_scoped_release). Calls that only enqueue or query
// keep it (Brief), with one exception. An enqueuing call waits while the device's queue is full,
// and a host function that needs the GIL may block the queue. Such functions exist only after a
// Python callable was given to the driver, or after a stream was shared with another library. From
// then on Brief releases the GIL as well. See docs/concurrency.md.

#pragma once

#include "support/hot_data.hpp"

#include <nanobind/nanobind.h>

#include <atomic>

namespace cuprum::python {

namespace nb = nanobind;

/// Whether the driver may run Python code on a thread of its own.
inline std::atomic<bool>& may_driver_run_python = hot_data.may_driver_run_python;

/// Notes that the driver may run Python code on a thread of its own from now on. Call it before a
/// Python callable is given to the driver, and where streams are shared with other libraries.
inline void note_python_in_driver() noexcept {
    if (!may_driver_run_python.load(std::memory_order_relaxed)) {
        may_driver_run_python.store(true, std::memory_order_relaxed);
    }
}

/// Calls a function without the GIL, and returns what it returns.
template <typename Function>
decltype(auto) without_gil(const Function& function) {
    const nb::gil_scoped_release unlocked;
    return function();
}

/// Surrounds a driver call that does not wait for the device: keeps the GIL unless a full queue
/// could be waiting for it. `is_long` releases it in any case, as for the first use of something.
class Brief {
public:
    [[nodiscard]] explicit Brief(bool is_long = false) noexcept {
        if (is_long || may_driver_run_python.load(std::memory_order_relaxed)) [[unlikely]] {
            saved_ = PyEval_SaveThread();
        }
    }

    ~Brief() {
        if (saved_ != nullptr) [[unlikely]] {
            PyEval_RestoreThread(saved_);
        }
    }

    Brief(const Brief&) = delete;
    Brief& operator=(const Brief&) = delete;

private:
    PyThreadState* saved_ = nullptr;
};

} // namespace cuprum::python
