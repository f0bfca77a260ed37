// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/buffer_collection.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/memory_objects.hpp"
#include "support/class.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/context.hpp>
#include <cuprum/ipc.hpp>

namespace cuprum::python {

namespace {

[[nodiscard]] nb::object sharing() {
    return nb::module_::import_("cuprum._ipc_memory");
}

[[nodiscard]] nb::object descriptor_of(const PyBuffer& self) {
    const IPCBufferDescriptor descriptor = without_gil([&] { return self.ipc_descriptor(); });
    return sharing()
        .attr("IPCBufferDescriptor")
        .attr("_init")(nb::bytes(descriptor.payload.data(), descriptor.payload.size()),
                       descriptor.size);
}

[[nodiscard]] nb::object from_descriptor(nb::handle resource, nb::handle descriptor,
                                         nb::handle stream) {
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
    auto buffer =
        without_gil([&] { return Buffer::from_ipc_descriptor(*pool->core, named, order); });
    nb::object made = make<PyBuffer>(std::move(buffer), nb::borrow(resource), nb::object());
    keep_foreign_stream(made, stream);
    return made;
}

} // namespace

void bind_ipc(nb::module_& module) {
    Class<PyIPCAllocationHandle> type(module, "IPCAllocationHandle", nb::is_weak_referenceable());
    type.refuse_construction("IPCAllocationHandle objects cannot be instantiated "
                             "directly; use a pool's allocation_handle");
    type.static_method("_init", [](int handle, nb::object uuid) {
        return make<PyIPCAllocationHandle>(IPCAllocationHandle::from_descriptor(handle),
                                           std::move(uuid));
    });
    type.static_method("_duplicate", [](std::optional<int> handle) {
        const int descriptor = handle.value_or(-1);
        return make<PyIPCAllocationHandle>(IPCAllocationHandle::duplicate(descriptor), nb::none());
    });
    type.method("__int__", [](const PyIPCAllocationHandle& self) {
        if (self.core.is_closed()) {
            raise_error(PyExc_ValueError, "cannot convert a closed IPCAllocationHandle to int");
        }
        return self.core.descriptor();
    });
    type.property("handle",
                  [](const PyIPCAllocationHandle& self) { return self.core.descriptor(); });
    type.property("uuid", [](const PyIPCAllocationHandle& self) { return self.uuid; });
    type.property("is_closed",
                  [](const PyIPCAllocationHandle& self) { return self.core.is_closed(); });
    type.method("close", [](PyIPCAllocationHandle& self) { self.core.close(); });
    type.method("__repr__", [](nb::handle self) {
        const auto& held = held_by<PyIPCAllocationHandle>(self);
        return "<" + type_label(self) +
               (held.core.is_closed() ? " closed"
                                      : " handle=" + std::to_string(held.core.descriptor())) +
               (held.uuid.is_none() ? ">"
                                    : " uuid=" + nb::cast<std::string>(nb::str(held.uuid)) + ">");
    });
    function(module, "has_current_context", [] { return Context::current().has_value(); });
}

void bind_buffer_sharing(Class<PyBuffer>& type) {
    type.property("is_mapped", &PyBuffer::is_mapped);
    type.property("_whole", [](const PyBuffer& self) {
        nb::object whole = make<PyBuffer>(self.whole(), self.resource, self.owner);
        if (self.kept.is_valid()) {
            keep_also(whole, self.kept);
        }
        return whole;
    });
    type.property("ipc_descriptor", descriptor_of);
    type.static_method<from_descriptor>("from_ipc_descriptor");
    type.method("__reduce__",
                [](nb::handle self) { return sharing().attr("reduce_buffer")(self); });
}

} // namespace cuprum::python
