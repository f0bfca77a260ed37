// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Parts of a device: clocks, fans, temperature, power, ECC, InfoROM.

#include "system/system_objects.hpp"

#include <cuprum/system/clock.hpp>
#include <cuprum/system/cooling.hpp>
#include <cuprum/system/ecc.hpp>
#include <cuprum/system/inforom.hpp>
#include <cuprum/system/power.hpp>

namespace cuprum::python {

using namespace nb::literals;

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
    return ask([&] { return self.current_mhz(which); });
}

unsigned clock_max(const system::Clock& self) {
    return ask([&] { return self.max_mhz(); });
}

unsigned clock_boost(const system::Clock& self) {
    return ask([&] { return self.max_customer_boost_mhz(); });
}

nb::object clock_limits(const system::Clock& self, nb::handle pstate) {
    const int state = pstate_argument(pstate);
    const auto range = ask([&] { return self.limits_of_pstate_mhz(state); });
    return pair_object(range.min, range.max);
}

nb::object clock_offsets(const system::Clock& self, nb::handle pstate) {
    const int state = pstate_argument(pstate);
    return make<system::ClockOffsets>(ask([&] { return self.offsets(state); }));
}

void bind_clock(nb::module_& module) {
    nb::class_<system::Clock> type(module, "ClockInfo", R"(One clock of a device.

Examples
--------
>>> clock = cuprum.system.Device(index=0).get_clock("sm")
>>> clock.get_max_mhz() > 0
True)");
    note_type<system::Clock>(type);
    fast_method<clock_current>(type,
                               "def get_current_mhz(self, clock_id: cuprum.system.typing.ClockId | "
                               "str | None = None) -> int",
                               R"(Return the frequency in MHz.

Parameters
----------
clock_id : ClockId or str, optional
    ``"current"``, which is the default, or ``"customer_boost_max"``.

Returns
-------
int
    The frequency.

Raises
------
ValueError
    If there is no such clock ID.
NvmlError
    If NVML cannot answer; ``NotSupportedError`` if the device does not have it.)");
    fast_method<clock_max>(type, "def get_max_mhz(self) -> int",
                           R"(Return the highest frequency in MHz.

Returns
-------
int
    The frequency.

Raises
------
NvmlError
    If NVML cannot answer; ``NotSupportedError`` if the device does not have it.)");
    fast_method<clock_boost>(type, "def get_max_customer_boost_mhz(self) -> int",
                             R"(Return the highest frequency that the manufacturer allows, in MHz.

Returns
-------
int
    The frequency.

Raises
------
NvmlError
    If NVML cannot answer; ``NotSupportedError`` if the device does not have it.)");
    fast_method<clock_limits>(
        type, "def get_min_max_clock_of_pstate_mhz(self, pstate: int) -> tuple[int, int]",
        R"(Return the lowest and the highest frequency of a performance state, in MHz.

Parameters
----------
pstate : int
    0 (the fastest) to 15.

Returns
-------
tuple[int, int]
    The lowest and the highest frequency.

Raises
------
TypeError
    If `pstate` is not an int.
ValueError
    If there is no such performance state.
NvmlError
    If NVML cannot answer; ``NotSupportedError`` if the device does not have it.)");
    fast_method<clock_offsets>(type, "def get_offsets(self, pstate: int) -> ClockOffsets",
                               R"(Return the offset that a user set, and its limits.

Parameters
----------
pstate : int
    0 (the fastest) to 15.

Returns
-------
ClockOffsets
    The offsets in MHz.

Raises
------
TypeError
    If `pstate` is not an int.
ValueError
    If there is no such performance state.
NvmlError
    If NVML cannot answer; ``NotSupportedError`` if the device does not have it.)");
}

unsigned fan_rpm(const system::Fan& self) {
    return ask([&] { return self.speed_rpm(); });
}

unsigned fan_target(const system::Fan& self) {
    return ask([&] { return self.target_speed(); });
}

nb::object fan_limits(const system::Fan& self) {
    const auto range = ask([&] { return self.speed_limits(); });
    return pair_object(range.min, range.max);
}

nb::object fan_policy(const system::Fan& self) {
    return member(ask([&] { return self.control_policy(); }));
}

void fan_set_default(const system::Fan& self) {
    ask([&] { self.set_default_speed(); });
}

void bind_fan(nb::module_& module) {
    nb::class_<system::Fan> type(module, "FanInfo",
                                 R"(One fan of a device. Speeds are in percent of the maximum.

Examples
--------
>>> fan = cuprum.system.Device(index=0).get_fan(0)
>>> 0 <= fan.speed <= 100
True)");
    note_type<system::Fan>(type);
    type.def_prop_rw(
        "speed", [](const system::Fan& self) { return ask([&] { return self.speed(); }); },
        [](const system::Fan& self, nb::handle speed) {
            const unsigned percent = unsigned_argument(speed, "speed");
            ask([&] { self.set_speed(percent); });
        },
        nb::for_getter(nb::sig("def speed(self) -> int")),
        nb::for_setter(nb::sig("def speed(self, speed: int, /) -> None")),
        nb::for_getter(R"(Return or set the intended speed, which may exceed 100.

Setting it takes the fan from the driver's control and needs root; see ``set_default_speed``.)"));
    fast_property<fan_rpm>(type, "def speed_rpm(self) -> int",
                           "Return the intended speed in rotations per minute.");
    fast_property<fan_target>(type, "def target_speed(self) -> int",
                              "Return the speed that the fan is set to.");
    fast_property<fan_limits>(type, "def min_max_speed(self) -> tuple[int, int]",
                              "Return the lowest and the highest speed.");
    fast_property<fan_policy>(type,
                              "def control_policy(self) -> cuprum.system.typing.FanControlPolicy",
                              "Return who controls the fan.");
    fast_method<fan_set_default>(type, "def set_default_speed(self) -> None",
                                 R"(Let the driver control the fan again. Needs root.

Raises
------
NoPermissionError
    If the caller is not root.
NvmlError
    If NVML cannot answer; ``NotSupportedError`` if the device does not have it.)");
}

int temperature_gpu(const system::Temperature& self) {
    return ask([&] { return self.gpu(); });
}

int temperature_margin(const system::Temperature& self) {
    return ask([&] { return self.margin(); });
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
    if (is_superseded && ask([&] { return self.device.arch(); }) >= system::DeviceArch::Ada) {
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
    return ask([&] { return self.threshold(threshold); });
}

nb::object temperature_settings(const PyTemperature& self, nb::handle sensor_index) {
    const auto target = Members<system::ThermalTarget>::parse(sensor_index);
    return make<Values<system::ThermalSensor>>(
        Values<system::ThermalSensor>{ask([&] { return self.sensors(target); })});
}

int py_temperature_gpu(const PyTemperature& self) {
    return temperature_gpu(self);
}

int py_temperature_margin(const PyTemperature& self) {
    return temperature_margin(self);
}

void bind_temperature(nb::module_& module) {
    nb::class_<PyTemperature> type(module, "Temperature",
                                   R"(The temperatures of a device, in degrees Celsius.

Examples
--------
>>> cuprum.system.Device(index=0).temperature.get_sensor()
40)");
    note_type<PyTemperature>(type);
    fast_method<py_temperature_gpu>(type, "def get_sensor(self) -> int",
                                    R"(Return the temperature of the GPU.

Returns
-------
int
    Degrees Celsius.

Raises
------
NvmlError
    If NVML cannot answer; ``NotSupportedError`` if the device does not have it.)");
    fast_method<temperature_threshold>(
        type,
        "def get_threshold(self, threshold_type: cuprum.system.typing.TemperatureThresholds | str) "
        "-> int",
        R"(Return a temperature at which something happens.

Ada and later architectures have fields for four of them, which replace this method. Then it gives a
DeprecationWarning.

Parameters
----------
threshold_type : TemperatureThresholds or str
    Such as ``"shutdown"``, ``"slowdown"`` or ``"gpu_max"``.

Returns
-------
int
    Degrees Celsius.

Raises
------
ValueError
    If there is no such threshold.)");
    fast_property<py_temperature_margin>(type, "def margin(self) -> int",
                                         "Return how far the nearest slowdown is.");
    fast_method<temperature_settings>(
        type,
        "def get_thermal_settings(self, sensor_index: cuprum.system.typing.ThermalTarget | str) -> "
        "ThermalSettings",
        R"(Return the sensors of a part of the device.

Parameters
----------
sensor_index : ThermalTarget or str
    The part, or ``"all"``.

Returns
-------
ThermalSettings
    One entry for each sensor.

Raises
------
ValueError
    If there is no such part.
NvmlError
    If NVML cannot answer; ``NotSupportedError`` if the device does not have it.)");
}

unsigned power_usage(const system::Power& self) {
    return ask([&] { return self.usage_mw(); });
}

unsigned long long power_energy(const system::Power& self) {
    return ask([&] { return self.total_energy_mj(); });
}

unsigned power_default_limit(const system::Power& self) {
    return ask([&] { return self.default_limit_mw(); });
}

unsigned power_enforced_limit(const system::Power& self) {
    return ask([&] { return self.enforced_limit_mw(); });
}

nb::object power_constraints(const system::Power& self) {
    const auto range = ask([&] { return self.limit_constraints_mw(); });
    return pair_object(range.min, range.max);
}

void bind_power(nb::module_& module) {
    nb::class_<system::Power> type(module, "PowerInfo",
                                   R"(The power of a device, in milliwatts and millijoules.

Examples
--------
>>> power = cuprum.system.Device(index=0).power
>>> power.usage_mw <= power.limit_mw
True)");
    note_type<system::Power>(type);
    fast_property<power_usage>(
        type, "def usage_mw(self) -> int",
        "Return what the device draws; most devices average over the last second.");
    fast_property<power_energy>(type, "def total_energy_mj(self) -> int",
                                "Return the energy used since the driver was loaded.");
    type.def_prop_rw(
        "limit_mw", [](const system::Power& self) { return ask([&] { return self.limit_mw(); }); },
        [](const system::Power& self, nb::handle limit) {
            const unsigned wanted = unsigned_argument(limit, "limit_mw");
            ask([&] { self.set_limit_mw(wanted); });
        },
        nb::for_getter(nb::sig("def limit_mw(self) -> int")),
        nb::for_setter(nb::sig("def limit_mw(self, limit: int, /) -> None")),
        nb::for_getter("Return or set the limit of the user. Setting it needs root."));
    fast_property<power_default_limit>(type, "def default_limit_mw(self) -> int",
                                       "Return the limit that applies unless a user sets one.");
    fast_property<power_enforced_limit>(type, "def enforced_limit_mw(self) -> int",
                                        "Return the limit in force, the least of all.");
    fast_property<power_constraints>(type, "def limit_constraints_mw(self) -> tuple[int, int]",
                                     "Return the lowest and the highest limit that can be set.");
}

bool ecc_pending(const system::Ecc& self) {
    return ask([&] { return self.is_pending(); });
}

unsigned long long ecc_errors(const system::Ecc& self, nb::handle error_type, nb::handle counter) {
    const auto type = Members<system::MemoryErrorType>::parse(error_type);
    const auto which = Members<system::EccCounter>::parse_or(counter, system::EccCounter::Volatile);
    return ask([&] { return self.total_errors(type, which); });
}

void ecc_clear(const system::Ecc& self, nb::handle counter) {
    const auto which = Members<system::EccCounter>::parse(counter);
    ask([&] { self.clear_errors(which); });
}

nb::object ecc_rows(const system::Ecc& self) {
    return make<system::RemappedRows>(ask([&] { return self.remapped_rows(); }));
}

void bind_ecc(nb::module_& module) {
    nb::class_<system::Ecc> type(module, "EccInfo", R"(The error correction of a device's memory.

Examples
--------
>>> cuprum.system.Device(index=0).ecc.is_enabled  # doctest: +SKIP
True)");
    note_type<system::Ecc>(type);
    type.def_prop_rw(
        "is_enabled",
        [](const system::Ecc& self) { return ask([&] { return self.is_enabled(); }); },
        [](const system::Ecc& self, nb::handle enabled) {
            const bool wanted = bool_argument(enabled, "is_enabled");
            ask([&] { self.set_enabled(wanted); });
        },
        nb::for_getter(nb::sig("def is_enabled(self) -> bool")),
        nb::for_setter(nb::sig("def is_enabled(self, enabled: bool, /) -> None")),
        nb::for_getter("Return whether it is on, or set whether it is on after the next reset. "
                       "Setting it needs root."));
    fast_property<ecc_pending>(type, "def is_pending(self) -> bool",
                               "Return whether it is on after the next reset.");
    fast_method<ecc_errors>(
        type,
        "def get_total_errors(self, error_type: cuprum.system.typing.MemoryErrorType | str, "
        "counter: cuprum.system.typing.EccCounterType | str | None = None) -> int",
        R"(Return how many errors were counted.

Parameters
----------
error_type : MemoryErrorType or str
    ``"corrected"`` or ``"uncorrected"``.
counter : EccCounterType or str, optional
    ``"volatile"``, since the driver was loaded, or ``"aggregate"``, since the device was made.

Returns
-------
int
    The number of errors.

Raises
------
ValueError
    If there is no such kind of error or counter.
NvmlError
    If NVML cannot answer; ``NotSupportedError`` if the device does not have it.)");
    fast_method<ecc_clear>(
        type, "def clear_errors(self, counter: cuprum.system.typing.EccCounterType | str) -> None",
        R"(Set the counts of errors to 0. Needs root.

Parameters
----------
counter : EccCounterType or str
    ``"volatile"`` or ``"aggregate"``.

Raises
------
ValueError
    If there is no such counter.)");
    fast_property<ecc_rows>(type, "def remapped_rows(self) -> RemappedRows",
                            "Return the rows of memory that were replaced by spare ones.");
}

nb::object inforom_version(const system::Inforom& self, nb::handle inforom) {
    const auto object = Members<system::InforomObject>::parse(inforom);
    return text_object(ask([&] { return self.version(object); }));
}

nb::object inforom_image(const system::Inforom& self) {
    return text_object(ask([&] { return self.image_version(); }));
}

unsigned inforom_checksum(const system::Inforom& self) {
    return ask([&] { return self.configuration_checksum(); });
}

void inforom_validate(const system::Inforom& self) {
    ask([&] { self.validate(); });
}

nb::object inforom_flush(const system::Inforom& self) {
    const auto flush = ask([&] { return self.bbx_flush_time(); });
    return pair_object(flush.timestamp_us, flush.duration_us);
}

nb::object inforom_part(const system::Inforom& self) {
    return text_object(ask([&] { return self.board_part_number(); }));
}

void bind_inforom(nb::module_& module) {
    nb::class_<system::Inforom> type(module, "InforomInfo", R"(The memory that identifies a board.

Examples
--------
>>> cuprum.system.Device(index=0).inforom.image_version  # doctest: +SKIP
'G525.0220.00.03')");
    note_type<system::Inforom>(type);
    fast_method<inforom_version>(
        type, "def get_version(self, inforom: cuprum.system.typing.InforomObject | str) -> str",
        R"(Return the version of a part.

Parameters
----------
inforom : InforomObject or str
    ``"oem"``, ``"ecc"``, ``"power"`` or ``"den"``.

Returns
-------
str
    The version.

Raises
------
ValueError
    If there is no such part.)");
    fast_property<inforom_image>(type, "def image_version(self) -> str",
                                 "Return the version of the whole.");
    fast_property<inforom_checksum>(
        type, "def configuration_checksum(self) -> int",
        "Return a checksum; boards with the same one are configured alike.");
    fast_method<inforom_validate>(type, "def validate(self) -> None",
                                  R"(Read the memory and check it.

Raises
------
CorruptedInforomError
    If it is damaged.)");
    fast_property<inforom_flush>(
        type, "def bbx_flush_time(self) -> tuple[int, int]",
        "Return when the log of the board was last written, and how long that took, in "
        "microseconds.");
    fast_property<inforom_part>(type, "def board_part_number(self) -> str",
                                "Return the part number, empty for boards without one.");
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
