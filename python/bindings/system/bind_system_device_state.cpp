// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The changing state of cuprum.system.Device: modes, load, clocks, cooling, neighbours, fields.

#include "support/class.hpp"
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

using SystemDevice = system::Device;

namespace {

// ---- modes ---------------------------------------------------------------------------------

bool state_c2c(const SystemDevice& self) {
    return without_gil([&] { return self.is_c2c_enabled(); });
}

nb::object state_addressing(const SystemDevice& self) {
    const auto mode = without_gil([&] { return self.addressing_mode(); });
    return mode ? member(*mode) : nb::none();
}

bool state_display_connected(const SystemDevice& self) {
    return without_gil([&] { return self.is_display_connected(); });
}

bool state_display_active(const SystemDevice& self) {
    return without_gil([&] { return self.is_display_active(); });
}

nb::object state_repair(const SystemDevice& self) {
    return make<system::RepairStatus>(without_gil([&] { return self.repair_status(); }));
}

nb::object state_ecc(const SystemDevice& self) {
    return make<system::Ecc>(self.ecc());
}

void add_modes(Class<SystemDevice>& type) {
    type.property(
        "is_persistence_mode_enabled",
        [](const SystemDevice& self) {
            return without_gil([&] { return self.is_persistence_mode_enabled(); });
        },
        [](const SystemDevice& self, nb::handle enabled) {
            const bool wanted = bool_argument(enabled, "is_persistence_mode_enabled");
            without_gil([&] { self.set_persistence_mode_enabled(wanted); });
        });
    type.property("is_c2c_enabled", state_c2c);
    type.property("addressing_mode", state_addressing);
    type.property("is_display_connected", state_display_connected);
    type.property("is_display_active", state_display_active);
    type.property("repair_status", state_repair);
    type.property("ecc", state_ecc);
}

// ---- load ----------------------------------------------------------------------------------

nb::object state_memory(const SystemDevice& self) {
    return make<system::MemoryInfo>(without_gil([&] { return self.memory_info(); }));
}

nb::object state_bar1(const SystemDevice& self) {
    return make<PyBar1MemoryInfo>(without_gil([&] { return self.bar1_memory_info(); }));
}

nb::object state_utilization(const SystemDevice& self) {
    return make<system::Utilization>(without_gil([&] { return self.utilization(); }));
}

nb::object state_encoder(const SystemDevice& self) {
    return make<system::EngineUtilization>(without_gil([&] { return self.encoder_utilization(); }));
}

nb::object state_decoder(const SystemDevice& self) {
    return make<system::EngineUtilization>(without_gil([&] { return self.decoder_utilization(); }));
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
    return process_list(self, without_gil([&] { return self.compute_running_processes(); }));
}

nb::object state_graphics_processes(const SystemDevice& self) {
    return process_list(self, without_gil([&] { return self.graphics_running_processes(); }));
}

nb::object state_mps_processes(const SystemDevice& self) {
    return process_list(self, without_gil([&] { return self.mps_compute_running_processes(); }));
}

nb::object state_process_utilization(const SystemDevice& self, nb::handle since) {
    const std::size_t timestamp = since.is_none() ? 0 : size_argument(since, "since");
    return object_list(without_gil([&] { return self.process_utilization(timestamp); }));
}

void add_load(Class<SystemDevice>& type) {
    type.property("memory_info", state_memory);
    type.property("bar1_memory_info", state_bar1);
    type.property("utilization", state_utilization);
    type.property("encoder_utilization", state_encoder);
    type.property("decoder_utilization", state_decoder);
    type.property("compute_running_processes", state_compute_processes);
    type.property("graphics_running_processes", state_graphics_processes);
    type.property("mps_compute_running_processes", state_mps_processes);
    type.method<state_process_utilization>("get_process_utilization");
}

// ---- clocks, power, temperature ------------------------------------------------------------

nb::object state_clock(const SystemDevice& self, nb::handle clock_type) {
    return make<system::Clock>(self.clock(Members<system::ClockType>::parse(clock_type)));
}

nb::object state_auto_boost(const SystemDevice& self) {
    const auto boost = without_gil([&] { return self.auto_boosted_clocks(); });
    return nb::make_tuple(boost.is_enabled, boost.is_enabled_by_default);
}

nb::object state_reasons(const SystemDevice& self) {
    return member_list(without_gil([&] { return self.clock_event_reasons(); }));
}

nb::object state_supported_reasons(const SystemDevice& self) {
    return member_list(without_gil([&] { return self.supported_clock_event_reasons(); }));
}

nb::object state_reason_texts(const SystemDevice& self) {
    nb::list texts;
    for (const auto reason : without_gil([&] { return self.clock_event_reasons(); })) {
        texts.append(text_object(system::explain(reason)));
    }
    return texts;
}

nb::object state_performance(const SystemDevice& self) {
    const auto state = without_gil([&] { return self.performance_state(); });
    return state ? nb::object(nb::int_(*state)) : nb::none();
}

nb::object state_pstates(const SystemDevice& self) {
    nb::list list;
    for (const int state : without_gil([&] { return self.supported_pstates(); })) {
        list.append(state);
    }
    return list;
}

nb::object state_dynamic_pstates(const SystemDevice& self) {
    const auto parts = without_gil([&] { return self.dynamic_pstates(); });
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
    return make<system::CoolerInfo>(without_gil([&] { return self.cooler(); }));
}

unsigned state_num_fans(const SystemDevice& self) {
    return without_gil([&] { return self.num_fans(); });
}

nb::object state_fan(const SystemDevice& self, nb::handle fan) {
    const unsigned index = fan.is_none() ? 0 : unsigned_argument(fan, "fan");
    return make<system::Fan>(without_gil([&] { return self.fan(index); }));
}

void add_clocks(Class<SystemDevice>& type) {
    type.method<state_clock>("get_clock");
    type.property("is_auto_boosted_clocks_enabled", state_auto_boost);
    type.property("current_clock_event_reasons", state_reasons);
    type.property("supported_clock_event_reasons", state_supported_reasons);
    type.property("throttle_reasons", state_reason_texts);
    type.property("performance_state", state_performance);
    type.property("supported_pstates", state_pstates);
    type.property("dynamic_pstates_info", state_dynamic_pstates);
    type.property("power", state_power);
    type.property("temperature", state_temperature);
    type.property("cooler", state_cooler);
    type.property("num_fans", state_num_fans);
    type.method<state_fan>("get_fan");
}

// ---- links and neighbours ------------------------------------------------------------------

unsigned state_nvlink_count(const SystemDevice& self) {
    return without_gil([&] { return self.nvlink_count(); });
}

nb::object state_nvlink(const SystemDevice& self, nb::handle link) {
    const unsigned index = unsigned_argument(link, "link");
    return make<system::NvLink>(without_gil([&] { return self.nvlink(index); }));
}

nb::object state_nvlinks(const SystemDevice& self) {
    return object_iterator(without_gil([&] { return self.nvlinks(); }));
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
    return number_list(without_gil([&] { return self.cpu_affinity(which); }));
}

nb::object state_memory_affinity(const SystemDevice& self, nb::handle scope) {
    const auto which = Members<system::AffinityScope>::parse_or(scope, system::AffinityScope::Node);
    return number_list(without_gil([&] { return self.memory_affinity(which); }));
}

void state_set_affinity(const SystemDevice& self) {
    without_gil([&] { self.set_cpu_affinity(); });
}

void state_clear_affinity(const SystemDevice& self) {
    without_gil([&] { self.clear_cpu_affinity(); });
}

nb::object state_nearest(const SystemDevice& self, nb::handle level) {
    const auto which = Members<system::GpuTopologyLevel>::parse(level);
    return object_iterator(without_gil([&] { return self.topology_nearest_gpus(which); }));
}

void add_neighbours(Class<SystemDevice>& type) {
    type.method<state_nvlink_count>("get_nvlink_count");
    type.method<state_nvlink>("get_nvlink");
    type.method<state_nvlinks>("get_nvlinks");
    type.method<state_cpu_affinity>("get_cpu_affinity");
    type.method<state_memory_affinity>("get_memory_affinity");
    type.method<state_set_affinity>("set_cpu_affinity");
    type.method<state_clear_affinity>("clear_cpu_affinity");
    type.method<state_nearest>("get_topology_nearest_gpus");
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
        Values<system::FieldValue>{without_gil([&] { return self.field_values(queries); })});
}

void state_clear_fields(const SystemDevice& self, nb::handle field_ids) {
    const auto queries = fields_argument(field_ids);
    without_gil([&] { self.clear_field_values(queries); });
}

nb::object state_register_events(const SystemDevice& self, nb::handle events) {
    const auto types = choices_argument<system::EventType>(events, "events");
    return make<system::DeviceEvents>(without_gil([&] { return self.register_events(types); }));
}

nb::object state_event_types(const SystemDevice& self) {
    return member_list(without_gil([&] { return self.supported_event_types(); }));
}

nb::object state_read_sample(const SystemDevice& self) {
    return make<system::Sample>(without_gil([&] { return system::read_sample(self); }));
}

nb::object state_sample(nb::handle self, nb::handle interval, nb::handle count) {
    return nb::module_::import_("cuprum.system._sampling")
        .attr("sample")(
            self, interval.is_none() ? nb::object(nb::float_(1.0)) : nb::borrow(interval), count);
}

void add_recording(Class<SystemDevice>& type) {
    type.method<state_fields>("get_field_values");
    type.method<state_clear_fields>("clear_field_values");
    type.method<state_register_events>("register_events");
    type.method<state_event_types>("get_supported_event_types");
    type.method<state_read_sample>("read_sample");
    type.method<state_sample>("sample");
}

} // namespace

void add_device_state(Class<system::Device>& type) {
    add_modes(type);
    add_load(type);
    add_clocks(type);
    add_neighbours(type);
    add_recording(type);
}

} // namespace cuprum::python
