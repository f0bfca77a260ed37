// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/buffer_objects.hpp"
#include "memory/memory_pools.hpp"
#include "support/class.hpp"

#include <cuprum/detail/runtime.hpp>
#include <cuprum/memory_pool.hpp>

namespace cuprum::python {

using namespace nb::literals;

namespace {

void bind_pool(nb::module_& module) {
    Class<PyMemoryPool, PyMemoryResource> type(module, "MemoryPool", nb::is_weak_referenceable(),
                                               nb::type_slots(pool_slots()));
    type.refuse_construction("a MemoryPool is not made directly; use DeviceMemoryResource, "
                             "PinnedMemoryResource or ManagedMemoryResource");
    type.method("deallocate", [](const PyMemoryPool& self, nb::handle ptr, std::size_t bytes,
                                 const Stream& order) {
        const CUdeviceptr pointer = address_argument(ptr, "ptr");
        const nb::gil_scoped_release unlocked;
        self.core->deallocate_bytes(pointer, bytes, order);
    });
    type.property("handle", [](const PyMemoryPool& self) {
        return reinterpret_cast<std::uintptr_t>(self.core->handle());
    });
    type.property("is_closed", [](const PyMemoryPool& self) { return self.core.is_closed(); });
    type.property("is_handle_owned",
                  [](const PyMemoryPool& self) { return self.core->is_handle_owned(); });
    type.property("device_id", [](const PyMemoryPool& self) { return self.core->device_id(); });
    type.property("is_device_accessible",
                  [](const PyMemoryPool& self) { return self.core->is_device_accessible(); });
    type.property("is_host_accessible",
                  [](const PyMemoryPool& self) { return self.core->is_host_accessible(); });
    type.property("is_managed", [](const PyMemoryPool& self) { return self.core->is_managed(); });
    type.property("is_ipc_enabled",
                  [](const PyMemoryPool& self) { return self.core->is_ipc_enabled(); });
    type.property("is_mapped", [](const PyMemoryPool& self) { return self.core->is_mapped(); });
    type.property("uuid", [](nb::handle self) -> nb::object {
        auto& pool = held_by<PyMemoryPool>(self);
        if (!pool.uuid.is_valid() && pool.core->is_ipc_enabled() && !pool.core->is_mapped()) {
            pool.uuid = sharing().attr("new_uuid")(self);
        }
        return pool.uuid.is_valid() ? pool.uuid : nb::none();
    });
    type.method("_set_uuid",
                [](PyMemoryPool& self, nb::object uuid) { self.uuid = std::move(uuid); });
    type.method("_export", [](nb::handle self) {
        const auto& pool = held_by<PyMemoryPool>(self);
        auto handle = without_gil([&] { return pool.core->allocation_handle(); });
        return make<PyIPCAllocationHandle>(std::move(handle), self.attr("uuid"));
    });
    type.property("allocation_handle", [](nb::handle self) {
        (void)held_by<PyMemoryPool>(self).core->handle(); // a closed pool has none
        return sharing().attr("handle_of")(self);
    });
    type.method("register", [](nb::handle self, nb::handle uuid) {
        return sharing().attr("register")(self, uuid);
    });
    type.static_method("from_registry",
                       [](nb::handle uuid) { return sharing().attr("from_registry")(uuid); });
    type.method("__reduce__", [](nb::handle self) { return sharing().attr("reduce_pool")(self); });
    type.property("attributes", [](const PyMemoryPool& self) {
        (void)self.core->handle(); // a closed pool has none
        return make<PyPoolAttributes>(self.core.pointer());
    });
    type.method("trim", [](const PyMemoryPool& self, std::size_t keep_bytes) {
        without_gil([&] { self.core->trim(keep_bytes); });
    });
    type.method("trim_to", [](const PyMemoryPool& self, std::size_t keep_bytes) {
        without_gil([&] { self.core->trim(keep_bytes); });
    });
    type.method("close", [](nb::handle self) {
        auto& pool = held_by<PyMemoryPool>(self);
        if (pool.uuid.is_valid()) {
            sharing().attr("forget")(self, pool.uuid);
        }
        pool.drop();
    });
}

} // namespace

void bind_memory_pool(nb::module_& module) {
    bind_pool_attributes(module);
    bind_pool(module);
    bind_device_pool(module);
    bind_pinned_pool(module);
    bind_managed_pool(module);
    function<&detail::reset_managed_access_warning>(module, "reset_concurrent_access_warning");
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

} // namespace cuprum::python
