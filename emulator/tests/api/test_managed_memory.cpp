// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/driver.hpp"

#include <vector>

using namespace cuprum::emulator::test;

namespace {

constexpr std::size_t PAGE_BYTES = 4096;
constexpr CUmemLocation DEVICE{CU_MEM_LOCATION_TYPE_DEVICE, 0};
constexpr CUmemLocation HOST{CU_MEM_LOCATION_TYPE_HOST, 0};
constexpr CUmemLocation NODE{CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};

} // namespace

class ManagedMemory : public DriverTest {};

/// Eight pages of managed memory.
class ManagedPages : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuMemAllocManaged)(&base_, 8 * PAGE_BYTES, CU_MEM_ATTACH_GLOBAL)));
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING)));
    }

    void TearDown() override {
        EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream_)));
        EXPECT_TRUE(succeeds(CU(cuMemFree)(base_)));
        DriverTest::TearDown();
    }

    [[nodiscard]] CUdeviceptr page(std::size_t number) const { return base_ + number * PAGE_BYTES; }

    void advise(std::size_t first, std::size_t count, CUmem_advise advice,
                CUmemLocation location = DEVICE) {
        EXPECT_TRUE(succeeds(CU(cuMemAdvise)(page(first), count * PAGE_BYTES, advice, location)));
    }

    int asked(std::size_t first, std::size_t count, CUmem_range_attribute attribute) {
        int value = -77;
        EXPECT_TRUE(succeeds(CU(cuMemRangeGetAttribute)(&value, sizeof value, attribute,
                                                        page(first), count * PAGE_BYTES)));
        return value;
    }

    CUdeviceptr base_ = 0;
    CUstream stream_ = nullptr;
};

TEST_F(ManagedMemory, advice_about_managed_memory_is_remembered) {
    CUdeviceptr managed = 0;
    ASSERT_TRUE(succeeds(CU(cuMemAllocManaged)(&managed, 4096, CU_MEM_ATTACH_GLOBAL)));
    const CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
    ASSERT_TRUE(
        succeeds(CU(cuMemAdvise)(managed, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device)));
    ASSERT_TRUE(succeeds(CU(cuMemPrefetchAsync)(managed, 4096, device, 0, nullptr)));
    int value = -7;
    ASSERT_TRUE(succeeds(CU(cuMemRangeGetAttribute)(
        &value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, managed, 4096)));
    EXPECT_EQ(value, 0);
    ASSERT_TRUE(succeeds(CU(cuMemRangeGetAttribute)(
        &value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, managed, 4096)));
    EXPECT_EQ(value, 0);
    const CUdeviceptr plain = allocate(4096);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuMemAdvise)(plain, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, device)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(plain)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(managed)));
}

// As on an H200 with driver 580.
TEST_F(ManagedMemory, a_managed_pool_takes_no_advice_but_is_prefetched) {
    const CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
    properties.location = device;
    CUmemoryPool pool = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemPoolCreate)(&pool, &properties)));
    CUdeviceptr memory = 0;
    ASSERT_TRUE(succeeds(CU(cuMemAllocFromPoolAsync)(&memory, 4096, pool, nullptr)));
    for (const CUmem_advise advice :
         {CU_MEM_ADVISE_SET_READ_MOSTLY, CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
          CU_MEM_ADVISE_SET_ACCESSED_BY}) {
        EXPECT_TRUE(
            returns(CUDA_ERROR_NOT_SUPPORTED, CU(cuMemAdvise)(memory, 4096, advice, device)));
    }
    EXPECT_TRUE(succeeds(CU(cuMemPrefetchAsync)(memory, 4096, device, 0, nullptr)));
    int value = -7;
    EXPECT_TRUE(succeeds(CU(cuMemRangeGetAttribute)(
        &value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 4096)));
    EXPECT_EQ(value, 0);
    EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(memory, nullptr)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(pool)));
}

TEST_F(ManagedPages, advice_about_a_part_holds_for_that_part) {
    constexpr auto read_mostly = CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
    advise(2, 3, CU_MEM_ADVISE_SET_READ_MOSTLY);
    EXPECT_EQ(asked(2, 3, read_mostly), 1);
    EXPECT_EQ(asked(3, 1, read_mostly), 1);
    EXPECT_EQ(asked(0, 2, read_mostly), 0);
    EXPECT_EQ(asked(1, 2, read_mostly), 0);
    EXPECT_EQ(asked(4, 2, read_mostly), 0);
    EXPECT_EQ(asked(0, 8, read_mostly), 0);
    advise(3, 1, CU_MEM_ADVISE_UNSET_READ_MOSTLY);
    EXPECT_EQ(asked(2, 1, read_mostly), 1);
    EXPECT_EQ(asked(3, 1, read_mostly), 0);
    EXPECT_EQ(asked(2, 3, read_mostly), 0);
    advise(0, 8, CU_MEM_ADVISE_SET_READ_MOSTLY);
    EXPECT_EQ(asked(0, 8, read_mostly), 1);
    advise(0, 8, CU_MEM_ADVISE_UNSET_READ_MOSTLY);
    EXPECT_EQ(asked(7, 1, read_mostly), 0);
    // The range is extended to whole pages.
    EXPECT_TRUE(succeeds(
        CU(cuMemAdvise)(page(5) + 100, PAGE_BYTES, CU_MEM_ADVISE_SET_READ_MOSTLY, DEVICE)));
    EXPECT_EQ(asked(5, 2, read_mostly), 1);
    EXPECT_EQ(asked(4, 1, read_mostly), 0);
    EXPECT_EQ(asked(7, 1, read_mostly), 0);
}

TEST_F(ManagedPages, places_are_told_where_all_pages_agree) {
    advise(0, 4, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, DEVICE);
    advise(4, 4, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, NODE);
    EXPECT_EQ(asked(0, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), 0);
    EXPECT_EQ(asked(4, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), CU_DEVICE_CPU);
    EXPECT_EQ(asked(4, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE),
              CU_MEM_LOCATION_TYPE_HOST_NUMA);
    EXPECT_EQ(asked(0, 8, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), CU_DEVICE_INVALID);
    EXPECT_EQ(asked(0, 8, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE),
              CU_MEM_LOCATION_TYPE_INVALID);
    EXPECT_TRUE(succeeds(CU(cuMemPrefetchAsync)(page(1), PAGE_BYTES, HOST, 0, stream_)));
    EXPECT_EQ(asked(1, 1, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), CU_DEVICE_CPU);
    EXPECT_EQ(asked(0, 2, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), CU_DEVICE_INVALID);

    advise(0, 8, CU_MEM_ADVISE_SET_ACCESSED_BY, DEVICE);
    advise(2, 2, CU_MEM_ADVISE_SET_ACCESSED_BY, HOST);
    int who[3] = {};
    EXPECT_TRUE(succeeds(CU(cuMemRangeGetAttribute)(
        who, sizeof who, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, page(2), 2 * PAGE_BYTES)));
    EXPECT_EQ(who[0], 0);
    EXPECT_EQ(who[1], CU_DEVICE_CPU);
    EXPECT_EQ(who[2], CU_DEVICE_INVALID);
    EXPECT_TRUE(succeeds(CU(cuMemRangeGetAttribute)(
        who, sizeof who, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, base_, 8 * PAGE_BYTES)));
    EXPECT_EQ(who[0], 0);
    EXPECT_EQ(who[1], CU_DEVICE_INVALID);
    // The current node is stored by its number.
    advise(0, 8, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, {CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0});
    EXPECT_EQ(asked(0, 8, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE),
              CU_MEM_LOCATION_TYPE_HOST_NUMA);
}

TEST_F(ManagedPages, places_that_there_are_not_are_refused) {
    const auto advise_with = [&](CUmem_advise advice, CUmemLocation location) {
        return CU(cuMemAdvise)(base_, PAGE_BYTES, advice, location);
    };
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, advise_with(CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
                                                      {CU_MEM_LOCATION_TYPE_HOST_NUMA, 12345})));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, advise_with(CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
                                                              {CU_MEM_LOCATION_TYPE_INVALID, 0})));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, advise_with(CU_MEM_ADVISE_SET_ACCESSED_BY, NODE)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, advise_with(CU_MEM_ADVISE_UNSET_ACCESSED_BY, NODE)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, advise_with(static_cast<CUmem_advise>(99), HOST)));
    EXPECT_EQ(asked(0, 8, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), CU_DEVICE_INVALID);
}

TEST_F(ManagedPages, batches_are_checked_before_anything_is_done) {
    CUdeviceptr addresses[] = {page(0), page(4)};
    std::size_t sizes[] = {4 * PAGE_BYTES, 4 * PAGE_BYTES};
    CUmemLocation places[] = {DEVICE, HOST};
    std::size_t starts[] = {0, 1};
    const auto prefetch = [&](CUstream stream) {
        return CU(cuMemPrefetchBatchAsync)(addresses, sizes, 2, places, starts, 2, 0, stream);
    };
    const auto expect_refusal = [&](CUresult expected, CUstream stream) {
        EXPECT_TRUE(returns(expected, prefetch(stream)));
        EXPECT_EQ(asked(0, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), CU_DEVICE_INVALID);
    };
    expect_refusal(CUDA_ERROR_INVALID_VALUE, nullptr);
    expect_refusal(CUDA_ERROR_INVALID_VALUE, CU_STREAM_LEGACY);
    starts[1] = 0;
    expect_refusal(CUDA_ERROR_INVALID_VALUE, stream_);
    starts[1] = 2;
    expect_refusal(CUDA_ERROR_INVALID_VALUE, stream_);
    starts[1] = 1;
    places[1] = {CU_MEM_LOCATION_TYPE_DEVICE, 99};
    expect_refusal(CUDA_ERROR_INVALID_DEVICE, stream_);
    places[1] = HOST;
    sizes[1] = 5 * PAGE_BYTES;
    expect_refusal(CUDA_ERROR_INVALID_VALUE, stream_);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuMemDiscardBatchAsync)(addresses, sizes, 2, 0, stream_)));
    sizes[1] = 0;
    expect_refusal(CUDA_ERROR_INVALID_VALUE, stream_);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuMemDiscardBatchAsync)(addresses, sizes, 2, 0, stream_)));
    sizes[1] = 4 * PAGE_BYTES;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuMemDiscardBatchAsync)(addresses, sizes, 2, 0, nullptr)));
    EXPECT_TRUE(succeeds(CU(cuMemDiscardBatchAsync)(addresses, sizes, 2, 0, stream_)));
    EXPECT_TRUE(succeeds(prefetch(stream_)));
    EXPECT_EQ(asked(0, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), 0);
    EXPECT_EQ(asked(4, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), CU_DEVICE_CPU);
}

TEST_F(ManagedPages, memory_is_attached_as_a_whole) {
    const auto attach = [&](CUdeviceptr address, std::size_t bytes) {
        return CU(cuStreamAttachMemAsync)(stream_, address, bytes, CU_MEM_ATTACH_SINGLE);
    };
    EXPECT_TRUE(succeeds(attach(base_, 0)));
    EXPECT_TRUE(succeeds(attach(base_, 8 * PAGE_BYTES)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, attach(base_, PAGE_BYTES)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, attach(page(1), 7 * PAGE_BYTES)));
}

TEST_F(ManagedMemory, more_than_host_and_device_hold_is_out_of_memory) {
    CUdeviceptr managed = 77;
    void* pinned = nullptr;
    constexpr std::size_t too_much = std::size_t{1} << 39;
    EXPECT_TRUE(returns(CUDA_ERROR_OUT_OF_MEMORY,
                        CU(cuMemAllocManaged)(&managed, too_much, CU_MEM_ATTACH_GLOBAL)));
    EXPECT_TRUE(returns(CUDA_ERROR_OUT_OF_MEMORY, CU(cuMemHostAlloc)(&pinned, too_much, 0)));
    EXPECT_EQ(managed, 77U);
    EXPECT_EQ(pinned, nullptr);
}
