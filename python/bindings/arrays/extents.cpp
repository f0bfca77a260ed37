// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/extents.hpp"

#include "support/arguments.hpp"

#include <limits>
#include <string>

namespace cuprum::python {

namespace {

[[nodiscard]] int checked_axis(std::int64_t axis, const char* name) {
    if (axis < std::numeric_limits<int>::min() || axis > std::numeric_limits<int>::max()) {
        raise_error(PyExc_ValueError, std::string(name) + ": axis " + std::to_string(axis) +
                                          " out of range for any layout");
    }
    return static_cast<int>(axis);
}

} // namespace

std::vector<std::int64_t> extents_argument(nb::handle value, const char* name) {
    const auto refuse = [&] {
        clear_error(PyExc_TypeError);
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be a tuple of integers, got " + type_label(value));
    };
    const bool is_text = PyUnicode_Check(value.ptr()) != 0 || PyBytes_Check(value.ptr()) != 0 ||
                         PyByteArray_Check(value.ptr()) != 0;
    if (is_text || PySequence_Check(value.ptr()) == 0) {
        refuse();
    }
    const nb::object items = nb::steal(PySequence_Fast(value.ptr(), ""));
    if (!items.is_valid()) {
        refuse();
    }
    std::vector<std::int64_t> numbers;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i) {
        const nb::handle item = PySequence_Fast_GET_ITEM(items.ptr(), i);
        const nb::object number = nb::steal(PyNumber_Index(item.ptr()));
        if (!number.is_valid()) {
            clear_error(PyExc_TypeError);
            raise_error(PyExc_TypeError, std::string(name) +
                                             " must be a tuple of integers, but holds " +
                                             type_label(item));
        }
        int overflow = 0;
        numbers.push_back(PyLong_AsLongLongAndOverflow(number.ptr(), &overflow));
        if (overflow != 0) {
            raise_error(PyExc_ValueError, std::string(name) + " holds " + repr_text(number) +
                                              ", expected a number of at most 64 bits");
        }
    }
    return numbers;
}

std::vector<int> axes_argument(nb::handle value, const char* name) {
    if (PyIndex_Check(value.ptr()) != 0) {
        return {axis_argument(value, name)};
    }
    std::vector<int> axes;
    for (const std::int64_t axis : extents_argument(value, name)) {
        axes.push_back(checked_axis(axis, name));
    }
    return axes;
}

int axis_argument(nb::handle value, const char* name) {
    if (PyIndex_Check(value.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be an integer, got " + type_label(value));
    }
    return checked_axis(extents_argument(nb::make_tuple(value), name)[0], name);
}

nb::object to_tuple(std::span<const std::int64_t> numbers) {
    nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
    if (!tuple.is_valid()) {
        throw nb::python_error();
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        PyObject* number = PyLong_FromLongLong(numbers[i]);
        if (number == nullptr) {
            throw nb::python_error();
        }
        PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), number);
    }
    return tuple;
}

} // namespace cuprum::python
