// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/arguments.hpp"

#include "device/device_objects.hpp"
#include "graph/graph_objects.hpp"
#include "stream/stream_objects.hpp"
#include "support/gil.hpp"
#include "support/python_objects.hpp"

#include <cuprum/device.hpp>
#include <cuprum/event.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/stl/string.h>

#include <array>
#include <cctype>
#include <cstdio>

namespace cuprum::python {

const Stream& unusual_stream_argument(nb::handle stream) {
    if (const auto* const builder = get_if<PyGraphBuilder>(stream)) {
        return builder->core;
    }
    if (const PyStream* held = get_if<PyStream>(stream)) { // of a derived class
        return *held;
    }
    if (stream.is_none()) {
        raise_error(PyExc_TypeError,
                    "stream is required and must not be None; pass device.default_stream to use "
                    "the default stream");
    }
    if (nb::hasattr(stream, "__cuda_stream__")) {
        raise_error(PyExc_TypeError, "Stream or GraphBuilder expected for stream, got " +
                                         type_label(stream) +
                                         "; wrap it with device.create_stream(obj)");
    }
    raise_error(PyExc_TypeError,
                "Stream or GraphBuilder expected for stream, got " + type_label(stream));
}

CUstream protocol_stream(nb::handle object) {
    note_python_in_driver();
    if (!nb::hasattr(object, "__cuda_stream__")) {
        raise_error(PyExc_TypeError, type_label(object) + " is not a stream: it has no "
                                                          "__cuda_stream__ method");
    }
    nb::object answer = object.attr("__cuda_stream__");
    if (PyCallable_Check(answer.ptr()) != 0) {
        answer = answer();
    } else if (PyErr_WarnEx(PyExc_DeprecationWarning,
                            "__cuda_stream__ must be implemented as a method, not as an attribute",
                            1) != 0) {
        throw nb::python_error();
    }
    if (PySequence_Check(answer.ptr()) == 0 || PySequence_Size(answer.ptr()) != 2) {
        clear_error(PyExc_TypeError);
        raise_error(PyExc_RuntimeError, type_label(object) +
                                            ".__cuda_stream__ must return a sequence with 2 "
                                            "elements, (version, address), got " +
                                            repr_text(answer));
    }
    if (const auto version = address_argument(answer[0], "the version in __cuda_stream__");
        version != 0) {
        raise_error(PyExc_RuntimeError,
                    "the first element of the sequence that " + type_label(object) +
                        ".__cuda_stream__ returns, the version, must be 0, got " +
                        std::to_string(version));
    }
    return reinterpret_cast<CUstream>(
        static_cast<std::uintptr_t>(address_argument(answer[1], "the address in __cuda_stream__")));
}

std::size_t unusual_size_argument(nb::handle value, const char* name) {
    if (PyIndex_Check(value.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be an integer, got " + type_label(value));
    }
    const Py_ssize_t size = PyNumber_AsSsize_t(value.ptr(), PyExc_OverflowError);
    if (size == -1 && PyErr_Occurred() != nullptr) {
        clear_error(PyExc_OverflowError);
        raise_error(PyExc_OverflowError,
                    std::string(name) + " must be from 0 to 2**63 - 1, got " + repr_text(value));
    }
    if (size < 0) {
        raise_error(PyExc_ValueError,
                    std::string(name) + " must be at least 0, got " + std::to_string(size));
    }
    return static_cast<std::size_t>(size);
}

std::uint64_t address_argument(nb::handle value, const char* name) {
    // Handles of other libraries have __int__ alone. Numbers that need not be whole have it too,
    // but with __float__, and int() reads texts without asking them.
    const PyNumberMethods* const number_methods = Py_TYPE(value.ptr())->tp_as_number;
    const bool is_index = PyIndex_Check(value.ptr()) != 0;
    const bool is_handle = number_methods != nullptr && number_methods->nb_int != nullptr &&
                           number_methods->nb_float == nullptr;
    nb::object number;
    if (is_index || is_handle) {
        number = nb::steal(is_index ? PyNumber_Index(value.ptr()) : PyNumber_Long(value.ptr()));
    }
    if (!number.is_valid()) {
        clear_error(PyExc_TypeError);
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be an integer, got " + type_label(value));
    }
    const unsigned long long address = PyLong_AsUnsignedLongLong(number.ptr());
    if (PyErr_Occurred() != nullptr) {
        clear_error(PyExc_OverflowError);
        raise_error(PyExc_ValueError,
                    std::string(name) + " must be from 0 to 2**64 - 1, got " + repr_text(number));
    }
    return address;
}

Device device_argument(nb::handle value, const char* name) {
    if (const PyDevice* held = get_if<PyDevice>(value)) {
        return held->core;
    }
    const auto ordinal = optional_int_argument(value, name);
    if (!ordinal) {
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be a Device or an ordinal, got None");
    }
    const nb::gil_scoped_release unlocked; // the first one initialises the driver
    return Device(*ordinal);
}

std::optional<int> optional_int_argument(nb::handle value, const char* name) {
    if (value.is_none()) {
        return std::nullopt;
    }
    if (PyIndex_Check(value.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be an integer, got " + type_label(value));
    }
    const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
    int overflow = 0;
    const long long wide =
        number.is_valid() ? PyLong_AsLongLongAndOverflow(number.ptr(), &overflow) : -1;
    if (PyErr_Occurred() != nullptr) {
        throw nb::python_error();
    }
    if (overflow != 0 || wide != static_cast<int>(wide)) {
        raise_error(PyExc_ValueError, std::string(name) + " is out of range: " + repr_text(number));
    }
    return static_cast<int>(wide);
}

bool bool_argument(nb::handle value, const char* name) {
    const std::string_view type = Py_TYPE(value.ptr())->tp_name;
    if (PyBool_Check(value.ptr()) == 0 && type != "numpy.bool" && type != "numpy.bool_") {
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be a bool, got " + type_label(value));
    }
    return flag_argument(value, false);
}

bool is_true(nb::handle value) {
    const int answer = PyObject_IsTrue(value.ptr());
    if (answer < 0) {
        throw nb::python_error();
    }
    return answer != 0;
}

bool is_true(nb::handle object, const char* attribute) {
    return is_true(nb::object(object.attr(attribute)));
}

bool flag_argument(nb::handle value, bool fallback) {
    if (value.is_none()) {
        return fallback;
    }
    return is_true(value);
}

nb::object options_argument(nb::handle options, const char* class_name) {
    if (options.is_none()) {
        return {};
    }
    const nb::object type = nb::module_::import_("cuprum._options").attr(class_name);
    if (PyDict_Check(options.ptr()) != 0) {
        return type(**nb::borrow<nb::dict>(options));
    }
    if (PyObject_IsInstance(options.ptr(), type.ptr()) == 1) {
        return nb::borrow(options);
    }
    raise_error(PyExc_TypeError, std::string("options must be ") + class_name +
                                     ", a dict or None, got " + type_label(options));
}

namespace {

/// Returns an object as Python's ascii() writes it, which every encoding has.
std::string ascii_text(nb::handle object) {
    const nb::object text = nb::steal(PyObject_ASCII(object.ptr()));
    if (!text.is_valid()) {
        throw nb::python_error();
    }
    return nb::cast<std::string>(text);
}

nb::object decoded(std::string_view bytes, const char* errors) {
    nb::object text = nb::steal(
        PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), errors));
    if (!text.is_valid()) {
        throw nb::python_error();
    }
    return text;
}

} // namespace

std::string text_argument(nb::handle value, const char* name) {
    Py_ssize_t length = 0;
    if (PyUnicode_Check(value.ptr()) != 0) {
        if (const char* const text = PyUnicode_AsUTF8AndSize(value.ptr(), &length)) {
            return {text, static_cast<std::size_t>(length)};
        }
        PyErr_Clear();
        const nb::object bytes =
            nb::steal(PyUnicode_AsEncodedString(value.ptr(), "utf-8", "surrogateescape"));
        if (!bytes.is_valid()) {
            PyErr_Clear();
            raise_error(PyExc_ValueError,
                        std::string(name) +
                            " has a character that UTF-8 cannot encode: " + ascii_text(value));
        }
        return text_argument(bytes, name);
    }
    if (PyBytes_Check(value.ptr()) != 0) {
        return {PyBytes_AsString(value.ptr()), static_cast<std::size_t>(PyBytes_Size(value.ptr()))};
    }
    raise_error(PyExc_TypeError,
                std::string(name) + " must be str or bytes, got " + type_label(value));
}

std::string path_argument(nb::handle value, const char* name) {
    if (PyUnicode_Check(value.ptr()) == 0 && PyBytes_Check(value.ptr()) == 0 &&
        !nb::hasattr(value, "__fspath__")) {
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be str, bytes or a path, got " + type_label(value));
    }
    const nb::object path = nb::steal(PyOS_FSPath(value.ptr()));
    if (!path.is_valid()) {
        throw nb::python_error();
    }
    return text_argument(path, name);
}

nb::object path_object(std::string_view path) {
    return decoded(path, "surrogateescape");
}

nb::object message_object(std::string_view text) {
    return decoded(text, "backslashreplace");
}

std::string lower_case(std::string_view text) {
    std::string lowered(text);
    for (char& letter : lowered) {
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    return lowered;
}

std::vector<std::string> text_list_argument(nb::handle value, const char* name) {
    std::vector<std::string> texts;
    if (value.is_none()) {
        return texts;
    }
    if (PyUnicode_Check(value.ptr()) != 0 || PyBytes_Check(value.ptr()) != 0) {
        texts.push_back(text_argument(value, name));
        return texts;
    }
    for (nb::handle item : nb::borrow<nb::object>(value)) {
        texts.push_back(text_argument(item, name));
    }
    return texts;
}

EventOptions event_options(nb::handle options) {
    const nb::object given = options_argument(options, "EventOptions");
    if (!given.is_valid()) {
        return {};
    }
    const EventOptions how{.timing_enabled = is_true(given, "timing_enabled"),
                           .blocking_sync = is_true(given, "blocking_sync"),
                           .ipc_enabled = is_true(given, "ipc_enabled")};
    if (how.ipc_enabled && how.timing_enabled) {
        raise_error(PyExc_TypeError, "IPC-enabled events cannot use timing.");
    }
    return how;
}

StreamOptions stream_options(nb::handle options) {
    const nb::object given = options_argument(options, "StreamOptions");
    if (!given.is_valid()) {
        return {};
    }
    return {.nonblocking = is_true(given, "nonblocking"),
            .priority = optional_int_argument(nb::object(given.attr("priority")), "priority")};
}

std::string type_label(nb::handle object) {
    if (object.is_none()) {
        return "None";
    }
    return nb::cast<std::string>(nb::str(nb::object(object.type().attr("__name__"))));
}

std::string repr_text(nb::handle object) {
    return nb::cast<std::string>(nb::repr(object));
}

std::string hex_text(std::uint64_t number) {
    std::array<char, 2 + 2 * sizeof(number) + 1> text{};
    std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(number));
    return text.data();
}

void refuse_self(nb::handle self, PyTypeObject* expected) {
    if (PyObject_TypeCheck(self.ptr(), expected) != 0) {
        raise_error(PyExc_TypeError, type_label(self) + " is not initialised: call its __init__");
    }
    const nb::handle type(reinterpret_cast<PyObject*>(expected));
    raise_error(PyExc_TypeError, "self must be a " +
                                     nb::cast<std::string>(nb::object(type.attr("__name__"))) +
                                     ", got " + type_label(self));
}

void clear_error(PyObject* kind) {
    if (PyErr_Occurred() == nullptr) {
        return;
    }
    if (PyErr_ExceptionMatches(kind) == 0 || PyErr_ExceptionMatches(PyExc_MemoryError) != 0) {
        throw nb::python_error();
    }
    PyErr_Clear();
}

void raise_error(PyObject* type, const std::string& message) {
    PyErr_SetObject(type, message_object(message).ptr());
    throw nb::python_error();
}

} // namespace cuprum::python
