// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

namespace cuprum::python {

namespace nb = nanobind;

/// Lets `inspect.signature` see the functions and methods that nanobind made, as it sees fast ones.
/// Call it when all are bound.
void add_signatures(nb::module_& module);

} // namespace cuprum::python
