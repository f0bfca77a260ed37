// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "device/device_objects.hpp"
#include "stream/bind_stream_operations.hpp"
#include "stream/stream_objects.hpp"
#include "support/arguments.hpp"
#include "support/fast_method.hpp"
#include "support/fast_paths.hpp"
#include "support/gil.hpp"
#include "support/instances.hpp"
#include "support/owner_collection.hpp"
#include "support/python_objects.hpp"
#include "support/recycling.hpp"
#include "support/waiting.hpp"

#include <cuprum/detail/closed.hpp>
#include <cuprum/detail/deferred_release.hpp>
#include <cuprum/detail/record.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/event.hpp>
#include <cuprum/stream.hpp>

#include <cuda.h>
#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <stdexcept>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] std::uintptr_t address(const Stream& stream);
[[nodiscard]] std::size_t handle(const PyStream& self);
[[nodiscard]] bool is_done(const PyStream& self);
void sync(const PyStream& self);
void close(PyStream& self);
[[nodiscard]] nb::object record(const PyStream& self, nb::handle event, nb::handle options,
                                nb::handle external);
void wait(const PyStream& self, nb::handle other, nb::handle external);
[[nodiscard]] std::string represent(const PyStream& self);

constexpr const char* RECORD_SIGNATURE =
    "def record(self, event: Event | None = None, options: cuprum._options.EventOptions | dict | "
    "None = None, *, external: bool = False) -> Event";
constexpr const char* RECORD_TEXT = R"(Record an event after the work enqueued so far.

Parameters
----------
event : Event, optional
    The event to record again. If not given, a new event is created.
options : EventOptions or dict, optional
    Options for a new event.
external : bool, optional
    In a stream that is being captured, make recording the event a part of the graph.

Returns
-------
Event
    The event that was recorded.

Raises
------
ValueError
    If both an event and options are given.)";

/// Stands before record(): see there.
[[nodiscard, gnu::hot]] PyObject* record_event(PyObject* self, PyObject* const* values,
                                               Py_ssize_t given, PyObject* keywords) noexcept;

} // namespace

void bind_stream(nb::module_& module) {
    nb::class_<PyStream> type(module, "Stream", nb::is_weak_referenceable(), nb::pooled(),
                              nb::type_slots(stream_slots()),
                              R"(A queue of work on one device, which runs in order.

Made by ``Device.create_stream``, ``Context.create_stream`` or ``Stream.from_handle``.
May be used from several threads at once.

Examples
--------
>>> first, second = device.create_stream(), device.create_stream()
>>> buffer.fill(0, stream=first)
>>> second.wait(first)
>>> second.sync())");
    note_type<PyStream>(type);
    check_fast_paths(type); // the first class that is recycled; no object exists yet
    recycle<PyStream>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError, "Stream objects cannot be instantiated directly. Use "
                                            "Device.create_stream() or Stream.from_handle()");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    type.def_static(
        "from_handle",
        [](nb::handle handle) {
            note_python_in_driver();
            return make<PyStream>(Stream::from_handle(reinterpret_cast<CUstream>(
                static_cast<std::uintptr_t>(address_argument(handle, "handle")))));
        },
        "handle"_a.none(), nb::sig("def from_handle(handle: int) -> Stream"),
        R"(Wrap a driver stream made elsewhere, without owning it.

Parameters
----------
handle : int
    The driver's ``CUstream``.

Returns
-------
Stream
    Equal to any other wrapper of the same handle.

Raises
------
TypeError
    If `handle` is not an int.
ValueError
    If it does not fit 64 bits.)");
    fast_property<handle>(type, "def handle(self) -> int",
                          "Return the driver's ``CUstream`` as an int.");
    type.def(
        "__cuda_stream__", [](const PyStream& self) { return std::pair(0, handle(self)); },
        "Return ``(0, handle)``, the protocol by which libraries exchange streams.");
    type.def_prop_ro("is_closed", &PyStream::is_closed, "Return whether ``close`` was called.");
    type.def_prop_ro("is_nonblocking", &PyStream::is_nonblocking,
                     nb::call_guard<nb::gil_scoped_release>(),
                     "Return whether the stream is independent of the legacy default stream.");
    type.def_prop_ro("priority", &PyStream::priority, nb::call_guard<nb::gil_scoped_release>(),
                     "Return the priority; lower runs first.");
    type.def_prop_ro(
        "context",
        [](const PyStream& self) {
            auto context = [&] {
                const nb::gil_scoped_release unlocked;
                return self.context();
            }();
            return context_object(std::move(context));
        },
        nb::sig("def context(self) -> Context"),
        "Return the context that its work runs in; for the default streams the current one.");
    type.def_prop_ro(
        "device",
        [](const PyStream& self) {
            const Device device = [&] {
                const nb::gil_scoped_release unlocked;
                return self.device();
            }();
            return device_object(device);
        },
        nb::sig("def device(self) -> Device"),
        "Return the device that its work runs on; for the default streams the current one.");
    fast_method<sync>(type, "def sync(self) -> None",
                      R"(Block until all work enqueued so far is done.

Ctrl-C raises KeyboardInterrupt on the main thread; the work continues.

Raises
------
CUDAError
    If any of that work failed; the context is then unusable.)");
    polled_property<is_done>(type, "def is_done(self) -> bool",
                             "Return whether all work enqueued so far is done.");
    fast_method<record>(type, RECORD_SIGNATURE, RECORD_TEXT);
    fast::ParameterList known; // put in its place: what answers the usual call first
    fast::add_method(type, RECORD_SIGNATURE, fast::read_signature(RECORD_SIGNATURE, known),
                     RECORD_TEXT, fast::as_method(record_event), METH_FASTCALL | METH_KEYWORDS);
    fast_method<wait>(type,
                      "def wait(self, event_or_stream: Event | Stream | "
                      "cuprum.typing.IsStreamType, *, external: bool = False) -> None",
                      R"(Make later work on this stream wait for an event or for another stream.

Returns at once; only the device waits.

Parameters
----------
event_or_stream : Event, Stream or object with ``__cuda_stream__``
    For a stream, waits for the work that it holds now.
external : bool, optional
    In a stream that is being captured, make waiting for the event a part of the graph.

Raises
------
ValueError
    If the argument is neither an event nor a stream.)");
    fast_method<close>(type, "def close(self) -> None",
                       R"(Release this object's share of the stream.

Queued work still completes. Calling it again does nothing; any other use raises ClosedError.)");
    type.def(
        "__eq__",
        [](const PyStream& self, const PyStream& other) {
            return static_cast<const Stream&>(self) == static_cast<const Stream&>(other);
        },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__", [](const PyStream& self) {
        return std::hash<std::uintptr_t>{}(self.is_closed() ? 0 : address(self));
    });
    type.def("__repr__", represent);
    add_stream_operations(type);
    add_stream_making(type);

    LEGACY_DEFAULT = make<PyStream>(Stream::legacy_default()).release().ptr();
    PER_THREAD_DEFAULT = make<PyStream>(Stream::per_thread_default()).release().ptr();
    module.attr("LEGACY_DEFAULT_STREAM") = nb::borrow(LEGACY_DEFAULT);
    module.attr("PER_THREAD_DEFAULT_STREAM") = nb::borrow(PER_THREAD_DEFAULT);
}

nb::object default_stream() {
    constexpr int decimal = 10;
    // Read every time, so that a program can change its mind.
    const char* setting = ::secure_getenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM");
    const bool is_per_thread = setting != nullptr && std::strtol(setting, nullptr, decimal) != 0;
    return nb::borrow(is_per_thread ? PER_THREAD_DEFAULT : LEGACY_DEFAULT);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::uintptr_t address(const Stream& stream) {
    return reinterpret_cast<std::uintptr_t>(stream.handle());
}

std::size_t handle(const PyStream& self) {
    note_python_in_driver(); // other libraries can use it from here on
    return address(self);
}

bool is_done(const PyStream& self) {
    const Brief unlocked;
    return self.is_done();
}

void sync(const PyStream& self) {
    // If the work is done already, the GIL need not be released. If it failed, the call that waits
    // reports it. But the query ends a capture as waiting does, so it reports that itself.
    try {
        if (is_done(self) && !detail::has_deferred_releases()) {
            return;
        }
    } catch (const CUDAError& error) {
        if (error.code() >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
            error.code() <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) {
            throw CUDAError(error.code(), "cuStreamSynchronize");
        }
    }
    sync_with_signals(self);
}

void close(PyStream& self) {
    self.drop();
}

[[nodiscard]] EventUse event_use(nb::handle external) {
    return flag_argument(external, false) ? EventUse::External : EventUse::Normal;
}

nb::object record(const PyStream& self, nb::handle event, nb::handle options, nb::handle external) {
    if (event.is_none()) {
        const EventOptions how = event_options(options);
        if (how.ipc_enabled) [[unlikely]] {
            nb::module_::import_("cuprum._ipc_event").attr("make_picklable")();
        }
        const EventUse use = event_use(external);
        auto made = [&] {
            const Brief unlocked;
            if (external.is_none()) [[likely]] {
                return self.record(how);
            }
            Event event = Event::create(self.context(), how);
            self.record(event, use);
            return event;
        }();
        return make<PyEvent>(std::move(made));
    }
    const PyEvent* existing = get_if<PyEvent>(event);
    if (existing == nullptr) {
        raise_error(PyExc_TypeError, "event must be an Event or None, got " + type_label(event));
    }
    if (!options.is_none()) {
        raise_error(PyExc_ValueError,
                    "options say how a new event is made; leave them out when passing an event");
    }
    if (existing->is_ipc_enabled()) [[unlikely]] {
        raise_error(PyExc_TypeError, "IPC-enabled events should not be re-recorded, instead create "
                                     "a new event by supplying options.");
    }
    const EventUse use = event_use(external);
    {
        const Brief unlocked;
        self.record(*existing, use);
    }
    return nb::borrow(event);
}

/// Answers the usual call of record(), one event, with no layer in between: nothing is called so
/// often that does so little.
PyObject* record_event(PyObject* self, PyObject* const* values, Py_ssize_t given,
                       PyObject* keywords) noexcept {
    if (given == 1 && keywords == nullptr && Py_TYPE(values[0]) == TYPE<PyEvent> &&
        is_ready_inside(values[0]) && is_ready_inside(self)) [[likely]] {
        bool is_recorded = false;
        try {
            const Brief unlocked;
            is_recorded =
                detail::record_unless_shared(*inside<PyStream>(self), *inside<PyEvent>(values[0]));
        } catch (...) {
            set_python_error(std::current_exception());
            return nullptr;
        }
        if (is_recorded) [[likely]] {
            return Py_NewRef(values[0]);
        }
    }
    return fast::FastMethod<record>::call(self, values, given, keywords);
}

void wait(const PyStream& self, nb::handle other, nb::handle external) {
    if (const PyEvent* event = get_if<PyEvent>(other)) {
        const EventUse use = event_use(external);
        const Brief unlocked;
        self.wait(*event, use);
    } else if (event_use(external) == EventUse::External) {
        raise_error(PyExc_ValueError, "external says how an event is waited for, and "
                                      "event_or_stream is a " +
                                          type_label(other) +
                                          "; record an event there and wait for that");
    } else if (const PyStream* stream = get_if<PyStream>(other)) {
        const Brief unlocked;
        self.wait(*stream);
    } else if (nb::hasattr(other, "__cuda_stream__")) {
        const Stream foreign = Stream::from_handle(protocol_stream(other));
        const Brief unlocked;
        self.wait(foreign);
    } else {
        raise_error(PyExc_ValueError,
                    "event_or_stream must be an Event, a Stream or have __cuda_stream__, got " +
                        type_label(other));
    }
}

std::string represent(const PyStream& self) {
    if (self.is_closed()) {
        return "<Stream closed>";
    }
    if (detail::is_lost(self)) {
        return "<Stream lost in a reset>";
    }
    std::string context = "none";
    try {
        const nb::gil_scoped_release unlocked;
        context = hex_text(reinterpret_cast<std::uintptr_t>(self.context().handle()));
    } catch (const std::runtime_error&) { // NOLINT(bugprone-empty-catch)
        // A default stream while no context is current, or no driver there is.
    }
    return "<Stream handle=" + hex_text(address(self)) + " context=" + context + ">";
}

} // namespace

} // namespace cuprum::python
