// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

namespace cuprum::python {

namespace nb = nanobind;

/// Defines `_repr_html_`, which notebooks call. A function of cuprum._display makes the text.
template <typename Class>
void bind_html(Class& type, const char* function) {
    type.def(
        "_repr_html_",
        [function](nb::handle self) {
            return nb::object(nb::module_::import_("cuprum._display").attr(function)(self));
        },
        nb::sig("def _repr_html_(self) -> str"), "Return what notebooks show.");
}

} // namespace cuprum::python
