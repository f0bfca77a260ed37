// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How Python's garbage collector follows references through our objects.
//
// An object is garbage when all references to it come from garbage. The collector knows how many
// references an object has, and asks every object which ones it holds. A reference that no object
// shows keeps things alive, for ever if it closes a cycle. A reference that an object shows while
// other code relies on it is fatal: the collector destroys what that code still uses. So each
// reference is shown by the one Python object that holds it, always. Nothing depends on how many
// share something at the moment, because threads without the GIL change that during a collection:
//
// - A Buffer, its parts and the views of them share memory in the core. The core has no reference
//   to the Python resource that frees the memory, nor to its owner. Each object that shares the
//   memory holds a reference of its own (PyBuffer::kept, StridedMemoryView::kept), shows it, and
//   releases it after the share. So the last share is always given up before the last reference.
// - A DLPack tensor holds one as well. The view that took the tensor over shows it; a capsule
//   cannot.
// - C++ code that may hold a share for longer takes a lasting_share, with a hidden reference.
// - The owner of a stream or a pool is lent to the core; see LentOwner.
//
// Finalisers free the memory before the collector breaks a cycle: a resource written in Python is
// still complete when it is called.

#pragma once

#include "support/held.hpp"

namespace cuprum::python {

/// A finaliser that does what another slot does.
template <int (*Clear)(PyObject*)>
void finalize_by(PyObject* self) {
    const nb::error_scope pending;
    static_cast<void>(Clear(self));
    // Python runs a finaliser once per object: one that has had its turn must not be recycled, and
    // an object that keeps another alive is not.
    nb::keep_alive_obj(self, Py_True);
}

/// The slots of a class whose objects hold Python objects in members of a T.
template <typename T, nb::object T::*... Members>
struct MemberSlots {
    static int traverse(PyObject* self, visitproc visit, void* arg) {
        Py_VISIT(Py_TYPE(self));
        if (!nb::inst_ready(self)) {
            return 0;
        }
        const T& held = *nb::inst_ptr<T>(self);
        for (PyObject* const each : {(held.*Members).ptr()...}) {
            Py_VISIT(each);
        }
        return 0;
    }

    static int clear(PyObject* self) {
        if (nb::inst_ready(self)) {
            (give_up(nb::inst_ptr<T>(self)->*Members), ...);
        }
        return 0;
    }

    static inline PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                                         {Py_tp_clear, reinterpret_cast<void*>(clear)},
                                         {0, nullptr}};
};

} // namespace cuprum::python
