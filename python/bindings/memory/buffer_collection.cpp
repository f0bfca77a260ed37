// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/buffer_collection.hpp"

#include "memory/buffer_objects.hpp"
#include "memory/buffer_parts.hpp"
#include "support/collection.hpp"

#include <vector>

namespace cuprum::python {

namespace {

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (nb::inst_ready(self)) {
        const PyBuffer& buffer = *nb::inst_ptr<PyBuffer>(self);
        Py_VISIT(buffer.resource.ptr());
        Py_VISIT(buffer.owner.ptr());
        Py_VISIT(buffer.kept.ptr());
        Py_VISIT(buffer.freed_on.ptr());
    }
    return 0;
}

int clear(PyObject* self) {
    if (nb::inst_ready(self)) {
        nb::inst_ptr<PyBuffer>(self)->drop();
    }
    return 0;
}

} // namespace

const PyType_Slot* buffer_slots() {
    static const std::vector<PyType_Slot> slots = [] {
        std::vector<PyType_Slot> all{
            {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
            {Py_tp_clear, reinterpret_cast<void*>(clear)},
            {Py_tp_finalize, reinterpret_cast<void*>(finalize_by<clear>)},
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
