// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/host_memory.hpp"
#include "memory/memory_objects.hpp"
#include "support/python_objects.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/host_memory.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

namespace cuprum::python {

using namespace nb::literals;

namespace {

template <typename Held, typename Core>
[[nodiscard]] nb::object allocate(nb::handle self, nb::handle size, nb::handle stream) {
    const std::size_t bytes = size_argument(size, "size");
    const auto order = optional_stream_argument(stream);
    auto& core = static_cast<Core&>(*held_by<Held>(self).core);
    auto buffer = [&] {
        const nb::gil_scoped_release unlocked;
        return order ? core.allocate(bytes, *order) : core.allocate(bytes);
    }();
    nb::object made = make<PyBuffer>(std::move(buffer), nb::borrow(self), nb::object());
    if (order) {
        keep_foreign_stream(made, stream);
    }
    return made;
}

void deallocate(const PyNativeResource& self, nb::handle ptr, nb::handle size, nb::handle stream) {
    const CUdeviceptr pointer = address_argument(ptr, "ptr");
    const std::size_t bytes = size_argument(size, "size");
    const Stream order =
        optional_stream_argument(stream).value_or(detail::Access::make<Stream>(nullptr));
    const nb::gil_scoped_release unlocked;
    self.core->deallocate_bytes(pointer, bytes, order);
}

/// Binds what resources have in common that allocate at once.
template <typename Core, typename Held>
void bind_common(nb::class_<Held, PyNativeResource>& type) {
    type.def("allocate", allocate<Held, Core>, "size"_a.none(), nb::kw_only(),
             "stream"_a = nb::none(),
             nb::sig("def allocate(self, size: int, *, stream: Stream | None = None) -> Buffer"),
             R"(Allocate memory, at once.

Parameters
----------
size : int
    In bytes.
stream : Stream, optional
    Freeing waits for it. Without one, the buffer is freed at once unless it is closed on a stream.

Returns
-------
Buffer
    The memory.

Raises
------
OutOfMemoryError
    If there is not enough memory. The message shows the requested and the free bytes.)");
    type.def(
        "deallocate",
        [](const PyNativeResource& self, nb::handle ptr, nb::handle size, nb::handle stream) {
            deallocate(self, ptr, size, stream);
        },
        "ptr"_a.none(), "size"_a.none(), nb::kw_only(), "stream"_a = nb::none(),
        nb::sig("def deallocate(self, ptr: int, size: int, *, stream: Stream | None = None) -> "
                "None"),
        R"(Free memory that was allocated here and that no Buffer holds, in the stream's order.

Parameters
----------
ptr : int
    The address of the memory.
size : int
    The size in bytes.
stream : Stream, optional
    Work enqueued on it so far finishes first.

Raises
------
TypeError
    If an argument has another type.
ValueError
    If `size` is negative.
ClosedError
    If the stream is closed.
CUDAError
    If `ptr` is not the start of such memory, or was freed before.)");
    type.def_prop_ro(
        "is_device_accessible",
        [](const PyNativeResource& self) { return self.core->is_device_accessible(); },
        nb::sig("def is_device_accessible(self) -> bool"),
        "Return whether devices can access the memory.");
    type.def_prop_ro(
        "is_host_accessible",
        [](const PyNativeResource& self) { return self.core->is_host_accessible(); },
        nb::sig("def is_host_accessible(self) -> bool"),
        "Return whether the host can access the memory.");
}

} // namespace

void bind_host_memory(nb::module_& module) {
    nb::class_<PyNativeResource, PyMemoryResource> native(module, "_NativeResource",
                                                          nb::is_weak_referenceable());
    note_type<PyNativeResource>(native);

    nb::class_<PyLegacyPinnedMemoryResource, PyNativeResource> pinned(
        module, "LegacyPinnedMemoryResource", nb::is_weak_referenceable(),
        R"(A memory resource of page-locked host memory, which devices can access.

Works with every driver, but is slow. A ``PinnedMemoryResource`` reuses memory.

Examples
--------
>>> pinned = cuprum.LegacyPinnedMemoryResource().allocate(1024)
>>> pinned.is_host_accessible
True)");
    note_type<PyLegacyPinnedMemoryResource>(pinned);
    pinned.def("__init__", [](PyLegacyPinnedMemoryResource* self) {
        new (self) PyLegacyPinnedMemoryResource(LegacyPinnedMemoryResource::create());
    });
    bind_common<LegacyPinnedMemoryResource>(pinned);
    pinned.def_prop_ro(
        "device_id",
        [](nb::handle) {
            raise_error(PyExc_RuntimeError, "pinned memory is not bound to any GPU; it has no "
                                            "device_id");
        },
        nb::sig("def device_id(self) -> int"), "Raise RuntimeError: it is the host's memory.");

    nb::class_<PySynchronousMemoryResource, PyNativeResource> device(
        module, "SynchronousMemoryResource", nb::is_weak_referenceable(),
        R"(A memory resource for devices without pools, which allocates at once.

Parameters
----------
device_id : Device or int
    The device whose memory it is.

Raises
------
TypeError
    If `device_id` is neither a Device nor an int.
ValueError
    If there is no such device.

Examples
--------
>>> resource = cuprum.SynchronousMemoryResource(device)
>>> resource.allocate(1024, stream=stream).size
1024)");
    note_type<PySynchronousMemoryResource>(device);
    device.def(
        "__init__",
        [](PySynchronousMemoryResource* self, nb::handle device_id) {
            new (self) PySynchronousMemoryResource(
                SynchronousMemoryResource::create(device_argument(device_id, "device_id")));
        },
        "device_id"_a.none(), nb::sig("def __init__(self, device_id: Device | int) -> None"));
    bind_common<SynchronousMemoryResource>(device);
    device.def_prop_ro(
        "device_id", [](const PySynchronousMemoryResource& self) { return self.core->device_id(); },
        "Return the ordinal of the device whose memory this is.");

    module.def(
        "register_host_memory",
        [](nb::handle object, nb::handle only_read, nb::handle of_the_bus) {
            const bool read_only = bool_argument(only_read, "read_only");
            const bool io_memory = bool_argument(of_the_bus, "io_memory");
            HostMemory memory(
                object, read_only ? HostMemory::Access::Read : HostMemory::Access::Write, "obj");
            // The memory stays put while the buffer protocol's view of it is held.
            const nb::object view = nb::steal(PyMemoryView_FromObject(object.ptr()));
            if (!view.is_valid()) {
                throw nb::python_error();
            }
            void* const address = const_cast<void*>(static_cast<const void*>(memory.data()));
            const std::size_t bytes = memory.size();
            auto buffer = [&] {
                const nb::gil_scoped_release unlocked;
                return cuprum::register_host_memory(
                    address, bytes, {.read_only = read_only, .io_memory = io_memory});
            }();
            nb::object made = make<PyBuffer>(std::move(buffer), nb::object(), nb::borrow(object));
            nb::inst_ptr<PyBuffer>(made)->is_readonly = read_only;
            keep_also(made, view);
            return made;
        },
        "obj"_a.none(), nb::kw_only(), "read_only"_a.none() = false, "io_memory"_a.none() = false,
        nb::sig("def register_host_memory(obj: object, *, read_only: bool = False, io_memory: bool "
                "= False) -> Buffer"),
        R"(Register existing host memory with the devices, until the buffer is freed.

Parameters
----------
obj : object with the buffer protocol
    Contiguous, and writable unless `read_only`. Kept alive with the buffer.
read_only : bool
    Devices may only read it. Copies and fills into the buffer raise.
io_memory : bool
    It is the memory of another device on the bus.

Returns
-------
Buffer
    A buffer over the memory.

Raises
------
CUDAError
    If it is registered already, or the device does not support these options.)");
}

} // namespace cuprum::python
