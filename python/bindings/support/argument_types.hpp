// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How an argument of each C++ type is read from Python. Every refusal names the argument, says what
// it must be and what was passed.

#pragma once

#include "support/arguments.hpp"
#include "support/python_objects.hpp"
#include "support/stub_table.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

namespace cuprum::python {

/// Raises TypeError: "size must be int, got str".
[[noreturn]] void refuse_argument(nb::handle value, const StubParameter& parameter);

/// Reads an int from `min` to `max`.
/// @throws TypeError, ValueError naming the argument.
[[nodiscard]] long long integer_argument(nb::handle value, const StubParameter& parameter,
                                         long long min, long long max);
[[nodiscard]] unsigned long long unsigned_argument(nb::handle value,
                                                   const StubParameter& parameter);
[[nodiscard]] double float_argument(nb::handle value, const StubParameter& parameter);

template <typename T>
inline constexpr bool IS_OPTIONAL = false;
template <typename T>
inline constexpr bool IS_OPTIONAL<std::optional<T>> = true;

/// Whether nanobind knows T as a class, so that a Python object holds one.
template <typename T>
inline constexpr bool IS_BOUND_CLASS = nb::detail::is_base_caster_v<nb::detail::make_caster<T>>;

/// Returns whether an argument may be read as a T, for operators.
template <typename T>
[[nodiscard]] bool is_argument(nb::handle value) {
    using Plain = std::remove_cvref_t<T>;
    if constexpr (std::is_base_of_v<nb::handle, Plain>) {
        return true;
    } else if constexpr (IS_BOUND_CLASS<Plain>) {
        return get_if<Plain>(value) != nullptr;
    } else {
        return true;
    }
}

template <typename T>
[[nodiscard]] decltype(auto) argument_as(nb::handle value, const StubParameter& parameter) {
    using Plain = std::remove_cvref_t<T>;
    if constexpr (std::is_same_v<Plain, nb::handle>) {
        return nb::handle(value);
    } else if constexpr (std::is_same_v<Plain, nb::object>) {
        return nb::borrow(value);
    } else if constexpr (std::is_base_of_v<nb::handle, Plain>) {
        if (!nb::isinstance<Plain>(value)) {
            refuse_argument(value, parameter);
        }
        return nb::borrow<Plain>(value);
    } else if constexpr (IS_OPTIONAL<Plain>) {
        return value.is_none() ? Plain()
                               : Plain(argument_as<typename Plain::value_type>(value, parameter));
    } else if constexpr (std::is_same_v<Plain, bool>) {
        return bool_argument(value, parameter.name);
    } else if constexpr (std::is_same_v<Plain, std::size_t>) {
        return size_argument(value, parameter.name);
    } else if constexpr (std::unsigned_integral<Plain> && sizeof(Plain) == sizeof(long long)) {
        return static_cast<Plain>(unsigned_argument(value, parameter));
    } else if constexpr (std::integral<Plain>) {
        return static_cast<Plain>(integer_argument(value, parameter,
                                                   std::numeric_limits<Plain>::min(),
                                                   std::numeric_limits<Plain>::max()));
    } else if constexpr (std::floating_point<Plain>) {
        return static_cast<Plain>(float_argument(value, parameter));
    } else if constexpr (std::is_same_v<Plain, std::string>) {
        return text_argument(value, parameter.name);
    } else if constexpr (std::is_same_v<Plain, Stream>) {
        return stream_argument(value);
    } else if constexpr (std::is_same_v<Plain, Device>) {
        return device_argument(value, parameter.name);
    } else if constexpr (IS_BOUND_CLASS<Plain>) {
        Plain* const held = get_if<Plain>(value);
        if (held == nullptr) {
            refuse_argument(value, parameter);
        }
        return static_cast<Plain&>(*held);
    } else {
        Plain converted;
        if (!nb::try_cast<Plain>(value, converted)) {
            refuse_argument(value, parameter);
        }
        return converted;
    }
}

} // namespace cuprum::python
