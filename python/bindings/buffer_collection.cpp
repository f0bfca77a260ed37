// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A Buffer refers to the Python resource that frees it, or to the owner of its memory, twice: as a
// Python attribute, and from the core. The collector must be told of both, but of the core's
// reference only while no other buffer shares it: then it is counted where it cannot be seen, and
// nothing is collected.

#include "buffer_collection.hpp"

#include "buffer_parts.hpp"

#include <vector>

namespace cuprum::python {

namespace {

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) {
        return 0;
    }
    const PyBuffer& buffer = *nb::inst_ptr<PyBuffer>(self);
    Py_VISIT(buffer.resource.ptr());
    Py_VISIT(buffer.owner.ptr());
    if (buffer.held_by_core != nullptr && buffer.is_unshared()) {
        Py_VISIT(buffer.held_by_core);
    }
    return 0;
}

int clear(PyObject* self) {
    if (nb::inst_ready(self)) {
        nb::inst_ptr<PyBuffer>(self)->drop();
    }
    return 0;
}

/// Frees the memory while the objects of the cycle, the resource among them, are still whole.
void finalize(PyObject* self) {
    const nb::error_scope pending;
    (void)clear(self);
    // Python runs a finaliser once per object: one that has had its turn must not be recycled, and
    // an object that keeps another alive is not.
    nb::keep_alive_obj(self, Py_True);
}

} // namespace

const PyType_Slot* buffer_slots() {
    static const std::vector<PyType_Slot> slots = [] {
        std::vector<PyType_Slot> all{
            {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
            {Py_tp_clear, reinterpret_cast<void*>(clear)},
            {Py_tp_finalize, reinterpret_cast<void*>(finalize)},
        };
        for (const PyType_Slot* slot = buffer_protocol_slots(); slot->slot != 0; ++slot) {
            all.push_back(*slot);
        }
        all.push_back({0, nullptr});
        return all;
    }();
    return slots.data();
}

} // namespace cuprum::python
