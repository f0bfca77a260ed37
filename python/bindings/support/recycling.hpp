// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reuses Python objects that programs create and drop all the time: buffers, events, streams,
// views.
//
// A dropped object is kept for the next of its class. nanobind can do that too (nb::pooled), in
// some hundred and fifty instructions, and makes the garbage collector track every object. Here it
// takes a few loads and stores in one cache line, and the collector tracks only objects that may be
// part of a cycle. nanobind handles objects of derived classes and unusual ones. It also handles
// all objects on a free-threaded Python, where it keeps some for each thread.

#pragma once

#include "support/instances.hpp"

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

namespace cuprum::python {

#if !defined(CUPRUM_ASKS_NANOBIND) && !defined(Py_GIL_DISABLED) && !defined(Py_REF_DEBUG)
inline constexpr bool CAN_RECYCLE = true;
#else
inline constexpr bool CAN_RECYCLE = false;
#endif

/// Returns whether objects that hold a T are kept when they are dropped.
template <typename T>
inline constexpr bool IS_RECYCLED = false;

/// Returns whether what an object holds may refer to the object, as Python's collector has to know.
/// Asked once, when it is made.
template <typename T>
[[nodiscard]] bool may_refer_back(const T& /*held*/) noexcept {
    return false;
}

/// Returns whether dropping what an object holds may drop others that hold others, and so on.
template <typename T>
[[nodiscard]] bool may_begin_chain(const T& /*held*/) noexcept {
    return true;
}

/// What making and dropping the objects of one class looks at; guarded by the GIL.
struct alignas(32) Recycler {
    static constexpr std::uint32_t MAX_SPARE = 32;

    PyObject* spare = nullptr;    // the first of a list
    PyTypeObject* type = nullptr; // null until recycle()
    destructor general = nullptr; // nanobind's
    std::int32_t weakrefs_at = 0; // where an object keeps its weak references
    std::uint32_t spare_count = 0;

    /// Returns an object that holds nothing, or null if there is no spare one.
    [[nodiscard]] PyObject* take() noexcept {
        PyObject* const object = spare;
        if (object != nullptr) [[likely]] {
            spare = *inside<PyObject*>(object);
            --spare_count;
            Py_SET_REFCNT(object, 1);
        }
        return object;
    }

    void keep(PyObject* object) noexcept {
        if (spare_count == MAX_SPARE) [[unlikely]] {
            general(object);
            return;
        }
        *inside<PyObject*>(object) = spare;
        spare = object;
        ++spare_count;
    }
};

template <typename T>
inline constinit Recycler RECYCLER;

/// Makes a new object of the class that holds a T; the collector does not know of it.
[[nodiscard]] inline nb::object new_untracked(nb::handle type) {
    nb::object object = nb::inst_alloc(type);
    PyObject_GC_UnTrack(object.ptr());
    return object;
}

template <typename T>
void drop_object(PyObject* self) noexcept;

/// Does what `drop` does with an object that the collector knows, which may own the next one, and
/// so on: if that nests too deep, Python does it later.
template <destructor Drop, typename Action>
void drop_by_and_by(PyObject* self, const Action& drop) noexcept {
    PyObject_GC_UnTrack(self);
    // clang-format off: the macros bring braces
    Py_TRASHCAN_BEGIN(self, Drop)
        drop(self);
    Py_TRASHCAN_END
    // clang-format on
}

/// Drops a plain object that the collector does not know.
template <typename T>
[[gnu::always_inline]] inline void drop_plain(PyObject* self) noexcept {
    Recycler& recycler = RECYCLER<T>;
    auto* const weakrefs =
        reinterpret_cast<PyObject**>(reinterpret_cast<char*>(self) + recycler.weakrefs_at);
    if (*weakrefs != nullptr) [[unlikely]] {
        PyObject_ClearWeakRefs(self);
    }
    inside<T>(self)->~T();
    mark_empty(self);
    recycler.keep(self); // not before: the destructor may make and drop others
}

/// Destroys an object whose last reference is gone: the type's tp_dealloc.
template <typename T>
[[gnu::hot]] void drop_object(PyObject* self) noexcept {
    const Recycler& recycler = RECYCLER<T>;
    if (Py_TYPE(self) != recycler.type || !is_plain(self)) [[unlikely]] {
        recycler.general(self);
        return;
    }
    if (is_tracked(self)) {
        if (may_begin_chain(*inside<T>(self))) [[unlikely]] {
            drop_by_and_by<drop_object<T>>(self, [](PyObject* it) { drop_plain<T>(it); });
            return;
        }
        PyObject_GC_UnTrack(self);
    }
    drop_plain<T>(self);
}

/// Does the same with an object that is not kept.
template <typename T>
void drop_unkept(PyObject* self) noexcept {
    const Recycler& recycler = RECYCLER<T>;
    if (Py_TYPE(self) == recycler.type && is_tracked(self)) {
        drop_by_and_by<drop_unkept<T>>(self, recycler.general);
    } else {
        recycler.general(self); // that of a derived class sees to it itself
    }
}

/// Lets objects of a class own each other, however long the chain.
template <typename T>
void allow_chains(nb::handle type) {
    Recycler& recycler = RECYCLER<T>;
    recycler.type = reinterpret_cast<PyTypeObject*>(type.ptr());
    if (PyType_IS_GC(recycler.type) != 0) {
        recycler.general = recycler.type->tp_dealloc;
        recycler.type->tp_dealloc = drop_unkept<T>;
    }
}

/// Has the objects of a class kept. Call it once, when the class is bound.
template <typename T>
void recycle(nb::handle type) {
    static_assert(IS_RECYCLED<T> && sizeof(T) >= sizeof(PyObject*));
    if (CAN_RECYCLE && hot_data.reads_instances) {
        Recycler& recycler = RECYCLER<T>;
        recycler.type = reinterpret_cast<PyTypeObject*>(type.ptr());
        recycler.weakrefs_at = static_cast<std::int32_t>(recycler.type->tp_weaklistoffset);
        if (recycler.weakrefs_at > 0 && PyType_IS_GC(recycler.type) != 0) {
            recycler.general = recycler.type->tp_dealloc;
            recycler.type->tp_dealloc = drop_object<T>;
            return;
        }
    }
    allow_chains<T>(type);
}

} // namespace cuprum::python
