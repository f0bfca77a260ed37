// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/memory_pools.hpp"
#include "support/instances.hpp"
#include "support/python_objects.hpp"

#include <cuprum/detail/runtime.hpp>
#include <cuprum/memory_pool.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>
#include <utility>

namespace cuprum::python {

using namespace nb::literals;

namespace {

void bind_pool(nb::module_& module);

} // namespace

void bind_memory_pool(nb::module_& module) {
    bind_pool_attributes(module);
    bind_pool(module);
    bind_device_pool(module);
    bind_pinned_pool(module);
    bind_managed_pool(module);
    module.def("reset_concurrent_access_warning", &detail::reset_managed_access_warning,
               "Allow the warning about managed memory again.");
}

nb::object allocate_from(nb::handle resource, std::size_t bytes, nb::handle stream) {
    if (Py_TYPE(resource.ptr()) != TYPE<PyDeviceMemoryResource>) {
        nb::object made = resource.attr("allocate")(bytes, "stream"_a = stream);
        if (get_if<PyBuffer>(made) == nullptr) {
            raise_error(PyExc_TypeError, type_label(resource) +
                                             ".allocate must give a Buffer, got " +
                                             type_label(made));
        }
        return made;
    }
    return allocate_in<PyBuffer>(*payload<PyDeviceMemoryResource>(resource)->core,
                                 nb::borrow(resource), bytes, stream);
}

nb::object sharing() {
    return nb::module_::import_("cuprum._ipc_memory");
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_pool(nb::module_& module) {
    nb::class_<PyMemoryPool, PyMemoryResource> type(
        module, "MemoryPool", nb::is_weak_referenceable(), nb::type_slots(pool_slots()),
        R"(A stream-ordered pool of memory: the base class of the three kinds.

Examples
--------
>>> pool = cuprum.DeviceMemoryResource(device)
>>> buffer = pool.allocate(1024, stream=stream)
>>> pool.attributes.used_mem_current >= 1024
True)");
    note_type<PyMemoryPool>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError,
                        "a MemoryPool is not made directly; use DeviceMemoryResource, "
                        "PinnedMemoryResource or ManagedMemoryResource");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    type.def(
        "deallocate",
        [](const PyMemoryPool& self, nb::handle ptr, nb::handle size, nb::handle stream) {
            const CUdeviceptr pointer = address_argument(ptr, "ptr");
            const std::size_t bytes = size_argument(size, "size");
            const Stream& order = stream_argument(stream);
            const nb::gil_scoped_release unlocked;
            self.core->deallocate_bytes(pointer, bytes, order);
        },
        "ptr"_a.none(), "size"_a.none(), nb::kw_only(), "stream"_a.none(),
        nb::sig("def deallocate(self, ptr: int, size: int, *, stream: Stream) -> None"),
        R"(Free memory of this pool that no Buffer holds.

Parameters
----------
ptr : int
    The address of the memory.
size : int
    The size in bytes.
stream : Stream
    Work enqueued on it so far finishes before the memory is freed.

Raises
------
TypeError
    If an argument has another type.
ValueError
    If `size` is negative.
ClosedError
    If the pool or the stream is closed.
CUDAError
    If `ptr` is not the start of such memory, or was freed before.)");
    type.def_prop_ro(
        "handle",
        [](const PyMemoryPool& self) {
            return reinterpret_cast<std::uintptr_t>(self.core->handle());
        },
        "Return the driver's ``CUmemoryPool`` as an int.");
    type.def_prop_ro(
        "is_closed", [](const PyMemoryPool& self) { return self.core.is_closed(); },
        "Return whether ``close`` was called.");
    type.def_prop_ro(
        "is_handle_owned", [](const PyMemoryPool& self) { return self.core->is_handle_owned(); },
        "Return whether this resource owns the pool.");
    type.def_prop_ro(
        "device_id", [](const PyMemoryPool& self) { return self.core->device_id(); },
        "Return the ordinal of the device whose memory this is, -1 for host memory.");
    type.def_prop_ro(
        "is_device_accessible",
        [](const PyMemoryPool& self) { return self.core->is_device_accessible(); },
        "Return whether devices can access the memory.");
    type.def_prop_ro(
        "is_host_accessible",
        [](const PyMemoryPool& self) { return self.core->is_host_accessible(); },
        "Return whether the host can access the memory.");
    type.def_prop_ro(
        "is_managed", [](const PyMemoryPool& self) { return self.core->is_managed(); },
        "Return whether the memory moves between host and devices by itself.");
    type.def_prop_ro(
        "is_ipc_enabled", [](const PyMemoryPool& self) { return self.core->is_ipc_enabled(); },
        "Return whether the pool can be shared with other processes.");
    type.def_prop_ro(
        "is_mapped", [](const PyMemoryPool& self) { return self.core->is_mapped(); },
        "Return whether the pool was imported from another process.");
    type.def_prop_ro(
        "uuid",
        [](nb::handle self) -> nb::object {
            auto& pool = held_by<PyMemoryPool>(self);
            if (!pool.uuid.is_valid() && pool.core->is_ipc_enabled() && !pool.core->is_mapped()) {
                pool.uuid = sharing().attr("new_uuid")(self);
            }
            return pool.uuid.is_valid() ? pool.uuid : nb::none();
        },
        nb::sig("def uuid(self) -> UUID | None"),
        "Return the UUID of the pool for other processes; None if it is not shared.");
    type.def(
        "_set_uuid", [](PyMemoryPool& self, nb::object uuid) { self.uuid = std::move(uuid); },
        "uuid"_a, nb::sig("def _set_uuid(self, uuid: UUID) -> None"));
    type.def(
        "_export",
        [](nb::handle self) {
            const auto& pool = held_by<PyMemoryPool>(self);
            auto handle = [&] {
                const nb::gil_scoped_release unlocked;
                return pool.core->allocation_handle();
            }();
            return make<PyIPCAllocationHandle>(std::move(handle), self.attr("uuid"));
        },
        nb::sig("def _export(self) -> IPCAllocationHandle"));
    type.def_prop_ro(
        "allocation_handle",
        [](nb::handle self) {
            (void)held_by<PyMemoryPool>(self).core->handle(); // a closed pool has none
            return sharing().attr("handle_of")(self);
        },
        nb::sig("def allocation_handle(self) -> IPCAllocationHandle"),
        R"(Return the handle that other processes import the pool with.

All handles of a pool share one file descriptor, which is closed with the last of them.

Raises
------
RuntimeError
    If the pool was not made with ``ipc_enabled``.)");
    type.def(
        "register",
        [](nb::handle self, nb::handle uuid) { return sharing().attr("register")(self, uuid); },
        "uuid"_a.none(), nb::sig("def register(self, uuid: UUID) -> MemoryPool"),
        R"(Register an imported pool under the UUID of its exporter.

Buffers that arrive from other processes find it there. Returns the registered pool: this one, or
one that was registered earlier.

Parameters
----------
uuid : UUID
    The UUID that the exporting process sent.

Returns
-------
MemoryPool
    The pool that is registered under the UUID: this one, or the one that was there.

Raises
------
RuntimeError
    If the pool is not IPC-enabled.)");
    type.def_static(
        "from_registry", [](nb::handle uuid) { return sharing().attr("from_registry")(uuid); },
        "uuid"_a.none(), nb::sig("def from_registry(uuid: UUID) -> MemoryPool"),
        R"(Return the pool that is registered under a UUID.

Parameters
----------
uuid : UUID
    The UUID that the exporting process sent.

Returns
-------
MemoryPool
    The registered pool.

Raises
------
RuntimeError
    If there is none.)");
    type.def(
        "__reduce__", [](nb::handle self) { return sharing().attr("reduce_pool")(self); },
        nb::sig("def __reduce__(self) -> tuple"));
    type.def_prop_ro(
        "attributes",
        [](const PyMemoryPool& self) {
            (void)self.core->handle(); // a closed pool has none
            return make<PyPoolAttributes>(self.core.pointer());
        },
        nb::sig("def attributes(self) -> MemoryPoolAttributes"),
        "Return what the pool holds and has held; each read asks the driver.");
    const auto trim = [](const PyMemoryPool& self, nb::handle keep_bytes) {
        const std::size_t bytes = size_argument(keep_bytes, "keep_bytes");
        const nb::gil_scoped_release unlocked;
        self.core->trim(bytes);
    };
    type.def("trim", trim, "keep_bytes"_a.none() = 0,
             nb::sig("def trim(self, keep_bytes: int = 0) -> None"),
             R"(Return memory to the system until at most `keep_bytes` are reserved.

Parameters
----------
keep_bytes : int, optional
    The number of bytes to keep reserved.

Raises
------
ValueError
    If the number is negative.)");
    type.def("trim_to", trim, "keep_bytes"_a.none(),
             nb::sig("def trim_to(self, keep_bytes: int) -> None"),
             R"(Return memory to the system until at most `keep_bytes` are reserved.

Parameters
----------
keep_bytes : int
    The number of bytes to keep reserved.

Raises
------
ValueError
    If the number is negative.)");
    type.def(
        "close",
        [](nb::handle self) {
            auto& pool = held_by<PyMemoryPool>(self);
            if (pool.uuid.is_valid()) {
                sharing().attr("forget")(self, pool.uuid);
            }
            pool.drop();
        },
        R"(Release this object's share of the pool. Calling it again does nothing.

Buffers that came from it stay valid and keep the pool alive.)");
}

} // namespace

} // namespace cuprum::python
