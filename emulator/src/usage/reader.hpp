// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What all processes of this user do with the emulated devices.

#pragma once

#include "usage/folder.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace cuprum::emulator::usage {

inline constexpr const char* RECORD_PREFIX = "process-";

/// What one process does with one device, at the time of reading.
struct DeviceUse {
    std::uint64_t used_bytes = 0;
    std::uint64_t context_count = 0;
    std::uint64_t kernel_ns = 0;
    std::uint64_t memory_ns = 0;
    std::uint64_t host_to_device_bytes = 0;
    std::uint64_t device_to_host_bytes = 0;
    // Busy time in the last second, by period of SLOT_NS: the oldest first, the current one last.
    std::array<std::uint64_t, 16> kernel_history_ns{};
    std::array<std::uint64_t, 16> memory_history_ns{};

    /// Returns whether the process uses the device, as NVML lists processes: it has a context.
    [[nodiscard]] bool is_used() const noexcept { return context_count != 0 || used_bytes != 0; }
};

/// One live process.
struct ProcessUse {
    std::int32_t pid = 0;
    std::uint32_t worker_count = 1;
    std::vector<DeviceUse> devices;
};

/// Reads the records of all live processes, and removes those of dead ones.
///
/// Files are untrusted: what has the wrong size, magic, version or owner is ignored. `now_ns` is
/// the time of the monotonic clock, up to which the time of running kernels counts.
[[nodiscard]] std::vector<ProcessUse> read_processes(const Folder& folder, std::uint64_t now_ns);

/// Returns when a process started, in clock ticks after boot; 0 if there is no such process.
[[nodiscard]] std::uint64_t start_ticks_of(std::int32_t pid);

} // namespace cuprum::emulator::usage
