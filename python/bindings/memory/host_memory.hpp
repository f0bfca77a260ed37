// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/arguments.hpp"

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

namespace cuprum::python {

/// Returns whether an error says that the buffer protocol cannot give memory as it was asked for,
/// and not that something else failed.
inline bool is_layout_error(const nb::python_error& error) {
    return error.matches(PyExc_BufferError) || error.matches(PyExc_ValueError) ||
           error.matches(PyExc_NotImplementedError);
}

/// Clears such an error, and throws any other.
inline void clear_layout_error() {
    nb::python_error error; // takes the error that is set
    if (!is_layout_error(error)) {
        throw std::move(error);
    }
}

/// Refuses memory that holds pointers to Python objects: bytes from a device would replace them.
/// @throws TypeError, naming the argument.
inline void refuse_objects(nb::handle object, const char* name) {
    Py_buffer described{};
    if (PyObject_GetBuffer(object.ptr(), &described, PyBUF_FULL_RO) != 0) {
        clear_layout_error(); // numbers of a type that the protocol cannot name
        return;
    }
    const bool has_objects =
        described.format != nullptr && std::strchr(described.format, 'O') != nullptr;
    PyBuffer_Release(&described);
    if (has_objects) {
        raise_error(PyExc_TypeError, std::string(name) + " (" + type_label(object) +
                                         ") holds Python objects, expected numbers");
    }
}

/// The bytes of an object with the buffer protocol, for a scope.
class HostMemory {
public:
    enum class Access { Read, Write };

    /// @throws TypeError or BufferError, naming the argument, if the object has no such bytes, they
    /// are not contiguous or not writable as asked.
    [[nodiscard]] HostMemory(nb::handle object, Access access, const char* name) {
        if (PyObject_CheckBuffer(object.ptr()) == 0) {
            raise_error(PyExc_TypeError, std::string(name) +
                                             " must have the buffer protocol, as numpy arrays do, "
                                             "got " +
                                             type_label(object));
        }
        const int flags =
            PyBUF_ANY_CONTIGUOUS | (access == Access::Write ? PyBUF_WRITABLE : PyBUF_SIMPLE);
        refuse_objects(object, name);
        if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) {
            explain(object, access, name);
        }
    }

    ~HostMemory() { PyBuffer_Release(&view_); }

    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;

    [[nodiscard]] void* data() const noexcept { return view_.buf; }

    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(view_.len); }

private:
    /// Raises an error that explains what is wrong with the object.
    [[noreturn]] static void explain(nb::handle object, Access access, const char* name) {
        nb::python_error reason; // takes the error that is set
        if (!is_layout_error(reason)) {
            throw std::move(reason);
        }
        const std::string what = std::string(name) + " (" + type_label(object) + ") ";
        Py_buffer any{};
        if (PyObject_GetBuffer(object.ptr(), &any, PyBUF_STRIDED_RO) != 0) {
            PyErr_Clear();
            throw std::move(reason);
        }
        const bool is_read_only = access == Access::Write && any.readonly != 0;
        const bool is_contiguous = PyBuffer_IsContiguous(&any, 'A') != 0;
        PyBuffer_Release(&any);
        if (is_read_only) {
            raise_error(PyExc_BufferError, what + "is read-only, expected writable memory");
        }
        if (!is_contiguous) {
            raise_error(PyExc_ValueError,
                        what + "is not contiguous: copy it first, or copy it through a "
                               "StridedMemoryView");
        }
        throw std::move(reason);
    }

    Py_buffer view_{};
};

} // namespace cuprum::python
