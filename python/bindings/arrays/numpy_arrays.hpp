// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reads numpy's arrays without its headers and without a call. The fields of an array object are
// part of numpy's stable ABI: its own macros read them. One check, on an array made here, decides
// whether they are as expected; if not, numpy is called. CUPRUM_DISABLE_FAST_PATHS=numpy turns this
// off.

#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

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

/// The beginning of a numpy.dtype.
struct NumpyDtypeHead {
    PyObject head;
    PyTypeObject* type;
    char letters[4]; // the first is its kind
    int number;
};

/// The same in numpy 1.
struct NumpyDtype1 : NumpyDtypeHead {
    int itemsize;
};

/// The same in numpy 2.
struct NumpyDtype2 : NumpyDtypeHead {
    std::uint64_t flags;
    Py_ssize_t itemsize;
};

/// What is known of how the numpy at hand lays out its objects.
enum class NumpyAgreement : int {
    Unchecked,
    None,     // read nothing
    Version1, // arrays as above; a dtype as in numpy 1
    Version2, // arrays as above; a dtype as in numpy 2
};

inline constinit std::atomic<NumpyAgreement> numpy_agreement = NumpyAgreement::Unchecked;

/// Returns whether numpy_itemsize reads dtype objects itself.
[[nodiscard]] bool can_read_dtypes() noexcept;

/// Returns the array inside an object of type numpy.ndarray or a type derived from it, or null if
/// it cannot be read this way.
[[nodiscard]] inline const NumpyArray* read_numpy_array(PyObject* array) noexcept {
    return can_read_dtypes() ? reinterpret_cast<const NumpyArray*>(array) : nullptr;
}

/// Returns whether the elements of an array that was read are Python objects.
[[nodiscard]] inline bool holds_objects(const NumpyArray& array) noexcept {
    return reinterpret_cast<const NumpyDtypeHead*>(array.dtype)->letters[0] == 'O';
}

/// Returns the bytes of an element of any other dtype object than numpy_itemsize() reads itself.
[[nodiscard]] std::size_t unread_itemsize(PyObject* dtype);

/// Returns the bytes of an element of numpy's dtype object.
[[nodiscard]] inline std::size_t numpy_itemsize(PyObject* dtype) {
    const NumpyAgreement known = numpy_agreement.load(std::memory_order_relaxed);
    if (known == NumpyAgreement::Version2) [[likely]] {
        return static_cast<std::size_t>(reinterpret_cast<NumpyDtype2*>(dtype)->itemsize);
    }
    return unread_itemsize(dtype);
}

} // namespace cuprum::python
