// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/argument_types.hpp"

namespace cuprum::python {

namespace {

/// Returns an int that is not a bool in disguise of another type.
nb::object whole_number(nb::handle value, const StubParameter& parameter) {
    if (PyIndex_Check(value.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    std::string(parameter.name) + " must be an integer, got " + type_label(value));
    }
    nb::object number = nb::steal(PyNumber_Index(value.ptr()));
    if (!number.is_valid()) {
        throw nb::python_error();
    }
    return number;
}

[[noreturn]] void refuse_range(nb::handle number, const StubParameter& parameter,
                               const std::string& min, const std::string& max) {
    raise_error(PyExc_ValueError, std::string(parameter.name) +
                                      " is out of range: " + repr_text(number) +
                                      "; it must be from " + min + " to " + max);
}

} // namespace

void refuse_argument(nb::handle value, const StubParameter& parameter) {
    const nb::object sentence =
        nb::module_::import_("cuprum._calls")
            .attr("wrong_type")(parameter.name, parameter.annotation, value);
    PyErr_SetObject(PyExc_TypeError, sentence.ptr());
    throw nb::python_error();
}

long long integer_argument(nb::handle value, const StubParameter& parameter, long long min,
                           long long max) {
    const nb::object number = whole_number(value, parameter);
    int overflow = 0;
    const long long wide = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow != 0 || wide < min || wide > max) {
        refuse_range(number, parameter, std::to_string(min), std::to_string(max));
    }
    return wide;
}

unsigned long long unsigned_argument(nb::handle value, const StubParameter& parameter) {
    const nb::object number = whole_number(value, parameter);
    const unsigned long long wide = PyLong_AsUnsignedLongLong(number.ptr());
    if (PyErr_Occurred() != nullptr) {
        clear_error(PyExc_OverflowError);
        refuse_range(number, parameter, "0", "2**64 - 1");
    }
    return wide;
}

double float_argument(nb::handle value, const StubParameter& parameter) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (PyErr_Occurred() != nullptr) {
        clear_error(PyExc_TypeError);
        refuse_argument(value, parameter);
    }
    return number;
}

} // namespace cuprum::python
