// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What queries of cuprum::system return: plain values, read at one moment.

#pragma once

#include <cuprum/system/enums.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cuprum::system {

/// Memory of a device in bytes.
struct MemoryInfo {
    std::uint64_t total = 0;    // bytes
    std::uint64_t free = 0;     // bytes
    std::uint64_t used = 0;     // bytes
    std::uint64_t reserved = 0; // by the driver and the firmware
};

/// Memory of a device that the CPU and other devices can map over PCIe, in bytes.
struct BAR1MemoryInfo {
    std::uint64_t total = 0; // bytes
    std::uint64_t free = 0;  // bytes
    std::uint64_t used = 0;  // bytes
};

/// How busy a device was over the last sampling period, in percent of the time.
struct Utilization {
    unsigned gpu = 0;    // some kernel ran
    unsigned memory = 0; // memory was read or written
};

/// How busy an encoder or decoder was.
struct EngineUtilization {
    unsigned percent = 0;            // of the time since the last sample
    unsigned sampling_period_us = 0; // the length of a sample
};

/// A process that uses a device.
struct ProcessInfo {
    unsigned pid = 0; // the process
    /// Device memory in bytes. Empty if the driver does not tell.
    std::optional<std::uint64_t> used_gpu_memory;
    /// The MIG instances, if the query was for a MIG device.
    std::optional<unsigned> gpu_instance_id;
    std::optional<unsigned> compute_instance_id; // with MIG
};

/// How busy one process kept a device, in percent.
struct ProcessUtilization {
    unsigned pid = 0;               // the process
    std::uint64_t timestamp_us = 0; // since 1970
    unsigned sm = 0;                // percent of the time
    unsigned memory = 0;            // percent of the time
    unsigned encoder = 0;           // percent of the time
    unsigned decoder = 0;           // percent of the time
};

/// Engines and slices of a device, or of a MIG device.
struct DeviceAttributes {
    unsigned multiprocessor_count = 0;         // multiprocessors
    unsigned shared_copy_engine_count = 0;     // copy engines, shared with other parts
    unsigned shared_decoder_count = 0;         // video decoders, shared with other parts
    unsigned shared_encoder_count = 0;         // video encoders, shared with other parts
    unsigned shared_jpeg_count = 0;            // JPEG decoders, shared with other parts
    unsigned shared_ofa_count = 0;             // optical flow
    unsigned gpu_instance_slice_count = 0;     // slices of the GPU instance
    unsigned compute_instance_slice_count = 0; // slices of the compute instance
    std::uint64_t memory_size_mb = 0;          // in MiB
};

/// The offset of a clock, and its limits.
struct ClockOffsets {
    int clock_offset_mhz = 0; // added to the clock
    int min_offset_mhz = 0;   // the lowest that can be set
    int max_offset_mhz = 0;   // the highest that can be set
};

/// A state now, and after a reset.
struct AutoBoost {
    bool is_enabled = false;            // the clocks rise by themselves now
    bool is_enabled_by_default = false; // they do after a restart
};

/// How one part of a device influences its performance state.
struct DynamicPStateUtilization {
    bool is_present = false;    // the device has the part
    unsigned percentage = 0;    // of the last second
    unsigned inc_threshold = 0; // more raises the performance
    unsigned dec_threshold = 0; // less lowers it
};

/// Parts in NVML's order: GPU, frame buffer, video engine, bus; the rest are reserved.
using DynamicPStates = std::array<DynamicPStateUtilization, 8>;

/// A cooler.
struct CoolerInfo {
    std::optional<CoolerControl> signal_type; // how the cooler is controlled
    std::vector<CoolerTarget> targets;        // what it cools
};

/// Repairs that the next reset makes.
struct RepairStatus {
    bool is_channel_repair_pending = false; // a memory channel is repaired at the next restart
    bool is_tpc_repair_pending = false;     // a processor is switched off at the next restart
};

/// A temperature sensor. Temperatures are in degrees Celsius.
struct ThermalSensor {
    ThermalController controller = ThermalController::Unknown; // what measures
    int default_min_temp = 0;                                  // degrees Celsius
    int default_max_temp = 0;                                  // degrees Celsius
    int current_temp = 0;                                      // degrees Celsius
    ThermalTarget target = ThermalTarget::None;                // what is measured
};

/// Rows of memory that were replaced by spare ones.
struct RemappedRows {
    unsigned corrected = 0;   // rows with errors that were corrected
    unsigned uncorrected = 0; // rows with errors that were not
    bool is_pending = false;  // the next reset replaces more
    bool has_failed = false;  // a row could not be replaced
};

/// The least and the most of something.
struct Range {
    unsigned min = 0; // the lowest
    unsigned max = 0; // the highest
};

/// A time of the driver's clock, in microseconds since 1970, and a duration.
struct FlushTime {
    std::uint64_t timestamp_us = 0; // when it happened
    std::uint64_t duration_us = 0;  // how long it took
};

/// A version of NVLink.
struct NvLinkVersion {
    int major = 0; // the number before the dot
    int minor = 0; // the number behind the dot
    friend bool operator==(const NvLinkVersion&, const NvLinkVersion&) = default;
};

} // namespace cuprum::system
