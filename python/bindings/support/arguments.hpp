// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Converts Python arguments to what the core takes. Errors name the argument.

#pragma once

#include "stream/stream_objects.hpp"
#include "support/gil.hpp"
#include "support/instances.hpp"
#include "support/python_int.hpp"
#include "support/python_objects.hpp"

#include <cuprum/device.hpp>
#include <cuprum/event.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::python {

/// Returns the stream of a `stream` argument.
/// @throws TypeError for anything but a Stream; for None the text says what to pass instead.
[[nodiscard]] inline const Stream& stream_argument(nb::handle stream);

/// Returns the handle that an object gives through the `__cuda_stream__` protocol.
[[nodiscard]] CUstream protocol_stream(nb::handle object);

/// Returns the stream that is used if the caller names none: the legacy default stream, or the
/// thread's own if CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM is set to a number other than 0.
[[nodiscard]] nb::object default_stream();

/// Reads an int of less than 60 bits, as nearly all are. Returns false for anything else.
[[nodiscard]] inline bool read_small_int(nb::handle value, Py_ssize_t& number) noexcept;

/// Returns a count of bytes or the like, at least 0.
[[nodiscard]] inline std::size_t size_argument(nb::handle value, const char* name);

/// Returns an integer, also from objects with `__index__` or, for handles, `__int__`.
[[nodiscard]] std::uint64_t address_argument(nb::handle value, const char* name);

/// Returns a device, from a Device or its ordinal.
[[nodiscard]] Device device_argument(nb::handle value, const char* name);

/// Returns an int, or nothing for None.
[[nodiscard]] std::optional<int> optional_int_argument(nb::handle value, const char* name);

/// Returns a bool.
/// @throws TypeError naming the argument.
[[nodiscard]] bool bool_argument(nb::handle value, const char* name);

/// Returns the truth of an object, as `if` takes it. The only conversion of its kind.
/// @throws python_error if `__bool__` raises.
[[nodiscard]] bool is_true(nb::handle value);

/// Returns the truth of an attribute of an object.
[[nodiscard]] bool is_true(nb::handle object, const char* attribute);

/// Returns the truth of a flag, or `fallback` for None.
[[nodiscard]] bool flag_argument(nb::handle value, bool fallback);

/// Returns an instance of the options class `cuprum.<class_name>`, which a dict is converted to.
/// Null for None.
[[nodiscard]] nb::object options_argument(nb::handle options, const char* class_name);

/// Returns the text of a str or bytes; the bytes of a str that os.fsdecode() made of any bytes.
[[nodiscard]] std::string text_argument(nb::handle value, const char* name);

/// Returns the path in a str, bytes or object with __fspath__, as text_argument() does.
[[nodiscard]] std::string path_argument(nb::handle value, const char* name);

/// Returns a path as a str, as os.fsdecode() does.
[[nodiscard]] nb::object path_object(std::string_view path);

/// Returns a text for people as a str, with escapes for what is not UTF-8.
[[nodiscard]] nb::object message_object(std::string_view text);

/// Returns a str in lower case.
[[nodiscard]] std::string lower_case(std::string_view text);

/// Returns a list of strings from one str or a sequence of them; empty for None.
[[nodiscard]] std::vector<std::string> text_list_argument(nb::handle value, const char* name);

[[nodiscard]] EventOptions event_options(nb::handle options);
[[nodiscard]] StreamOptions stream_options(nb::handle options);

/// Returns the name of an object's type, for messages.
[[nodiscard]] std::string type_label(nb::handle object);

/// Returns an object as Python's repr() writes it.
[[nodiscard]] std::string repr_text(nb::handle object);

/// Returns a number as Python writes it in hexadecimal.
[[nodiscard]] std::string hex_text(std::uint64_t number);

/// Returns what `self` holds, for methods that take the Python object.
/// @throws TypeError for any other object, and if its `__init__` did not run.
template <typename T>
[[nodiscard]] T& held_by(nb::handle self);

/// Clears the Python error that is set, if any, so that a clearer one can take its place. Throws it
/// unless it is of this class: a MemoryError or an interrupt stays what it is. `kind` may be a
/// tuple of classes.
void clear_error(PyObject* kind);

/// Raises a Python exception of a built-in type.
[[noreturn]] void raise_error(PyObject* type, const std::string& message);

/// Raises the TypeError of held_by().
[[noreturn]] void refuse_self(nb::handle self, PyTypeObject* expected);

template <typename T>
T& held_by(nb::handle self) {
    T* const held = get_if<T>(self);
    if (held == nullptr) [[unlikely]] {
        refuse_self(self, TYPE<T>);
    }
    return *held;
}

// ---- what nearly every call needs, in place ----------------------------------------------------

/// Returns the stream of any other `stream` argument than a plain Stream, or raises.
[[nodiscard]] const Stream& unusual_stream_argument(nb::handle stream);

const Stream& stream_argument(nb::handle stream) {
    if (Py_TYPE(stream.ptr()) != TYPE<PyStream> || !is_ready_inside(stream)) [[unlikely]] {
        return unusual_stream_argument(stream);
    }
    if (stream.ptr() == LEGACY_DEFAULT || stream.ptr() == PER_THREAD_DEFAULT) {
        note_python_in_driver(); // other libraries use them too
    }
    return *inside<PyStream>(stream);
}

[[nodiscard]] std::size_t unusual_size_argument(nb::handle value, const char* name);

std::size_t size_argument(nb::handle value, const char* name) {
    Py_ssize_t size = 0;
    if (!read_small_int(value, size) || size < 0) [[unlikely]] {
        return unusual_size_argument(value, name);
    }
    return static_cast<std::size_t>(size);
}

bool read_small_int(nb::handle value, Py_ssize_t& number) noexcept {
    if (PyLong_CheckExact(value.ptr()) == 0) {
        return false;
    }
    std::int64_t wide = 0;
    if (!read_short_int(value.ptr(), wide)) {
        return false;
    }
    number = static_cast<Py_ssize_t>(wide);
    return true;
}

} // namespace cuprum::python
