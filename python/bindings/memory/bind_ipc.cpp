// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "memory/buffer_collection.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/memory_objects.hpp"
#include "support/python_objects.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/context.hpp>
#include <cuprum/ipc.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] nb::object sharing() {
    return nb::module_::import_("cuprum._ipc_memory");
}

[[nodiscard]] nb::object descriptor_of(const PyBuffer& self);
[[nodiscard]] nb::object from_descriptor(nb::handle resource, nb::handle descriptor,
                                         nb::handle stream);

} // namespace

void bind_ipc(nb::module_& module) {
    nb::class_<PyIPCAllocationHandle> type(
        module, "IPCAllocationHandle", nb::is_weak_referenceable(),
        R"(A file descriptor that imports a pool of another process.

Obtained from ``MemoryPool.allocation_handle``. Send it with ``multiprocessing``, or send the file
descriptor itself in another way.

Examples
--------
>>> pool = cuprum.DeviceMemoryResource(device, {"ipc_enabled": True, "max_size": 1 << 20})
>>> pool.allocation_handle.handle >= 0
True)");
    note_type<PyIPCAllocationHandle>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError, "IPCAllocationHandle objects cannot be instantiated "
                                            "directly; use a pool's allocation_handle");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    type.def_static(
        "_init",
        [](int handle, nb::object uuid) {
            return make<PyIPCAllocationHandle>(IPCAllocationHandle::from_descriptor(handle),
                                               std::move(uuid));
        },
        "handle"_a, "uuid"_a.none(),
        nb::sig("def _init(handle: int, uuid: UUID | None) -> IPCAllocationHandle"));
    type.def_static(
        "_duplicate",
        [](nb::handle handle) {
            const int descriptor = optional_int_argument(handle, "alloc_handle").value_or(-1);
            return make<PyIPCAllocationHandle>(IPCAllocationHandle::duplicate(descriptor),
                                               nb::none());
        },
        "handle"_a, nb::sig("def _duplicate(handle: int) -> IPCAllocationHandle"));
    type.def("__int__", [](const PyIPCAllocationHandle& self) {
        if (self.core.is_closed()) {
            raise_error(PyExc_ValueError, "cannot convert a closed IPCAllocationHandle to int");
        }
        return self.core.descriptor();
    });
    type.def_prop_ro(
        "handle", [](const PyIPCAllocationHandle& self) { return self.core.descriptor(); },
        "Return the file descriptor, which this object still owns.");
    type.def_prop_ro(
        "uuid", [](const PyIPCAllocationHandle& self) { return self.uuid; },
        nb::sig("def uuid(self) -> UUID | None"), "Return the UUID of the pool.");
    type.def_prop_ro(
        "is_closed", [](const PyIPCAllocationHandle& self) { return self.core.is_closed(); },
        "Return whether ``close`` was called.");
    type.def(
        "close", [](PyIPCAllocationHandle& self) { self.core.close(); },
        "Release this object's share of the file descriptor. Calling it again does nothing.");
    type.def("__repr__", [](nb::handle self) {
        const auto& held = held_by<PyIPCAllocationHandle>(self);
        return "<" + type_label(self) +
               (held.core.is_closed() ? " closed"
                                      : " handle=" + std::to_string(held.core.descriptor())) +
               (held.uuid.is_none() ? ">"
                                    : " uuid=" + nb::cast<std::string>(nb::str(held.uuid)) + ">");
    });
    module.def(
        "has_current_context", [] { return Context::current().has_value(); },
        "Return whether a context is current on the calling thread.");
}

void bind_buffer_sharing(nb::class_<PyBuffer>& type) {
    type.def_prop_ro("is_mapped", &PyBuffer::is_mapped,
                     "Return whether the memory belongs to another process.");
    type.def_prop_ro(
        "_whole",
        [](const PyBuffer& self) {
            nb::object whole = make<PyBuffer>(self.whole(), self.resource, self.owner);
            if (self.kept.is_valid()) {
                keep_also(whole, self.kept);
            }
            return whole;
        },
        nb::sig("def _whole(self) -> Buffer"));
    type.def_prop_ro("ipc_descriptor", descriptor_of,
                     nb::sig("def ipc_descriptor(self) -> cuprum._ipc_memory.IPCBufferDescriptor"),
                     R"(Return the descriptor of this buffer for processes that import its pool.

Raises
------
RuntimeError
    If it did not come from an IPC-enabled pool.)");
    type.def_static("from_ipc_descriptor", from_descriptor, "mr"_a.none(),
                    "ipc_descriptor"_a.none(), nb::kw_only(), "stream"_a.none(),
                    nb::sig("def from_ipc_descriptor(mr: MemoryPool, ipc_descriptor: "
                            "cuprum._ipc_memory.IPCBufferDescriptor, *, stream: Stream) -> Buffer"),
                    R"(Map a buffer of another process into this one.

Parameters
----------
mr : MemoryPool
    The exporter's pool, imported.
ipc_descriptor : IPCBufferDescriptor
    The descriptor of the buffer. Importing it again returns the same memory, mapped once.
stream : Stream
    The unmapping is ordered on it.

Returns
-------
Buffer
    A buffer that maps the same memory.

Raises
------
RuntimeError
    If the pool is not IPC-enabled.
ValueError
    If the descriptor is cut short, or claims more than is mapped.
CUDAError
    If the buffer does not belong to this pool.)");
    type.def(
        "__reduce__", [](nb::handle self) { return sharing().attr("reduce_buffer")(self); },
        nb::sig("def __reduce__(self) -> tuple"));
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

nb::object descriptor_of(const PyBuffer& self) {
    const IPCBufferDescriptor descriptor = [&] {
        const nb::gil_scoped_release unlocked;
        return self.ipc_descriptor();
    }();
    return sharing()
        .attr("IPCBufferDescriptor")
        .attr("_init")(nb::bytes(descriptor.payload.data(), descriptor.payload.size()),
                       descriptor.size);
}

nb::object from_descriptor(nb::handle resource, nb::handle descriptor, nb::handle stream) {
    const PyMemoryPool* pool = get_if<PyMemoryPool>(resource);
    if (pool == nullptr) {
        raise_error(PyExc_TypeError, "mr must be an IPC-enabled pool, got " + type_label(resource));
    }
    const nb::object type = sharing().attr("IPCBufferDescriptor");
    if (PyObject_IsInstance(descriptor.ptr(), type.ptr()) != 1) {
        raise_error(PyExc_TypeError, "Argument 'ipc_descriptor' has incorrect type: expected an "
                                     "IPCBufferDescriptor, got " +
                                         type_label(descriptor));
    }
    if (!pool->core->is_ipc_enabled()) {
        raise_error(PyExc_RuntimeError, "Memory resource is not IPC-enabled: import the exporter's "
                                        "pool with from_allocation_handle first");
    }
    if (!nb::hasattr(descriptor, "_payload")) {
        raise_error(PyExc_TypeError, "ipc_descriptor was made with __new__ alone; use "
                                     "Buffer.ipc_descriptor");
    }
    const nb::object payload = descriptor.attr("_payload");
    char* data = nullptr;
    Py_ssize_t length = 0;
    if (PyBytes_AsStringAndSize(payload.ptr(), &data, &length) != 0) {
        throw nb::python_error();
    }
    const auto named = IPCBufferDescriptor::from_bytes(
        std::as_bytes(std::span(data, static_cast<std::size_t>(length))),
        size_argument(nb::object(descriptor.attr("size")), "size"));
    const Stream& order = stream_argument(stream);
    auto buffer = [&] {
        const nb::gil_scoped_release unlocked;
        return Buffer::from_ipc_descriptor(*pool->core, named, order);
    }();
    nb::object made = make<PyBuffer>(std::move(buffer), nb::borrow(resource), nb::object());
    keep_foreign_stream(made, stream);
    return made;
}

} // namespace

} // namespace cuprum::python
