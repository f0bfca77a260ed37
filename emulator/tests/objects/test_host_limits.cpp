// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Limits of control groups, read from files as they exist on machines and in containers.

#include "objects/process/host_limits.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace cuprum::emulator {

namespace {

using Files = std::map<std::string, std::string>;

constexpr std::uint64_t GIB = std::uint64_t{1} << 30;

CgroupLimits limits_with(const Files& files) {
    return read_cgroup_limits([&](const std::string& path) {
        const auto found = files.find(path);
        return found == files.end() ? std::nullopt : std::optional(found->second);
    });
}

void expect_limits(const Files& files, std::optional<std::uint32_t> processors,
                   std::optional<std::uint64_t> memory_bytes) {
    const CgroupLimits limits = limits_with(files);
    EXPECT_EQ(limits.processors, processors);
    EXPECT_EQ(limits.memory_bytes, memory_bytes);
}

TEST(HostLimits, cpu_max_is_rounded_up_to_whole_processors) {
    EXPECT_EQ(parse_cpu_max("200000 100000\n"), 2u);
    EXPECT_EQ(parse_cpu_max("150000 100000\n"), 2u);
    EXPECT_EQ(parse_cpu_max("1000 100000\n"), 1u);
    EXPECT_EQ(parse_cpu_max("max 100000\n"), std::nullopt);
    for (const char* const text : {"", "\n", "max", "100000", "1 0", "-1 100000", "1e5 100000",
                                   "99999999999999999999 100000"}) {
        EXPECT_EQ(parse_cpu_max(text), std::nullopt) << text;
    }
}

TEST(HostLimits, a_quota_of_version_1_may_be_absent) {
    EXPECT_EQ(parse_cpu_quota("250000\n", "100000\n"), 3u);
    EXPECT_EQ(parse_cpu_quota("-1\n", "100000\n"), std::nullopt);
    EXPECT_EQ(parse_cpu_quota("", ""), std::nullopt);
}

TEST(HostLimits, memory_without_a_limit_is_a_word_or_a_huge_number) {
    EXPECT_EQ(parse_memory_limit("536870912\n"), 536870912u);
    EXPECT_EQ(parse_memory_limit("max\n"), std::nullopt);
    EXPECT_EQ(parse_memory_limit("9223372036854771712\n"), std::nullopt);
    EXPECT_EQ(parse_memory_limit(""), std::nullopt);
    EXPECT_EQ(parse_memory_limit("12 34"), std::nullopt);
}

TEST(HostLimits, a_container_of_version_2_sees_its_own_group_as_the_root) {
    expect_limits({{"/proc/self/cgroup", "0::/\n"},
                   {"/sys/fs/cgroup/cpu.max", "50000 100000\n"},
                   {"/sys/fs/cgroup/memory.max", "4294967296\n"}},
                  1, 4 * GIB);
}

TEST(HostLimits, the_least_limit_on_the_way_to_the_root_counts) {
    expect_limits({{"/proc/self/cgroup", "0::/system.slice/ci.service/job\n"},
                   {"/sys/fs/cgroup/system.slice/cpu.max", "800000 100000\n"},
                   {"/sys/fs/cgroup/system.slice/memory.max", "8589934592\n"},
                   {"/sys/fs/cgroup/system.slice/ci.service/cpu.max", "300000 100000\n"},
                   {"/sys/fs/cgroup/system.slice/ci.service/memory.max", "max\n"},
                   {"/sys/fs/cgroup/system.slice/ci.service/job/cpu.max", "max 100000\n"},
                   {"/sys/fs/cgroup/system.slice/ci.service/job/memory.max", "17179869184\n"}},
                  3, 8 * GIB);
}

TEST(HostLimits, groups_of_version_1_have_a_folder_for_each_controller) {
    const std::string groups = "12:memory:/docker/0123abcd\n5:cpu,cpuacct:/docker/0123abcd\n"
                               "4:cpuset:/docker/0123abcd\n1:name=systemd:/docker/0123abcd\n";
    expect_limits({{"/proc/self/cgroup", groups},
                   {"/sys/fs/cgroup/memory/docker/0123abcd/memory.limit_in_bytes", "1073741824\n"},
                   {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
                   {"/sys/fs/cgroup/cpu/docker/0123abcd/cpu.cfs_quota_us", "400000\n"},
                   {"/sys/fs/cgroup/cpu/docker/0123abcd/cpu.cfs_period_us", "100000\n"}},
                  4, GIB);
    // Inside the container, the group is mounted as the root, but has the name of the host.
    expect_limits({{"/proc/self/cgroup", groups},
                   {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n"},
                   {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
                   {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}},
                  std::nullopt, 2 * GIB);
}

TEST(HostLimits, a_machine_without_control_groups_has_no_limits) {
    expect_limits({}, std::nullopt, std::nullopt);
    expect_limits({{"/proc/self/cgroup", "nonsense\n::\n0:\n\n"}}, std::nullopt, std::nullopt);
    expect_limits({{"/proc/self/cgroup", "0::/user.slice\n"}}, std::nullopt, std::nullopt);
}

TEST(HostLimits, this_process_may_use_something) {
    EXPECT_GE(usable_processors(), 1u);
    EXPECT_GT(usable_memory_bytes(), std::uint64_t{1} << 20);
}

} // namespace

} // namespace cuprum::emulator
