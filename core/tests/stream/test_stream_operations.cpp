// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Host functions, values in memory, and attributes.

#include "support/device_test.hpp"
#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"
#include "support/scoped_variable.hpp"

#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace cuprum {

namespace {

class StreamOperationsOnFake : public testing::FakeDriverTest {};

class StreamOperationsOnDevice : public testing::DeviceTest {};

constexpr CUdeviceptr ADDRESS = 0x1000;

} // namespace

// ---- on the fake driver ------------------------------------------------------------------------

TEST_F(StreamOperationsOnFake, host_function_is_called_once_and_released_afterwards) {
    const Stream stream = Device(0).create_stream();
    const auto captured = std::make_shared<int>(0);
    stream.launch_host([captured] { ++*captured; });
    EXPECT_EQ(*captured, 0);
    EXPECT_EQ(captured.use_count(), 2);
    stream.sync();
    EXPECT_EQ(*captured, 1);
    EXPECT_EQ(captured.use_count(), 1);
    stream.sync();
    EXPECT_EQ(*captured, 1);
}

TEST_F(StreamOperationsOnFake, what_a_host_function_throws_is_a_warning) {
    const Stream stream = Device(0).create_stream();
    stream.launch_host([] { throw std::runtime_error("no such file"); });
    stream.launch_host([] { throw 3; });
    stream.sync();
    const auto told = warnings.take(WarningKind::HostFunction);
    ASSERT_EQ(told.size(), 2U);
    EXPECT_NE(told[0].find("no such file"), std::string::npos);
}

TEST_F(StreamOperationsOnFake, host_function_that_cannot_be_enqueued_is_released) {
    const Stream stream = Device(0).create_stream();
    const auto captured = std::make_shared<int>(0);
    fake->fail("cuLaunchHostFunc", CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_THROW(stream.launch_host([captured] {}), CUDAError);
    EXPECT_EQ(captured.use_count(), 1);
    EXPECT_THROW(stream.launch_host({}), std::invalid_argument);
}

TEST_F(StreamOperationsOnFake, host_function_in_a_capture_is_refused) {
    const Stream stream = Device(0).create_stream();
    fake->set_capturing(stream.handle());
    testing::expect_error<CUDAError>([&] { stream.launch_host([] {}); },
                                     {"cuLaunchHostFunc", "being captured"});
    EXPECT_EQ(fake->count("cuLaunchHostFunc"), 0);
}

TEST_F(StreamOperationsOnFake, values_are_written_and_waited_for) {
    const Stream stream = Device(0).create_stream();
    stream.write_value(ADDRESS, std::uint32_t{7});
    stream.write_value(ADDRESS + 8, std::uint64_t{1} << 40U, {.memory_barrier = false});
    EXPECT_EQ(fake->words.at(ADDRESS), 7U);
    EXPECT_EQ(fake->words.at(ADDRESS + 8), std::uint64_t{1} << 40U);
    stream.wait_value(ADDRESS, std::uint32_t{7});
    stream.wait_value(ADDRESS, std::uint64_t{7}, {.condition = WaitCondition::Nor, .flush = true});
    EXPECT_EQ(fake->wait_flags, (std::vector<unsigned>{CU_STREAM_WAIT_VALUE_GEQ,
                                                       CU_STREAM_WAIT_VALUE_NOR |
                                                           unsigned{CU_STREAM_WAIT_VALUE_FLUSH}}));
}

TEST_F(StreamOperationsOnFake, value_at_an_odd_address_is_refused) {
    const Stream stream = Device(0).create_stream();
    EXPECT_THROW(stream.write_value(ADDRESS + 2, std::uint32_t{0}), std::invalid_argument);
    testing::expect_error<std::invalid_argument>(
        [&] { stream.wait_value(ADDRESS + 4, std::uint64_t{0}); },
        {"address is 4100", "multiple of 8"});
    EXPECT_EQ(fake->count("cuStreamWaitValue64"), 0);
}

TEST_F(StreamOperationsOnFake, attributes_are_kept_and_copied) {
    const Stream stream = Device(0).create_stream();
    stream.set_priority(-2);
    stream.set_synchronization_policy(SynchronizationPolicy::Blocking);
    stream.set_memory_sync_domain(MemorySyncDomain::Remote);
    stream.set_memory_sync_domain_map({.default_domain = 1, .remote_domain = 2});
    const AccessPolicyWindow window{.base = ADDRESS,
                                    .bytes = 4096,
                                    .hit_ratio = 0.5F,
                                    .hit = AccessProperty::Persisting,
                                    .miss = AccessProperty::Streaming};
    stream.set_access_policy_window(window);
    const Stream other = Device(0).create_stream();
    other.copy_attributes_from(stream);
    EXPECT_EQ(other.synchronization_policy(), SynchronizationPolicy::Blocking);
    EXPECT_EQ(other.memory_sync_domain(), MemorySyncDomain::Remote);
    EXPECT_EQ(other.memory_sync_domain_map(), (MemorySyncDomainMap{1, 2}));
    EXPECT_EQ(other.access_policy_window(), window);
    EXPECT_NE(other.id(), stream.id());
}

TEST_F(StreamOperationsOnFake, impossible_priorities_are_refused) {
    const Stream stream = Device(0).create_stream();
    for (const int priority :
         {testing::FakeDriver::LOWEST_PRIORITY + 1, testing::FakeDriver::HIGHEST_PRIORITY - 1}) {
        testing::expect_error<std::invalid_argument>(
            [&] { stream.set_priority(priority); },
            {"priority is " + std::to_string(priority), "expected -5", "to 0"});
    }
    EXPECT_EQ(fake->count("cuStreamSetAttribute"), 0);
}

TEST_F(StreamOperationsOnFake, impossible_access_policies_are_refused) {
    const Stream stream = Device(0).create_stream();
    for (const float ratio : {-0.1F, 1.1F, std::nanf("")}) {
        EXPECT_THROW(stream.set_access_policy_window({.hit_ratio = ratio}), std::invalid_argument);
    }
    EXPECT_THROW(stream.set_access_policy_window({.miss = AccessProperty::Persisting}),
                 std::invalid_argument);
}

TEST_F(StreamOperationsOnFake, closed_stream_does_none_of_it) {
    Stream stream = Device(0).create_stream();
    stream.close();
    EXPECT_THROW(stream.launch_host([] {}), ClosedError);
    EXPECT_THROW(stream.write_value(ADDRESS, std::uint32_t{0}), ClosedError);
    EXPECT_THROW(stream.wait_value(ADDRESS, std::uint64_t{0}), ClosedError);
    EXPECT_THROW((void)stream.id(), ClosedError);
    EXPECT_THROW((void)stream.resources(), ClosedError);
    EXPECT_THROW(stream.set_priority(0), ClosedError);
}

TEST_F(StreamOperationsOnFake, environment_chooses_the_default_stream) {
    {
        const testing::ScopedVariable variable("CUPRUM_PER_THREAD_DEFAULT_STREAM", "1");
        EXPECT_EQ(Stream::default_stream(), Stream::per_thread_default());
    }
    const testing::ScopedVariable variable("CUPRUM_PER_THREAD_DEFAULT_STREAM", "0");
    EXPECT_EQ(Stream::default_stream(), Stream::legacy_default());
}

TEST_F(StreamOperationsOnFake, external_records_and_waits_say_so_to_the_driver) {
    const Stream stream = Device(0).create_stream();
    const Event event = Device(0).create_event();
    stream.record(event, EventUse::External);
    EXPECT_EQ(fake->last_record_flags, unsigned{CU_EVENT_RECORD_EXTERNAL});
    stream.wait(event, EventUse::External);
    EXPECT_EQ(fake->count("cuEventRecord"), 0);
}

TEST(StreamOperationsFailures, every_call) {
    testing::check_every_failure([](testing::FakeDriver&) {
        const Stream stream = Device(1).create_stream();
        stream.launch_host([] {});
        stream.sync();
        stream.write_value(ADDRESS, std::uint32_t{1});
        stream.write_value(ADDRESS, std::uint64_t{1});
        stream.wait_value(ADDRESS, std::uint32_t{1});
        stream.wait_value(ADDRESS, std::uint64_t{1});
        stream.set_synchronization_policy(SynchronizationPolicy::Spin);
        (void)stream.synchronization_policy();
        stream.copy_attributes_from(stream);
        (void)stream.id();
        stream.record(Device(1).create_event(), EventUse::External);
    });
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(StreamOperationsOnDevice, host_functions_keep_the_streams_order) {
    std::vector<int> order;
    for (int i = 0; i < 4; ++i) {
        stream().launch_host([&order, i] { order.push_back(i); });
    }
    stream().sync();
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST_F(StreamOperationsOnDevice, host_function_holds_back_what_comes_after_it) {
    std::atomic<bool> is_released = false;
    stream().launch_host([&] {
        while (!is_released.load()) {
        }
    });
    const Event event = stream().record();
    EXPECT_FALSE(event.is_done());
    EXPECT_FALSE(stream().is_done());
    is_released = true;
    event.sync();
    EXPECT_TRUE(event.is_done());
}

TEST_F(StreamOperationsOnDevice, captured_objects_are_released_on_a_thread_that_may_call_cuda) {
    Buffer buffer = device().allocate(64, stream());
    stream().launch_host([kept = buffer] { (void)kept; });
    buffer.close();
    stream().sync();
    EXPECT_EQ(warnings.take(WarningKind::Release), std::vector<std::string>{});
}

TEST_F(StreamOperationsOnDevice, stream_waits_for_the_value_that_another_writes) {
    // Drivers refuse to wait on memory of a pool.
    const auto pinned = LegacyPinnedMemoryResource::create();
    const Buffer words = pinned->allocate(16, stream());
    words.fill(std::uint8_t{0}, stream());
    stream().sync();
    const Stream waiting = device().create_stream();
    waiting.wait_value(words.handle(), std::uint32_t{5});
    waiting.write_value(words.handle() + 8, std::uint64_t{6});
    EXPECT_FALSE(waiting.is_done());
    stream().write_value(words.handle(), std::uint32_t{5});
    waiting.sync();
    stream().sync();
    EXPECT_EQ(download<std::uint32_t>(words), (std::vector<std::uint32_t>{5, 0, 6, 0}));
}

TEST_F(StreamOperationsOnDevice, ids_differ) {
    const Stream other = device().create_stream();
    EXPECT_NE(other.id(), stream().id());
    EXPECT_EQ(other.id(), other.id());
}

TEST_F(StreamOperationsOnDevice, synchronisation_policy_is_read_back) {
    try {
        stream().set_synchronization_policy(SynchronizationPolicy::Blocking);
    } catch (const CUDAError& error) {
        if (error.code() == CUDA_ERROR_NOT_SUPPORTED) {
            GTEST_SKIP() << error.what();
        }
        throw;
    }
    EXPECT_EQ(stream().synchronization_policy(), SynchronizationPolicy::Blocking);
    stream().sync();
}

} // namespace cuprum
