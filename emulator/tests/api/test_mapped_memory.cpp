// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/driver.hpp"

#include <vector>

using namespace cuprum::emulator::test;

class MappedMemory : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties_.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        ASSERT_TRUE(succeeds(CU(cuMemGetAllocationGranularity)(&granularity_, &properties_,
                                                               CU_MEM_ALLOC_GRANULARITY_MINIMUM)));
        physical_before_ = live_counts().physical_allocations;
    }

    void TearDown() override {
        EXPECT_EQ(live_counts().physical_allocations, physical_before_) << "memory leaked";
        DriverTest::TearDown();
    }

    CUmemGenericAllocationHandle create(std::size_t bytes) const {
        CUmemGenericAllocationHandle handle = 0;
        EXPECT_TRUE(succeeds(CU(cuMemCreate)(&handle, bytes, &properties_, 0)));
        return handle;
    }

    static void allow(CUdeviceptr base, std::size_t bytes) {
        const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                     CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        EXPECT_TRUE(succeeds(CU(cuMemSetAccess)(base, bytes, &access, 1)));
    }

    CUmemAllocationProp properties_{};
    std::size_t granularity_ = 0;

private:
    std::size_t physical_before_ = 0;
};

TEST_F(MappedMemory, two_pieces_make_one_range) {
    const std::size_t bytes = 2 * granularity_;
    CUdeviceptr base = 0;
    ASSERT_TRUE(succeeds(CU(cuMemAddressReserve)(&base, bytes, 0, 0, 0)));
    for (int piece = 0; piece < 2; ++piece) {
        const auto handle = create(granularity_);
        ASSERT_TRUE(succeeds(CU(cuMemMap)(base + static_cast<std::size_t>(piece) * granularity_,
                                          granularity_, 0, handle, 0)));
        EXPECT_TRUE(succeeds(CU(cuMemRelease)(handle)));
    }
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD8)(base, 1, 16)))
        << "nobody has access yet";
    allow(base, bytes);
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(base, 7, bytes / 4)));
    std::vector<unsigned> back(bytes / 4);
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(back.data(), base, bytes)));
    EXPECT_EQ(back.front(), 7U);
    EXPECT_EQ(back.back(), 7U);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemAddressFree)(base, bytes)));
    ASSERT_TRUE(succeeds(CU(cuMemUnmap)(base, bytes)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD8)(base, 1, 16)));
    EXPECT_TRUE(succeeds(CU(cuMemAddressFree)(base, bytes)));
}

TEST_F(MappedMemory, one_piece_can_be_seen_at_two_addresses) {
    const auto handle = create(granularity_);
    CUdeviceptr places[2] = {0, 0};
    for (CUdeviceptr& place : places) {
        ASSERT_TRUE(succeeds(CU(cuMemAddressReserve)(&place, granularity_, 0, 0, 0)));
        ASSERT_TRUE(succeeds(CU(cuMemMap)(place, granularity_, 0, handle, 0)));
        allow(place, granularity_);
    }
    ASSERT_TRUE(succeeds(CU(cuMemsetD8)(places[0], 0x42, granularity_)));
    char byte = 0;
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&byte, places[1] + 5, 1)));
    EXPECT_EQ(byte, 0x42);
    CUmemGenericAllocationHandle retained = 0;
    ASSERT_TRUE(
        succeeds(CU(cuMemRetainAllocationHandle)(&retained, reinterpret_cast<void*>(places[1]))));
    EXPECT_EQ(retained, handle);
    EXPECT_TRUE(succeeds(CU(cuMemRelease)(retained)));
    for (const CUdeviceptr place : places) {
        EXPECT_TRUE(succeeds(CU(cuMemUnmap)(place, granularity_)));
        EXPECT_TRUE(succeeds(CU(cuMemAddressFree)(place, granularity_)));
    }
    EXPECT_TRUE(succeeds(CU(cuMemRelease)(handle)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemRelease)(handle)));
}

TEST_F(MappedMemory, sizes_and_places_are_checked) {
    CUdeviceptr base = 0;
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuMemAddressReserve)(&base, granularity_ + 1, 0, 0, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuMemCreate)(&handle, granularity_ / 2, &properties_, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemAddressReserve)(&base, granularity_, 0, 0, 0)));
    handle = create(2 * granularity_);
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemMap)(base, 2 * granularity_, 0, handle, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemMap)(base, granularity_, granularity_, handle, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemMap)(base, granularity_, 0, handle, 0)));
    EXPECT_TRUE(succeeds(CU(cuMemUnmap)(base, granularity_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemUnmap)(base, granularity_)));
    EXPECT_TRUE(succeeds(CU(cuMemRelease)(handle)));
    EXPECT_TRUE(succeeds(CU(cuMemAddressFree)(base, granularity_)));
}

TEST_F(MappedMemory, advice_about_managed_memory_is_remembered) {
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
TEST_F(MappedMemory, a_managed_pool_takes_no_advice_but_is_prefetched) {
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
