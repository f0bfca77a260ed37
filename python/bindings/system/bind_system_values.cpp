// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The values that queries return: plain attributes, read at one moment.

#include "support/compatibility.hpp"
#include "system/system_objects.hpp"
#include "system/system_values.hpp"

#include <cuprum/error.hpp>
#include <cuprum/system/mig.hpp>
#include <cuprum/system/system.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <limits>

namespace cuprum::python {

using namespace nb::literals;

namespace {

/// Begins the class of a plain value.
template <typename T, typename... Options>
nb::class_<T, Options...> value_class(nb::module_& module, const char* name,
                                      const char* documentation) {
    nb::class_<T, Options...> type(module, name, documentation);
    note_type<T>(type);
    return type;
}

void bind_memory(nb::module_& module) {
    auto memory =
        value_class<system::MemoryInfo>(module, "MemoryInfo", R"(Memory of a device, in bytes.

Examples
--------
>>> memory = cuprum.system.Device(index=0).memory_info
>>> memory.used + memory.free <= memory.total
True)");
    memory.def_ro("total", &system::MemoryInfo::total, "Return the whole.")
        .def_ro("free", &system::MemoryInfo::free, "Return what is free.")
        .def_ro("used", &system::MemoryInfo::used, "Return what programs allocated.")
        .def_ro("reserved", &system::MemoryInfo::reserved,
                "Return what the driver and the firmware keep.")
        .def("__repr__", [](const system::MemoryInfo& self) {
            return "<MemoryInfo used=" + std::to_string(self.used) +
                   " free=" + std::to_string(self.free) + " total=" + std::to_string(self.total) +
                   ">";
        });
    value_class<PyBar1MemoryInfo, system::MemoryInfo>(
        module, "BAR1MemoryInfo",
        R"(Memory of a device that the CPU and other devices can map over PCIe, in bytes.

Examples
--------
>>> memory = cuprum.system.Device(index=0).bar1_memory_info
>>> memory.used <= memory.total
True)");
}

void bind_load(nb::module_& module) {
    value_class<system::Utilization>(module, "Utilization",
                                     R"(How busy a device was over the last sampling period.

Examples
--------
>>> load = cuprum.system.Device(index=0).utilization
>>> 0 <= load.gpu <= 100
True)")
        .def_ro("gpu", &system::Utilization::gpu, "Return the percent of time some kernel ran.")
        .def_ro("memory", &system::Utilization::memory,
                "Return the percent of time memory was read or written.")
        .def("__repr__", [](const system::Utilization& self) {
            return "<Utilization gpu=" + std::to_string(self.gpu) +
                   " memory=" + std::to_string(self.memory) + ">";
        });
    value_class<system::EngineUtilization>(module, "EngineUtilization",
                                           R"(How busy an encoder or decoder was.

Examples
--------
>>> cuprum.system.Device(index=0).encoder_utilization.percent
0)")
        .def_ro("percent", &system::EngineUtilization::percent, "Return the percent of time.")
        .def_ro("sampling_period_us", &system::EngineUtilization::sampling_period_us,
                "Return the period that was measured, in microseconds.");
    value_class<system::ProcessUtilization>(module, "ProcessUtilization",
                                            R"(How busy one process kept a device, in percent.

Examples
--------
>>> for item in cuprum.system.Device(index=0).get_process_utilization():
...     print(item.pid, item.sm)  # doctest: +SKIP)")
        .def_ro("pid", &system::ProcessUtilization::pid, "Return the number of the process.")
        .def_ro("timestamp", &system::ProcessUtilization::timestamp_us,
                "Return when it was measured, in microseconds since 1970.")
        .def_ro("sm", &system::ProcessUtilization::sm, "Return the share of the multiprocessors.")
        .def_ro("memory", &system::ProcessUtilization::memory, "Return the share of the memory.")
        .def_ro("encoder", &system::ProcessUtilization::encoder, "Return the share of encoders.")
        .def_ro("decoder", &system::ProcessUtilization::decoder, "Return the share of decoders.")
        .def("__repr__", [](const system::ProcessUtilization& self) {
            return "<ProcessUtilization pid=" + std::to_string(self.pid) +
                   " sm=" + std::to_string(self.sm) + " memory=" + std::to_string(self.memory) +
                   ">";
        });
}

/// Returns the id of a MIG instance.
nb::object instance_id(const PyProcessInfo& self, std::optional<unsigned> id) {
    if (!ask([&] { return self.device.mig().is_mig_device(); }) || !id) {
        throw NVMLError(NOT_SUPPORTED, "NVML_ERROR_NOT_SUPPORTED",
                        "nvmlDeviceGetComputeRunningProcesses_v3",
                        "this device is no MIG device, so its processes have no instance");
    }
    return nb::int_(*id);
}

void bind_processes(nb::module_& module) {
    value_class<PyProcessInfo>(module, "ProcessInfo", R"(A process that uses a device.

Examples
--------
>>> import os
>>> os.getpid() in [item.pid for item in cuprum.system.Device(index=0).compute_running_processes]
True)")
        .def_prop_ro(
            "pid", [](const PyProcessInfo& self) { return self.info.pid; },
            "Return the number of the process.")
        .def_prop_ro(
            "used_gpu_memory",
            [](const PyProcessInfo& self) -> nb::object {
                if (self.info.used_gpu_memory) {
                    return nb::int_(*self.info.used_gpu_memory);
                }
                if (compatibility::reads_unknown_memory_as_number()) {
                    return nb::int_(std::numeric_limits<std::uint64_t>::max());
                }
                return nb::none();
            },
            nb::sig("def used_gpu_memory(self) -> int | None"),
            "Return the device memory it uses, in bytes; None if the driver does not tell.")
        .def_prop_ro(
            "name",
            [](const PyProcessInfo& self) {
                return text_object(ask([&] { return system::process_name(self.info.pid); }));
            },
            nb::sig("def name(self) -> str"),
            R"(Return the name of the program.

Raises
------
NotFoundError
    If the process is gone.)")
        .def_prop_ro(
            "gpu_instance_id",
            [](const PyProcessInfo& self) { return instance_id(self, self.info.gpu_instance_id); },
            nb::sig("def gpu_instance_id(self) -> int"),
            R"(Return the MIG instance of the device that the process uses.

Raises
------
NotSupportedError
    If the device is not a MIG device.)")
        .def_prop_ro(
            "compute_instance_id",
            [](const PyProcessInfo& self) {
                return instance_id(self, self.info.compute_instance_id);
            },
            nb::sig("def compute_instance_id(self) -> int"),
            R"(Return the MIG compute instance that the process uses.

Raises
------
NotSupportedError
    If the device is not a MIG device.)")
        .def("__repr__", [](const PyProcessInfo& self) {
            return "<ProcessInfo pid=" + std::to_string(self.info.pid) + " used_gpu_memory=" +
                   (self.info.used_gpu_memory ? std::to_string(*self.info.used_gpu_memory)
                                              : std::string("None")) +
                   ">";
        });
}

void bind_attributes(nb::module_& module) {
    using A = system::DeviceAttributes;
    value_class<A>(module, "DeviceAttributes", R"(Engines and slices of a device.

Examples
--------
>>> attributes = cuprum.system.Device(index=0).attributes
>>> attributes.multiprocessor_count > 0
True)")
        .def_ro("multiprocessor_count", &A::multiprocessor_count, "Return the multiprocessors.")
        .def_ro("shared_copy_engine_count", &A::shared_copy_engine_count,
                "Return the copy engines.")
        .def_ro("shared_decoder_count", &A::shared_decoder_count, "Return the video decoders.")
        .def_ro("shared_encoder_count", &A::shared_encoder_count, "Return the video encoders.")
        .def_ro("shared_jpeg_count", &A::shared_jpeg_count, "Return the JPEG engines.")
        .def_ro("shared_ofa_count", &A::shared_ofa_count, "Return the optical flow engines.")
        .def_ro("gpu_instance_slice_count", &A::gpu_instance_slice_count,
                "Return the slices of its GPU instance.")
        .def_ro("compute_instance_slice_count", &A::compute_instance_slice_count,
                "Return the slices of its compute instance.")
        .def_ro("memory_size_mb", &A::memory_size_mb, "Return the memory in MiB.");
    value_class<system::RepairStatus>(module, "RepairStatus", R"(Repairs that the next reset makes.

Examples
--------
>>> cuprum.system.Device(index=0).repair_status.is_channel_repair_pending  # doctest: +SKIP
False)")
        .def_ro("channel_repair_pending", &system::RepairStatus::is_channel_repair_pending,
                "Return whether a channel of memory will be repaired.")
        .def_ro("tpc_repair_pending", &system::RepairStatus::is_tpc_repair_pending,
                "Return whether a group of multiprocessors will be repaired.");
    value_class<system::RemappedRows>(module, "RemappedRows",
                                      R"(Rows of memory that were replaced by spare ones.

Examples
--------
>>> cuprum.system.Device(index=0).ecc.remapped_rows  # doctest: +SKIP)")
        .def_ro("corrected", &system::RemappedRows::corrected,
                "Return the rows replaced after errors that ECC corrected.")
        .def_ro("uncorrected", &system::RemappedRows::uncorrected,
                "Return the rows replaced after errors that ECC did not correct.")
        .def_ro("is_pending", &system::RemappedRows::is_pending,
                "Return whether the next reset replaces more.")
        .def_ro("has_failed", &system::RemappedRows::has_failed,
                "Return whether a row could not be replaced.");
}

void bind_clocks_and_cooling(nb::module_& module) {
    value_class<system::ClockOffsets>(module, "ClockOffsets", R"(The offset of a clock, in MHz.

Examples
--------
>>> offsets = cuprum.system.Device(index=0).get_clock("sm").get_offsets(0)
>>> offsets.clock_offset_mhz
0)")
        .def_ro("clock_offset_mhz", &system::ClockOffsets::clock_offset_mhz, "Return the offset.")
        .def_ro("max_offset_mhz", &system::ClockOffsets::max_offset_mhz, "Return its maximum.")
        .def_ro("min_offset_mhz", &system::ClockOffsets::min_offset_mhz, "Return its minimum.");
    value_class<system::CoolerInfo>(module, "CoolerInfo", R"(A cooler.

Examples
--------
>>> cooler = cuprum.system.Device(index=0).cooler
>>> targets = cooler.target)")
        .def_prop_ro(
            "signal_type",
            [](const system::CoolerInfo& self) -> nb::object {
                return self.signal_type ? member(*self.signal_type) : nb::none();
            },
            nb::sig("def signal_type(self) -> cuprum.system.typing.CoolerControl | None"),
            "Return how it is controlled; None if it is not.")
        .def_prop_ro(
            "target", [](const system::CoolerInfo& self) { return member_list(self.targets); },
            nb::sig("def target(self) -> list[cuprum.system.typing.CoolerTarget]"),
            "Return what it cools.");
    using P = system::DynamicPStateUtilization;
    value_class<P>(module, "GpuDynamicPstatesUtilization",
                   R"(How one part of a device influences its performance state.

Examples
--------
>>> gpu = cuprum.system.Device(index=0).dynamic_pstates_info[0]
>>> 0 <= gpu.percentage <= 100
True)")
        .def_ro("is_present", &P::is_present, "Return whether the device has this part.")
        .def_ro("percentage", &P::percentage, "Return how busy it was in the last second.")
        .def_ro("inc_threshold", &P::inc_threshold, "Return the percentage that raises the speed.")
        .def_ro("dec_threshold", &P::dec_threshold, "Return the percentage that lowers the speed.");
    auto pstates = value_class<Values<P>>(
        module, "GpuDynamicPstatesInfo",
        R"(The parts of a device: GPU, frame buffer, video engine and bus, then reserved ones.

Examples
--------
>>> info = cuprum.system.Device(index=0).dynamic_pstates_info
>>> len(info)
8)");
    bind_sequence(pstates, "GpuDynamicPstatesUtilization", "part",
                  [](const P& part) { return make<P>(part); });
    using T = system::ThermalSensor;
    value_class<T>(module, "ThermalSensor", R"(A sensor, in degrees Celsius.

Examples
--------
>>> temperature = cuprum.system.Device(index=0).temperature
>>> temperature.get_thermal_settings("all")[0].current_temp
40)")
        .def_prop_ro(
            "controller", [](const T& self) { return member(self.controller); },
            nb::sig("def controller(self) -> cuprum.system.typing.ThermalController"),
            "Return the chip that measures.")
        .def_ro("default_min_temp", &T::default_min_temp, "Return the least it measures.")
        .def_ro("default_max_temp", &T::default_max_temp, "Return the most it measures.")
        .def_ro("current_temp", &T::current_temp, "Return the temperature.")
        .def_prop_ro(
            "target", [](const T& self) { return member(self.target); },
            nb::sig("def target(self) -> cuprum.system.typing.ThermalTarget"),
            "Return what it measures.");
    auto settings = value_class<Values<T>>(module, "ThermalSettings", R"(The sensors of a device.

Examples
--------
>>> settings = cuprum.system.Device(index=0).temperature.get_thermal_settings("all")
>>> [sensor.current_temp for sensor in settings]
[40])");
    bind_sequence(settings, "ThermalSensor", "sensor",
                  [](const T& sensor) { return make<T>(sensor); });
}

void bind_sample(nb::module_& module) {
    using S = system::Sample;
    value_class<S>(module, "Sample",
                   R"(What a device did at one moment. What it does not report is None.

Examples
--------
>>> sample = cuprum.system.Device(index=0).read_sample()
>>> sample.memory_used <= sample.memory_total
True)")
        .def_prop_ro(
            "time",
            [](const S& self) {
                return std::chrono::duration<double>(self.time.time_since_epoch()).count();
            },
            "Return when it was read, in seconds since 1970.")
        .def_ro("gpu_utilization", &S::gpu_utilization, "Return the percent of time it was busy.")
        .def_ro("memory_utilization", &S::memory_utilization,
                "Return the percent of time its memory was busy.")
        .def_ro("memory_used", &S::memory_used, "Return the memory in use, in bytes.")
        .def_ro("memory_total", &S::memory_total, "Return all its memory, in bytes.")
        .def_ro("temperature", &S::temperature, "Return the temperature in degrees Celsius.")
        .def_ro("power_mw", &S::power_mw, "Return the power in milliwatts.")
        .def_ro("energy_mj", &S::energy_mj,
                "Return the energy used since the driver was loaded, in millijoules.")
        .def_ro("sm_clock_mhz", &S::sm_clock_mhz, "Return the clock of the multiprocessors.")
        .def_ro("memory_clock_mhz", &S::memory_clock_mhz, "Return the clock of the memory.")
        .def_prop_ro(
            "clock_event_reasons",
            [](const S& self) -> nb::object {
                return self.clock_event_reasons ? member_list(*self.clock_event_reasons)
                                                : nb::none();
            },
            nb::sig("def clock_event_reasons(self) -> "
                    "list[cuprum.system.typing.ClocksEventReasons] | None"),
            "Return why clocks were lower than they could be.");
}

} // namespace

void bind_system_values(nb::module_& module) {
    bind_memory(module);
    bind_load(module);
    bind_processes(module);
    bind_attributes(module);
    bind_clocks_and_cooling(module);
    bind_sample(module);
}

} // namespace cuprum::python
