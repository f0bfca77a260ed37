// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Events between processes.

#include "stream/bind_stream_operations.hpp"
#include "stream/stream_objects.hpp"
#include "support/class.hpp"

#include <cstring>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] nb::object ipc_descriptor(const PyEvent& self) {
    if (!self.is_ipc_enabled()) {
        raise_error(PyExc_RuntimeError, "the event is not IPC-enabled; record it with "
                                        "EventOptions(ipc_enabled=True)");
    }
    const IPCEventDescriptor descriptor = without_gil([&] { return self.ipc_descriptor(); });
    return nb::module_::import_("cuprum._ipc_event")
        .attr("IPCEventDescriptor")
        .attr("_init")(nb::bytes(descriptor.bytes.data(), descriptor.bytes.size()),
                       descriptor.blocking_sync);
}

[[nodiscard]] nb::object from_ipc_descriptor(nb::handle type, nb::handle descriptor) {
    const nb::object known = nb::module_::import_("cuprum._ipc_event").attr("IPCEventDescriptor");
    if (PyObject_IsInstance(descriptor.ptr(), known.ptr()) != 1) {
        raise_error(PyExc_TypeError,
                    "ipc_descriptor must be an IPCEventDescriptor, got " + type_label(descriptor));
    }
    const auto bytes = nb::cast<nb::bytes>(nb::object(descriptor.attr("_reserved")));
    IPCEventDescriptor wanted{
        .blocking_sync = flag_argument(nb::object(descriptor.attr("_is_blocking_sync")), false)};
    if (bytes.size() < wanted.bytes.size()) {
        raise_error(PyExc_ValueError,
                    "the descriptor's reserved field is " + std::to_string(bytes.size()) +
                        " bytes; expected at least " + std::to_string(wanted.bytes.size()));
    }
    std::memcpy(wanted.bytes.data(), bytes.c_str(), wanted.bytes.size());
    auto event = without_gil([&] { return Event::from_ipc_descriptor(wanted); });
    return make_as<PyEvent>(type, std::move(event));
}

} // namespace

void add_event_sharing(Class<PyEvent>& type) {
    type.property("is_ipc_enabled", &PyEvent::is_ipc_enabled);
    type.property("ipc_descriptor", ipc_descriptor);
    type.class_method<from_ipc_descriptor>("from_ipc_descriptor");
}

} // namespace cuprum::python
