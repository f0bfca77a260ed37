// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Where the devices are: processors, memory nodes and other devices near them.

#include "nvml_test.hpp"

#include <sched.h>

namespace cuprum::nvml::test {

namespace {

constexpr unsigned int WORDS = CPU_SETSIZE / (8 * sizeof(unsigned long));

} // namespace

using TopologyTest = NVMLTest;

TEST_F(TopologyTest, all_processors_of_the_process_are_near) {
    cpu_set_t mine;
    ASSERT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
    unsigned long words[WORDS];
    ASSERT_EQ(NVML(nvmlDeviceGetCpuAffinity)(device(), WORDS, words), NVML_SUCCESS);
    for (unsigned int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        const bool is_near = ((words[cpu / 64] >> (cpu % 64)) & 1U) != 0;
        EXPECT_EQ(is_near, CPU_ISSET(cpu, &mine) != 0) << cpu;
    }
    EXPECT_EQ(NVML(nvmlDeviceGetCpuAffinity)(device(), 0, words), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(NVML(nvmlDeviceGetCpuAffinityWithinScope)(device(), WORDS, words, 2),
              NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(NVML(nvmlDeviceGetCpuAffinityWithinScope)(device(), WORDS, words,
                                                        NVML_AFFINITY_SCOPE_SOCKET),
              NVML_SUCCESS);
    ASSERT_EQ(NVML(nvmlDeviceGetMemoryAffinity)(device(), WORDS, words, NVML_AFFINITY_SCOPE_NODE),
              NVML_SUCCESS);
    EXPECT_NE(words[0], 0UL);
}

TEST_F(TopologyTest, clearing_the_affinity_gives_the_processors_back) {
    cpu_set_t all;
    ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
    if (CPU_COUNT(&all) < 2) {
        GTEST_SKIP() << "needs two processors";
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
        if (CPU_ISSET(cpu, &all)) {
            CPU_SET(cpu, &one);
        }
    }
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    ASSERT_EQ(NVML(nvmlDeviceClearCpuAffinity)(device()), NVML_SUCCESS);
    cpu_set_t now;
    ASSERT_EQ(::sched_getaffinity(0, sizeof now, &now), 0);
    EXPECT_TRUE(CPU_EQUAL(&now, &all));
}

TEST_F(TopologyTest, devices_share_a_host_bridge) {
    nvmlGpuTopologyLevel_t level{};
    ASSERT_EQ(NVML(nvmlDeviceGetTopologyCommonAncestor)(device(0), device(1), &level),
              NVML_SUCCESS);
    EXPECT_EQ(level, NVML_TOPOLOGY_HOSTBRIDGE);
    ASSERT_EQ(NVML(nvmlDeviceGetTopologyCommonAncestor)(device(0), device(0), &level),
              NVML_SUCCESS);
    EXPECT_EQ(level, NVML_TOPOLOGY_INTERNAL);
    unsigned int count = 0;
    ASSERT_EQ(NVML(nvmlDeviceGetTopologyNearestGpus)(device(0), NVML_TOPOLOGY_HOSTBRIDGE, &count,
                                                     nullptr),
              NVML_SUCCESS);
    ASSERT_EQ(count, 1U);
    nvmlDevice_t near = nullptr;
    ASSERT_EQ(
        NVML(nvmlDeviceGetTopologyNearestGpus)(device(0), NVML_TOPOLOGY_HOSTBRIDGE, &count, &near),
        NVML_SUCCESS);
    EXPECT_EQ(near, device(1));
    count = 0;
    ASSERT_EQ(
        NVML(nvmlDeviceGetTopologyNearestGpus)(device(0), NVML_TOPOLOGY_SINGLE, &count, nullptr),
        NVML_SUCCESS);
    EXPECT_EQ(count, 0U);
    EXPECT_EQ(NVML(nvmlDeviceGetTopologyNearestGpus)(
                  device(0), static_cast<nvmlGpuTopologyLevel_t>(11), &count, nullptr),
              NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(TopologyTest, a_processor_knows_its_devices) {
    cpu_set_t mine;
    ASSERT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
    unsigned int cpu = 0;
    while (!CPU_ISSET(cpu, &mine)) {
        ++cpu;
    }
    unsigned int count = 0;
    ASSERT_EQ(NVML(nvmlSystemGetTopologyGpuSet)(cpu, &count, nullptr), NVML_SUCCESS);
    ASSERT_EQ(count, 2U);
    nvmlDevice_t devices[2]{};
    ASSERT_EQ(NVML(nvmlSystemGetTopologyGpuSet)(cpu, &count, devices), NVML_SUCCESS);
    EXPECT_EQ(devices[1], device(1));
    EXPECT_EQ(NVML(nvmlSystemGetTopologyGpuSet)(1000000, &count, devices),
              NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(TopologyTest, devices_reach_each_other_but_not_by_nvlink) {
    nvmlGpuP2PStatus_t status{};
    ASSERT_EQ(NVML(nvmlDeviceGetP2PStatus)(device(0), device(1), NVML_P2P_CAPS_INDEX_READ, &status),
              NVML_SUCCESS);
    EXPECT_EQ(status, NVML_P2P_STATUS_OK);
    ASSERT_EQ(
        NVML(nvmlDeviceGetP2PStatus)(device(0), device(1), NVML_P2P_CAPS_INDEX_NVLINK, &status),
        NVML_SUCCESS);
    EXPECT_EQ(status, NVML_P2P_STATUS_NOT_SUPPORTED);
    ASSERT_EQ(
        NVML(nvmlDeviceGetP2PStatus)(device(0), device(1), NVML_P2P_CAPS_INDEX_UNKNOWN, &status),
        NVML_SUCCESS);
    EXPECT_EQ(status, NVML_P2P_STATUS_UNKNOWN);
    for (const int beyond : {-1, NVML_P2P_CAPS_INDEX_UNKNOWN + 1}) {
        EXPECT_EQ(NVML(nvmlDeviceGetP2PStatus)(device(0), device(1),
                                               static_cast<nvmlGpuP2PCapsIndex_t>(beyond), &status),
                  NVML_ERROR_INVALID_ARGUMENT);
    }
    EXPECT_EQ(NVML(nvmlDeviceGetP2PStatus)(device(0), nullptr, NVML_P2P_CAPS_INDEX_READ, &status),
              NVML_ERROR_INVALID_ARGUMENT);
}

} // namespace cuprum::nvml::test
