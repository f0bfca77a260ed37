// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/driver.hpp"
#include "api/kernels.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

using namespace cuprum::emulator::test;

class Pools : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING)));
        CUmemPoolProps properties{};
        properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        ASSERT_TRUE(succeeds(CU(cuMemPoolCreate)(&pool_, &properties)));
    }

    void TearDown() override {
        if (pool_ != nullptr) {
            EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(pool_)));
        }
        EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream_)));
        DriverTest::TearDown();
    }

    cuuint64_t attribute(CUmemPool_attribute attribute) const {
        cuuint64_t value = 0;
        EXPECT_TRUE(succeeds(CU(cuMemPoolGetAttribute)(pool_, attribute, &value)));
        return value;
    }

    CUdeviceptr take(std::size_t bytes, CUstream stream) const {
        CUdeviceptr address = 0;
        EXPECT_TRUE(succeeds(CU(cuMemAllocFromPoolAsync)(&address, bytes, pool_, stream)));
        return address;
    }

    CUstream stream_ = nullptr;
    CUmemoryPool pool_ = nullptr;
};

TEST_F(Pools, allocating_and_freeing_beside_a_capture_ends_it_unless_the_thread_may) {
    const CUdeviceptr kept = take(64, stream_);
    CUstream captured = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&captured, CU_STREAM_NON_BLOCKING)));
    CUgraph graph = nullptr;
    for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL}) {
        CUdeviceptr none = 0;
        ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(captured, mode)));
        EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                            CU(cuMemAllocFromPoolAsync)(&none, 64, pool_, stream_)));
        EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                            CU(cuStreamEndCapture)(captured, &graph)));
        ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(captured, mode)));
        EXPECT_TRUE(
            returns(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CU(cuMemFreeAsync)(kept, stream_)));
        EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                            CU(cuStreamEndCapture)(captured, &graph)));
    }
    ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(captured, CU_STREAM_CAPTURE_MODE_GLOBAL)));
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    ASSERT_TRUE(succeeds(CU(cuThreadExchangeStreamCaptureMode)(&mode)));
    EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(kept, stream_)));
    ASSERT_TRUE(succeeds(CU(cuThreadExchangeStreamCaptureMode)(&mode)));
    EXPECT_TRUE(succeeds(CU(cuStreamEndCapture)(captured, &graph)));
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(captured)));
}

TEST_F(Pools, a_pool_of_managed_memory_has_no_limit) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    properties.maxSize = 1 << 20;
    CUmemoryPool none = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolCreate)(&none, &properties)));
}

TEST_F(Pools, memory_can_be_used_in_the_order_of_the_stream) {
    CUdeviceptr address = 0;
    std::vector<unsigned> host(1024);
    ASSERT_TRUE(succeeds(CU(cuMemAllocAsync)(&address, 4096, stream_)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD32Async)(address, 9, 1024, stream_)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoHAsync)(host.data(), address, 4096, stream_)));
    ASSERT_TRUE(succeeds(CU(cuMemFreeAsync)(address, stream_)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    EXPECT_EQ(host.back(), 9U);
}

TEST_F(Pools, freeing_twice_or_using_after_free_is_refused) {
    const CUdeviceptr address = take(256, stream_);
    ASSERT_TRUE(succeeds(CU(cuMemFreeAsync)(address, stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemFreeAsync)(address, stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(address)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD8Async)(address, 0, 256, stream_)));
}

TEST_F(Pools, a_block_is_used_again_on_its_stream_even_before_the_free_is_reached) {
    Gate gate;
    gate.block(stream_);
    const CUdeviceptr first = take(100000, stream_);
    ASSERT_TRUE(succeeds(CU(cuMemFreeAsync)(first, stream_)));
    const CUdeviceptr second = take(100000, stream_);
    EXPECT_EQ(second, first);
    CUstream other = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&other, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuMemFreeAsync)(second, stream_)));
    const CUdeviceptr third = take(100000, other);
    EXPECT_NE(third, first) << "the stream that frees it is not there yet";
    gate.open();
    ASSERT_TRUE(succeeds(CU(cuMemFreeAsync)(third, other)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(other)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(other)));
}

TEST_F(Pools, what_is_reserved_and_used_is_told) {
    const CUdeviceptr address = take(1 << 20, stream_);
    EXPECT_GE(attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 1U << 20);
    EXPECT_GE(attribute(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT),
              attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    ASSERT_TRUE(succeeds(CU(cuMemFreeAsync)(address, stream_)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0U);
    EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0U);
    EXPECT_GE(attribute(CU_MEMPOOL_ATTR_USED_MEM_HIGH), 1U << 20);
}

TEST_F(Pools, memory_below_the_release_threshold_is_kept_until_trimmed) {
    cuuint64_t threshold = 1 << 30;
    ASSERT_TRUE(
        succeeds(CU(cuMemPoolSetAttribute)(pool_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold)));
    EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), threshold);
    const CUdeviceptr address = take(1 << 20, stream_);
    ASSERT_TRUE(succeeds(CU(cuMemFreeAsync)(address, stream_)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    EXPECT_GE(attribute(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 1U << 20);
    ASSERT_TRUE(succeeds(CU(cuMemPoolTrimTo)(pool_, 0)));
    EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0U);
}

TEST_F(Pools, a_destroyed_pool_serves_its_allocations_to_the_end) {
    const CUdeviceptr address = take(4096, stream_);
    ASSERT_TRUE(succeeds(CU(cuMemPoolDestroy)(pool_)));
    CUdeviceptr another = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuMemAllocFromPoolAsync)(&another, 16, pool_, stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolDestroy)(pool_)));
    pool_ = nullptr;
    EXPECT_TRUE(succeeds(CU(cuMemsetD8Async)(address, 1, 4096, stream_)));
    EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(address, stream_)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
}

TEST_F(Pools, the_current_pool_can_be_set_and_falls_back_to_the_default) {
    CUmemoryPool current = nullptr;
    CUmemoryPool standard = nullptr;
    ASSERT_TRUE(succeeds(CU(cuDeviceGetDefaultMemPool)(&standard, 0)));
    ASSERT_TRUE(succeeds(CU(cuDeviceSetMemPool)(0, pool_)));
    ASSERT_TRUE(succeeds(CU(cuDeviceGetMemPool)(&current, 0)));
    EXPECT_EQ(current, pool_);
    ASSERT_TRUE(succeeds(CU(cuMemPoolDestroy)(pool_)));
    pool_ = nullptr;
    ASSERT_TRUE(succeeds(CU(cuDeviceGetMemPool)(&current, 0)));
    EXPECT_EQ(current, standard);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolDestroy)(standard)));
}

TEST_F(Pools, sizes_that_wrap_when_rounded_are_out_of_memory) {
    for (const std::size_t bytes :
         {~std::size_t{0}, ~std::size_t{0} - 4095, std::size_t{1} << 63}) {
        CUdeviceptr memory = 0;
        EXPECT_TRUE(
            returns(CUDA_ERROR_OUT_OF_MEMORY, CU(cuMemAllocAsync)(&memory, bytes, nullptr)));
    }
}

TEST_F(Pools, a_largest_size_is_kept) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    properties.maxSize = 4 << 20;
    CUmemoryPool small = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemPoolCreate)(&small, &properties)));
    CUdeviceptr address = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_OUT_OF_MEMORY,
                        CU(cuMemAllocFromPoolAsync)(&address, 8 << 20, small, stream_)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(small)));
    properties.location.id = 99;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolCreate)(&small, &properties)));
}

TEST_F(Pools, threads_that_allocate_at_once_keep_to_the_largest_size_together) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    constexpr std::size_t piece = 1 << 20;
    constexpr int pieces = 4;
    properties.maxSize = pieces * piece;
    for (int round = 0; round < 50; ++round) {
        CUmemoryPool small = nullptr;
        ASSERT_TRUE(succeeds(CU(cuMemPoolCreate)(&small, &properties)));
        std::atomic<int> ready{0};
        std::array<CUdeviceptr, 2 * pieces> memory{};
        std::vector<std::thread> threads;
        threads.reserve(memory.size());
        for (CUdeviceptr& own : memory) {
            threads.emplace_back([&] {
                EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
                ++ready;
                while (ready != 2 * pieces) {
                    std::this_thread::yield();
                }
                const CUresult status = CU(cuMemAllocFromPoolAsync)(&own, piece, small, stream_);
                EXPECT_TRUE(status == CUDA_SUCCESS || status == CUDA_ERROR_OUT_OF_MEMORY);
            });
        }
        for (std::thread& each : threads) {
            each.join();
        }
        EXPECT_EQ(std::ranges::count(memory, 0), pieces) << "as many were refused";
        for (const CUdeviceptr each : memory) {
            if (each != 0) {
                EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(each, stream_)));
            }
        }
        EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
        EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(small)));
    }
}

TEST_F(Pools, plain_free_takes_pooled_memory_too) {
    const CUdeviceptr address = take(4096, stream_);
    ASSERT_TRUE(succeeds(CU(cuMemsetD8Async)(address, 1, 4096, stream_)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(address)));
}

TEST_F(Pools, several_threads_allocate_free_and_trim_at_once) {
    CUmodule module = nullptr;
    CUfunction touch = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, COUNTER_PTX)));
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&touch, module, "touch")));
    const auto use = [&](CUstream stream) {
        EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
        constexpr int rounds = 2000;
        for (int i = 0; i < rounds && !HasFailure(); ++i) {
            CUdeviceptr memory = take(512, stream);
            void* arguments[] = {&memory};
            EXPECT_TRUE(succeeds(
                CU(cuLaunchKernel)(touch, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr)));
            EXPECT_TRUE(
                succeeds(i % 2 == 0 ? CU(cuMemFree)(memory) : CU(cuMemFreeAsync)(memory, stream)));
            if (i % 3 == 0) {
                EXPECT_TRUE(succeeds(CU(cuMemPoolTrimTo)(pool_, 0)));
            }
        }
    };
    CUstream other = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&other, CU_STREAM_NON_BLOCKING)));
    std::thread first(use, stream_);
    std::thread second(use, other);
    use(nullptr);
    first.join();
    second.join();
    EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(other)));
    EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
}

TEST_F(Pools, access_is_told_of_devices_that_exist) {
    CUmemAccess_flags flags{};
    CUmemLocation nowhere{CU_MEM_LOCATION_TYPE_DEVICE, 99};
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_DEVICE, CU(cuMemPoolGetAccess)(&flags, pool_, &nowhere)));
}

TEST_F(Pools, access_is_set_for_all_or_for_none) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemoryPool pool = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemPoolCreate)(&pool, &properties)));
    CUmemAccessDesc access[] = {
        {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
        {{CU_MEM_LOCATION_TYPE_DEVICE, 99}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_DEVICE, CU(cuMemPoolSetAccess)(pool, access, 2)));
    access[1].location = {CU_MEM_LOCATION_TYPE_HOST, 99};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolSetAccess)(pool, access, 2)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolSetAccess)(pool, access, 1)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(pool)));
}

TEST_F(Pools, properties_are_checked) {
    const auto expect = [](CUresult expected, const CUmemPoolProps& properties) {
        CUmemoryPool pool = nullptr;
        EXPECT_TRUE(returns(expected, CU(cuMemPoolCreate)(&pool, &properties)));
        if (pool != nullptr) {
            EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(pool)));
        }
    };
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_HOST, 0};
    expect(CUDA_SUCCESS, properties);
    properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    expect(CUDA_ERROR_INVALID_VALUE, properties);
    properties.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    expect(CUDA_SUCCESS, properties);
    properties.location.id = 12345;
    expect(CUDA_ERROR_INVALID_VALUE, properties);
    properties.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0};
    expect(CUDA_ERROR_INVALID_VALUE, properties);
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    properties.handleTypes = static_cast<CUmemAllocationHandleType>(64);
    expect(CUDA_ERROR_INVALID_VALUE, properties);
    properties.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    expect(CUDA_ERROR_NOT_SUPPORTED, properties);
    CUmemoryPool pool = nullptr;
    CUmemLocation nowhere{CU_MEM_LOCATION_TYPE_HOST_NUMA, 12345};
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE,
                CU(cuMemGetDefaultMemPool)(&pool, &nowhere, CU_MEM_ALLOCATION_TYPE_PINNED)));
}

TEST_F(Pools, a_managed_pool_is_not_the_one_that_a_device_allocates_from) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemoryPool pool = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemPoolCreate)(&pool, &properties)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuDeviceSetMemPool)(0, pool)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(pool)));
}
