// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Callbacks of graphs: Python callables, and C functions through ctypes.

#pragma once

#include <cuprum/graph/graph_appender.hpp>

#include <nanobind/nanobind.h>

#include <cstdint>

namespace cuprum::python {

namespace nb = nanobind;

/// Returns what the driver calls for a callback, and what must live as long as it may.
/// @throws TypeError if `function` is neither callable nor a C function that takes a pointer,
///         ValueError if a Python callable comes with `user_data`.
[[nodiscard]] HostFunctionParameters callback_argument(nb::handle function, nb::handle user_data);

/// Returns the Python callable that the driver calls; None if it calls a C function.
[[nodiscard]] nb::object python_callable(void (*function)(void*), void* user_data);

/// Returns the address of the C function that the driver calls; 0 if it calls a Python callable.
[[nodiscard]] std::uintptr_t c_function(void (*function)(void*), void* user_data) noexcept;

} // namespace cuprum::python
