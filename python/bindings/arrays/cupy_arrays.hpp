// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reading CuPy's arrays without a call. CuPy offers no C functions to exchange arrays, and asking
// for its attributes one by one costs several times what making a view does. So the fields of its
// compiled class are read where they lie. That is no promise of CuPy's: whether the CuPy at hand
// agrees is checked once, on arrays of our own over memory that does not exist, and everything else
// falls back to attributes.

#pragma once

#include "support/objects.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace cuprum::python {

/// A cupy.ndarray, as its object lies in memory.
struct CupyArray {
    /// A std::vector.
    struct Numbers {
        const Py_ssize_t* begin;
        const Py_ssize_t* end;
        const Py_ssize_t* capacity;
    };

    PyObject head;
    void* functions; // of the compiled class
    PyObject* weak_references;
    Py_ssize_t size; // elements
    Numbers shape;
    Numbers strides; // bytes
    int is_c_contiguous;
    int is_f_contiguous;
    int has_short_indices;
    PyObject* dtype;
    PyObject* data; // a CupyPointer
};

/// A cupy.cuda.MemoryPointer.
struct CupyPointer {
    PyObject head;
    void* functions;
    std::intptr_t address;
    int device_id;
};

/// Returns the array inside an object of type cupy.ndarray or a type derived from it, or null if it
/// cannot be read this way. Quick once it was called.
[[nodiscard]] const CupyArray* read_cupy_array(nb::handle array);

/// Returns the memory of an array that was read, or null if it is of another kind.
[[nodiscard]] const CupyPointer* read_cupy_pointer(const CupyArray& array) noexcept;

/// Returns the handle of CuPy's current stream, 0 for the default one, or none if CuPy has no C
/// function that tells.
/// @throws python_error what CuPy raises.
[[nodiscard]] std::optional<std::uintptr_t> cupy_current_stream();

} // namespace cuprum::python
