// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/numpy_scalars.hpp"

#include <nanobind/nanobind.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string_view>

namespace cuprum::python {

namespace nb = nanobind;

namespace {

struct Known {
    std::atomic<PyTypeObject*> type = nullptr;
    NumpyScalar scalar;
};

// More than numpy has types of numbers; when it is full, the slow way still works.
std::array<Known, 32> known;

std::mutex known_mutex;

[[nodiscard]] bool has_base_named(PyTypeObject* type, std::string_view name) noexcept {
    for (; type != nullptr; type = type->tp_base) {
        if (name == type->tp_name) {
            return true;
        }
        // numpy.float64 derives from float first; its other bases are in the MRO.
        if (type->tp_bases != nullptr && PyTuple_GET_SIZE(type->tp_bases) > 1) {
            for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(type->tp_bases); ++i) {
                auto* base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(type->tp_bases, i));
                if (has_base_named(base, name)) {
                    return true;
                }
            }
            return false;
        }
    }
    return false;
}

[[nodiscard]] NumpyScalar inspect(PyObject* object) noexcept {
    try {
        const nb::object dtype = nb::handle(object).attr("dtype");
        const auto kind = nb::cast<nb::str>(nb::object(dtype.attr("kind")));
        const auto size = nb::cast<std::size_t>(nb::object(dtype.attr("itemsize")));
        const auto basic_size = static_cast<std::size_t>(Py_TYPE(object)->tp_basicsize);
        if (size > UINT8_MAX || basic_size < sizeof(PyObject) + size) {
            return {};
        }
        const auto bytes = static_cast<std::uint8_t>(size);
        switch (kind.c_str()[0]) {
        case 'i':
            return {NumpyScalar::Kind::Signed, bytes};
        case 'u':
        case 'b':
            return {NumpyScalar::Kind::Unsigned, bytes};
        case 'f':
        case 'c':
            return {NumpyScalar::Kind::Exact, bytes};
        default:
            return {};
        }
    } catch (...) {
        return {}; // looks like numpy, is not
    }
}

} // namespace

[[gnu::hot]] NumpyScalar known_numpy_scalar(PyTypeObject* type) noexcept {
    for (const Known& entry : known) {
        PyTypeObject* const candidate = entry.type.load(std::memory_order_acquire);
        if (candidate == type) {
            return entry.scalar;
        }
        if (candidate == nullptr) {
            break;
        }
    }
    return {};
}

NumpyScalar note_numpy_scalar(PyObject* object) noexcept {
    PyTypeObject* const type = Py_TYPE(object);
    // A subclass works too, but is not remembered: it may be freed again.
    if (!has_base_named(type, "numpy.generic")) {
        return {};
    }
    const NumpyScalar scalar = inspect(object);
    if (scalar.kind != NumpyScalar::Kind::None &&
        std::string_view(type->tp_name).starts_with("numpy.")) {
        const std::lock_guard lock(known_mutex);
        for (Known& entry : known) {
            PyTypeObject* const candidate = entry.type.load(std::memory_order_relaxed);
            if (candidate == type) {
                break;
            }
            if (candidate == nullptr) {
                entry.scalar = scalar;
                Py_INCREF(type);
                entry.type.store(type, std::memory_order_release);
                break;
            }
        }
    }
    return scalar;
}

bool is_numpy_array(PyObject* object) noexcept {
    return has_base_named(Py_TYPE(object), "numpy.ndarray");
}

} // namespace cuprum::python
