// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reads numpy's scalars without numpy's headers and without importing numpy. A scalar holds its
// value right after the object's head, which is part of numpy's stable ABI. The first scalar of a
// type shows what the type is; the answer is remembered.

#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

namespace cuprum::python {

/// What a numpy scalar type holds.
struct NumpyScalar {
    enum class Kind : std::uint8_t {
        None,     // not a numpy scalar, or none that is a plain number
        Signed,   // an integer
        Unsigned, // an integer, or a bool
        Exact,    // a float or complex number, passed only as it is
    };

    Kind kind = Kind::None;
    std::uint8_t size = 0; // bytes

    /// Returns where the value of such a scalar lies.
    [[nodiscard]] const void* data(PyObject* scalar) const noexcept {
        return reinterpret_cast<const std::byte*>(scalar) + sizeof(PyObject);
    }
};

/// Returns what a type holds if one of its instances was seen before.
[[nodiscard]] NumpyScalar known_numpy_scalar(PyTypeObject* type) noexcept;

/// Returns what an object's type holds, and remembers it. Never raises.
[[nodiscard]] NumpyScalar note_numpy_scalar(PyObject* object) noexcept;

/// Returns whether an object is a numpy array.
[[nodiscard]] bool is_numpy_array(PyObject* object) noexcept;

} // namespace cuprum::python
