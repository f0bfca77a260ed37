// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "device/device_objects.hpp"
#include "stream/bind_stream_operations.hpp"
#include "stream/stream_objects.hpp"
#include "support/arguments.hpp"
#include "support/compatibility.hpp"
#include "support/errors.hpp"
#include "support/fast_method.hpp"
#include "support/gil.hpp"
#include "support/python_objects.hpp"
#include "support/recycling.hpp"
#include "support/waiting.hpp"

#include <cuprum/detail/closed.hpp>
#include <cuprum/detail/deferred_release.hpp>
#include <cuprum/error.hpp>
#include <cuprum/event.hpp>

#include <cuda.h>
#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <functional>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] std::uintptr_t address(const Event& event);
[[nodiscard]] bool is_done(const PyEvent& self);
void sync(const PyEvent& self);
void close(PyEvent& self);
[[nodiscard]] float milliseconds(const PyEvent& later, const PyEvent& earlier);

} // namespace

void bind_event(nb::module_& module) {
    nb::class_<PyEvent> type(module, "Event", nb::is_weak_referenceable(), nb::pooled(),
                             R"(A point in the work of one stream.

Made by ``Stream.record`` or ``Device.create_event``. ``later - earlier`` is the time between two
events in milliseconds, if both were made with ``timing_enabled=True``.

Examples
--------
>>> event = stream.record()
>>> event.sync()
>>> event.is_done
True)");
    note_type<PyEvent>(type);
    recycle<PyEvent>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError, "Event objects cannot be instantiated directly. Use "
                                            "Stream.record() or Device.create_event()");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    type.def_prop_ro(
        "handle", [](const PyEvent& self) { return address(self); },
        "Return the driver's ``CUevent`` as an int.");
    type.def_prop_ro("is_closed", &PyEvent::is_closed, "Return whether ``close`` was called.");
    type.def_prop_ro("is_timing_enabled", &PyEvent::is_timing_enabled,
                     "Return whether the event measures time.");
    type.def_prop_ro("is_blocking_sync", &PyEvent::is_blocking_sync,
                     "Return whether ``sync`` sleeps instead of spinning.");
    add_event_sharing(type);
    type.def_prop_ro(
        "context",
        [](const PyEvent& self) -> nb::object {
            auto context = self.context();
            return context ? context_object(std::move(*context)) : nb::none();
        },
        nb::sig("def context(self) -> Context | None"),
        "Return the context of the event, or None for an event made elsewhere.");
    type.def_prop_ro(
        "device",
        [](const PyEvent& self) -> nb::object {
            const auto context = self.context();
            return context ? device_object(context->device()) : nb::none();
        },
        nb::sig("def device(self) -> Device | None"),
        "Return the device of the event, or None for an event made elsewhere.");
    polled_property<is_done>(type, "def is_done(self) -> bool",
                             R"(Return whether the recorded work is done.

Raises
------
CUDAError
    If that work failed.)");
    fast_method<sync>(type, "def sync(self) -> None",
                      R"(Block until the recorded work is done.

Raises
------
CUDAError
    If the work itself failed; the context is then unusable.)");
    fast_method<close>(type, "def close(self) -> None",
                       "Release this object's share of the event. Calling it again does nothing.");
    type.def("__sub__", milliseconds, nb::is_operator(),
             nb::sig("def __sub__(self, earlier: Event, /) -> float"),
             R"(Return the time from another event to this one in milliseconds.

Raises
------
RuntimeError
    If either has no timing, was not recorded or is not done. The message says which.)");
    // Python then tries __sub__, or gives up.
    for (const char* name : {"__isub__", "__rsub__"}) {
        type.def(
            name, [](const PyEvent&, nb::handle) { return nb::borrow(Py_NotImplemented); },
            nb::sig((std::string("def ") + name + "(self, other: object, /) -> object").c_str()));
    }
    type.def(
        "__eq__",
        [](const PyEvent& self, const PyEvent& other) {
            return static_cast<const Event&>(self) == static_cast<const Event&>(other);
        },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__", [](const PyEvent& self) {
        return std::hash<std::uintptr_t>{}(self.is_closed() ? 0 : address(self));
    });
    type.def("__repr__", [](const PyEvent& self) -> std::string {
        if (!self.is_closed() && detail::is_lost(self)) {
            return "<Event lost in a reset>";
        }
        return self.is_closed() || !compatibility::keeps_reprs_short()
                   ? to_string(self)
                   : "<Event handle=" + hex_text(address(self)) + ">";
    });
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::uintptr_t address(const Event& event) {
    return reinterpret_cast<std::uintptr_t>(event.handle());
}

bool is_done(const PyEvent& self) {
    const Brief unlocked;
    return self.is_done();
}

void sync(const PyEvent& self) {
    // If the work is done already, the GIL need not be released. If it failed, the call that waits
    // reports it.
    try {
        if (is_done(self) && !detail::has_deferred_releases()) {
            return;
        }
    } catch (const CUDAError&) { // NOLINT(bugprone-empty-catch): said above
    }
    sync_with_signals(self);
}

void close(PyEvent& self) {
    self.drop();
}

float milliseconds(const PyEvent& later, const PyEvent& earlier) {
    try {
        const nb::gil_scoped_release unlocked;
        return later.milliseconds_since(earlier);
    } catch (const CUDAError& error) {
        if (error.code() != CUDA_ERROR_INVALID_HANDLE && error.code() != CUDA_ERROR_NOT_READY) {
            throw;
        }
        // How the events were used is at fault, not the device: programs catch RuntimeError here.
        raise_as("ElapsedTimeError", error, error.advice());
    }
}

} // namespace

} // namespace cuprum::python
