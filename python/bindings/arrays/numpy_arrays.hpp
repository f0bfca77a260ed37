// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reading numpy's arrays without numpy: neither its headers nor a call. What follows the head of an
// array object is part of numpy's stable ABI (its own macros read it there); whether the numpy at
// hand agrees is checked once, on an array of our own, and everything else falls back to calls.

#pragma once

#include "support/objects.hpp"

#include <cstddef>

namespace cuprum::python {

/// A numpy.ndarray, as its object lies in memory.
struct NumpyArray {
    static constexpr int C_CONTIGUOUS = 0x0001;
    static constexpr int WRITEABLE = 0x0400;

    PyObject head;
    char* data;
    int ndim;
    Py_ssize_t* shape;
    Py_ssize_t* strides; // bytes
    PyObject* base;
    PyObject* dtype;
    int flags;
};

/// Returns the array inside an object of type numpy.ndarray or a type derived from it, or null if
/// it cannot be read this way.
[[nodiscard]] const NumpyArray* read_numpy_array(PyObject* array) noexcept;

/// Tells whether the elements of an array that was read are Python objects.
[[nodiscard]] bool holds_objects(const NumpyArray& array) noexcept;

/// Tells whether numpy_itemsize reads dtype objects itself.
[[nodiscard]] bool can_read_dtypes() noexcept;

/// Returns the bytes of an element of numpy's dtype object.
[[nodiscard]] std::size_t numpy_itemsize(PyObject* dtype);

} // namespace cuprum::python
