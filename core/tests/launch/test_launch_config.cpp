// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How a configuration is encoded for the driver, attribute by attribute.

#include "driver/table.hpp"
#include "launch/encoded_config.hpp"
#include "support/expect_error.hpp"
#include "support/fake_libraries.hpp"

#include <cuprum/context.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/event.hpp>
#include <cuprum/launch_config.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <vector>

namespace cuprum {
namespace {

using testing::expect_error;

class FakeLaunchConfig : public testing::FakeLibrariesTest {
protected:
    /// Encodes and returns the attributes.
    static std::vector<CUlaunchAttribute> attributes(const LaunchConfig& config) {
        CUlaunchConfig encoded{};
        std::vector<CUlaunchAttribute> attributes;
        detail::encode(config, encoded, attributes);
        EXPECT_EQ(encoded.attrs, attributes.empty() ? nullptr : attributes.data());
        EXPECT_EQ(encoded.numAttrs, attributes.size());
        return attributes;
    }

    /// Encodes a configuration with one attribute and returns its value.
    static CUlaunchAttributeValue only(int id, const LaunchConfig& config) {
        const auto all = attributes(config);
        EXPECT_EQ(all.size(), 1U);
        EXPECT_EQ(static_cast<int>(all.at(0).id), id);
        return all.at(0).value;
    }

    Event event = Device(0).create_event();
};

TEST_F(FakeLaunchConfig, every_attribute_reaches_the_driver) {
    EXPECT_TRUE(attributes({}).empty());
    EXPECT_EQ(only(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, {.cluster = Dim3{2, 3}}).clusterDim.y,
              3U);
    EXPECT_EQ(only(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, {.is_cooperative = true}).cooperative, 1);
    EXPECT_EQ(only(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                   {.programmatic_stream_serialization = true})
                  .programmaticStreamSerializationAllowed,
              1);
    EXPECT_EQ(only(CU_LAUNCH_ATTRIBUTE_PRIORITY, {.priority = -3}).priority, -3);
    EXPECT_EQ(only(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
                   {.cluster_scheduling_policy = ClusterSchedulingPolicy::LoadBalancing})
                  .clusterSchedulingPolicyPreference,
              CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
    EXPECT_EQ(
        only(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, {.shared_memory_carveout = 40})
            .sharedMemCarveout,
        40U);
    EXPECT_EQ(
        only(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, {.memory_sync_domain = MemorySyncDomain::Remote})
            .memSyncDomain,
        CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
    const auto map = only(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
                          {.memory_sync_domain_map = MemorySyncDomainMap{2, 3}});
    EXPECT_EQ(map.memSyncDomainMap.default_, 2);
    EXPECT_EQ(map.memSyncDomainMap.remote, 3);
    EXPECT_EQ(only(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, {.launch_completion_event = event})
                  .launchCompletionEvent.event,
              event.handle());
    const auto programmatic = only(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                   {.programmatic_event = ProgrammaticEvent{event, true}});
    EXPECT_EQ(programmatic.programmaticEvent.event, event.handle());
    EXPECT_EQ(programmatic.programmaticEvent.triggerAtBlockStart, 1);
    EXPECT_EQ(only(CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING,
                   {.nvlink_centric_scheduling = true})
                  .nvlinkUtilCentricScheduling,
              1U);
}

TEST_F(FakeLaunchConfig, an_access_policy_window_reaches_the_driver) {
    const AccessPolicyWindow window{.base = 0x1000,
                                    .bytes = 64,
                                    .hit_ratio = 0.5F,
                                    .hit = AccessProperty::Persisting,
                                    .miss = AccessProperty::Streaming};
    const auto value =
        only(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, {.access_policy_window = window});
    EXPECT_EQ(value.accessPolicyWindow.base_ptr, reinterpret_cast<void*>(0x1000));
    EXPECT_EQ(value.accessPolicyWindow.num_bytes, 64U);
    EXPECT_EQ(value.accessPolicyWindow.hitRatio, 0.5F);
    EXPECT_EQ(value.accessPolicyWindow.hitProp, CU_ACCESS_PROPERTY_PERSISTING);
    EXPECT_EQ(value.accessPolicyWindow.missProp, CU_ACCESS_PROPERTY_STREAMING);
}

TEST_F(FakeLaunchConfig, a_preferred_cluster_follows_the_cluster) {
    const auto all = attributes({.grid = 4, .cluster = Dim3{2}, .preferred_cluster = Dim3{4}});
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[1].id, CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION);
    EXPECT_EQ(all[1].value.preferredClusterDim.x, 4U);
    expect_error<std::invalid_argument>([] { attributes({.preferred_cluster = Dim3{4}}); },
                                        {"preferred_cluster is (4, 1, 1)", "without `cluster`"});
    expect_error<std::invalid_argument>(
        [] { attributes({.grid = 4, .cluster = Dim3{2}, .preferred_cluster = Dim3{3}}); },
        {"preferred_cluster is (3, 1, 1)", "multiples"});
    expect_error<std::invalid_argument>(
        [] { attributes({.grid = 3, .cluster = Dim3{2}, .preferred_cluster = Dim3{4}}); },
        {"does not divide the grid"});
}

TEST_F(FakeLaunchConfig, values_out_of_range_are_refused) {
    expect_error<std::invalid_argument>([] { attributes({.shared_memory_carveout = 101}); },
                                        {"shared_memory_carveout is 101", "0 to 100"});
    expect_error<std::invalid_argument>(
        [] { attributes({.access_policy_window = AccessPolicyWindow{.hit_ratio = 1.5F}}); },
        {"hit_ratio is 1.5", "0 to 1"});
    expect_error<std::invalid_argument>(
        [] {
            attributes(
                {.access_policy_window = AccessPolicyWindow{.miss = AccessProperty::Persisting}});
        },
        {"miss is Persisting"});
    const Event timed = Device(0).create_event({.timing_enabled = true});
    expect_error<std::invalid_argument>([&] { attributes({.launch_completion_event = timed}); },
                                        {"launch_completion_event", "timing"});
    CUevent elsewhere = nullptr; // the driver does not report how other code created it
    {
        const CurrentContext current(Device(0).primary_context());
        ASSERT_EQ(driver::table().cuEventCreate(&elsewhere, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    }
    EXPECT_EQ(only(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
                   {.launch_completion_event = Event::from_handle(elsewhere)})
                  .launchCompletionEvent.event,
              elsewhere);
    EXPECT_EQ(driver::table().cuEventDestroy(elsewhere), CUDA_SUCCESS);
    Event closed = event;
    closed.close();
    EXPECT_THROW(attributes({.programmatic_event = ProgrammaticEvent{closed}}), ClosedError);
}

TEST_F(FakeLaunchConfig, attributes_without_a_name_go_by_number) {
    RawLaunchAttribute raw{.id = 77};
    raw.value[0] = std::byte{5};
    const auto value = only(77, {.raw_attributes = {raw}});
    EXPECT_EQ(value.cooperative, 5);
    expect_error<std::invalid_argument>(
        [&] { attributes({.raw_attributes = std::vector<RawLaunchAttribute>(33, raw)}); },
        {"raw_attributes has 33", "at most 32"});
}

TEST_F(FakeLaunchConfig, every_driver_attribute_is_supported_or_refused_by_name) {
    // All of CUlaunchAttributeID in CUDA 13.0. The other tests check the fields by name.
    for (const int id :
         {CU_LAUNCH_ATTRIBUTE_IGNORE, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
          CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
          CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
          CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
          CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, CU_LAUNCH_ATTRIBUTE_PRIORITY,
          CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
          CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
          CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
          CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
          CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING}) {
        EXPECT_NO_THROW(only(id, {.raw_attributes = {{.id = id}}})) << id;
    }
    expect_error<std::invalid_argument>(
        [] {
            attributes({.raw_attributes = {{.id = CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY}}});
        },
        {"raw_attributes has 3", "SYNCHRONIZATION_POLICY", "Stream"});
    expect_error<std::invalid_argument>(
        [] {
            attributes(
                {.raw_attributes = {{.id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE}}});
        },
        {"raw_attributes has 13", "DEVICE_UPDATABLE_KERNEL_NODE", "not supported"});
}

TEST_F(FakeLaunchConfig, configurations_are_compared_by_value) {
    const LaunchConfig one{.grid = 2, .priority = 1, .launch_completion_event = event};
    LaunchConfig other = one;
    EXPECT_EQ(one, other);
    other.priority = 2;
    EXPECT_NE(one, other);
}

} // namespace
} // namespace cuprum
