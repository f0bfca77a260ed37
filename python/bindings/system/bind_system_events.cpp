// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Fields and events. Waiting keeps Ctrl-C: it returns to Python a few times a second.

#include "system/system_objects.hpp"

#include <cuprum/error.hpp>
#include <cuprum/system/events.hpp>
#include <cuprum/system/field_value.hpp>

#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>

namespace cuprum::python {

using namespace nb::literals;
using Milliseconds = std::chrono::milliseconds;

namespace {

constexpr int TIMEOUT = 10; // NVML's code

/// Returns a timeout; nothing, for None and 0, means no limit.
std::optional<Milliseconds> timeout_argument(nb::handle timeout_ms) {
    if (timeout_ms.is_none()) {
        return std::nullopt;
    }
    const unsigned milliseconds = unsigned_argument(timeout_ms, "timeout_ms");
    return milliseconds == 0 ? std::nullopt : std::optional(Milliseconds(milliseconds));
}

/// Waits in short steps. Signal handlers run between two of them.
template <typename Events, typename Wait>
auto wait_with_signals(const Events& events, std::optional<Milliseconds> timeout,
                       const Wait& wait) {
    using Clock = std::chrono::steady_clock;
    constexpr Milliseconds step(100);
    const auto end = Clock::now() + timeout.value_or(Milliseconds());
    for (;;) {
        Milliseconds left = step;
        if (timeout) {
            left = std::clamp(std::chrono::ceil<Milliseconds>(end - Clock::now()), Milliseconds(),
                              step);
        }
        // A copy: another thread may close the object while this one waits without the GIL.
        const Events copy = events;
        try {
            return ask([&] { return wait(copy, left); });
        } catch (const NVMLError& error) {
            if (error.code() != TIMEOUT || (timeout && Clock::now() >= end)) {
                throw;
            }
        }
        if (PyErr_CheckSignals() != 0) {
            throw nb::python_error();
        }
    }
}

// ---- fields --------------------------------------------------------------------------------

nb::object field_id_object(system::FieldId id) {
    const nb::object type = nb::module_::import_("cuprum.system.typing").attr("FieldId");
    const auto number = static_cast<unsigned>(id);
    try {
        return type(number);
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_ValueError)) {
            throw;
        }
        return nb::int_(number); // a field of a newer NVML
    }
}

nb::object value_object(const system::FieldValue::Value& value) {
    return std::visit(
        [](auto number) -> nb::object {
            if constexpr (std::is_floating_point_v<decltype(number)>) {
                return nb::float_(number);
            } else {
                return nb::int_(number);
            }
        },
        value);
}

void bind_fields(nb::module_& module) {
    using F = system::FieldValue;
    nb::class_<F> type(module, "FieldValue", R"(One field of a device and when it was read.

Examples
--------
>>> from cuprum.system.typing import FieldId
>>> values = cuprum.system.Device(index=0).get_field_values([FieldId.DEV_TOTAL_ENERGY_CONSUMPTION])
>>> values[0].value >= 0
True)");
    note_type<F>(type);
    type.def_prop_ro(
            "field_id", [](const F& self) { return field_id_object(self.field_id()); },
            nb::sig("def field_id(self) -> cuprum.system.typing.FieldId"), "Return the field.")
        .def_prop_ro("scope_id", &F::scope_id, "Return the part of the device, such as a link.")
        .def_prop_ro("timestamp", &F::timestamp_us,
                     "Return when it was sampled, in microseconds since 1970.")
        .def_prop_ro("latency_usec", &F::latency_us,
                     "Return how long the driver took to read it, in microseconds.")
        .def_prop_ro(
            "value", [](const F& self) { return value_object(self.value()); },
            nb::sig("def value(self) -> int | float"),
            R"(Return the value.

Raises
------
NvmlError
    If the field could not be read; NotSupportedError if the device does not have it.)");
    nb::class_<Values<F>> all(module, "FieldValues", R"(Fields that were read together.

Examples
--------
>>> from cuprum.system.typing import FieldId
>>> values = cuprum.system.Device(index=0).get_field_values([FieldId.DEV_TOTAL_ENERGY_CONSUMPTION])
>>> len(values)
1)");
    note_type<Values<F>>(all);
    bind_sequence(all, "FieldValue", "field", [](const F& field) { return make<F>(field); });
    all.def(
        "validate",
        [](const Values<F>& self) {
            for (const F& field : self.all) {
                field.validate();
            }
        },
        R"(Check that every field was read.

Raises
------
NvmlError
    The error of the first that was not.)");
    all.def(
        "get_all_values",
        [](const Values<F>& self) {
            nb::list values;
            for (const F& field : self.all) {
                values.append(value_object(field.value()));
            }
            return values;
        },
        nb::sig("def get_all_values(self) -> list[int | float]"),
        R"(Return all values.

Returns
-------
list[int or float]
    The values, in the order of the fields.

Raises
------
NvmlError
    The error of the first field that was not read.)");
}

// ---- events --------------------------------------------------------------------------------

template <typename T>
nb::object xid_only(const system::EventData& event, const std::optional<T>& value,
                    const char* name) {
    if (event.type != system::EventType::XidCriticalError) {
        raise_error(PyExc_ValueError, std::string(name) +
                                          " is known for Xid critical errors only, "
                                          "this event is '" +
                                          std::string(to_string(event.type)) + "'");
    }
    return value ? nb::object(nb::int_(*value)) : nb::none();
}

nb::object device_events_wait(const system::DeviceEvents& self, nb::handle timeout_ms) {
    return make<system::EventData>(wait_with_signals(
        self, timeout_argument(timeout_ms),
        [](const system::DeviceEvents& events, Milliseconds time) { return events.wait(time); }));
}

void bind_device_events(nb::module_& module) {
    using E = system::EventData;
    nb::class_<E> event(module, "EventData", R"(An event of a device.

Examples
--------
>>> device = cuprum.system.Device(index=0)
>>> with device.register_events("xid_critical_error") as events:  # doctest: +SKIP
...     print(events.wait().event_data))");
    note_type<E>(event);
    event
        .def_prop_ro(
            "device", [](const E& self) { return make<system::Device>(self.device); },
            nb::sig("def device(self) -> SystemDevice"), "Return the device.")
        .def_prop_ro(
            "event_type", [](const E& self) { return member(self.type); },
            nb::sig("def event_type(self) -> cuprum.system.typing.EventType"),
            "Return what happened.")
        .def_prop_ro(
            "event_data", [](const E& self) { return xid_only(self, self.xid, "event_data"); },
            nb::sig("def event_data(self) -> int"),
            R"(Return the number of the Xid error.

Raises
------
ValueError
    For other events.)")
        .def_prop_ro(
            "gpu_instance_id",
            [](const E& self) { return xid_only(self, self.gpu_instance_id, "gpu_instance_id"); },
            nb::sig("def gpu_instance_id(self) -> int | None"),
            R"(Return the MIG instance that an Xid error belongs to; None if there is none.

Raises
------
ValueError
    For other events.)")
        .def_prop_ro(
            "compute_instance_id",
            [](const E& self) {
                return xid_only(self, self.compute_instance_id, "compute_instance_id");
            },
            nb::sig("def compute_instance_id(self) -> int | None"),
            R"(Return the MIG compute instance that an Xid error belongs to; None if there is none.

Raises
------
ValueError
    For other events.)");
    nb::class_<system::DeviceEvents> type(
        module, "DeviceEvents", R"(Events of one device that are recorded, until it is closed.

Examples
--------
>>> device = cuprum.system.Device(index=0)
>>> kinds = device.get_supported_event_types()
>>> events = device.register_events(kinds))");
    note_type<system::DeviceEvents>(type);
    fast_method<device_events_wait>(
        type, "def wait(self, timeout_ms: int | None = 0) -> EventData",
        R"(Block until an event happens and return it. Ctrl-C ends the wait.

Parameters
----------
timeout_ms : int, optional
    How long to wait. 0 and None mean without limit.

Returns
-------
EventData
    What happened, and where.

Raises
------
TimeoutError
    If no event happened in that time. It is a built-in TimeoutError too.
GpuIsLostError
    If the device is gone.)");
    type.def("close", &system::DeviceEvents::close, "Stop recording. Closing twice is harmless.");
    type.def(
        "__enter__", [](nb::handle self) { return nb::borrow(self); },
        nb::sig("def __enter__(self) -> DeviceEvents"));
    type.def(
        "__exit__", [](system::DeviceEvents& self, const nb::args&) { self.close(); },
        nb::sig("def __exit__(self, *exception: object) -> None"));
}

nb::object system_events_wait(const system::SystemEvents& self, nb::handle timeout_ms,
                              nb::handle buffer_size) {
    const unsigned count =
        buffer_size.is_none() ? 1 : unsigned_argument(buffer_size, "buffer_size");
    if (count == 0) {
        raise_error(PyExc_ValueError, "buffer_size is 0, expected at least 1");
    }
    return make<Values<system::SystemEvent>>(Values<system::SystemEvent>{
        wait_with_signals(self, timeout_argument(timeout_ms),
                          [&](const system::SystemEvents& events, Milliseconds time) {
                              return events.wait(time, count);
                          })});
}

void bind_events_of_system(nb::module_& module) {
    using E = system::SystemEvent;
    nb::class_<E> event(module, "SystemEvent", R"(An event of the system.

Examples
--------
>>> with cuprum.system.register_events("unbind") as events:  # doctest: +SKIP
...     print(events.wait()[0].event_type))");
    note_type<E>(event);
    event
        .def_prop_ro(
            "event_type", [](const E& self) { return member(self.type); },
            nb::sig("def event_type(self) -> cuprum.system.typing.SystemEventType"),
            "Return what happened.")
        .def_ro("gpu_id", &E::gpu_id, "Return the driver's number of the device.")
        .def_prop_ro(
            "device",
            [](const E& self) { return make<system::Device>(ask([&] { return self.device(); })); },
            nb::sig("def device(self) -> SystemDevice"),
            R"(Return the device.

Raises
------
NotFoundError
    If it left the driver.)");
    nb::class_<Values<E>> all(module, "SystemEvents", R"(Events that happened.

Examples
--------
>>> with cuprum.system.register_events("unbind") as events:  # doctest: +SKIP
...     print(len(events.wait())))");
    note_type<Values<E>>(all);
    bind_sequence(all, "SystemEvent", "event", [](const E& one) { return make<E>(one); });
    nb::class_<system::SystemEvents> type(
        module, "RegisteredSystemEvents",
        R"(Events of the system that are recorded, until it is closed.

Examples
--------
>>> events = cuprum.system.register_events("unbind"))");
    note_type<system::SystemEvents>(type);
    fast_method<system_events_wait>(
        type, "def wait(self, timeout_ms: int | None = 0, buffer_size: int = 1) -> SystemEvents",
        R"(Block until events happen and return them. Ctrl-C ends the wait.

Parameters
----------
timeout_ms : int, optional
    How long to wait. 0 and None mean without limit.
buffer_size : int, optional
    How many events to return at most.

Returns
-------
SystemEvents
    What happened.

Raises
------
TimeoutError
    If no event happened in that time. It is a built-in TimeoutError too.)");
    type.def("close", &system::SystemEvents::close, "Stop recording. Closing twice is harmless.");
    type.def(
        "__enter__", [](nb::handle self) { return nb::borrow(self); },
        nb::sig("def __enter__(self) -> RegisteredSystemEvents"));
    type.def(
        "__exit__", [](system::SystemEvents& self, const nb::args&) { self.close(); },
        nb::sig("def __exit__(self, *exception: object) -> None"));
    module.def(
        "register_events",
        [](nb::handle events) {
            const auto types = choices_argument<system::SystemEventType>(events, "events");
            return make<system::SystemEvents>(ask([&] { return system::register_events(types); }));
        },
        "events"_a.none(),
        nb::sig("def register_events(events: cuprum.system.typing.SystemEventType | str | "
                "list[cuprum.system.typing.SystemEventType | str]) -> RegisteredSystemEvents"),
        R"(Start to record events of the system. Earlier ones are not seen.

Parameters
----------
events : SystemEventType, str or list of them
    ``"unbind"`` or ``"bind"``.

Returns
-------
RegisteredSystemEvents
    What waits for the events.

Raises
------
NotSupportedError
    If the driver has none of these events.)");
}

} // namespace

void bind_system_events(nb::module_& module) {
    bind_fields(module);
    bind_device_events(module);
    bind_events_of_system(module);
}

} // namespace cuprum::python
