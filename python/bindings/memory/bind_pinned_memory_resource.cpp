// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/buffer_objects.hpp"
#include "memory/memory_pools.hpp"
#include "support/class.hpp"

namespace cuprum::python {

void bind_pinned_pool(nb::module_& module) {
    Class<PyPinnedMemoryResource, PyMemoryPool> type(
        module, "PinnedMemoryResource", nb::is_weak_referenceable(), nb::type_slots(pool_slots()));
    type.constructor([](PyPinnedMemoryResource* self, nb::handle options) {
        const nb::object given = options_argument(options, "PinnedMemoryResourceOptions");
        PinnedMemoryResourceOptions how;
        if (given.is_valid()) {
            how.ipc_enabled = is_true(given, "ipc_enabled");
            how.max_size = size_argument(nb::object(given.attr("max_size")), "max_size");
            how.numa_id = optional_int_argument(nb::object(given.attr("numa_id")), "numa_id");
        }
        auto pool = without_gil([&] {
            return given.is_valid() ? PinnedMemoryResource::create(how)
                                    : PinnedMemoryResource::create();
        });
        new (self) PyPinnedMemoryResource(std::move(pool));
        if (how.ipc_enabled) {
            sharing().attr("make_picklable")();
        }
    });
    type.method<allocate<PyPinnedMemoryResource, PyBuffer>>("allocate", HOT);
    type.static_method("from_allocation_handle", [](nb::handle alloc_handle) {
        return sharing().attr("import_pool")(
            nb::handle(reinterpret_cast<PyObject*>(TYPE<PyPinnedMemoryResource>)), nb::none(),
            alloc_handle);
    });
    type.static_method("_import", [](nb::handle, const PyIPCAllocationHandle& handle) {
        auto pool =
            without_gil([&] { return PinnedMemoryResource::from_allocation_handle(handle.core); });
        return make<PyPinnedMemoryResource>(std::move(pool));
    });
    type.property("numa_id", [](const PyPinnedMemoryResource& self) {
        return of_kind<PinnedMemoryResource>(self).numa_id();
    });
}

} // namespace cuprum::python
