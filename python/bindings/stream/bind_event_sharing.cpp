// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Events between processes.

#include "stream/bind_stream_operations.hpp"
#include "stream/stream_objects.hpp"
#include "support/arguments.hpp"
#include "support/python_objects.hpp"

#include <cuprum/event.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <string>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] nb::object ipc_descriptor(const PyEvent& self);
[[nodiscard]] nb::object from_ipc_descriptor(nb::handle type, nb::handle descriptor);

} // namespace

void add_event_sharing(nb::class_<PyEvent>& type) {
    type.def_prop_ro("is_ipc_enabled", &PyEvent::is_ipc_enabled,
                     "Return whether the event can be shared with other processes.");
    type.def_prop_ro("ipc_descriptor", ipc_descriptor,
                     nb::sig("def ipc_descriptor(self) -> cuprum._ipc_event.IPCEventDescriptor"),
                     R"(Return what another process needs to open this event.

Raises
------
RuntimeError
    If it was made without ``ipc_enabled=True``.)");
    const nb::object open = nb::cpp_function(
        from_ipc_descriptor, nb::name("from_ipc_descriptor"), "cls"_a, "ipc_descriptor"_a,
        nb::sig("def from_ipc_descriptor(cls, ipc_descriptor: "
                "cuprum._ipc_event.IPCEventDescriptor) -> Event"),
        R"(Open an event of another process.

Parameters
----------
ipc_descriptor : IPCEventDescriptor
    What the other process got from ``Event.ipc_descriptor``.

Returns
-------
Event
    The event of the other process.

Raises
------
ValueError
    If the descriptor is too short.)");
    type.attr("from_ipc_descriptor") = nb::steal(PyClassMethod_New(open.ptr()));
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

nb::object ipc_descriptor(const PyEvent& self) {
    if (!self.is_ipc_enabled()) {
        raise_error(PyExc_RuntimeError, "the event is not IPC-enabled; record it with "
                                        "EventOptions(ipc_enabled=True)");
    }
    const IPCEventDescriptor descriptor = [&] {
        const nb::gil_scoped_release unlocked;
        return self.ipc_descriptor();
    }();
    return nb::module_::import_("cuprum._ipc_event")
        .attr("IPCEventDescriptor")
        .attr("_init")(nb::bytes(descriptor.bytes.data(), descriptor.bytes.size()),
                       descriptor.blocking_sync);
}

nb::object from_ipc_descriptor(nb::handle type, nb::handle descriptor) {
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
    auto event = [&] {
        const nb::gil_scoped_release unlocked;
        return Event::from_ipc_descriptor(wanted);
    }();
    return make_as<PyEvent>(type, std::move(event));
}

} // namespace

} // namespace cuprum::python
