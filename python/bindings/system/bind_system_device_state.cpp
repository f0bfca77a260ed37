// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The changing state of cuprum.system.Device: modes, load, clocks, cooling, neighbours, fields.

#include "system/system_objects.hpp"
#include "system/system_values.hpp"

#include <cuprum/system/clock.hpp>
#include <cuprum/system/cooling.hpp>
#include <cuprum/system/ecc.hpp>
#include <cuprum/system/events.hpp>
#include <cuprum/system/field_value.hpp>
#include <cuprum/system/nvlink.hpp>
#include <cuprum/system/power.hpp>
#include <cuprum/system/sampling.hpp>

namespace cuprum::python {

using namespace nb::literals;
using SystemDevice = system::Device;

namespace {

// ---- modes ---------------------------------------------------------------------------------

bool state_c2c(const SystemDevice& self) {
    return ask([&] { return self.is_c2c_enabled(); });
}

nb::object state_addressing(const SystemDevice& self) {
    const auto mode = ask([&] { return self.addressing_mode(); });
    return mode ? member(*mode) : nb::none();
}

bool state_display_connected(const SystemDevice& self) {
    return ask([&] { return self.is_display_connected(); });
}

bool state_display_active(const SystemDevice& self) {
    return ask([&] { return self.is_display_active(); });
}

nb::object state_repair(const SystemDevice& self) {
    return make<system::RepairStatus>(ask([&] { return self.repair_status(); }));
}

nb::object state_ecc(const SystemDevice& self) {
    return make<system::Ecc>(self.ecc());
}

void add_modes(nb::class_<SystemDevice>& type) {
    type.def_prop_rw(
        "is_persistence_mode_enabled",
        [](const SystemDevice& self) {
            return ask([&] { return self.is_persistence_mode_enabled(); });
        },
        [](const SystemDevice& self, nb::handle enabled) {
            const bool wanted = bool_argument(enabled, "is_persistence_mode_enabled");
            ask([&] { self.set_persistence_mode_enabled(wanted); });
        },
        nb::for_getter(nb::sig("def is_persistence_mode_enabled(self) -> bool")),
        nb::for_setter(nb::sig("def is_persistence_mode_enabled(self, enabled: bool, /) -> None")),
        nb::for_getter("Return or set whether the driver stays loaded while no program uses the "
                       "device. Setting it needs root."));
    fast_property<state_c2c>(type, "def is_c2c_enabled(self) -> bool",
                             "Return whether CPU and GPU are linked chip to chip.");
    fast_property<state_addressing>(
        type, "def addressing_mode(self) -> cuprum.system.typing.AddressingMode | None",
        "Return how the device addresses memory that the system allocated; None if it cannot.");
    fast_property<state_display_connected>(type, "def is_display_connected(self) -> bool",
                                           "Return whether a display is connected.");
    fast_property<state_display_active>(type, "def is_display_active(self) -> bool",
                                        "Return whether a display is in use.");
    fast_property<state_repair>(type, "def repair_status(self) -> RepairStatus",
                                "Return the repairs that the next reset makes.");
    fast_property<state_ecc>(type, "def ecc(self) -> EccInfo",
                             "Return the error correction of the device's memory.");
}

// ---- load ----------------------------------------------------------------------------------

nb::object state_memory(const SystemDevice& self) {
    return make<system::MemoryInfo>(ask([&] { return self.memory_info(); }));
}

nb::object state_bar1(const SystemDevice& self) {
    return make<PyBar1MemoryInfo>(ask([&] { return self.bar1_memory_info(); }));
}

nb::object state_utilization(const SystemDevice& self) {
    return make<system::Utilization>(ask([&] { return self.utilization(); }));
}

nb::object state_encoder(const SystemDevice& self) {
    return make<system::EngineUtilization>(ask([&] { return self.encoder_utilization(); }));
}

nb::object state_decoder(const SystemDevice& self) {
    return make<system::EngineUtilization>(ask([&] { return self.decoder_utilization(); }));
}

nb::object process_list(const SystemDevice& device,
                        const std::vector<system::ProcessInfo>& processes) {
    nb::list list;
    for (const system::ProcessInfo& process : processes) {
        list.append(make<PyProcessInfo>(PyProcessInfo{process, device}));
    }
    return list;
}

nb::object state_compute_processes(const SystemDevice& self) {
    return process_list(self, ask([&] { return self.compute_running_processes(); }));
}

nb::object state_graphics_processes(const SystemDevice& self) {
    return process_list(self, ask([&] { return self.graphics_running_processes(); }));
}

nb::object state_mps_processes(const SystemDevice& self) {
    return process_list(self, ask([&] { return self.mps_compute_running_processes(); }));
}

nb::object state_process_utilization(const SystemDevice& self, nb::handle since) {
    const std::size_t timestamp = since.is_none() ? 0 : size_argument(since, "since");
    return object_list(ask([&] { return self.process_utilization(timestamp); }));
}

void add_load(nb::class_<SystemDevice>& type) {
    fast_property<state_memory>(type, "def memory_info(self) -> MemoryInfo",
                                "Return total, free, used and reserved memory in bytes.");
    fast_property<state_bar1>(type, "def bar1_memory_info(self) -> BAR1MemoryInfo",
                              "Return the memory that can be mapped over PCIe, in bytes.");
    fast_property<state_utilization>(type, "def utilization(self) -> Utilization",
                                     "Return how busy the device and its memory were.");
    fast_property<state_encoder>(type, "def encoder_utilization(self) -> EngineUtilization",
                                 "Return how busy the video encoders were.");
    fast_property<state_decoder>(type, "def decoder_utilization(self) -> EngineUtilization",
                                 "Return how busy the video decoders were.");
    fast_property<state_compute_processes>(
        type, "def compute_running_processes(self) -> list[ProcessInfo]",
        "Return the processes that compute on the device.");
    fast_property<state_graphics_processes>(
        type, "def graphics_running_processes(self) -> list[ProcessInfo]",
        "Return the processes that draw with the device.");
    fast_property<state_mps_processes>(
        type, "def mps_compute_running_processes(self) -> list[ProcessInfo]",
        "Return the processes that compute through the Multi-Process Service.");
    fast_method<state_process_utilization>(
        type,
        "def get_process_utilization(self, since: int | None = None) -> list[ProcessUtilization]",
        R"(Return how busy each process kept the device, an empty list if nothing is known.

Parameters
----------
since : int, optional
    Return samples that are newer than this time, in microseconds since 1970. Without it, return all
    that the driver keeps.

Returns
-------
list[ProcessUtilization]
    One entry for each process.

Raises
------
ValueError
    If the time is negative.
NvmlError
    If NVML cannot answer; ``NotSupportedError`` if the device does not have it.)");
}

// ---- clocks, power, temperature ------------------------------------------------------------

nb::object state_clock(const SystemDevice& self, nb::handle clock_type) {
    return make<system::Clock>(self.clock(Members<system::ClockType>::parse(clock_type)));
}

nb::object state_auto_boost(const SystemDevice& self) {
    const auto boost = ask([&] { return self.auto_boosted_clocks(); });
    return nb::make_tuple(boost.is_enabled, boost.is_enabled_by_default);
}

nb::object state_reasons(const SystemDevice& self) {
    return member_list(ask([&] { return self.clock_event_reasons(); }));
}

nb::object state_supported_reasons(const SystemDevice& self) {
    return member_list(ask([&] { return self.supported_clock_event_reasons(); }));
}

nb::object state_reason_texts(const SystemDevice& self) {
    nb::list texts;
    for (const auto reason : ask([&] { return self.clock_event_reasons(); })) {
        texts.append(text_object(system::explain(reason)));
    }
    return texts;
}

nb::object state_performance(const SystemDevice& self) {
    const auto state = ask([&] { return self.performance_state(); });
    return state ? nb::object(nb::int_(*state)) : nb::none();
}

nb::object state_pstates(const SystemDevice& self) {
    nb::list list;
    for (const int state : ask([&] { return self.supported_pstates(); })) {
        list.append(state);
    }
    return list;
}

nb::object state_dynamic_pstates(const SystemDevice& self) {
    const auto parts = ask([&] { return self.dynamic_pstates(); });
    return make<Values<system::DynamicPStateUtilization>>(
        Values<system::DynamicPStateUtilization>{{parts.begin(), parts.end()}});
}

nb::object state_power(const SystemDevice& self) {
    return make<system::Power>(self.power());
}

nb::object state_temperature(const SystemDevice& self) {
    return temperature_object(self);
}

nb::object state_cooler(const SystemDevice& self) {
    return make<system::CoolerInfo>(ask([&] { return self.cooler(); }));
}

unsigned state_num_fans(const SystemDevice& self) {
    return ask([&] { return self.num_fans(); });
}

nb::object state_fan(const SystemDevice& self, nb::handle fan) {
    const unsigned index = fan.is_none() ? 0 : unsigned_argument(fan, "fan");
    return make<system::Fan>(ask([&] { return self.fan(index); }));
}

void add_clocks(nb::class_<SystemDevice>& type) {
    fast_method<state_clock>(
        type, "def get_clock(self, clock_type: cuprum.system.typing.ClockType | str) -> ClockInfo",
        R"(Return one of the device's clocks.

Parameters
----------
clock_type : ClockType or str
    ``"graphics"``, ``"sm"``, ``"memory"`` or ``"video"``.

Returns
-------
ClockInfo
    The clock.

Raises
------
ValueError
    If there is no such clock.)");
    fast_property<state_auto_boost>(
        type, "def is_auto_boosted_clocks_enabled(self) -> tuple[bool, bool]",
        "Return whether clocks may rise on their own, now and by default.");
    fast_property<state_reasons>(
        type,
        "def current_clock_event_reasons(self) -> list[cuprum.system.typing.ClocksEventReasons]",
        "Return why clocks are lower than they could be.");
    fast_property<state_supported_reasons>(
        type,
        "def supported_clock_event_reasons(self) -> list[cuprum.system.typing.ClocksEventReasons]",
        "Return the reasons that the device can report.");
    fast_property<state_reason_texts>(
        type, "def throttle_reasons(self) -> list[str]",
        "Return why clocks are lower than they could be, each in a sentence.");
    fast_property<state_performance>(type, "def performance_state(self) -> int | None",
                                     "Return the performance state, 0 (the fastest) to 15; None if "
                                     "it is not known.");
    fast_property<state_pstates>(type, "def supported_pstates(self) -> list[int]",
                                 "Return the performance states that the device has.");
    fast_property<state_dynamic_pstates>(
        type, "def dynamic_pstates_info(self) -> GpuDynamicPstatesInfo",
        "Return how parts of the device influence its performance state.");
    fast_property<state_power>(type, "def power(self) -> PowerInfo",
                               "Return power, its limits and the energy used.");
    fast_property<state_temperature>(type, "def temperature(self) -> Temperature",
                                     "Return the temperatures.");
    fast_property<state_cooler>(type, "def cooler(self) -> CoolerInfo", "Return the cooler.");
    fast_property<state_num_fans>(type, "def num_fans(self) -> int",
                                  "Return the number of fans, 0 if it has none of its own.");
    fast_method<state_fan>(type, "def get_fan(self, fan: int = 0) -> FanInfo",
                           R"(Return one of the device's fans.

Parameters
----------
fan : int, optional
    Its index, from 0.

Returns
-------
FanInfo
    The fan.

Raises
------
ValueError
    If there is no such fan; the text shows the range.)");
}

// ---- links and neighbours ------------------------------------------------------------------

unsigned state_nvlink_count(const SystemDevice& self) {
    return ask([&] { return self.nvlink_count(); });
}

nb::object state_nvlink(const SystemDevice& self, nb::handle link) {
    const unsigned index = unsigned_argument(link, "link");
    return make<system::NvLink>(ask([&] { return self.nvlink(index); }));
}

nb::object state_nvlinks(const SystemDevice& self) {
    return object_iterator(ask([&] { return self.nvlinks(); }));
}

nb::object number_list(const std::vector<unsigned>& numbers) {
    nb::list list;
    for (const unsigned number : numbers) {
        list.append(number);
    }
    return list;
}

nb::object state_cpu_affinity(const SystemDevice& self, nb::handle scope) {
    const auto which = Members<system::AffinityScope>::parse_or(scope, system::AffinityScope::Node);
    return number_list(ask([&] { return self.cpu_affinity(which); }));
}

nb::object state_memory_affinity(const SystemDevice& self, nb::handle scope) {
    const auto which = Members<system::AffinityScope>::parse_or(scope, system::AffinityScope::Node);
    return number_list(ask([&] { return self.memory_affinity(which); }));
}

void state_set_affinity(const SystemDevice& self) {
    ask([&] { self.set_cpu_affinity(); });
}

void state_clear_affinity(const SystemDevice& self) {
    ask([&] { self.clear_cpu_affinity(); });
}

nb::object state_nearest(const SystemDevice& self, nb::handle level) {
    const auto which = Members<system::GpuTopologyLevel>::parse(level);
    return object_iterator(ask([&] { return self.topology_nearest_gpus(which); }));
}

void add_neighbours(nb::class_<SystemDevice>& type) {
    fast_method<state_nvlink_count>(type, "def get_nvlink_count(self) -> int",
                                    R"(Return the number of NVLinks.

Returns
-------
int
    The number.

Raises
------
NvmlError
    If NVML cannot answer.)");
    fast_method<state_nvlink>(type, "def get_nvlink(self, link: int) -> NvlinkInfo",
                              R"(Return one NVLink.

Parameters
----------
link : int
    Its index, from 0.

Returns
-------
NvlinkInfo
    The link.

Raises
------
ValueError
    If there is no such link; the text shows the range.)");
    fast_method<state_nvlinks>(type,
                               "def get_nvlinks(self) -> collections.abc.Iterator[NvlinkInfo]",
                               R"(Return an iterator over all NVLinks.

Returns
-------
Iterator[NvlinkInfo]
    The links.

Raises
------
NvmlError
    If NVML cannot answer.)");
    fast_method<state_cpu_affinity>(
        type,
        "def get_cpu_affinity(self, scope: cuprum.system.typing.AffinityScope | str | None = None) "
        "-> list[int]",
        R"(Return the CPUs near the device.

Parameters
----------
scope : AffinityScope or str, optional
    ``"node"``, which is the default, or ``"socket"``.

Returns
-------
list[int]
    The numbers of the CPUs.

Raises
------
ValueError
    If there is no such scope.)");
    fast_method<state_memory_affinity>(
        type,
        "def get_memory_affinity(self, scope: cuprum.system.typing.AffinityScope | str | None = "
        "None) -> list[int]",
        R"(Return the NUMA nodes near the device.

Parameters
----------
scope : AffinityScope or str, optional
    ``"node"``, which is the default, or ``"socket"``.

Returns
-------
list[int]
    The numbers of the nodes.

Raises
------
ValueError
    If there is no such scope.)");
    fast_method<state_set_affinity>(type, "def set_cpu_affinity(self) -> None",
                                    R"(Bind the calling thread to the CPUs near the device.

Raises
------
NvmlError
    If NVML cannot answer; ``NotSupportedError`` if the device does not have it.)");
    fast_method<state_clear_affinity>(type, "def clear_cpu_affinity(self) -> None",
                                      R"(Let the calling thread run on any CPU again.

Raises
------
NvmlError
    If NVML cannot answer; ``NotSupportedError`` if the device does not have it.)");
    fast_method<state_nearest>(
        type,
        "def get_topology_nearest_gpus(self, level: cuprum.system.typing.GpuTopologyLevel | str) "
        "-> collections.abc.Iterator[SystemDevice]",
        R"(Return an iterator over the devices that share a level of the topology.

Parameters
----------
level : GpuTopologyLevel or str
    Such as ``"single"``: one PCIe switch.

Returns
-------
Iterator[SystemDevice]
    The devices.

Raises
------
ValueError
    If there is no such level.)");
}

// ---- fields, events, samples ---------------------------------------------------------------

std::vector<system::FieldQuery> fields_argument(nb::handle field_ids) {
    std::vector<system::FieldQuery> queries;
    for (const nb::handle field : nb::borrow(field_ids)) {
        if (PyTuple_Check(field.ptr()) != 0) {
            if (PyTuple_GET_SIZE(field.ptr()) != 2) {
                raise_error(PyExc_ValueError, "field_ids holds " + repr_text(field) +
                                                  ", expected a field or (field, scope)");
            }
            queries.emplace_back(
                static_cast<system::FieldId>(
                    unsigned_argument(PyTuple_GET_ITEM(field.ptr(), 0), "a field of field_ids")),
                unsigned_argument(PyTuple_GET_ITEM(field.ptr(), 1), "a scope of field_ids"));
        } else {
            queries.emplace_back(
                static_cast<system::FieldId>(unsigned_argument(field, "a field of field_ids")));
        }
    }
    return queries;
}

nb::object state_fields(const SystemDevice& self, nb::handle field_ids) {
    const auto queries = fields_argument(field_ids);
    return make<Values<system::FieldValue>>(
        Values<system::FieldValue>{ask([&] { return self.field_values(queries); })});
}

void state_clear_fields(const SystemDevice& self, nb::handle field_ids) {
    const auto queries = fields_argument(field_ids);
    ask([&] { self.clear_field_values(queries); });
}

nb::object state_register_events(const SystemDevice& self, nb::handle events) {
    const auto types = choices_argument<system::EventType>(events, "events");
    return make<system::DeviceEvents>(ask([&] { return self.register_events(types); }));
}

nb::object state_event_types(const SystemDevice& self) {
    return member_list(ask([&] { return self.supported_event_types(); }));
}

nb::object state_read_sample(const SystemDevice& self) {
    return make<system::Sample>(ask([&] { return system::read_sample(self); }));
}

nb::object state_sample(nb::handle self, nb::handle interval, nb::handle count) {
    return nb::module_::import_("cuprum.system._sampling")
        .attr("sample")(
            self, interval.is_none() ? nb::object(nb::float_(1.0)) : nb::borrow(interval), count);
}

void add_recording(nb::class_<SystemDevice>& type) {
    fast_method<state_fields>(
        type,
        "def get_field_values(self, field_ids: collections.abc.Sequence[int | tuple[int, int]]) -> "
        "FieldValues",
        R"(Read several fields at once.

Each may fail on its own. Its error is raised when its value is read, or by ``validate``.

Parameters
----------
field_ids : list of int or (int, int)
    Members of `FieldId`, each alone or with the part of the device that it is about.

Returns
-------
FieldValues
    The values, in the order of the fields.

Raises
------
TypeError
    If a field is neither an int nor a pair of ints.
NvmlError
    If NVML cannot answer.)");
    fast_method<state_clear_fields>(
        type,
        "def clear_field_values(self, field_ids: collections.abc.Sequence[int | tuple[int, int]]) "
        "-> None",
        R"(Set counters to 0, where the device allows that.

Parameters
----------
field_ids : list of int or (int, int)
    As in ``get_field_values``.

Raises
------
TypeError
    If a field is neither an int nor a pair of ints.
NvmlError
    If NVML cannot answer; ``NotSupportedError`` if the device does not have it.)");
    fast_method<state_register_events>(
        type,
        "def register_events(self, events: cuprum.system.typing.EventType | str | "
        "list[cuprum.system.typing.EventType | str]) -> DeviceEvents",
        R"(Start to record events. Earlier ones are not seen.

Parameters
----------
events : EventType, str or list of them
    Such as ``"xid_critical_error"``.

Returns
-------
DeviceEvents
    What waits for the events.

Raises
------
NotSupportedError
    If the device does not have one of them; see ``get_supported_event_types``.)");
    fast_method<state_event_types>(
        type, "def get_supported_event_types(self) -> list[cuprum.system.typing.EventType]",
        R"(Return the events that the device has.

Returns
-------
list[EventType]
    The kinds of events.

Raises
------
NvmlError
    If NVML cannot answer.)");
    fast_method<state_read_sample>(
        type, "def read_sample(self) -> Sample",
        R"(Read load, memory, temperature, power and clocks at once; None for what is unknown.

Returns
-------
Sample
    The values at this moment.

Raises
------
GpuIsLostError
    If the device is gone.)");
    fast_method<state_sample>(
        type,
        "def sample(self, interval: float = 1.0, count: int | None = None) -> "
        "collections.abc.Iterator[Sample]",
        R"(Return an iterator that reads a sample at an interval. The first comes at once.

A late reader skips what it missed, so that samples never come faster than the interval.

Parameters
----------
interval : float, optional
    In seconds.
count : int, optional
    How many samples. Without it, there is no end.

Returns
-------
Iterator[Sample]
    Samples, until `count` or without end.

Raises
------
ValueError
    If the interval is not positive.)");
}

} // namespace

void add_device_state(nb::class_<system::Device>& type) {
    add_modes(type);
    add_load(type);
    add_clocks(type);
    add_neighbours(type);
    add_recording(type);
}

} // namespace cuprum::python
