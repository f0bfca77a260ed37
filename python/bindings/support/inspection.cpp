// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/inspection.hpp"

#include "support/fast_method.hpp"

namespace cuprum::python {

namespace {

PyObject* signature(PyObject* function, void* /*closure*/) noexcept {
    return fast::answer([&]() -> nb::object {
        return nb::module_::import_("cuprum._inspection")
            .attr("signature_of")(nb::handle(function));
    });
}

PyGetSetDef definition{"__signature__", signature, nullptr, nullptr, nullptr};

} // namespace

void add_signatures(nb::module_& module) {
    const nb::object function = module.attr("driver_version");
    const nb::object stream = module.attr("LEGACY_DEFAULT_STREAM");
    const nb::object bound = stream.attr("__repr__");
    const nb::object method = stream.type().attr("__repr__");
    for (const nb::handle each : {nb::handle(function), nb::handle(method), nb::handle(bound)}) {
        // The types are ours alone: no other module of this process has them (NB_DOMAIN).
        auto* const type = reinterpret_cast<PyTypeObject*>(each.type().ptr());
        const nb::object property = nb::steal(PyDescr_NewGetSet(type, &definition));
        if (!property.is_valid() ||
            PyDict_SetItemString(type->tp_dict, definition.name, property.ptr()) != 0) {
            throw nb::python_error();
        }
        PyType_Modified(type);
    }
}

} // namespace cuprum::python
