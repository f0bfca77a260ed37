// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

namespace cuprum::python {

namespace nb = nanobind;

/// Returns what notebooks show of an object: `_repr_html_`. A function of cuprum._display writes
/// it.
[[nodiscard]] inline nb::object html_of(nb::handle self, const char* function) {
    return nb::module_::import_("cuprum._display").attr(function)(self);
}

} // namespace cuprum::python
