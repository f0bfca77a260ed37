// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How many processors and how much memory this process may use. In a container, control groups
// (cgroups, versions 1 and 2) limit both.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace cuprum::emulator {

/// How much memory a control group may still take.
struct MemoryRoom {
    std::uint64_t limit_bytes = 0;
    std::uint64_t left_bytes = 0; // the limit less what the group uses and cannot drop
};

/// The limits of the control groups of a process. Empty if there is no limit.
struct CgroupLimits {
    std::optional<std::uint32_t> quota_millis; // thousandths of a processor: 1500 is 1.5 processors
    std::optional<std::uint64_t> memory_bytes;
    /// The group on the way to the root that has the least memory left.
    std::optional<MemoryRoom> room;
};

/// Returns the text of a file. Empty if it cannot be read.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

/// Reads the limits of this process's control groups and of all groups above them. `read_file` is
/// asked for /proc/self/cgroup, /proc/self/mountinfo and files below the folders that they name.
[[nodiscard]] CgroupLimits read_cgroup_limits(const ReadFile& read_file);

/// Parses `cpu.max` of version 2: a quota and a period, as in "150000 100000", or "max 100000".
/// Returns thousandths of a processor, at least 1.
[[nodiscard]] std::optional<std::uint32_t> parse_cpu_max(std::string_view text);

/// Parses `cpu.cfs_quota_us` and `cpu.cfs_period_us` of version 1; a quota of -1 is no limit.
/// Returns thousandths of a processor, at least 1.
[[nodiscard]] std::optional<std::uint32_t> parse_cpu_quota(std::string_view quota,
                                                           std::string_view period);

/// Parses `memory.max` of version 2 or `memory.limit_in_bytes` of version 1. "max" and the huge
/// number that version 1 uses for it are no limit.
[[nodiscard]] std::optional<std::uint64_t> parse_memory_limit(std::string_view text);

/// Returns the file cache that `memory.stat` lists, which the system drops before memory runs out.
/// Version 1 counts the groups below as well in names that start with "total_".
[[nodiscard]] std::uint64_t parse_file_cache(std::string_view text);

/// What this process may use of the machine's processors.
struct ProcessorShare {
    std::uint32_t processors = 1;   // of the machine and of the affinity of the process
    std::uint32_t quota_millis = 0; // of the control groups, in thousandths; 0: no quota
};

[[nodiscard]] ProcessorShare processor_share();

/// Returns how many processors this process may use at once, at least 1. The machine, the affinity
/// of the process and the quota of its control groups limit the number.
[[nodiscard]] std::uint32_t usable_processors();

/// Returns how much memory this process may use, limited by the machine and its control groups.
/// Returns 0 if unknown.
[[nodiscard]] std::uint64_t usable_memory_bytes();

/// Returns how much memory the control groups of this process leave. Empty if they set no limit.
[[nodiscard]] std::optional<MemoryRoom> memory_room();

} // namespace cuprum::emulator
