// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reads Python's ints in place: a function call for each would dominate the cost of a launch with
// many arguments. The layout is that of CPython's own header. `are_ints_as_expected` compares it
// with Python's answers when the module is imported; if they differ, Python is asked each time.

#pragma once

#include "support/hot_data.hpp"

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>

namespace cuprum::python {

/// Asks Python for an int. Returns false if it does not fit.
[[nodiscard]] inline bool ask_for_int(PyObject* value, std::int64_t& number) noexcept {
    int overflow = 0;
    number = PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow == 0;
}

/// Reads an int of less than 60 bits, which all addresses fit into. Returns false for a larger one,
/// though it may also read that. `value` must be a PyLong.
[[nodiscard]] inline bool read_short_int(PyObject* value, std::int64_t& number) noexcept {
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030F0000 && PYLONG_BITS_IN_DIGIT == 30 &&   \
    !defined(PYPY_VERSION)
    if (!hot_data.reads_ints) [[unlikely]] {
        return ask_for_int(value, number);
    }
    const auto* const object = reinterpret_cast<const PyLongObject*>(value);
#if PY_VERSION_HEX >= 0x030C0000
    constexpr unsigned SIZE_SHIFT = 3;
    constexpr std::uintptr_t SIGN = 3; // 0 is positive, 1 is zero, 2 is negative
    const std::uintptr_t tag = object->long_value.lv_tag;
    const std::uintptr_t count = tag >> SIZE_SHIFT;
    const bool is_negative = (tag & SIGN) == 2;
    const digit* const digits = object->long_value.ob_digit;
#else
    const Py_ssize_t size = Py_SIZE(value);
    const bool is_negative = size < 0;
    const auto count = static_cast<std::size_t>(is_negative ? -size : size);
    const digit* const digits = object->ob_digit;
#endif
    if (count > 2) [[unlikely]] {
        return false;
    }
    std::int64_t magnitude = count == 0 ? 0 : std::int64_t{digits[0]};
    if (count == 2) {
        magnitude |= std::int64_t{digits[1]} << PYLONG_BITS_IN_DIGIT;
    }
    number = is_negative ? -magnitude : magnitude;
    return true;
#else
    return ask_for_int(value, number);
#endif
}

/// Compares what read_short_int() reads with Python's answers.
[[nodiscard]] inline bool are_ints_as_expected() {
    constexpr std::array<std::int64_t, 9> numbers{
        0, 1, -1, 255, (1LL << 30) - 1, 1LL << 30, -(1LL << 31), 0x7fffdeadbeef, -(1LL << 59) - 7};
    for (const std::int64_t number : numbers) {
        const nanobind::object object = nanobind::steal(PyLong_FromLongLong(number));
        std::int64_t read = 0;
        if (!object.is_valid() || !read_short_int(object.ptr(), read) || read != number) {
            return false;
        }
    }
    return true;
}

} // namespace cuprum::python
