// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/device_test.hpp"
#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;

constexpr std::size_t MEBIBYTE = std::size_t{1} << 20U;

class PoolOnFake : public testing::FakeDriverTest {};

class PoolOnDriver : public testing::DeviceTest {};

} // namespace

// ---- attributes --------------------------------------------------------------------------------

TEST_F(PoolOnFake, attributes_that_can_be_set_reach_the_driver) {
    const auto pool = DeviceMemoryResource::create(Device(0), {.max_size = MEBIBYTE});
    pool->set_attribute(PoolAttribute::ReuseAllowOpportunistic, 0);
    pool->set_attribute(PoolAttribute::ReleaseThreshold, 4096);
    pool->set_attribute(PoolAttribute::UsedMemHigh, 0);
    const auto& known = fake->pools.at(pool->handle());
    EXPECT_EQ(known.attributes.at(CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC), 0U);
    EXPECT_EQ(known.attributes.at(CU_MEMPOOL_ATTR_USED_MEM_HIGH), 0U);
    EXPECT_EQ(pool->attribute(PoolAttribute::ReleaseThreshold), 4096U);
    EXPECT_EQ(pool->attributes().release_threshold, 4096U);
}

TEST_F(PoolOnFake, attributes_that_cannot_be_set_are_refused_before_the_driver_is_asked) {
    const auto pool = DeviceMemoryResource::create(Device(0), {.max_size = MEBIBYTE});
    fake->forget_calls();
    expect_error<std::invalid_argument>([&] { pool->set_attribute(PoolAttribute::UsedMemHigh, 1); },
                                        {"value is 1", "expected 0"});
    expect_error<std::invalid_argument>(
        [&] { pool->set_attribute(PoolAttribute::ReuseFollowEventDependencies, 2); },
        {"value is 2", "0 or 1"});
    expect_error<std::invalid_argument>(
        [&] { pool->set_attribute(PoolAttribute::UsedMemCurrent, 0); }, {"cannot be set"});
    EXPECT_TRUE(fake->calls().empty());
}

// ---- foreign pools -----------------------------------------------------------------------------

TEST_F(PoolOnFake, foreign_pool_is_used_but_not_destroyed) {
    const Stream stream = Device(1).create_stream();
    auto owner = std::make_shared<int>(1);
    {
        const auto pool =
            DeviceMemoryResource::from_handle(Device(1), fake->default_pools[1], owner);
        EXPECT_FALSE(pool->is_handle_owned());
        EXPECT_EQ(pool->device_id(), 1);
        EXPECT_EQ(owner.use_count(), 2);
        (void)pool->allocate(64, stream);
    }
    EXPECT_EQ(owner.use_count(), 1);
    EXPECT_EQ(fake->count("cuMemPoolDestroy"), 0);
    EXPECT_THROW((void)DeviceMemoryResource::from_handle(Device(1), nullptr),
                 std::invalid_argument);
}

// ---- peer access -------------------------------------------------------------------------------

TEST_F(PoolOnFake, peer_access_is_what_the_driver_says) {
    const auto pool = DeviceMemoryResource::create(Device(0), {.max_size = MEBIBYTE});
    EXPECT_TRUE(pool->peer_accessible_by().empty());
    EXPECT_TRUE(pool->is_accessible_from(Device(0)));
    const std::vector<Device> peers{Device(1), Device(0), Device(1)};
    pool->set_peer_accessible_by(peers);
    EXPECT_EQ(pool->peer_accessible_by(), std::vector<Device>{Device(1)});
    EXPECT_EQ(fake->count("cuMemPoolSetAccess"), 1);
    pool->set_peer_accessible_by(peers);
    EXPECT_EQ(fake->count("cuMemPoolSetAccess"), 1) << "nothing was to be changed";
    fake->pools.at(pool->handle()).access.clear(); // by somebody else
    EXPECT_TRUE(pool->peer_accessible_by().empty());
    pool->set_peer_accessible_by(peers);
    pool->set_peer_accessible_by({});
    EXPECT_FALSE(pool->is_accessible_from(Device(1)));
}

TEST_F(PoolOnFake, peer_that_cannot_reach_the_memory_is_named_and_nothing_changes) {
    driver::Table apart = driver::table();
    apart.cuDeviceCanAccessPeer = [](int* is_possible, CUdevice, CUdevice) {
        *is_possible = 0;
        return CUDA_SUCCESS;
    };
    const auto pool = DeviceMemoryResource::create(Device(0), {.max_size = MEBIBYTE});
    driver::Table* before = driver::exchange_table(&apart);
    const std::vector<Device> peers{Device(1)};
    expect_error<std::invalid_argument>([&] { pool->set_peer_accessible_by(peers); },
                                        {"Device 0 cannot access peer(s): 1"});
    driver::exchange_table(before);
    EXPECT_EQ(fake->count("cuMemPoolSetAccess"), 0);
}

// ---- pinned and managed pools ------------------------------------------------------------------

TEST_F(PoolOnFake, pinned_pool_lies_where_the_options_say) {
    const auto anywhere =
        PinnedMemoryResource::create(PinnedMemoryResourceOptions{.max_size = MEBIBYTE});
    EXPECT_EQ(anywhere->numa_id(), -1);
    EXPECT_EQ(anywhere->device_id(), -1);
    EXPECT_TRUE(anywhere->is_host_accessible());
    EXPECT_TRUE(anywhere->is_device_accessible());
    EXPECT_FALSE(anywhere->is_managed());
    EXPECT_EQ(fake->pools.at(anywhere->handle()).location.type, CU_MEM_LOCATION_TYPE_HOST);
    EXPECT_EQ(fake->pools.at(anywhere->handle()).handle_types, 0U);
    const auto node = PinnedMemoryResource::create({.max_size = MEBIBYTE, .numa_id = 3});
    EXPECT_EQ(node->numa_id(), 3);
    fake->device_attributes[CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID] = 2;
    const auto shared = PinnedMemoryResource::create({.max_size = MEBIBYTE, .ipc_enabled = true});
    EXPECT_EQ(shared->numa_id(), 2) << "the current device's";
    EXPECT_NE(fake->pools.at(shared->handle()).handle_types, 0U);
}

TEST_F(PoolOnFake, pinned_pool_refuses_nodes_that_are_none) {
    expect_error<std::invalid_argument>(
        [] { const auto pool = PinnedMemoryResource::create({.numa_id = -1}); },
        {"numa_id must be >= 0, got -1"});
    fake->device_attributes[CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID] = -1;
    expect_error<std::logic_error>(
        [] { const auto pool = PinnedMemoryResource::create({.ipc_enabled = true}); },
        {"Cannot determine host NUMA ID", "pass numa_id"});
    EXPECT_EQ(fake->count("cuMemPoolCreate"), 0);
}

TEST_F(PoolOnFake, pinned_allocation_needs_a_device_that_knows_such_pools) {
    const Stream stream = Device(0).create_stream();
    const auto pool =
        PinnedMemoryResource::create(PinnedMemoryResourceOptions{.max_size = MEBIBYTE});
    EXPECT_EQ(pool->allocate(16, stream).device_id(), -1);
    fake->device_attributes[CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED] = 0;
    const Stream other = Device(1).create_stream();
    expect_error<std::logic_error>([&] { (void)pool->allocate(16, other); },
                                   {"device 1 does not support", "LegacyPinnedMemoryResource"});
}

TEST_F(PoolOnFake, out_of_host_memory_gives_the_hosts_figures) {
    const Stream stream = Device(0).create_stream();
    const auto pool = PinnedMemoryResource::create(PinnedMemoryResourceOptions{});
    try {
        (void)pool->allocate(std::size_t{1} << 40U, stream);
        FAIL();
    } catch (const OutOfMemoryError& error) {
        EXPECT_EQ(error.requested_bytes(), std::size_t{1} << 40U);
        EXPECT_GT(error.total_bytes(), 0U);
        EXPECT_NE(std::string(error.what()).find("host memory"), std::string::npos);
    }
}

TEST_F(PoolOnFake, managed_pool_prefers_what_the_options_say) {
    const auto none = ManagedMemoryResource::create(ManagedMemoryResourceOptions{});
    EXPECT_EQ(none->preferred_location(), std::nullopt);
    EXPECT_EQ(none->device_id(), -1);
    EXPECT_TRUE(none->is_managed());
    EXPECT_TRUE(none->is_host_accessible());
    const auto device =
        ManagedMemoryResource::create({.preferred_location = Location::device(Device(1))});
    EXPECT_EQ(device->preferred_location(), Location::device(Device(1)));
    EXPECT_EQ(device->device_id(), 1);
    EXPECT_EQ(fake->pools.at(device->handle()).type, CU_MEM_ALLOCATION_TYPE_MANAGED);
    const auto host = ManagedMemoryResource::create({.preferred_location = Location::host()});
    EXPECT_EQ(host->preferred_location(), Location::host());
    EXPECT_THROW(
        (void)ManagedMemoryResource::create({.preferred_location = Location::host_numa_current()}),
        std::invalid_argument);
    const Stream stream = Device(0).create_stream();
    EXPECT_TRUE(none->allocate(16, stream).is_managed());
}

TEST_F(PoolOnFake, managed_memory_without_concurrent_access_warns_once) {
    fake->device_attributes[CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS] = 0;
    {
        const auto first = ManagedMemoryResource::create(ManagedMemoryResourceOptions{});
        const auto second = ManagedMemoryResource::create(ManagedMemoryResourceOptions{});
    }
    const auto said = warnings.take(WarningKind::Degraded);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_NE(said[0].find("concurrent managed memory access"), std::string::npos);
    expect_error<std::logic_error>([] { const auto shared = ManagedMemoryResource::create(); },
                                   {"does not support managed allocations"});
}

TEST_F(PoolOnFake, current_pools_of_the_process_are_wrapped) {
    const auto pinned = PinnedMemoryResource::create();
    const auto managed = ManagedMemoryResource::create();
    EXPECT_FALSE(pinned->is_handle_owned());
    EXPECT_FALSE(managed->is_handle_owned());
    EXPECT_EQ(fake->count("cuMemGetMemPool"), 2);
}

TEST(PoolFailures, every_call) {
    testing::check_every_failure([](testing::FakeDriver&) {
        const Stream stream = Device(0).create_stream();
        const auto pool = DeviceMemoryResource::create(Device(0), {.max_size = MEBIBYTE});
        const std::vector<Device> peers{Device(1)};
        pool->set_peer_accessible_by(peers);
        pool->set_attribute(PoolAttribute::ReleaseThreshold, 1);
        const auto pinned =
            PinnedMemoryResource::create(PinnedMemoryResourceOptions{.max_size = MEBIBYTE});
        const Buffer buffer = pinned->allocate(64, stream);
        const auto shared = PinnedMemoryResource::create();
    });
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(PoolOnDriver, high_water_marks_start_again) {
    const auto pool = DeviceMemoryResource::create(device(), {.max_size = 64 * MEBIBYTE});
    (void)pool->allocate(MEBIBYTE, stream());
    stream().sync();
    EXPECT_GE(pool->attribute(PoolAttribute::UsedMemHigh), MEBIBYTE);
    pool->set_attribute(PoolAttribute::UsedMemHigh, 0);
    EXPECT_LT(pool->attribute(PoolAttribute::UsedMemHigh), MEBIBYTE);
}

TEST_F(PoolOnDriver, flags_and_threshold_are_kept) {
    const auto pool = DeviceMemoryResource::create(device(), {.max_size = 64 * MEBIBYTE});
    pool->set_attribute(PoolAttribute::ReuseAllowInternalDependencies, 0);
    pool->set_attribute(PoolAttribute::ReleaseThreshold, MEBIBYTE);
    EXPECT_FALSE(pool->attributes().reuse_allow_internal_dependencies);
    EXPECT_EQ(pool->attributes().release_threshold, MEBIBYTE);
}

TEST_F(PoolOnDriver, pinned_memory_is_the_hosts_too) {
    if (device().properties().get("host_memory_pools_supported", 0) == 0) {
        GTEST_SKIP() << "the device has no pools of host memory";
    }
    const auto pool =
        PinnedMemoryResource::create(PinnedMemoryResourceOptions{.max_size = 16 * MEBIBYTE});
    const Buffer buffer = pool->allocate(256, stream());
    buffer.fill(std::uint8_t{7}, stream());
    stream().sync();
    EXPECT_EQ(buffer.data<std::uint8_t>()[255], 7);
}

TEST_F(PoolOnDriver, managed_memory_is_the_hosts_too) {
    if (device().properties().get("concurrent_managed_access", 0) == 0) {
        GTEST_SKIP() << "the device cannot share managed memory with the host";
    }
    const auto pool =
        ManagedMemoryResource::create({.preferred_location = Location::device(device())});
    const ManagedBuffer buffer = pool->allocate(256, stream());
    EXPECT_TRUE(buffer.is_managed());
    buffer.fill(std::uint8_t{9}, stream());
    stream().sync();
    EXPECT_EQ(buffer.data<std::uint8_t>()[0], 9);
}

} // namespace cuprum
