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

/// The limits of the control groups of a process. Empty if there is no limit.
struct CgroupLimits {
    std::optional<std::uint32_t> processors; // a quota of 1.5 processors counts as 2
    std::optional<std::uint64_t> memory_bytes;
};

/// Returns the text of a file. Empty if it cannot be read.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

/// Reads the limits of this process's control groups and of all groups above them. `read_file` is
/// asked for /proc/self/cgroup and for files below /sys/fs/cgroup.
[[nodiscard]] CgroupLimits read_cgroup_limits(const ReadFile& read_file);

/// Parses `cpu.max` of version 2: a quota and a period, as in "150000 100000", or "max 100000".
[[nodiscard]] std::optional<std::uint32_t> parse_cpu_max(std::string_view text);

/// Parses `cpu.cfs_quota_us` and `cpu.cfs_period_us` of version 1; a quota of -1 is no limit.
[[nodiscard]] std::optional<std::uint32_t> parse_cpu_quota(std::string_view quota,
                                                           std::string_view period);

/// Parses `memory.max` of version 2 or `memory.limit_in_bytes` of version 1. "max" and the huge
/// number that version 1 uses for it are no limit.
[[nodiscard]] std::optional<std::uint64_t> parse_memory_limit(std::string_view text);

/// Returns how many processors this process may use at once, at least 1. The machine, the affinity
/// of the process and the quota of its control groups limit the number.
[[nodiscard]] std::uint32_t usable_processors();

/// Returns how much memory this process may use, limited by the machine and its control groups.
/// Returns 0 if unknown.
[[nodiscard]] std::uint64_t usable_memory_bytes();

} // namespace cuprum::emulator
