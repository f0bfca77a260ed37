// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How Python's collector sees through our objects.
//
// The collector calls an object garbage when all references to it come from garbage. It knows how
// many references there are, and asks every object for those that it holds. A reference that is
// not shown only keeps things alive, for ever if it closes a cycle. One that is shown by an object
// while somebody else relies on it is fatal: what the other still uses is taken apart. So the rule
// is that each reference is shown by the one Python object that holds it, always, and that nothing
// is decided by looking at how many share something at this moment, since threads without the GIL
// change that while the collector runs:
//
// - A Buffer, its parts and the views of them share memory in the core. The core has no reference
//   to the Python resource that frees the memory, nor to its owner: everyone who shares the memory
//   holds one of their own (PyBuffer::kept, StridedMemoryView::kept), shows it, and gives it up
//   after the share. Who gives up the last share has a reference still.
// - A tensor in DLPack's sense has one as well. It is shown by the view that took the tensor over,
//   whose alone it is; a capsule cannot show anything.
// - C++ code that may hold a share for longer takes a lasting_share, with a hidden reference.
// - The owner of a stream or a pool is lent to the core; see LentOwner.
//
// Memory is freed by finalisers, before anything of the cycle is taken apart: a resource written in
// Python is called when it is still whole.

#pragma once

#include "support/objects.hpp"

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
