// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_objects.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/memory_pools.hpp"
#include "support/class.hpp"
#include "support/lent_owner.hpp"

#include <vector>

namespace cuprum::python {

using namespace nb::literals;

void bind_device_pool(nb::module_& module) {
    Class<PyDeviceMemoryResource, PyMemoryPool> type(
        module, "DeviceMemoryResource", nb::is_weak_referenceable(), nb::type_slots(pool_slots()));
    type.constructor([](PyDeviceMemoryResource* self, const Device& device, nb::handle options) {
        const nb::object given = options_argument(options, "DeviceMemoryResourceOptions");
        DeviceMemoryResourceOptions how;
        if (given.is_valid()) {
            how.ipc_enabled = is_true(given, "ipc_enabled");
            how.max_size = size_argument(nb::object(given.attr("max_size")), "max_size");
        }
        auto pool = without_gil([&] {
            return given.is_valid() ? DeviceMemoryResource::create(device, how)
                                    : DeviceMemoryResource::create(device);
        });
        new (self) PyDeviceMemoryResource(std::move(pool));
        if (how.ipc_enabled) {
            sharing().attr("make_picklable")();
        }
    });
    type.method<allocate<PyDeviceMemoryResource, PyBuffer>>("allocate", HOT);
    type.static_method(
        "from_handle", [](const Device& device, nb::handle handle, nb::handle owner) {
            const auto pool = reinterpret_cast<CUmemoryPool>(
                static_cast<std::uintptr_t>(address_argument(handle, "handle")));
            LentOwner lent = owner.is_none() ? LentOwner() : LentOwner(owner);
            auto wrapped = DeviceMemoryResource::from_handle(device, pool, lent.loan());
            return make<PyDeviceMemoryResource>(std::move(wrapped), std::move(lent));
        });
    type.static_method(
        "from_allocation_handle", [](const Device& device_id, nb::handle alloc_handle) {
            const nb::object device = device_object(device_id);
            return sharing().attr("import_pool")(
                nb::handle(reinterpret_cast<PyObject*>(TYPE<PyDeviceMemoryResource>)), device,
                alloc_handle);
        });
    type.static_method("_import", [](const Device& place, const PyIPCAllocationHandle& handle) {
        auto pool = without_gil(
            [&] { return DeviceMemoryResource::from_allocation_handle(place, handle.core); });
        return make<PyDeviceMemoryResource>(std::move(pool));
    });
    type.property("device", [](const PyDeviceMemoryResource& self) {
        return device_object(Device(self.core->device_id()));
    });
    type.property(
        "peer_accessible_by",
        [](nb::handle self) {
            (void)held_by<PyDeviceMemoryResource>(self).core->handle(); // a closed pool has none
            return nb::module_::import_("cuprum._peer_access")
                .attr("PeerAccessibleBySetProxy")(self);
        },
        [](nb::handle self, nb::handle devices) {
            (void)nb::module_::import_("cuprum._peer_access").attr("replace_peers")(self, devices);
        });
    type.method("_peers", [](const PyDeviceMemoryResource& self) {
        const auto peers =
            without_gil([&] { return of_kind<DeviceMemoryResource>(self).peer_accessible_by(); });
        nb::list ordinals;
        for (const Device& peer : peers) {
            ordinals.append(peer.ordinal());
        }
        return ordinals;
    });
    type.method("_update_peers",
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
                });
    type.method("_access_of", [](const PyDeviceMemoryResource& self, const Device& asked) {
        const nb::gil_scoped_release unlocked;
        return of_kind<DeviceMemoryResource>(self).is_accessible_from(asked) ? "rw" : "";
    });
}

} // namespace cuprum::python
