// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How to get from a Python object to what it holds, and back, for every class.

#pragma once

#include "support/instances.hpp"
#include "support/recycling.hpp"

#include <nanobind/nanobind.h>

#include <new>
#include <utility>

namespace cuprum::python {

/// The Python type that holds a T. Set once, when the type is bound. Some are specialised beside
/// their types: those that nearly every call reads lie in `hot_data`.
template <typename T>
inline PyTypeObject* TYPE = nullptr;

/// Notes the Python type that holds a T.
template <typename T>
void note_type(nb::handle type) {
    TYPE<T> = reinterpret_cast<PyTypeObject*>(type.ptr());
}

/// Returns a new Python object of the class that holds a T. The caller creates the T inside it.
template <typename T>
[[nodiscard, gnu::always_inline]] inline nb::object new_object() {
    const nb::handle type(reinterpret_cast<PyObject*>(TYPE<T>));
    if constexpr (IS_RECYCLED<T>) {
        PyObject* const spare = RECYCLER<T>.take();
        return spare != nullptr ? nb::steal(spare) : new_untracked(type);
    } else {
        return nb::inst_alloc(type);
    }
}

/// Lets the garbage collector track an object from new_object() whose T now exists, if it must.
template <typename T>
void track_if_needed(nb::handle object, const T& held) noexcept {
    if constexpr (IS_RECYCLED<T>) {
        if (may_refer_back(held)) {
            PyObject_GC_Track(object.ptr());
        }
    }
}

/// Makes a Python object that holds a T built from `arguments`.
template <typename T, typename... Arguments>
[[nodiscard, gnu::always_inline]] inline nb::object make(Arguments&&... arguments) {
    nb::object object = new_object<T>();
    const T* const held = new (inside<void>(object)) T(std::forward<Arguments>(arguments)...);
    mark_ready(object);
    track_if_needed(object, *held);
    return object;
}

/// Makes a Python object of a subclass of the class that holds a T.
template <typename T, typename... Arguments>
[[nodiscard]] nb::object make_as(nb::handle type, Arguments&&... arguments) {
    nb::object object = nb::inst_alloc(type);
    new (payload<void>(object)) T(std::forward<Arguments>(arguments)...);
    mark_ready(object);
    return object;
}

/// Returns the T inside a Python object, or null if it holds none.
template <typename T>
[[nodiscard]] inline T* get_if(nb::handle object) noexcept {
    if (Py_TYPE(object.ptr()) != TYPE<T> && PyType_IsSubtype(Py_TYPE(object.ptr()), TYPE<T>) == 0) {
        return nullptr;
    }
    // An object made with __new__ alone holds nothing yet.
    return is_ready(object) ? payload<T>(object) : nullptr;
}

} // namespace cuprum::python
