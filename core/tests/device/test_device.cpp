// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/driver_test.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/context.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/event.hpp>
#include <cuprum/stream.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace cuprum {

namespace {

class DeviceOnFake : public testing::FakeDriverTest {};

class DeviceOnDriver : public testing::DriverTest {};

} // namespace

// ---- on the fake driver ------------------------------------------------------------------------

TEST_F(DeviceOnFake, making_one_initialises_the_driver_and_no_context) {
    EXPECT_EQ(Device(1).ordinal(), 1);
    EXPECT_EQ(fake->count("cuInit"), 1);
    EXPECT_EQ(fake->count("cuDevicePrimaryCtxRetain"), 0);
}

TEST_F(DeviceOnFake, wrong_ordinal_is_an_error_with_the_range) {
    for (const int ordinal : {-1, 2, 99}) {
        try {
            (void)Device(ordinal);
            FAIL() << ordinal;
        } catch (const std::invalid_argument& error) {
            // Advice about emulated devices follows if another test has loaded the emulated device.
            EXPECT_TRUE(std::string_view(error.what())
                            .starts_with("ordinal is " + std::to_string(ordinal) +
                                         ", expected 0 to 1 (2 in all)"))
                << error.what();
        }
    }
}

TEST_F(DeviceOnFake, default_is_the_device_of_the_current_context) {
    EXPECT_EQ(Device().ordinal(), 0) << "no context is current: the first device";
    start_with(fake->make_context(1));
    EXPECT_EQ(Device().ordinal(), 1);
}

TEST_F(DeviceOnFake, current_is_the_device_of_the_current_context_or_nothing) {
    EXPECT_EQ(Device::current(), std::nullopt);
    EXPECT_EQ(fake->count("cuDevicePrimaryCtxRetain"), 0) << "asking creates no context";
    start_with(fake->make_context(1));
    EXPECT_EQ(Device::current(), Device(1));
    fake->fail("cuCtxGetDevice", CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT_THROW(static_cast<void>(Device::current()), CUDAError);
}

TEST_F(DeviceOnFake, default_falls_back_only_when_no_context_is_current) {
    fake->fail("cuCtxGetDevice", CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT_THROW((void)Device(), CUDAError);
}

TEST_F(DeviceOnFake, all_lists_devices_in_order) {
    const std::vector<Device> all = Device::all();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0], Device(0));
    EXPECT_EQ(all[1], Device(1));
    EXPECT_NE(all[0], all[1]);
}

TEST_F(DeviceOnFake, uuid_and_address_are_read_each_time) {
    // A restore onto another device changes them.
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(Device(0).uuid(), "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
        EXPECT_EQ(Device(1).pci_bus_id(), "0000:02:00.0");
    }
    EXPECT_EQ(fake->count("cuDeviceGetUuid"), 2);
    EXPECT_EQ(fake->count("cuDeviceGetPCIBusId"), 2);
}

TEST_F(DeviceOnFake, type_is_read_once) {
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(Device(1).name(), "Fake 1");
        EXPECT_EQ(Device(0).compute_capability(), (ComputeCapability{75, 0}));
        EXPECT_EQ(Device(0).arch(), "750");
    }
    EXPECT_EQ(fake->count("cuDeviceGetName"), 1);
    EXPECT_EQ(fake->count("cuDeviceGetAttribute"), 2);
}

TEST_F(DeviceOnFake, failed_reading_is_tried_again) {
    fake->fail("cuDeviceGetName", CUDA_ERROR_UNKNOWN);
    EXPECT_THROW((void)Device(0).name(), CUDAError);
    EXPECT_EQ(Device(0).name(), "Fake 0");
}

TEST_F(DeviceOnFake, attributes_are_cached_except_those_that_change) {
    const DeviceProperties properties = Device(0).properties();
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(properties.multiprocessor_count(), 16);
        EXPECT_EQ(properties.get("multiprocessor_count"), 16);
    }
    EXPECT_EQ(fake->count("cuDeviceGetAttribute"), 1);
    EXPECT_EQ(properties.clock_rate(), 13);
    EXPECT_EQ(properties.clock_rate(), 13);
    EXPECT_EQ(fake->count("cuDeviceGetAttribute"), 3);
}

TEST_F(DeviceOnFake, attribute_unknown_to_the_driver_raises_and_does_not_read_as_zero) {
    const DeviceProperties properties = Device(0).properties();
    EXPECT_THROW((void)properties.multicast_supported(), CUDAError);
    EXPECT_FALSE(properties.is_supported("multicast_supported"));
    EXPECT_TRUE(properties.is_supported("warp_size"));
    EXPECT_EQ(properties.get("multicast_supported", 7), 7);
    EXPECT_EQ(properties.get("warp_size", 7), 10);
}

TEST_F(DeviceOnFake, failure_to_read_an_attribute_is_not_taken_for_unknown) {
    fake->fail("cuDeviceGetAttribute", CUDA_ERROR_UNKNOWN);
    EXPECT_THROW((void)Device(0).properties().get("warp_size", 7), CUDAError);
}

TEST_F(DeviceOnFake, unknown_attribute_name_is_an_argument_error) {
    EXPECT_THROW((void)Device(0).properties().get("warp_sizes"), std::invalid_argument);
    EXPECT_THROW((void)Device(0).properties().get("warp_sizes", 1), std::invalid_argument);
    EXPECT_THROW((void)Device(0).properties().is_supported(""), std::invalid_argument);
}

TEST_F(DeviceOnFake, device_can_access_itself_without_asking) {
    EXPECT_TRUE(Device(0).can_access_peer(Device(0)));
    EXPECT_EQ(fake->count("cuDeviceCanAccessPeer"), 0);
    EXPECT_TRUE(Device(0).can_access_peer(Device(1)));
}

TEST_F(DeviceOnFake, methods_act_on_their_own_device_whatever_is_current) {
    const CUcontext foreign = fake->make_context(0);
    start_with(foreign);
    const Stream stream = Device(1).create_stream();
    EXPECT_EQ(fake->streams.at(stream.handle()).context, fake->primaries[1]);
    EXPECT_EQ(stream.device().ordinal(), 1);
    const Event event = Device(1).create_event();
    EXPECT_EQ(fake->events.at(event.handle()).context, fake->primaries[1]);
    Device(1).sync();
    EXPECT_EQ(fake->current(), foreign);
}

TEST_F(DeviceOnFake, methods_use_the_current_context_if_it_is_of_their_device) {
    const CUcontext foreign = fake->make_context(1);
    start_with(foreign);
    const Stream stream = Device(1).create_stream();
    EXPECT_EQ(fake->streams.at(stream.handle()).context, foreign);
    fake->forget_calls();
    Device(1).sync();
    EXPECT_EQ(fake->count("cuCtxPushCurrent"), 0) << "the right context was current";
}

TEST_F(DeviceOnFake, set_current_makes_the_primary_context_current) {
    Device(1).set_current();
    EXPECT_EQ(fake->current(), fake->primaries[1]);
    Device(0).set_current();
    EXPECT_EQ(fake->current(), fake->primaries[0]);
}

TEST_F(DeviceOnFake, set_current_with_a_context_returns_the_one_before) {
    const Context mine = Context::from_handle(fake->make_context(1));
    EXPECT_EQ(Device(1).set_current(mine), std::nullopt);
    EXPECT_EQ(fake->current(), mine.handle());
    const auto before = Device(1).set_current(Device(1).primary_context());
    ASSERT_TRUE(before.has_value());
    EXPECT_EQ(*before, mine);
}

TEST_F(DeviceOnFake, set_current_refuses_a_context_of_another_device) {
    const Context other = Device(0).primary_context();
    try {
        Device(1).set_current(other);
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("device 0"), std::string::npos) << error.what();
    }
    EXPECT_EQ(fake->current(), nullptr);
}

TEST_F(DeviceOnFake, primary_context_is_retained_once_and_kept) {
    const Context first = Device(0).primary_context();
    const Context second = Device().primary_context();
    EXPECT_EQ(first, second);
    EXPECT_TRUE(first.is_primary());
    EXPECT_EQ(fake->live().primary_contexts, 1);
}

TEST_F(DeviceOnFake, failed_retain_is_tried_again) {
    fake->fail("cuDevicePrimaryCtxRetain", CUDA_ERROR_DEVICE_UNAVAILABLE);
    EXPECT_THROW((void)Device(0).primary_context(), CUDAError);
    EXPECT_TRUE(Device(0).primary_context().is_primary());
}

TEST_F(DeviceOnFake, memory_resource_is_made_once) {
    const Device device(0);
    const std::shared_ptr<MemoryResource> first = device.memory_resource();
    EXPECT_EQ(first, Device(0).memory_resource());
    EXPECT_NE(std::dynamic_pointer_cast<DeviceMemoryResource>(first), nullptr);
    EXPECT_EQ(fake->count("cuDeviceGetMemPool"), 1);
}

TEST(DeviceFailures, every_call_of_every_method) {
    testing::check_every_failure([](testing::FakeDriver& fake) {
        const Device device(0);
        (void)device.name();
        (void)device.uuid();
        (void)device.pci_bus_id();
        (void)device.compute_capability();
        (void)device.memory_info();
        (void)device.can_access_peer(Device(1));
        device.sync();
        const Event event = device.create_event();
        const Stream stream = device.create_stream();
        (void)device.allocate(16, stream);
        (void)Context::from_handle(fake.make_context(1)).device();
    });
}

TEST(DeviceFailures, set_current_leaves_the_current_context_when_it_fails) {
    testing::FakeDriver fake;
    const Context mine = Context::from_handle(fake.make_context(0));
    Device(0).set_current();
    fake.fail("cuCtxSetCurrent", CUDA_ERROR_UNKNOWN);
    EXPECT_THROW((void)Device(0).set_current(mine), CUDAError);
    EXPECT_EQ(fake.current(), fake.primaries[0]);
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(DeviceOnDriver, has_name_and_identity) {
    EXPECT_EQ(device().ordinal(), 0);
    EXPECT_FALSE(device().name().empty());
    EXPECT_TRUE(
        std::regex_match(device().uuid(), std::regex("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")))
        << device().uuid();
    EXPECT_TRUE(std::regex_match(
        device().pci_bus_id(), std::regex("[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.\\d")))
        << device().pci_bus_id();
    EXPECT_GE(device().compute_capability(), (ComputeCapability{5, 0}));
    EXPECT_EQ(device().arch(), std::to_string(device().compute_capability().major) +
                                   std::to_string(device().compute_capability().minor));
    EXPECT_EQ(device(), Device());
}

TEST_F(DeviceOnDriver, knows_its_limits) {
    const DeviceProperties properties = device().properties();
    EXPECT_EQ(properties.warp_size(), 32);
    EXPECT_GE(properties.max_threads_per_block(), 512);
    EXPECT_GE(properties.multiprocessor_count(), 1);
    EXPECT_TRUE(properties.memory_pools_supported());
    EXPECT_TRUE(properties.unified_addressing());
    EXPECT_EQ(properties.get("compute_capability_major"), device().compute_capability().major);
    EXPECT_THROW((void)properties.get(100000), CUDAError);
}

TEST_F(DeviceOnDriver, all_attributes_read_or_are_known_to_be_unknown) {
    const DeviceProperties properties = device().properties();
    int supported = 0;
    for (const std::string_view name : DeviceProperties::names()) {
        if (properties.is_supported(name)) {
            EXPECT_NO_THROW((void)properties.get(name)) << name;
            ++supported;
        } else {
            EXPECT_THROW((void)properties.get(name), CUDAError) << name;
        }
    }
    EXPECT_GE(supported, 100);
}

TEST_F(DeviceOnDriver, memory_info_has_less_free_than_total) {
    const MemoryInfo info = device().memory_info();
    EXPECT_GT(info.total_bytes, 0U);
    EXPECT_LE(info.free_bytes, info.total_bytes);
}

TEST_F(DeviceOnDriver, wrong_ordinal_is_an_error) {
    EXPECT_THROW((void)Device(-1), std::invalid_argument);
    EXPECT_THROW((void)Device(static_cast<int>(Device::all().size())), std::invalid_argument);
}

TEST_F(DeviceOnDriver, set_current_is_per_thread) {
    std::thread([this] {
        EXPECT_EQ(Context::current(), std::nullopt);
        device().set_current();
        EXPECT_EQ(*Context::current(), device().primary_context());
    }).join();
}

TEST_F(DeviceOnDriver, sync_needs_no_current_context) {
    std::thread([this] { EXPECT_NO_THROW(device().sync()); }).join();
}

} // namespace cuprum
