// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_objects.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/memory_pools.hpp"
#include "support/fast_method.hpp"
#include "support/lent_owner.hpp"
#include "support/python_objects.hpp"

#include <cuprum/device.hpp>

#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace cuprum::python {

using namespace nb::literals;

void bind_device_pool(nb::module_& module) {
    nb::class_<PyDeviceMemoryResource, PyMemoryPool> type(
        module, "DeviceMemoryResource", nb::is_weak_referenceable(), nb::type_slots(pool_slots()),
        R"(A stream-ordered pool of device memory.

Parameters
----------
device_id : Device or int
    The device whose memory it is.
options : DeviceMemoryResourceOptions or dict, optional
    Create a pool with these options. Without options, the device's current pool is used, which
    the whole process shares.

Raises
------
TypeError
    If `device_id` is neither a Device nor an int, or an option is unknown.
ValueError
    If there is no such device, or an option is out of range.
CUDAError
    If the driver cannot create the pool.

Examples
--------
>>> pool = cuprum.DeviceMemoryResource(device)
>>> buffer = pool.allocate(1024, stream=stream)
>>> buffer.size
1024)");
    note_type<PyDeviceMemoryResource>(type);
    type.def(
        "__init__",
        [](PyDeviceMemoryResource* self, nb::handle device_id, nb::handle options) {
            const Device device = device_argument(device_id, "device_id");
            const nb::object given = options_argument(options, "DeviceMemoryResourceOptions");
            DeviceMemoryResourceOptions how;
            if (given.is_valid()) {
                how.ipc_enabled = is_true(given, "ipc_enabled");
                how.max_size = size_argument(nb::object(given.attr("max_size")), "max_size");
            }
            auto pool = [&] {
                const nb::gil_scoped_release unlocked;
                return given.is_valid() ? DeviceMemoryResource::create(device, how)
                                        : DeviceMemoryResource::create(device);
            }();
            new (self) PyDeviceMemoryResource(std::move(pool));
            if (how.ipc_enabled) {
                sharing().attr("make_picklable")();
            }
        },
        "device_id"_a.none(), "options"_a = nb::none(),
        nb::sig("def __init__(self, device_id: Device | int, options: "
                "cuprum._options.DeviceMemoryResourceOptions | dict | None = None) -> None"));
    fast_method<allocate<PyDeviceMemoryResource, PyBuffer>>(
        type, "def allocate(self, size: int, *, stream: Stream) -> Buffer", ALLOCATE);
    type.def_static(
        "from_handle",
        [](nb::handle device_id, nb::handle handle, nb::handle owner) {
            const Device device = device_argument(device_id, "device_id");
            const auto pool = reinterpret_cast<CUmemoryPool>(
                static_cast<std::uintptr_t>(address_argument(handle, "handle")));
            LentOwner lent = owner.is_none() ? LentOwner() : LentOwner(owner);
            auto wrapped = DeviceMemoryResource::from_handle(device, pool, lent.loan());
            return make<PyDeviceMemoryResource>(std::move(wrapped), std::move(lent));
        },
        "device_id"_a.none(), "handle"_a.none(), "owner"_a = nb::none(),
        nb::sig("def from_handle(device_id: Device | int, handle: int, owner: object | None = None)"
                " -> DeviceMemoryResource"),
        R"(Wrap a pool made elsewhere, without owning it; `owner` is kept alive with it.

Parameters
----------
device_id : Device or int
    The ordinal of the device whose memory the pool hands out.
handle : int
    The driver's ``CUmemoryPool``.
owner : object, optional
    An object to keep alive with the pool.

Returns
-------
DeviceMemoryResource
    The pool, not owned.

Raises
------
TypeError
    If `handle` is not an int.
ValueError
    If `handle` is 0, or there is no such device.)");
    type.def_static(
        "from_allocation_handle",
        [](nb::handle device_id, nb::handle alloc_handle) {
            const nb::object device = device_object(device_argument(device_id, "device_id"));
            return sharing().attr("import_pool")(
                nb::handle(reinterpret_cast<PyObject*>(TYPE<PyDeviceMemoryResource>)), device,
                alloc_handle);
        },
        "device_id"_a.none(), "alloc_handle"_a.none(),
        nb::sig("def from_allocation_handle(device_id: Device | int, alloc_handle: int | "
                "IPCAllocationHandle) -> DeviceMemoryResource"),
        R"(Import a pool of another process to map its buffers. An imported pool cannot allocate.

Parameters
----------
device_id : Device or int
    The device whose memory it is.
alloc_handle : int or IPCAllocationHandle
    A file descriptor, which the caller keeps, or an ``allocation_handle``. If this process already
    knows the pool by its UUID, that pool is returned.

Returns
-------
DeviceMemoryResource
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
        [](nb::handle device, const PyIPCAllocationHandle& handle) {
            const Device place = device_argument(device, "device");
            auto pool = [&] {
                const nb::gil_scoped_release unlocked;
                return DeviceMemoryResource::from_allocation_handle(place, handle.core);
            }();
            return make<PyDeviceMemoryResource>(std::move(pool));
        },
        "device"_a, "handle"_a,
        nb::sig("def _import(device: Device | None, handle: IPCAllocationHandle) -> "
                "DeviceMemoryResource"));
    type.def_prop_ro(
        "device",
        [](const PyDeviceMemoryResource& self) {
            return device_object(Device(self.core->device_id()));
        },
        nb::sig("def device(self) -> Device"), "Return the device whose memory this is.");
    type.def_prop_rw(
        "peer_accessible_by",
        [](nb::handle self) {
            (void)held_by<PyDeviceMemoryResource>(self).core->handle(); // a closed pool has none
            return nb::module_::import_("cuprum._peer_access")
                .attr("PeerAccessibleBySetProxy")(self);
        },
        [](nb::handle self, nb::handle devices) {
            (void)nb::module_::import_("cuprum._peer_access").attr("replace_peers")(self, devices);
        },
        nb::arg().none(),
        nb::for_getter(nb::sig("def peer_accessible_by(self) -> "
                               "cuprum._peer_access.PeerAccessibleBySetProxy")),
        nb::for_setter(nb::sig("def peer_accessible_by(self, devices: "
                               "collections.abc.Iterable[Device | int], /) -> None")),
        "Return the other devices that may access the memory: a live set, which can be assigned.");
    type.def(
        "_peers",
        [](const PyDeviceMemoryResource& self) {
            const auto peers = [&] {
                const nb::gil_scoped_release unlocked;
                return of_kind<DeviceMemoryResource>(self).peer_accessible_by();
            }();
            nb::list ordinals;
            for (const Device& peer : peers) {
                ordinals.append(peer.ordinal());
            }
            return ordinals;
        },
        nb::sig("def _peers(self) -> list[int]"));
    type.def(
        "_update_peers",
        [](const PyDeviceMemoryResource& self, nb::handle give, nb::handle take) {
            const auto list = [](nb::handle values) {
                std::vector<Device> devices;
                for (nb::handle value : nb::borrow<nb::object>(values)) {
                    devices.push_back(device_argument(value, "device"));
                }
                return devices;
            };
            const auto added = list(give);
            const auto removed = list(take);
            const nb::gil_scoped_release unlocked;
            of_kind<DeviceMemoryResource>(self).update_peer_access(added, removed);
        },
        "give"_a, "take"_a,
        nb::sig("def _update_peers(self, give: collections.abc.Iterable[Device | int], take: "
                "collections.abc.Iterable[Device | int]) -> None"));
    type.def(
        "_access_of",
        [](const PyDeviceMemoryResource& self, nb::handle device) {
            const Device asked = device_argument(device, "device");
            const nb::gil_scoped_release unlocked;
            return of_kind<DeviceMemoryResource>(self).is_accessible_from(asked) ? "rw" : "";
        },
        "device"_a);
}

} // namespace cuprum::python
