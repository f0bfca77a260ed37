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

void expect_limits(const Files& files, std::optional<std::uint32_t> quota_millis,
                   std::optional<std::uint64_t> memory_bytes) {
    const CgroupLimits limits = limits_with(files);
    EXPECT_EQ(limits.quota_millis, quota_millis);
    EXPECT_EQ(limits.memory_bytes, memory_bytes);
}

TEST(HostLimits, cpu_max_is_in_thousandths_of_a_processor) {
    EXPECT_EQ(parse_cpu_max("200000 100000\n"), 2000u);
    EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1500u);
    EXPECT_EQ(parse_cpu_max("1000 100000\n"), 10u);
    EXPECT_EQ(parse_cpu_max("1 1000000\n"), 1u);
    EXPECT_EQ(parse_cpu_max("max 100000\n"), std::nullopt);
    for (const char* const text : {"", "\n", "max", "100000", "1 0", "-1 100000", "1e5 100000",
                                   "99999999999999999999 100000"}) {
        EXPECT_EQ(parse_cpu_max(text), std::nullopt) << text;
    }
}

TEST(HostLimits, a_quota_of_version_1_may_be_absent) {
    EXPECT_EQ(parse_cpu_quota("250000\n", "100000\n"), 2500u);
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
                  500, 4 * GIB);
}

TEST(HostLimits, the_least_limit_on_the_way_to_the_root_counts) {
    expect_limits({{"/proc/self/cgroup", "0::/system.slice/ci.service/job\n"},
                   {"/sys/fs/cgroup/system.slice/cpu.max", "800000 100000\n"},
                   {"/sys/fs/cgroup/system.slice/memory.max", "8589934592\n"},
                   {"/sys/fs/cgroup/system.slice/ci.service/cpu.max", "300000 100000\n"},
                   {"/sys/fs/cgroup/system.slice/ci.service/memory.max", "max\n"},
                   {"/sys/fs/cgroup/system.slice/ci.service/job/cpu.max", "max 100000\n"},
                   {"/sys/fs/cgroup/system.slice/ci.service/job/memory.max", "17179869184\n"}},
                  3000, 8 * GIB);
}

TEST(HostLimits, groups_of_version_1_have_a_folder_for_each_controller) {
    const std::string groups = "12:memory:/docker/0123abcd\n5:cpu,cpuacct:/docker/0123abcd\n"
                               "4:cpuset:/docker/0123abcd\n1:name=systemd:/docker/0123abcd\n";
    expect_limits({{"/proc/self/cgroup", groups},
                   {"/sys/fs/cgroup/memory/docker/0123abcd/memory.limit_in_bytes", "1073741824\n"},
                   {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
                   {"/sys/fs/cgroup/cpu/docker/0123abcd/cpu.cfs_quota_us", "400000\n"},
                   {"/sys/fs/cgroup/cpu/docker/0123abcd/cpu.cfs_period_us", "100000\n"}},
                  4000, GIB);
    // Inside the container, the group is mounted as the root, but has the name of the host.
    expect_limits({{"/proc/self/cgroup", groups},
                   {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n"},
                   {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
                   {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}},
                  std::nullopt, 2 * GIB);
}

TEST(HostLimits, groups_may_be_mounted_elsewhere) {
    // The folder shows the group /pods/7 as its root, and the process is in a group below it.
    const std::string mounts =
        "40 31 0:37 /pods/7 /mnt/groups rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
        "41 31 0:38 / /proc rw - proc proc rw\n";
    expect_limits({{"/proc/self/cgroup", "0::/pods/7/job\n"},
                   {"/proc/self/mountinfo", mounts},
                   {"/mnt/groups/cpu.max", "250000 100000\n"},
                   {"/mnt/groups/job/memory.max", "1073741824\n"}},
                  2500, GIB);
    // Several controllers of version 1 share a folder.
    expect_limits(
        {{"/proc/self/cgroup", "3:cpu,cpuacct:/a\n0::/\n"},
         {"/proc/self/mountinfo", "32 31 0:29 / /groups/both rw - cgroup c rw,cpu,cpuacct\n"
                                  "33 31 0:30 / /groups/two rw - cgroup2 c rw\n"},
         {"/groups/both/a/cpu.cfs_quota_us", "700000\n"},
         {"/groups/both/a/cpu.cfs_period_us", "100000\n"}},
        7000, std::nullopt);
}

TEST(HostLimits, the_group_with_the_least_memory_left_counts) {
    // The inner group has the lower limit, but the outer one is nearly full.
    const CgroupLimits limits =
        limits_with({{"/proc/self/cgroup", "0::/outer/inner\n"},
                     {"/sys/fs/cgroup/outer/memory.max", "8589934592\n"},
                     {"/sys/fs/cgroup/outer/memory.current", "8053063680\n"},
                     {"/sys/fs/cgroup/outer/memory.stat", "anon 1\nfile 2\n"},
                     {"/sys/fs/cgroup/outer/inner/memory.max", "2147483648\n"},
                     {"/sys/fs/cgroup/outer/inner/memory.current", "1073741824\n"}});
    EXPECT_EQ(limits.memory_bytes, 2 * GIB);
    ASSERT_TRUE(limits.room);
    EXPECT_EQ(limits.room->limit_bytes, 8 * GIB);
    EXPECT_EQ(limits.room->left_bytes, GIB / 2);
}

TEST(HostLimits, file_cache_counts_as_memory_that_is_left) {
    const std::string statistics = "cache 7\nactive_file 1048576\ninactive_file 2097152\n";
    EXPECT_EQ(parse_file_cache(statistics), 3u << 20);
    EXPECT_EQ(parse_file_cache(statistics + "total_active_file 4194304\ntotal_inactive_file 0\n"),
              4u << 20);
    EXPECT_EQ(parse_file_cache(""), 0u);
    EXPECT_EQ(parse_file_cache("active_file\ninactive_file x\n\n"), 0u);
    const auto room = [](const std::string& usage, const std::string& stat) {
        const CgroupLimits limits =
            limits_with({{"/proc/self/cgroup", "4:memory:/\n"},
                         {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n"},
                         {"/sys/fs/cgroup/memory/memory.usage_in_bytes", usage},
                         {"/sys/fs/cgroup/memory/memory.stat", stat}});
        return limits.room ? std::optional(limits.room->left_bytes) : std::nullopt;
    };
    EXPECT_EQ(room("536870912\n", statistics), GIB / 2 + (3u << 20));
    EXPECT_EQ(room("536870912\n", ""), GIB / 2);
    EXPECT_EQ(room("1048576\n", statistics), GIB) << "the cache is never more than the usage";
    EXPECT_EQ(room("2147483648\n", ""), 0u);
    EXPECT_EQ(room("", ""), std::nullopt);
}

TEST(HostLimits, a_machine_without_control_groups_has_no_limits) {
    expect_limits({}, std::nullopt, std::nullopt);
    expect_limits({{"/proc/self/cgroup", "nonsense\n::\n0:\n\n"}}, std::nullopt, std::nullopt);
    expect_limits({{"/proc/self/cgroup", "0::/user.slice\n"}}, std::nullopt, std::nullopt);
}

TEST(HostLimits, this_process_may_use_something) {
    const ProcessorShare share = processor_share();
    EXPECT_GE(share.processors, 1u);
    EXPECT_GE(usable_processors(), 1u);
    EXPECT_LE(usable_processors(), share.processors);
    EXPECT_GT(usable_memory_bytes(), std::uint64_t{1} << 20);
}

} // namespace

} // namespace cuprum::emulator
