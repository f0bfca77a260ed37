// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

namespace cuprum::python::fast {

namespace nb = nanobind;

/// Returns a descriptor that gives a class method. Python's own makes a new bound method at every
/// look-up, which costs as much as making a view; this one makes that of its class once, and new
/// ones for derived classes only. `definition` is never freed.
[[nodiscard]] nb::object make_class_method(nb::handle type, PyMethodDef* definition);

} // namespace cuprum::python::fast
