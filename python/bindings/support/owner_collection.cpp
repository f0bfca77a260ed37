// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The owner of a stream or a pool that was made elsewhere may refer to our object of it: a cycle.
// If that becomes garbage while the core still shares the stream, for a buffer that will be freed
// on it, the finaliser hands the owner to the core: it is garbage no longer until the buffer goes.

#include "support/owner_collection.hpp"

#include "memory/buffer_objects.hpp"
#include "stream/stream_objects.hpp"
#include "support/collection.hpp"
#include "support/lent_owner.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/device.hpp>
#include <cuprum/memory_pool.hpp>
#include <cuprum/stream.hpp>

#include <utility>

namespace cuprum::python {

namespace {

[[nodiscard]] bool is_shared(const PyStream& stream) noexcept {
    return detail::Access::state(stream).use_count() > 1;
}

[[nodiscard]] bool is_shared(const PyMemoryPool& pool) noexcept {
    return pool.core.pointer().use_count() > 1;
}

/// Leaves what is shared to the core, its owner with it, and wraps the same thing anew.
void part_from_core(PyStream& stream) {
    LentOwner lent(stream.lent.owner());
    Stream& share = stream;
    Stream shared = std::exchange(share, Stream::from_handle(share.handle(), lent.loan()));
    std::swap(stream.lent, lent);
    shared.close();
    lent.settle();
}

void part_from_core(PyMemoryPool& pool) {
    LentOwner lent(pool.lent.owner());
    PoolShare shared = std::exchange(
        pool.core, PoolShare(DeviceMemoryResource::from_handle(Device(pool.core->device_id()),
                                                               pool.core->handle(), lent.loan())));
    std::swap(pool.lent, lent);
    shared.drop();
    lent.settle();
}

template <typename T>
int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (nb::inst_ready(self)) {
        Py_VISIT(nb::inst_ptr<T>(self)->lent.owner().ptr());
    }
    return 0;
}

template <typename T>
int clear(PyObject* self) {
    if (nb::inst_ready(self) && nb::inst_ptr<T>(self)->lent.owner().is_valid()) {
        nb::inst_ptr<T>(self)->drop();
    }
    return 0;
}

template <typename T>
int part(PyObject* self) {
    if (!nb::inst_ready(self)) {
        return 0;
    }
    T& held = *nb::inst_ptr<T>(self);
    if (held.lent.owner().is_valid() && is_shared(held)) {
        try {
            part_from_core(held);
        } catch (...) {
            // The driver does not know the stream any more. The owner then stays the core's, which
            // is safe, and is not collected before this object is closed.
            held.lent.settle();
        }
    }
    return 0;
}

template <typename T>
PyType_Slot* owner_slots() {
    static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse<T>)},
                                  {Py_tp_clear, reinterpret_cast<void*>(clear<T>)},
                                  {Py_tp_finalize, reinterpret_cast<void*>(finalize_by<part<T>>)},
                                  {0, nullptr}};
    return slots;
}

} // namespace

PyType_Slot* stream_slots() {
    return owner_slots<PyStream>();
}

PyType_Slot* pool_slots() {
    return owner_slots<PyMemoryPool>();
}

} // namespace cuprum::python
