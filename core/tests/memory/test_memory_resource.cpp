// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/driver_test.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/error.hpp>
#include <cuprum/memory_resource.hpp>
#include <cuprum/stream.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace cuprum {

namespace {

constexpr std::size_t MEBIBYTE = std::size_t{1} << 20U;

class ResourceOnFake : public testing::FakeDriverTest {};

class ResourceOnDriver : public testing::DriverTest {};

} // namespace

// ---- on the fake driver ------------------------------------------------------------------------

TEST_F(ResourceOnFake, default_pool_is_wrapped_not_owned) {
    {
        const auto pool = DeviceMemoryResource::create(Device(1));
        EXPECT_EQ(pool->handle(), fake->default_pools[1]);
        EXPECT_FALSE(pool->is_handle_owned());
        EXPECT_EQ(pool->device_id(), 1);
        EXPECT_EQ(pool->device(), Device(1));
        EXPECT_TRUE(pool->is_device_accessible());
        EXPECT_FALSE(pool->is_host_accessible());
    }
    EXPECT_EQ(fake->count("cuMemPoolDestroy"), 0);
}

TEST_F(ResourceOnFake, default_pool_is_told_to_keep_memory_only_if_it_would_keep_none) {
    const auto untouched = DeviceMemoryResource::create(Device(0));
    EXPECT_EQ(untouched->attributes().release_threshold, std::numeric_limits<std::uint64_t>::max());
    fake->pools.at(fake->default_pools[1]).release_threshold = 4096;
    const auto chosen = DeviceMemoryResource::create(Device(1));
    EXPECT_EQ(chosen->attributes().release_threshold, 4096U) << "somebody else's choice";
    EXPECT_EQ(fake->count("cuMemPoolSetAttribute"), 1);
}

TEST_F(ResourceOnFake, own_pool_is_made_on_its_device_and_destroyed) {
    {
        const auto pool = DeviceMemoryResource::create(Device(1), {.max_size = MEBIBYTE});
        EXPECT_TRUE(pool->is_handle_owned());
        EXPECT_EQ(fake->pools.at(pool->handle()).device, 1);
        EXPECT_EQ(fake->pools.at(pool->handle()).max_size, MEBIBYTE);
        EXPECT_EQ(fake->live().pools, 1);
    }
    EXPECT_EQ(fake->live().pools, 0);
}

TEST_F(ResourceOnFake, buffers_keep_a_closed_pool_alive) {
    const Stream stream = Device(0).create_stream();
    auto pool = DeviceMemoryResource::create(Device(0), {});
    Buffer buffer = pool->allocate(64, stream);
    pool.reset();
    EXPECT_EQ(fake->live().pools, 1);
    buffer.close();
    EXPECT_EQ(fake->live().pools, 0);
}

TEST_F(ResourceOnFake, pools_are_memory_resources) {
    const Stream stream = Device(0).create_stream();
    const std::shared_ptr<MemoryResource> pool = DeviceMemoryResource::create(Device(0), {});
    const Buffer buffer = pool->allocate(16, stream);
    EXPECT_EQ(buffer.memory_resource(), pool);
    const std::shared_ptr<MemoryResource> managed =
        ManagedMemoryResource::create(ManagedMemoryResourceOptions{});
    EXPECT_TRUE(managed->allocate(16, stream).is_managed());
    EXPECT_TRUE(std::dynamic_pointer_cast<MemoryPool>(managed)->is_handle_owned());
}

TEST_F(ResourceOnFake, out_of_memory_shows_requested_and_free_bytes) {
    const Stream stream = Device(0).create_stream();
    try {
        (void)Device(0).allocate(std::size_t{3} << 30U, stream);
        FAIL();
    } catch (const OutOfMemoryError& error) {
        EXPECT_EQ(error.call(), "cuMemAllocFromPoolAsync");
        EXPECT_EQ(error.requested_bytes(), std::size_t{3} << 30U);
        EXPECT_EQ(error.free_bytes(), fake->free_bytes);
        EXPECT_EQ(error.total_bytes(), std::size_t{2} << 30U);
    }
    EXPECT_EQ(Device(0).allocate(16, stream).size(), 16U) << "the pool stays usable";
}

TEST_F(ResourceOnFake, out_of_memory_in_a_limited_pool_names_the_limit) {
    const Stream stream = Device(0).create_stream();
    const auto pool = DeviceMemoryResource::create(Device(0), {.max_size = 4096});
    try {
        (void)pool->allocate(8192, stream);
        FAIL();
    } catch (const OutOfMemoryError& error) {
        EXPECT_NE(std::string(error.what()).find("the pool may hold at most 4096 bytes"),
                  std::string::npos)
            << error.what();
    }
}

TEST_F(ResourceOnFake, out_of_memory_is_reported_even_without_figures) {
    const Stream stream = Device(0).create_stream();
    fake->fail("cuMemGetInfo", CUDA_ERROR_UNKNOWN);
    try {
        (void)Device(0).allocate(std::size_t{3} << 30U, stream);
        FAIL();
    } catch (const CUDAError& error) {
        EXPECT_EQ(error.code(), CUDA_ERROR_OUT_OF_MEMORY);
    }
}

TEST_F(ResourceOnFake, capturing_stream_is_refused) {
    const Stream stream = Device(0).create_stream();
    fake->set_capturing(stream.handle());
    try {
        (void)Device(0).allocate(16, stream);
        FAIL();
    } catch (const std::logic_error& error) {
        EXPECT_NE(std::string(error.what()).find("capturing"), std::string::npos) << error.what();
    }
    EXPECT_EQ(fake->count("cuMemAllocFromPoolAsync"), 0);
}

TEST_F(ResourceOnFake, device_without_pools_is_named) {
    driver::Table without = driver::table();
    without.cuDeviceGetAttribute = [](int* value, CUdevice_attribute, CUdevice) {
        *value = 0;
        return CUDA_SUCCESS;
    };
    driver::Table* before = driver::exchange_table(&without);
    try {
        const auto pool = DeviceMemoryResource::create(Device(1));
        ADD_FAILURE();
    } catch (const CUDAError& error) {
        EXPECT_NE(std::string(error.what()).find("device 1 has no memory pools"), std::string::npos)
            << error.what();
    }
    driver::exchange_table(before);
}

TEST_F(ResourceOnFake, allocation_on_its_own_stream_needs_no_current_context) {
    const Stream stream = Device(1).create_stream();
    const auto pool = DeviceMemoryResource::create(Device(1));
    fake->forget_calls();
    Buffer buffer = pool->allocate(16, stream);
    EXPECT_EQ(fake->calls(), std::vector<std::string>{"cuMemAllocFromPoolAsync"});
}

TEST_F(ResourceOnFake, streams_that_may_be_capturing_are_asked) {
    const auto pool = DeviceMemoryResource::create(Device(0));
    const auto is_asked = [&](const Stream& stream) {
        fake->forget_calls();
        const Buffer buffer = pool->allocate(16, stream);
        return fake->count("cuStreamIsCapturing") == 1;
    };
    const Stream secret = Device(0).create_stream();
    const Stream shown = Device(0).create_stream();
    const Stream waiting = Device(0).create_stream();
    const CUstream handle = shown.handle();
    secret.sync();
    waiting.wait(secret.record());
    EXPECT_FALSE(is_asked(secret));
    EXPECT_TRUE(is_asked(shown)) << "who knows the handle can begin a capture";
    EXPECT_TRUE(is_asked(waiting)) << "the event may have been recorded in a capture";
    EXPECT_TRUE(is_asked(Stream::from_handle(handle)));
    EXPECT_FALSE(is_asked(secret));
    Device(0).set_current();
    EXPECT_TRUE(is_asked(Stream::per_thread_default()));
    fake->set_capturing(handle);
    EXPECT_THROW(is_asked(shown), std::logic_error);
}

TEST_F(ResourceOnFake, deallocate_frees_memory_that_no_buffer_holds) {
    const Stream stream = Device(0).create_stream();
    const auto pool = DeviceMemoryResource::create(Device(0));
    const CUdeviceptr pointer = pool->allocate_bytes(16, stream);
    EXPECT_EQ(fake->live().allocations, 1);
    pool->deallocate_bytes(pointer, 16, stream);
    EXPECT_EQ(fake->live().allocations, 0);
    EXPECT_THROW(pool->deallocate_bytes(pointer, 16, stream), CUDAError);
    fake->forget_calls();
    pool->deallocate_bytes(0, 0, stream);
    EXPECT_TRUE(fake->calls().empty());
}

TEST(ResourceFailures, every_call) {
    testing::check_every_failure([](testing::FakeDriver&) {
        const Stream stream = Device(0).create_stream();
        const auto shared = DeviceMemoryResource::create(Device(0));
        const auto own = DeviceMemoryResource::create(Device(0), {.max_size = MEBIBYTE});
        (void)own->attributes();
        own->trim(16);
        const Buffer buffer = own->allocate(64, stream);
        const Buffer other = shared->allocate(64, stream);
    });
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(ResourceOnDriver, own_pool_counts_what_it_gives) {
    const Stream stream = device().create_stream();
    const auto pool = DeviceMemoryResource::create(device(), {});
    EXPECT_EQ(pool->attributes().used_mem_current, 0U);
    {
        const Buffer buffer = pool->allocate(MEBIBYTE, stream);
        stream.sync();
        EXPECT_GE(pool->attributes().used_mem_current, MEBIBYTE);
        EXPECT_GE(pool->attributes().reserved_mem_current, MEBIBYTE);
    }
    stream.sync();
    EXPECT_EQ(pool->attributes().used_mem_current, 0U);
    EXPECT_GE(pool->attributes().used_mem_high, MEBIBYTE);
    pool->trim();
    EXPECT_EQ(pool->attributes().reserved_mem_current, 0U);
}

TEST_F(ResourceOnDriver, default_pool_keeps_what_is_freed) {
    const auto pool = std::dynamic_pointer_cast<MemoryPool>(device().memory_resource());
    ASSERT_NE(pool, nullptr);
    EXPECT_FALSE(pool->is_handle_owned());
    EXPECT_GT(pool->attributes().release_threshold, 0U);
}

TEST_F(ResourceOnDriver, limited_pool_refuses_what_is_beyond_its_limit) {
    const Stream stream = device().create_stream();
    // Drivers round the limit up to their granularity, at most a few tens of mebibytes.
    const auto pool = DeviceMemoryResource::create(device(), {.max_size = MEBIBYTE});
    EXPECT_THROW((void)pool->allocate(256 * MEBIBYTE, stream), OutOfMemoryError);
    EXPECT_NO_THROW((void)pool->allocate(MEBIBYTE / 2, stream));
}

} // namespace cuprum
