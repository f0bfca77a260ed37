// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/device_test.hpp"
#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;

class HostMemoryOnFake : public testing::FakeDriverTest {};

class HostMemoryOnDriver : public testing::DeviceTest {};

} // namespace

TEST_F(HostMemoryOnFake, pinned_memory_needs_no_stream_and_no_current_context) {
    const auto resource = LegacyPinnedMemoryResource::create();
    {
        const Buffer buffer = resource->allocate(64);
        EXPECT_EQ(buffer.size(), 64U);
        EXPECT_EQ(buffer.device_id(), -1);
        EXPECT_TRUE(buffer.is_host_accessible());
        EXPECT_EQ(fake->live().host_allocations, 1);
    }
    EXPECT_EQ(fake->last_free.current, fake->primaries[0]);
    EXPECT_EQ(fake->current(), nullptr);
    EXPECT_EQ(fake->count("cuStreamSynchronize"), 0);
}

TEST_F(HostMemoryOnFake, pinned_memory_waits_for_the_stream_it_is_freed_on) {
    const Stream stream = Device(1).create_stream();
    const auto resource = LegacyPinnedMemoryResource::create();
    Buffer buffer = resource->allocate(64, stream);
    buffer.close();
    EXPECT_EQ(fake->count("cuStreamSynchronize"), 1);
    Buffer other = resource->allocate(64);
    other.close(stream);
    EXPECT_EQ(fake->count("cuStreamSynchronize"), 2);
}

TEST_F(HostMemoryOnFake, memory_whose_stream_is_capturing_is_not_freed_directly) {
    const Stream stream = Device(0).create_stream();
    const auto resource = LegacyPinnedMemoryResource::create();
    const CUdeviceptr pointer = resource->allocate_bytes(64, stream);
    fake->set_capturing(stream.handle());
    testing::expect_error<std::logic_error>(
        [&] { resource->deallocate_bytes(pointer, 64, stream); },
        {"cannot be freed at once while its stream is capturing"});
    EXPECT_EQ(fake->count("cuStreamSynchronize"), 0);
    resource->deallocate_bytes(pointer, 64, Device(0).create_stream());
}

TEST_F(HostMemoryOnFake, registered_memory_is_not_deferred_during_a_capture) {
    const Stream stream = Device(0).create_stream();
    std::vector<char> memory(64);
    Buffer buffer = register_host_memory(memory.data(), memory.size());
    buffer.set_deallocation_stream(stream);
    fake->set_capturing(stream.handle());
    buffer.close();
    const auto said = warnings.take(WarningKind::Release);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_NE(said[0].find("capturing"), std::string::npos) << said[0];
    fake->host_allocations.clear(); // forget the leak that the warning reported
}

TEST_F(HostMemoryOnFake, no_bytes_are_no_memory) {
    const auto pinned = LegacyPinnedMemoryResource::create();
    EXPECT_EQ(pinned->allocate(0).handle(), 0U);
    const auto device = SynchronousMemoryResource::create(Device(1));
    EXPECT_EQ(device->allocate(0).handle(), 0U);
    EXPECT_EQ(fake->live().allocations + fake->live().host_allocations, 0);
}

TEST_F(HostMemoryOnFake, synchronous_memory_is_allocated_and_freed_in_the_devices_context) {
    start_with(fake->primaries[0]);
    const auto resource = SynchronousMemoryResource::create(Device(1));
    {
        const Buffer buffer = resource->allocate(64);
        EXPECT_EQ(buffer.device_id(), 1);
        EXPECT_FALSE(buffer.is_host_accessible());
    }
    EXPECT_EQ(fake->last_free.current, fake->primaries[1]);
    EXPECT_EQ(fake->current(), fake->primaries[0]);
}

TEST_F(HostMemoryOnFake, too_much_is_out_of_memory_with_the_figures) {
    const auto pinned = LegacyPinnedMemoryResource::create();
    expect_error<OutOfMemoryError>([&] { (void)pinned->allocate(std::size_t{1} << 40U); },
                                   {"1099511627776 bytes", "host memory"});
    const auto device = SynchronousMemoryResource::create(Device(0));
    expect_error<OutOfMemoryError>([&] { (void)device->allocate(std::size_t{1} << 40U); },
                                   {"1099511627776 bytes", "1073741824 bytes"});
}

TEST_F(HostMemoryOnFake, closed_stream_is_an_error) {
    Stream stream = Device(0).create_stream();
    stream.close();
    const auto pinned = LegacyPinnedMemoryResource::create();
    EXPECT_THROW((void)pinned->allocate(16, stream), ClosedError);
    const auto device = SynchronousMemoryResource::create(Device(0));
    EXPECT_THROW((void)device->allocate(16, stream), ClosedError);
}

TEST_F(HostMemoryOnFake, buffers_are_freed_from_any_thread) {
    const auto resource = SynchronousMemoryResource::create(Device(1));
    Buffer buffer = resource->allocate(64);
    std::thread([moved = std::move(buffer)]() mutable { moved.close(); }).join();
    EXPECT_EQ(fake->live().allocations, 0);
}

// ---- registration ------------------------------------------------------------------------------

TEST_F(HostMemoryOnFake, registered_memory_is_unregistered_with_the_last_share) {
    auto owner = std::make_shared<std::vector<char>>(256);
    {
        const Buffer buffer = register_host_memory(owner->data(), owner->size(),
                                                   {.read_only = true, .io_memory = true}, owner);
        EXPECT_EQ(buffer.handle(), reinterpret_cast<std::uintptr_t>(owner->data()));
        EXPECT_EQ(buffer.size(), 256U);
        EXPECT_TRUE(buffer.is_device_accessible());
        EXPECT_EQ(owner.use_count(), 2);
        EXPECT_EQ(fake->notes.back(), "register 15");
        const Buffer share = buffer;
    }
    EXPECT_EQ(fake->count("cuMemHostUnregister"), 1);
    EXPECT_EQ(owner.use_count(), 1);
}

TEST_F(HostMemoryOnFake, nothing_cannot_be_registered) {
    int value = 0;
    EXPECT_THROW((void)register_host_memory(nullptr, 16), std::invalid_argument);
    EXPECT_THROW((void)register_host_memory(&value, 0), std::invalid_argument);
    EXPECT_EQ(fake->count("cuMemHostRegister"), 0);
}

TEST(HostMemoryFailures, every_call) {
    testing::check_every_failure([](testing::FakeDriver&) {
        static int value = 0;
        const auto pinned = LegacyPinnedMemoryResource::create();
        const auto device = SynchronousMemoryResource::create(Device(0));
        const Buffer first = pinned->allocate(16);
        const Buffer second = device->allocate(16);
        const Buffer third = register_host_memory(&value, sizeof(value));
        const Stream stream = Device(0).create_stream();
        const Buffer fourth = pinned->allocate(16, stream);
    });
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(HostMemoryOnDriver, pinned_memory_is_copied_from_and_to) {
    const auto resource = LegacyPinnedMemoryResource::create();
    const Buffer host = resource->allocate(1024);
    std::fill_n(host.data<std::uint32_t>(), 256, 0x01020304U);
    const Buffer device_memory = device().allocate(1024, stream());
    host.copy_to(device_memory, stream());
    EXPECT_EQ(download<std::uint32_t>(device_memory), std::vector<std::uint32_t>(256, 0x01020304U));
}

TEST_F(HostMemoryOnDriver, synchronous_memory_serves_as_any_other) {
    const auto resource = SynchronousMemoryResource::create(device());
    const Buffer buffer = resource->allocate(1024, stream());
    buffer.fill(std::uint8_t{3}, stream());
    EXPECT_EQ(download<std::uint8_t>(buffer), std::vector<std::uint8_t>(1024, 3));
}

TEST_F(HostMemoryOnDriver, registered_memory_is_reached_by_the_device_and_can_be_registered_again) {
    std::vector<std::uint8_t> memory(1 << 16);
    for (int round = 0; round < 2; ++round) {
        Buffer buffer = register_host_memory(memory.data(), memory.size());
        EXPECT_THROW((void)register_host_memory(memory.data(), memory.size()), CUDAError);
        buffer.fill(static_cast<std::uint8_t>(round + 1), stream());
        buffer.close(stream());
        EXPECT_EQ(memory.back(), round + 1) << "unregistering waits for the stream";
    }
}

} // namespace cuprum
