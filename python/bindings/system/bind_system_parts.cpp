// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Parts of a device: clocks, fans, temperature, power, ECC, InfoROM.

#include "support/class.hpp"
#include "system/system_objects.hpp"

#include <cuprum/system/clock.hpp>
#include <cuprum/system/cooling.hpp>
#include <cuprum/system/ecc.hpp>
#include <cuprum/system/inforom.hpp>
#include <cuprum/system/power.hpp>

namespace cuprum::python {

namespace {

int pstate_argument(nb::handle value) {
    Py_ssize_t pstate = 0;
    if (!read_small_int(value, pstate)) {
        if (PyLong_Check(value.ptr()) == 0) {
            raise_error(PyExc_TypeError, "pstate must be an int, got " + type_label(value));
        }
        pstate = -1;
    }
    if (pstate < 0 || pstate > 15) {
        raise_error(PyExc_ValueError,
                    "Invalid P-state: " + repr_text(value) + "; expected 0 (the fastest) to 15");
    }
    return static_cast<int>(pstate);
}

unsigned clock_current(const system::Clock& self, nb::handle id) {
    const auto which = Members<system::ClockId>::parse_or(id, system::ClockId::Current);
    return without_gil([&] { return self.current_mhz(which); });
}

unsigned clock_max(const system::Clock& self) {
    return without_gil([&] { return self.max_mhz(); });
}

unsigned clock_boost(const system::Clock& self) {
    return without_gil([&] { return self.max_customer_boost_mhz(); });
}

nb::object clock_limits(const system::Clock& self, nb::handle pstate) {
    const int state = pstate_argument(pstate);
    const auto range = without_gil([&] { return self.limits_of_pstate_mhz(state); });
    return pair_object(range.min, range.max);
}

nb::object clock_offsets(const system::Clock& self, nb::handle pstate) {
    const int state = pstate_argument(pstate);
    return make<system::ClockOffsets>(without_gil([&] { return self.offsets(state); }));
}

void bind_clock(nb::module_& module) {
    Class<system::Clock> type(module, "ClockInfo");
    type.method<clock_current>("get_current_mhz");
    type.method<clock_max>("get_max_mhz");
    type.method<clock_boost>("get_max_customer_boost_mhz");
    type.method<clock_limits>("get_min_max_clock_of_pstate_mhz");
    type.method<clock_offsets>("get_offsets");
}

unsigned fan_rpm(const system::Fan& self) {
    return without_gil([&] { return self.speed_rpm(); });
}

unsigned fan_target(const system::Fan& self) {
    return without_gil([&] { return self.target_speed(); });
}

nb::object fan_limits(const system::Fan& self) {
    const auto range = without_gil([&] { return self.speed_limits(); });
    return pair_object(range.min, range.max);
}

nb::object fan_policy(const system::Fan& self) {
    return member(without_gil([&] { return self.control_policy(); }));
}

void fan_set_default(const system::Fan& self) {
    without_gil([&] { self.set_default_speed(); });
}

void bind_fan(nb::module_& module) {
    Class<system::Fan> type(module, "FanInfo");
    type.property(
        "speed", [](const system::Fan& self) { return without_gil([&] { return self.speed(); }); },
        [](const system::Fan& self, nb::handle speed) {
            const unsigned percent = unsigned_argument(speed, "speed");
            without_gil([&] { self.set_speed(percent); });
        });
    type.property("speed_rpm", fan_rpm);
    type.property("target_speed", fan_target);
    type.property("min_max_speed", fan_limits);
    type.property("control_policy", fan_policy);
    type.method<fan_set_default>("set_default_speed");
}

int temperature_gpu(const system::Temperature& self) {
    return without_gil([&] { return self.gpu(); });
}

int temperature_margin(const system::Temperature& self) {
    return without_gil([&] { return self.margin(); });
}

/// A temperature, and the device for what depends on its architecture.
struct PyTemperature : system::Temperature {
    explicit PyTemperature(const system::Device& named)
        : system::Temperature(named.temperature()), device(named) {}

    system::Device device;
};

unsigned temperature_threshold(const PyTemperature& self, nb::handle threshold_type) {
    using Threshold = system::TemperatureThreshold;
    const Threshold threshold = Members<Threshold>::parse(threshold_type);
    const bool is_superseded = threshold == Threshold::Shutdown ||
                               threshold == Threshold::Slowdown || threshold == Threshold::MemMax ||
                               threshold == Threshold::GpuMax;
    if (is_superseded &&
        without_gil([&] { return self.device.arch(); }) >= system::DeviceArch::Ada) {
        const std::string text = std::string(to_string(threshold)) +
                                 " is no longer recommended for Ada and later architectures; read "
                                 "the field FieldId.DEV_TEMPERATURE_" +
                                 (threshold == Threshold::Shutdown   ? "SHUTDOWN_TLIMIT"
                                  : threshold == Threshold::Slowdown ? "SLOWDOWN_TLIMIT"
                                  : threshold == Threshold::MemMax   ? "MEM_MAX_TLIMIT"
                                                                     : "GPU_MAX_TLIMIT") +
                                 " with get_field_values() instead";
        if (PyErr_WarnEx(PyExc_DeprecationWarning, text.c_str(), 1) != 0) {
            throw nb::python_error();
        }
    }
    return without_gil([&] { return self.threshold(threshold); });
}

nb::object temperature_settings(const PyTemperature& self, nb::handle sensor_index) {
    const auto target = Members<system::ThermalTarget>::parse(sensor_index);
    return make<Values<system::ThermalSensor>>(
        Values<system::ThermalSensor>{without_gil([&] { return self.sensors(target); })});
}

int py_temperature_gpu(const PyTemperature& self) {
    return temperature_gpu(self);
}

int py_temperature_margin(const PyTemperature& self) {
    return temperature_margin(self);
}

void bind_temperature(nb::module_& module) {
    Class<PyTemperature> type(module, "Temperature");
    type.method<py_temperature_gpu>("get_sensor");
    type.method<temperature_threshold>("get_threshold");
    type.property("margin", py_temperature_margin);
    type.method<temperature_settings>("get_thermal_settings");
}

unsigned power_usage(const system::Power& self) {
    return without_gil([&] { return self.usage_mw(); });
}

unsigned long long power_energy(const system::Power& self) {
    return without_gil([&] { return self.total_energy_mj(); });
}

unsigned power_default_limit(const system::Power& self) {
    return without_gil([&] { return self.default_limit_mw(); });
}

unsigned power_enforced_limit(const system::Power& self) {
    return without_gil([&] { return self.enforced_limit_mw(); });
}

nb::object power_constraints(const system::Power& self) {
    const auto range = without_gil([&] { return self.limit_constraints_mw(); });
    return pair_object(range.min, range.max);
}

void bind_power(nb::module_& module) {
    Class<system::Power> type(module, "PowerInfo");
    type.property("usage_mw", power_usage);
    type.property("total_energy_mj", power_energy);
    type.property(
        "limit_mw",
        [](const system::Power& self) { return without_gil([&] { return self.limit_mw(); }); },
        [](const system::Power& self, nb::handle limit) {
            const unsigned wanted = unsigned_argument(limit, "limit_mw");
            without_gil([&] { self.set_limit_mw(wanted); });
        });
    type.property("default_limit_mw", power_default_limit);
    type.property("enforced_limit_mw", power_enforced_limit);
    type.property("limit_constraints_mw", power_constraints);
}

bool ecc_pending(const system::Ecc& self) {
    return without_gil([&] { return self.is_pending(); });
}

unsigned long long ecc_errors(const system::Ecc& self, nb::handle error_type, nb::handle counter) {
    const auto type = Members<system::MemoryErrorType>::parse(error_type);
    const auto which = Members<system::EccCounter>::parse_or(counter, system::EccCounter::Volatile);
    return without_gil([&] { return self.total_errors(type, which); });
}

void ecc_clear(const system::Ecc& self, nb::handle counter) {
    const auto which = Members<system::EccCounter>::parse(counter);
    without_gil([&] { self.clear_errors(which); });
}

nb::object ecc_rows(const system::Ecc& self) {
    return make<system::RemappedRows>(without_gil([&] { return self.remapped_rows(); }));
}

void bind_ecc(nb::module_& module) {
    Class<system::Ecc> type(module, "EccInfo");
    type.property(
        "is_enabled",
        [](const system::Ecc& self) { return without_gil([&] { return self.is_enabled(); }); },
        [](const system::Ecc& self, nb::handle enabled) {
            const bool wanted = bool_argument(enabled, "is_enabled");
            without_gil([&] { self.set_enabled(wanted); });
        });
    type.property("is_pending", ecc_pending);
    type.method<ecc_errors>("get_total_errors");
    type.method<ecc_clear>("clear_errors");
    type.property("remapped_rows", ecc_rows);
}

nb::object inforom_version(const system::Inforom& self, nb::handle inforom) {
    const auto object = Members<system::InforomObject>::parse(inforom);
    return text_object(without_gil([&] { return self.version(object); }));
}

nb::object inforom_image(const system::Inforom& self) {
    return text_object(without_gil([&] { return self.image_version(); }));
}

unsigned inforom_checksum(const system::Inforom& self) {
    return without_gil([&] { return self.configuration_checksum(); });
}

void inforom_validate(const system::Inforom& self) {
    without_gil([&] { self.validate(); });
}

nb::object inforom_flush(const system::Inforom& self) {
    const auto flush = without_gil([&] { return self.bbx_flush_time(); });
    return pair_object(flush.timestamp_us, flush.duration_us);
}

nb::object inforom_part(const system::Inforom& self) {
    return text_object(without_gil([&] { return self.board_part_number(); }));
}

void bind_inforom(nb::module_& module) {
    Class<system::Inforom> type(module, "InforomInfo");
    type.method<inforom_version>("get_version");
    type.property("image_version", inforom_image);
    type.property("configuration_checksum", inforom_checksum);
    type.method<inforom_validate>("validate");
    type.property("bbx_flush_time", inforom_flush);
    type.property("board_part_number", inforom_part);
}

} // namespace

nb::object temperature_object(const system::Device& device) {
    return make<PyTemperature>(device);
}

void bind_system_parts(nb::module_& module) {
    bind_clock(module);
    bind_fan(module);
    bind_temperature(module);
    bind_power(module);
    bind_ecc(module);
    bind_inforom(module);
}

} // namespace cuprum::python
