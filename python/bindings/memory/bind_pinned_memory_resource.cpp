// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/buffer_objects.hpp"
#include "memory/memory_pools.hpp"
#include "support/fast_method.hpp"
#include "support/python_objects.hpp"

#include <nanobind/nanobind.h>

#include <utility>

namespace cuprum::python {

using namespace nb::literals;

void bind_pinned_pool(nb::module_& module) {
    nb::class_<PyPinnedMemoryResource, PyMemoryPool> type(
        module, "PinnedMemoryResource", nb::is_weak_referenceable(), nb::type_slots(pool_slots()),
        R"(A stream-ordered pool of page-locked host memory, which devices can access.

Parameters
----------
options : PinnedMemoryResourceOptions or dict, optional
    Create a pool with these options. Without options, the process's current pool of pinned memory
    is used; that needs a driver for CUDA 13.0.

Raises
------
TypeError
    If an option is unknown.
ValueError
    If an option is out of range.
CUDAError
    If the driver cannot create the pool.

Examples
--------
>>> pinned = cuprum.PinnedMemoryResource().allocate(1024, stream=stream)
>>> pinned.is_host_accessible
True)");
    note_type<PyPinnedMemoryResource>(type);
    type.def(
        "__init__",
        [](PyPinnedMemoryResource* self, nb::handle options) {
            const nb::object given = options_argument(options, "PinnedMemoryResourceOptions");
            PinnedMemoryResourceOptions how;
            if (given.is_valid()) {
                how.ipc_enabled = is_true(given, "ipc_enabled");
                how.max_size = size_argument(nb::object(given.attr("max_size")), "max_size");
                how.numa_id = optional_int_argument(nb::object(given.attr("numa_id")), "numa_id");
            }
            auto pool = [&] {
                const nb::gil_scoped_release unlocked;
                return given.is_valid() ? PinnedMemoryResource::create(how)
                                        : PinnedMemoryResource::create();
            }();
            new (self) PyPinnedMemoryResource(std::move(pool));
            if (how.ipc_enabled) {
                sharing().attr("make_picklable")();
            }
        },
        "options"_a = nb::none(),
        nb::sig("def __init__(self, options: cuprum._options.PinnedMemoryResourceOptions | dict | "
                "None = None) -> None"));
    fast_method<allocate<PyPinnedMemoryResource, PyBuffer>>(
        type, "def allocate(self, size: int, *, stream: Stream) -> Buffer", ALLOCATE);
    type.def_static(
        "from_allocation_handle",
        [](nb::handle alloc_handle) {
            return sharing().attr("import_pool")(
                nb::handle(reinterpret_cast<PyObject*>(TYPE<PyPinnedMemoryResource>)), nb::none(),
                alloc_handle);
        },
        "alloc_handle"_a.none(),
        nb::sig("def from_allocation_handle(alloc_handle: int | IPCAllocationHandle) -> "
                "PinnedMemoryResource"),
        R"(Import a pool of another process to map its buffers. An imported pool cannot allocate.

Parameters
----------
alloc_handle : int or IPCAllocationHandle
    What the exporting process sent.

Returns
-------
PinnedMemoryResource
    The imported pool.

Raises
------
TypeError
    If `alloc_handle` is neither an int nor an IPCAllocationHandle.
ValueError
    If it is not an open file descriptor.
CUDAError
    If the descriptor is not that of a pool.)");
    type.def_static(
        "_import",
        [](nb::handle, const PyIPCAllocationHandle& handle) {
            auto pool = [&] {
                const nb::gil_scoped_release unlocked;
                return PinnedMemoryResource::from_allocation_handle(handle.core);
            }();
            return make<PyPinnedMemoryResource>(std::move(pool));
        },
        "device"_a.none(), "handle"_a,
        nb::sig("def _import(device: Device | None, handle: IPCAllocationHandle) -> "
                "PinnedMemoryResource"));
    type.def_prop_ro(
        "numa_id",
        [](const PyPinnedMemoryResource& self) {
            return of_kind<PinnedMemoryResource>(self).numa_id();
        },
        "Return the NUMA node of the memory, -1 if the system places it.");
}

} // namespace cuprum::python
