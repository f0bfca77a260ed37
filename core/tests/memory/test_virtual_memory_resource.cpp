// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/device_test.hpp"
#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;

constexpr std::size_t GRANULARITY_BYTES = testing::FakeDriver::GRANULARITY_BYTES;

class VirtualMemoryOnFake : public testing::FakeDriverTest {
protected:
    static std::shared_ptr<VirtualMemoryResource>
    make(const VirtualMemoryResourceOptions& options = {}) {
        return VirtualMemoryResource::create(Device(0), options);
    }
};

class VirtualMemoryOnDriver : public testing::DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (!IsSkipped() &&
            device().properties().get("virtual_memory_management_supported", 0) == 0) {
            GTEST_SKIP() << "the device has no virtual memory management";
        }
    }
};

} // namespace

TEST_F(VirtualMemoryOnFake, sizes_are_rounded_up_and_everything_is_given_back) {
    const auto resource = make();
    {
        const Buffer buffer = resource->allocate(1000);
        EXPECT_EQ(buffer.size(), GRANULARITY_BYTES);
        EXPECT_EQ(buffer.device_id(), 0);
        EXPECT_EQ(fake->live().chunks, 1);
        EXPECT_EQ(fake->live().mappings, 1);
        EXPECT_EQ(fake->live().reservations, 1);
    }
    EXPECT_EQ(fake->live().chunks + fake->live().mappings + fake->live().reservations, 0);
    EXPECT_EQ(make({.granularity = VirtualMemoryGranularity::Minimum})->allocate(1).size(),
              GRANULARITY_BYTES / 32);
}

TEST_F(VirtualMemoryOnFake, every_option_reaches_the_driver) {
    const auto resource = make({.handle_type = VirtualMemoryHandle::Fabric,
                                .gpu_direct_rdma = true,
                                .addr_hint = 0x7000000000,
                                .addr_align = GRANULARITY_BYTES * 4,
                                .peers = {Device(1)},
                                .self_access = VirtualMemoryAccess::Read,
                                .peer_access = VirtualMemoryAccess::ReadWrite});
    const Buffer buffer = resource->allocate(1);
    EXPECT_EQ(buffer.handle(), 0x7000000000U);
    const auto& mapping = fake->mappings.at(buffer.handle());
    ASSERT_EQ(mapping.access.size(), 2U);
    EXPECT_EQ(mapping.access[0].flags, CU_MEM_ACCESS_FLAGS_PROT_READ);
    EXPECT_EQ(mapping.access[1].location.id, 1);
    EXPECT_EQ(mapping.access[1].flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    const auto& properties = fake->chunks.at(mapping.chunk).properties;
    EXPECT_EQ(properties.requestedHandleTypes, CU_MEM_HANDLE_TYPE_FABRIC);
    EXPECT_EQ(properties.allocFlags.gpuDirectRDMACapable, 1);
    EXPECT_EQ(properties.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
    fake->is_hint_honoured = false;
    const Buffer elsewhere = resource->allocate(1);
    EXPECT_EQ(elsewhere.handle() % (GRANULARITY_BYTES * 4), 0U);
}

TEST_F(VirtualMemoryOnFake, host_memory_belongs_to_no_device) {
    const auto resource = make({.location_type = LocationKind::HostNumaCurrent});
    EXPECT_EQ(resource->device(), std::nullopt);
    EXPECT_TRUE(resource->is_host_accessible());
    EXPECT_FALSE(resource->is_device_accessible());
    EXPECT_EQ(resource->device_id(), -1);
    const auto reached = make({.location_type = LocationKind::Host, .peers = {Device(0)}});
    EXPECT_TRUE(reached->is_device_accessible());
    const Buffer buffer = reached->allocate(1);
    const auto& access = fake->mappings.at(buffer.handle()).access;
    ASSERT_EQ(access.size(), 2U);
    EXPECT_EQ(access[0].location.type, CU_MEM_LOCATION_TYPE_HOST);
    EXPECT_EQ(access[1].location.type, CU_MEM_LOCATION_TYPE_DEVICE);
}

TEST_F(VirtualMemoryOnFake, bad_or_unsupported_options_are_named) {
    fake->device_attributes[CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED] = 0;
    expect_error<std::logic_error>([] { (void)make({.gpu_direct_rdma = true}); },
                                   {"GPU Direct RDMA is not supported on this device"});
    expect_error<std::invalid_argument>([] { (void)make({.addr_align = 3}); },
                                        {"addr_align is 3", "power of two"});
    fake->device_attributes[CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED] = 0;
    expect_error<std::logic_error>([] { (void)VirtualMemoryResource::create(Device(1)); },
                                   {"VMM", "device 1"});
}

// ---- growth ------------------------------------------------------------------------------------

TEST_F(VirtualMemoryOnFake, grows_in_place_where_the_addresses_are_free) {
    const auto resource = make();
    Buffer buffer = resource->allocate(1);
    const Buffer copy = buffer;
    for (std::size_t chunks = 2; chunks <= 4; ++chunks) {
        const Buffer grown = resource->modify_allocation(buffer, chunks * GRANULARITY_BYTES - 5);
        EXPECT_EQ(grown.handle(), buffer.handle());
        EXPECT_EQ(grown.size(), chunks * GRANULARITY_BYTES);
        EXPECT_EQ(copy.size(), grown.size()) << "every copy sees it";
    }
    EXPECT_EQ(fake->live().chunks, 4);
    EXPECT_EQ(fake->live().mappings, 4);
}

TEST_F(VirtualMemoryOnFake, grows_under_new_addresses_with_the_same_memory) {
    const auto resource = make();
    Buffer buffer = resource->allocate(GRANULARITY_BYTES);
    const auto chunk = fake->mappings.at(buffer.handle()).chunk;
    fake->is_hint_honoured = false;
    Buffer grown = resource->modify_allocation(buffer, 3 * GRANULARITY_BYTES);
    EXPECT_NE(grown.handle(), buffer.handle());
    EXPECT_EQ(grown.size(), 3 * GRANULARITY_BYTES);
    EXPECT_EQ(fake->mappings.at(grown.handle()).chunk, chunk) << "not a copy";
    EXPECT_EQ(buffer.size(), GRANULARITY_BYTES) << "the old one is still mapped";
    EXPECT_EQ(fake->live().chunks, 2);
    buffer.close();
    EXPECT_EQ(fake->live().chunks, 2) << "the new one holds the memory";
    EXPECT_EQ(fake->live().reservations, 1);
    Buffer again = resource->modify_allocation(grown, 4 * GRANULARITY_BYTES);
    grown.close();
    EXPECT_EQ(fake->live().chunks, 3);
    EXPECT_EQ(fake->live().mappings, 3);
    again.close();
    EXPECT_EQ(fake->live().chunks, 0);
}

TEST_F(VirtualMemoryOnFake, smaller_sizes_change_access_alone) {
    const auto resource = make();
    const Buffer buffer = resource->allocate(GRANULARITY_BYTES);
    const Buffer same =
        resource->modify_allocation(buffer, 10, {.self_access = VirtualMemoryAccess::Read});
    EXPECT_EQ(same, buffer);
    EXPECT_EQ(fake->mappings.at(buffer.handle()).access[0].flags, CU_MEM_ACCESS_FLAGS_PROT_READ);
    EXPECT_EQ(resource->options().self_access, VirtualMemoryAccess::Read);
}

TEST_F(VirtualMemoryOnFake, peers_that_are_not_named_any_more_are_shut_out) {
    const auto resource = make({.peers = {Device(1)}});
    const Buffer buffer = resource->allocate(GRANULARITY_BYTES);
    const auto flags_of_peer = [&](CUdeviceptr address) {
        const auto& access = fake->mappings.at(address).access;
        const auto found = std::ranges::find_if(
            access, [](const CUmemAccessDesc& each) { return each.location.id == 1; });
        return found == access.end() ? CU_MEM_ACCESS_FLAGS_PROT_MAX : found->flags;
    };
    EXPECT_EQ(flags_of_peer(buffer.handle()), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    (void)resource->modify_allocation(buffer, 1, {});
    EXPECT_EQ(flags_of_peer(buffer.handle()), CU_MEM_ACCESS_FLAGS_PROT_NONE);
    (void)resource->modify_allocation(buffer, 1, {.peers = {Device(1)}});
    EXPECT_EQ(flags_of_peer(buffer.handle()), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    (void)resource->modify_allocation(buffer, 2 * GRANULARITY_BYTES, {});
    EXPECT_EQ(flags_of_peer(buffer.handle()), CU_MEM_ACCESS_FLAGS_PROT_NONE);
}

TEST_F(VirtualMemoryOnFake, access_that_cannot_be_changed_everywhere_is_changed_nowhere) {
    const auto resource = make({.self_access = VirtualMemoryAccess::Read});
    const Buffer buffer = resource->allocate(GRANULARITY_BYTES);
    (void)resource->modify_allocation(buffer, 2 * GRANULARITY_BYTES);
    ASSERT_EQ(fake->live().mappings, 2);
    const auto flags = [&](std::size_t offset) {
        return fake->mappings.at(buffer.handle() + offset).access[0].flags;
    };
    for (const std::size_t bytes : {GRANULARITY_BYTES, 3 * GRANULARITY_BYTES}) {
        const int nth = bytes > buffer.size() ? 3 : 2; // the new piece is mapped first
        fake->fail("cuMemSetAccess", CUDA_ERROR_UNKNOWN, nth);
        EXPECT_THROW((void)resource->modify_allocation(buffer, bytes, {.peers = {Device(1)}}),
                     CUDAError);
        EXPECT_EQ(flags(0), CU_MEM_ACCESS_FLAGS_PROT_READ) << "and has it again";
        EXPECT_EQ(flags(GRANULARITY_BYTES), CU_MEM_ACCESS_FLAGS_PROT_READ);
        const auto& access = fake->mappings.at(buffer.handle()).access;
        ASSERT_EQ(access.size(), 2U);
        EXPECT_EQ(access[1].flags, CU_MEM_ACCESS_FLAGS_PROT_NONE) << "the peer has none";
        EXPECT_EQ(buffer.size(), 2 * GRANULARITY_BYTES);
        EXPECT_TRUE(resource->options().peers.empty());
    }
}

TEST_F(VirtualMemoryOnFake, only_whole_allocations_of_its_own_grow) {
    const auto resource = make();
    const auto other = make();
    Buffer buffer = resource->allocate(1);
    EXPECT_THROW((void)other->modify_allocation(buffer, 10), std::invalid_argument);
    const Buffer nothing = resource->allocate(0);
    EXPECT_THROW((void)resource->modify_allocation(nothing, 10), std::invalid_argument);
    EXPECT_THROW(
        (void)resource->modify_allocation(buffer, 1, {.location_type = LocationKind::Host}),
        std::invalid_argument);
    buffer.close();
    EXPECT_THROW((void)resource->modify_allocation(buffer, 10), ClosedError);
    EXPECT_THROW(resource->deallocate_bytes(12345, 1, Device(0).create_stream()),
                 std::invalid_argument);
}

TEST_F(VirtualMemoryOnFake, running_out_of_memory_keeps_an_allocation_unchanged) {
    const auto resource = make();
    const Buffer buffer = resource->allocate(1);
    for (const bool in_place : {true, false}) {
        fake->is_hint_honoured = in_place;
        expect_error<OutOfMemoryError>(
            [&] { (void)resource->modify_allocation(buffer, std::size_t{1} << 40U); },
            {"were requested", "1073741824 bytes"});
        EXPECT_EQ(buffer.size(), GRANULARITY_BYTES);
        EXPECT_EQ(fake->live().chunks, 1);
        EXPECT_EQ(fake->live().reservations, 1);
    }
    EXPECT_THROW((void)resource->allocate(std::numeric_limits<std::size_t>::max()),
                 std::invalid_argument);
}

TEST_F(VirtualMemoryOnFake, running_out_of_addresses_differs_from_out_of_memory) {
    const auto resource = make();
    const Buffer buffer = resource->allocate(1);
    fake->fail("cuMemAddressReserve", CUDA_ERROR_OUT_OF_MEMORY);
    expect_error<OutOfMemoryError>(
        [&] { (void)resource->modify_allocation(buffer, 2 * GRANULARITY_BYTES); },
        {"cuMemAddressReserve", "were requested", "1073741824 bytes", "no free address range"});
    EXPECT_EQ(buffer.size(), GRANULARITY_BYTES);
}

TEST(VirtualMemoryFailures, every_call) {
    for (const bool in_place : {true, false}) {
        testing::check_every_failure([in_place](testing::FakeDriver& fake) {
            fake.is_hint_honoured = in_place;
            const Stream stream = Device(0).create_stream();
            const auto resource =
                VirtualMemoryResource::create(Device(0), VirtualMemoryResourceOptions{});
            const Buffer buffer = resource->allocate(1, stream);
            const Buffer grown = resource->modify_allocation(buffer, 2 * GRANULARITY_BYTES);
            const Buffer without_stream = resource->allocate(1);
        });
    }
}

TEST_F(VirtualMemoryOnFake, threads_grow_one_buffer_and_read_its_size_at_the_same_time) {
    const auto resource = make();
    const Buffer buffer = resource->allocate(1);
    const std::size_t granularity = buffer.size();
    constexpr std::size_t rounds = 20;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            Buffer own = buffer;
            for (std::size_t round = 2; round < rounds; ++round) {
                own = resource->modify_allocation(own, round * granularity);
                EXPECT_GE(own.size(), round * granularity);
                EXPECT_GE(buffer.size(), granularity);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(buffer.size() % granularity, 0U);
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(VirtualMemoryOnDriver, grows_without_losing_what_it_holds) {
    const auto resource = VirtualMemoryResource::create(device());
    Buffer buffer = resource->allocate(1, stream());
    const std::size_t first = buffer.size();
    EXPECT_EQ(first % resource->granularity(), 0U);
    buffer.fill(std::uint8_t{1}, stream());
    stream().sync();
    for (std::uint8_t round = 2; round < 5; ++round) {
        Buffer grown = resource->modify_allocation(buffer, round * first);
        EXPECT_EQ(grown.size(), round * first);
        buffer = grown;
        std::vector<std::uint8_t> now = download<std::uint8_t>(buffer);
        EXPECT_TRUE(std::all_of(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(first),
                                [](std::uint8_t value) { return value == 1; }));
        std::fill(now.begin() + static_cast<std::ptrdiff_t>(first), now.end(), round);
        buffer.copy_from_host(now, stream());
        EXPECT_EQ(download<std::uint8_t>(buffer), now);
    }
}

TEST_F(VirtualMemoryOnDriver, many_allocations_leave_nothing_behind) {
    const auto resource = VirtualMemoryResource::create(device());
    const std::size_t free_before = device().memory_info().free_bytes;
    for (int round = 0; round < 10; ++round) {
        const Buffer buffer = resource->allocate(1000);
        const Buffer grown = resource->modify_allocation(buffer, 2 * buffer.size());
    }
    if (device().is_emulated()) { // a GPU's memory is shared with other processes
        EXPECT_EQ(device().memory_info().free_bytes, free_before);
    }
}

} // namespace cuprum
