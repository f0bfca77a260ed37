// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.hpp"
#include "objects.hpp"

#include <cuprum/context.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <functional>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] std::uintptr_t address(const Context& context);
void close(PyContext& self);

} // namespace

void bind_context(nb::module_& module) {
    nb::class_<PyContext> type(module, "Context", nb::is_weak_referenceable(),
                               R"(Share a context of one device.

Obtained from ``Device.context``, ``Stream.context`` or ``Event.context``.)");
    note_type<PyContext>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError, "a Context is not made directly; use Device.context");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    type.def_prop_ro(
        "handle",
        [](const PyContext& self) -> nb::object {
            return self.is_closed() ? nb::none() : nb::object(nb::int_(address(self)));
        },
        nb::sig("def handle(self) -> int | None"),
        "Return the driver's ``CUcontext`` as an int, or None once closed.");
    type.def_prop_ro(
        "device", [](const PyContext& self) { return device_object(self.device()); },
        nb::sig("def device(self) -> Device"), "Return the device it belongs to.");
    type.def_prop_ro("is_primary", &PyContext::is_primary,
                     "Tell whether this is a device's primary context.");
    type.def_prop_ro(
        "is_green", [](const PyContext&) { return false; },
        "Tell whether this is a green context; those are not available yet.");
    type.def(
        "create_stream",
        [](const PyContext& self, nb::handle options) {
            const StreamOptions how = stream_options(options);
            auto stream = [&] {
                const nb::gil_scoped_release unlocked;
                return Stream::create(self, how);
            }();
            return make<PyStream>(std::move(stream));
        },
        "options"_a = nb::none(),
        nb::sig("def create_stream(self, options: cuprum._options.StreamOptions | dict | None = "
                "None) -> Stream"),
        R"(Make a stream in this context.

Parameters
----------
options : StreamOptions or dict, optional
    How the stream is made.)");
    type.def("sync", &PyContext::sync, nb::call_guard<nb::gil_scoped_release>(),
             "Block until all work in this context is done.");
    type.def("close", close,
             R"(Give up this object's share of the context. Calling it again does nothing.

Raises
------
RuntimeError
    If the context is current on the calling thread.)");
    type.def(
        "__eq__",
        [](const PyContext& self, const PyContext& other) {
            return static_cast<const Context&>(self) == static_cast<const Context&>(other);
        },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__", [](const PyContext& self) {
        return std::hash<std::uintptr_t>{}(self.is_closed() ? 0 : address(self));
    });
    type.def("__repr__", [](const PyContext& self) -> std::string {
        return self.is_closed() ? "<Context closed>"
                                : "<Context handle=" + hex_text(address(self)) +
                                      " device=" + std::to_string(self.device().ordinal()) + ">";
    });
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::uintptr_t address(const Context& context) {
    return reinterpret_cast<std::uintptr_t>(context.handle());
}

void close(PyContext& self) {
    if (self.is_closed()) {
        return;
    }
    if (const auto current = Context::current(); current && *current == self) {
        raise_error(PyExc_RuntimeError, "the context is current on this thread; make another one "
                                        "current before closing it");
    }
    self.drop();
}

} // namespace

} // namespace cuprum::python
