// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/buffer_objects.hpp"
#include "memory/host_memory.hpp"
#include "memory/memory_objects.hpp"
#include "support/class.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/host_memory.hpp>

#include <memory>

namespace cuprum::python {

using namespace nb::literals;

namespace {

template <typename Held, typename Core>
[[nodiscard]] nb::object allocate(nb::handle self, nb::handle size, nb::handle stream) {
    const std::size_t bytes = size_argument(size, "size");
    const auto order = optional_stream_argument(stream);
    auto& core = static_cast<Core&>(*held_by<Held>(self).core);
    auto buffer =
        without_gil([&] { return order ? core.allocate(bytes, *order) : core.allocate(bytes); });
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
void bind_common(Class<Held, PyNativeResource>& type) {
    type.template method<allocate<Held, Core>>("allocate");
    type.method("deallocate", [](const PyNativeResource& self, nb::handle ptr, nb::handle size,
                                 nb::handle stream) { deallocate(self, ptr, size, stream); });
    type.property("is_device_accessible",
                  [](const PyNativeResource& self) { return self.core->is_device_accessible(); });
    type.property("is_host_accessible",
                  [](const PyNativeResource& self) { return self.core->is_host_accessible(); });
}

} // namespace

void bind_host_memory(nb::module_& module) {
    Class<PyNativeResource, PyMemoryResource> native(module, "_NativeResource",
                                                     nb::is_weak_referenceable());

    Class<PyLegacyPinnedMemoryResource, PyNativeResource> pinned(
        module, "LegacyPinnedMemoryResource", nb::is_weak_referenceable());
    pinned.constructor([](PyLegacyPinnedMemoryResource* self) {
        new (self) PyLegacyPinnedMemoryResource(LegacyPinnedMemoryResource::create());
    });
    bind_common<LegacyPinnedMemoryResource>(pinned);
    pinned.property("device_id", [](nb::handle) {
        raise_error(PyExc_RuntimeError, "pinned memory is not bound to any GPU; it has no "
                                        "device_id");
    });

    Class<PySynchronousMemoryResource, PyNativeResource> device(module, "SynchronousMemoryResource",
                                                                nb::is_weak_referenceable());
    device.constructor([](PySynchronousMemoryResource* self, const Device& device_id) {
        new (self) PySynchronousMemoryResource(SynchronousMemoryResource::create(device_id));
    });
    bind_common<SynchronousMemoryResource>(device);
    device.property("device_id",
                    [](const PySynchronousMemoryResource& self) { return self.core->device_id(); });

    function(module, "register_host_memory", [](nb::handle object, bool read_only, bool io_memory) {
        HostMemory memory(object, read_only ? HostMemory::Access::Read : HostMemory::Access::Write,
                          "obj");
        // The memory stays put while the buffer protocol's view of it is held.
        const nb::object view = nb::steal(PyMemoryView_FromObject(object.ptr()));
        if (!view.is_valid()) {
            throw nb::python_error();
        }
        void* const address = const_cast<void*>(static_cast<const void*>(memory.data()));
        const std::size_t bytes = memory.size();
        auto buffer = without_gil([&] {
            return cuprum::register_host_memory(address, bytes,
                                                {.read_only = read_only, .io_memory = io_memory});
        });
        nb::object made = make<PyBuffer>(std::move(buffer), nb::object(), nb::borrow(object));
        nb::inst_ptr<PyBuffer>(made)->is_readonly = read_only;
        keep_also(made, view);
        return made;
    });
}

} // namespace cuprum::python
