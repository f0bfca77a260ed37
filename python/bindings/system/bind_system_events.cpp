// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Fields and events. Waiting keeps Ctrl-C: it returns to Python a few times a second.

#include "support/class.hpp"
#include "system/system_objects.hpp"

#include <cuprum/system/events.hpp>
#include <cuprum/system/field_value.hpp>

#include <chrono>

namespace cuprum::python {

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
            return without_gil([&] { return wait(copy, left); });
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
    Class<F> type(module, "FieldValue");
    type.property("field_id", [](const F& self) { return field_id_object(self.field_id()); })
        .property("scope_id", &F::scope_id)
        .property("timestamp", &F::timestamp_us)
        .property("latency_usec", &F::latency_us)
        .property("value", [](const F& self) { return value_object(self.value()); });
    Class<Values<F>> all(module, "FieldValues");
    bind_sequence(all);
    all.method("validate", [](const Values<F>& self) {
        for (const F& field : self.all) {
            field.validate();
        }
    });
    all.method("get_all_values", [](const Values<F>& self) {
        nb::list values;
        for (const F& field : self.all) {
            values.append(value_object(field.value()));
        }
        return values;
    });
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
    Class<E> event(module, "EventData");
    event.property("device", [](const E& self) { return make<system::Device>(self.device); })
        .property("event_type", [](const E& self) { return member(self.type); })
        .property("event_data",
                  [](const E& self) { return xid_only(self, self.xid, "event_data"); })
        .property(
            "gpu_instance_id",
            [](const E& self) { return xid_only(self, self.gpu_instance_id, "gpu_instance_id"); })
        .property("compute_instance_id", [](const E& self) {
            return xid_only(self, self.compute_instance_id, "compute_instance_id");
        });
    Class<system::DeviceEvents> type(module, "DeviceEvents");
    type.method<device_events_wait>("wait");
    type.method<&system::DeviceEvents::close>("close");
    type.method("__enter__", [](nb::handle self) { return nb::borrow(self); });
    type.method("__exit__", [](system::DeviceEvents& self, const nb::args&) { self.close(); });
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
    Class<E> event(module, "SystemEvent");
    event.property("event_type", [](const E& self) { return member(self.type); })
        .property("gpu_id", &E::gpu_id)
        .property("device", [](const E& self) {
            return make<system::Device>(without_gil([&] { return self.device(); }));
        });
    Class<Values<E>> all(module, "SystemEvents");
    bind_sequence(all);
    Class<system::SystemEvents> type(module, "RegisteredSystemEvents");
    type.method<system_events_wait>("wait");
    type.method<&system::SystemEvents::close>("close");
    type.method("__enter__", [](nb::handle self) { return nb::borrow(self); });
    type.method("__exit__", [](system::SystemEvents& self, const nb::args&) { self.close(); });
    function(module, "register_events", [](nb::handle events) {
        const auto types = choices_argument<system::SystemEventType>(events, "events");
        return make<system::SystemEvents>(
            without_gil([&] { return system::register_events(types); }));
    });
}

} // namespace

void bind_system_events(nb::module_& module) {
    bind_fields(module);
    bind_device_events(module);
    bind_events_of_system(module);
}

} // namespace cuprum::python
