// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The values that queries return: plain attributes, read at one moment.

#include "support/class.hpp"
#include "support/compatibility.hpp"
#include "system/system_objects.hpp"
#include "system/system_values.hpp"

#include <cuprum/system/mig.hpp>
#include <cuprum/system/system.hpp>

#include <nanobind/stl/optional.h>

#include <chrono>
#include <limits>

namespace cuprum::python {

namespace {

/// Begins the class of a plain value.
template <typename T, typename... Options>
Class<T, Options...> value_class(nb::module_& module, const char* name) {
    return Class<T, Options...>(module, name);
}

void bind_memory(nb::module_& module) {
    auto memory = value_class<system::MemoryInfo>(module, "MemoryInfo");
    memory.property("total", &system::MemoryInfo::total)
        .property("free", &system::MemoryInfo::free)
        .property("used", &system::MemoryInfo::used)
        .property("reserved", &system::MemoryInfo::reserved)
        .method("__repr__", [](const system::MemoryInfo& self) {
            return "<MemoryInfo used=" + std::to_string(self.used) +
                   " free=" + std::to_string(self.free) + " total=" + std::to_string(self.total) +
                   ">";
        });
    value_class<PyBar1MemoryInfo, system::MemoryInfo>(module, "BAR1MemoryInfo");
}

void bind_load(nb::module_& module) {
    value_class<system::Utilization>(module, "Utilization")
        .property("gpu", &system::Utilization::gpu)
        .property("memory", &system::Utilization::memory)
        .method("__repr__", [](const system::Utilization& self) {
            return "<Utilization gpu=" + std::to_string(self.gpu) +
                   " memory=" + std::to_string(self.memory) + ">";
        });
    value_class<system::EngineUtilization>(module, "EngineUtilization")
        .property("percent", &system::EngineUtilization::percent)
        .property("sampling_period_us", &system::EngineUtilization::sampling_period_us);
    value_class<system::ProcessUtilization>(module, "ProcessUtilization")
        .property("pid", &system::ProcessUtilization::pid)
        .property("timestamp", &system::ProcessUtilization::timestamp_us)
        .property("sm", &system::ProcessUtilization::sm)
        .property("memory", &system::ProcessUtilization::memory)
        .property("encoder", &system::ProcessUtilization::encoder)
        .property("decoder", &system::ProcessUtilization::decoder)
        .method("__repr__", [](const system::ProcessUtilization& self) {
            return "<ProcessUtilization pid=" + std::to_string(self.pid) +
                   " sm=" + std::to_string(self.sm) + " memory=" + std::to_string(self.memory) +
                   ">";
        });
}

/// Returns the id of a MIG instance.
nb::object instance_id(const PyProcessInfo& self, std::optional<unsigned> id) {
    if (!without_gil([&] { return self.device.mig().is_mig_device(); }) || !id) {
        throw NVMLError(NOT_SUPPORTED, "NVML_ERROR_NOT_SUPPORTED",
                        "nvmlDeviceGetComputeRunningProcesses_v3",
                        "this device is no MIG device, so its processes have no instance");
    }
    return nb::int_(*id);
}

void bind_processes(nb::module_& module) {
    value_class<PyProcessInfo>(module, "ProcessInfo")
        .property("pid", [](const PyProcessInfo& self) { return self.info.pid; })
        .property("used_gpu_memory",
                  [](const PyProcessInfo& self) -> nb::object {
                      if (self.info.used_gpu_memory) {
                          return nb::int_(*self.info.used_gpu_memory);
                      }
                      if (compatibility::reads_unknown_memory_as_number()) {
                          return nb::int_(std::numeric_limits<std::uint64_t>::max());
                      }
                      return nb::none();
                  })
        .property("name",
                  [](const PyProcessInfo& self) {
                      return text_object(
                          without_gil([&] { return system::process_name(self.info.pid); }));
                  })
        .property(
            "gpu_instance_id",
            [](const PyProcessInfo& self) { return instance_id(self, self.info.gpu_instance_id); })
        .property("compute_instance_id",
                  [](const PyProcessInfo& self) {
                      return instance_id(self, self.info.compute_instance_id);
                  })
        .method("__repr__", [](const PyProcessInfo& self) {
            return "<ProcessInfo pid=" + std::to_string(self.info.pid) + " used_gpu_memory=" +
                   (self.info.used_gpu_memory ? std::to_string(*self.info.used_gpu_memory)
                                              : std::string("None")) +
                   ">";
        });
}

void bind_attributes(nb::module_& module) {
    using A = system::DeviceAttributes;
    value_class<A>(module, "DeviceAttributes")
        .property("multiprocessor_count", &A::multiprocessor_count)
        .property("shared_copy_engine_count", &A::shared_copy_engine_count)
        .property("shared_decoder_count", &A::shared_decoder_count)
        .property("shared_encoder_count", &A::shared_encoder_count)
        .property("shared_jpeg_count", &A::shared_jpeg_count)
        .property("shared_ofa_count", &A::shared_ofa_count)
        .property("gpu_instance_slice_count", &A::gpu_instance_slice_count)
        .property("compute_instance_slice_count", &A::compute_instance_slice_count)
        .property("memory_size_mb", &A::memory_size_mb);
    value_class<system::RepairStatus>(module, "RepairStatus")
        .property("channel_repair_pending", &system::RepairStatus::is_channel_repair_pending)
        .property("tpc_repair_pending", &system::RepairStatus::is_tpc_repair_pending);
    value_class<system::RemappedRows>(module, "RemappedRows")
        .property("corrected", &system::RemappedRows::corrected)
        .property("uncorrected", &system::RemappedRows::uncorrected)
        .property("is_pending", &system::RemappedRows::is_pending)
        .property("has_failed", &system::RemappedRows::has_failed);
}

void bind_clocks_and_cooling(nb::module_& module) {
    value_class<system::ClockOffsets>(module, "ClockOffsets")
        .property("clock_offset_mhz", &system::ClockOffsets::clock_offset_mhz)
        .property("max_offset_mhz", &system::ClockOffsets::max_offset_mhz)
        .property("min_offset_mhz", &system::ClockOffsets::min_offset_mhz);
    value_class<system::CoolerInfo>(module, "CoolerInfo")
        .property("signal_type",
                  [](const system::CoolerInfo& self) -> nb::object {
                      return self.signal_type ? member(*self.signal_type) : nb::none();
                  })
        .property("target",
                  [](const system::CoolerInfo& self) { return member_list(self.targets); });
    using P = system::DynamicPStateUtilization;
    value_class<P>(module, "GpuDynamicPstatesUtilization")
        .property("is_present", &P::is_present)
        .property("percentage", &P::percentage)
        .property("inc_threshold", &P::inc_threshold)
        .property("dec_threshold", &P::dec_threshold);
    auto pstates = value_class<Values<P>>(module, "GpuDynamicPstatesInfo");
    bind_sequence(pstates);
    using T = system::ThermalSensor;
    value_class<T>(module, "ThermalSensor")
        .property("controller", [](const T& self) { return member(self.controller); })
        .property("default_min_temp", &T::default_min_temp)
        .property("default_max_temp", &T::default_max_temp)
        .property("current_temp", &T::current_temp)
        .property("target", [](const T& self) { return member(self.target); });
    auto settings = value_class<Values<T>>(module, "ThermalSettings");
    bind_sequence(settings);
}

void bind_sample(nb::module_& module) {
    using S = system::Sample;
    value_class<S>(module, "Sample")
        .property("time",
                  [](const S& self) {
                      return std::chrono::duration<double>(self.time.time_since_epoch()).count();
                  })
        .property("gpu_utilization", &S::gpu_utilization)
        .property("memory_utilization", &S::memory_utilization)
        .property("memory_used", &S::memory_used)
        .property("memory_total", &S::memory_total)
        .property("temperature", &S::temperature)
        .property("power_mw", &S::power_mw)
        .property("energy_mj", &S::energy_mj)
        .property("sm_clock_mhz", &S::sm_clock_mhz)
        .property("memory_clock_mhz", &S::memory_clock_mhz)
        .property("clock_event_reasons", [](const S& self) -> nb::object {
            return self.clock_event_reasons ? member_list(*self.clock_event_reasons) : nb::none();
        });
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
