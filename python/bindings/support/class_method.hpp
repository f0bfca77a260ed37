// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

namespace cuprum::python::binding {

namespace nb = nanobind;

/// Returns a descriptor that gives a class method. Python's own makes a new bound method at every
/// look-up, which costs as much as making a view; this one makes that of its class once, and new
/// ones for derived classes only. `definition` is never freed.
[[nodiscard]] nb::object make_class_method(nb::handle type, PyMethodDef* definition);

/// Makes an object of a derived class from one that `__new__` returned.
using Copier = nb::object (*)(nb::handle derived, nb::handle object);

/// Lets classes be derived from one whose `__new__` returns the same object again.
void set_copier(nb::handle type, Copier copy);

} // namespace cuprum::python::binding
