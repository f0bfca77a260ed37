// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reads CuPy's arrays without a call. CuPy offers no C functions to exchange arrays, and reading
// its attributes one by one costs several times what making a view costs. So the fields of its
// compiled class are read in place. CuPy does not promise their layout: one check, on arrays over
// memory that does not exist, decides whether it is as expected. If not, the attributes are read.
// CUPRUM_DISABLE_FAST_PATHS=cupy turns this off.

#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace cuprum::python {

namespace nb = nanobind;

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

/// Returns the handle of CuPy's current stream, 0 for the default one. Nothing if CuPy has no C
/// function for it.
/// @throws python_error what CuPy raises.
[[nodiscard]] std::optional<std::uintptr_t> cupy_current_stream();

} // namespace cuprum::python
