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

TEST_F(MappedMemory, access_is_set_for_all_or_for_none) {
    const auto handle = create(granularity_);
    CUdeviceptr base = 0;
    ASSERT_TRUE(succeeds(CU(cuMemAddressReserve)(&base, granularity_, 0, 0, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemMap)(base, granularity_, 0, handle, 0)));
    EXPECT_TRUE(succeeds(CU(cuMemRelease)(handle)));
    const CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
    const auto set_with = [&](CUmemLocation second, CUmemAccess_flags flags) {
        const CUmemAccessDesc access[] = {{device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
                                          {second, flags}};
        return CU(cuMemSetAccess)(base, granularity_, access, 2);
    };
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_DEVICE, set_with({CU_MEM_LOCATION_TYPE_DEVICE, 99},
                                                            CU_MEM_ACCESS_FLAGS_PROT_READWRITE)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, set_with({CU_MEM_LOCATION_TYPE_INVALID, 0},
                                                           CU_MEM_ACCESS_FLAGS_PROT_READWRITE)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, set_with({CU_MEM_LOCATION_TYPE_HOST_NUMA, 0},
                                                           CU_MEM_ACCESS_FLAGS_PROT_READWRITE)))
        << "the memory is not of a NUMA node";
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, set_with(device, static_cast<CUmemAccess_flags>(2))));
    unsigned long long flags = 77;
    EXPECT_TRUE(succeeds(CU(cuMemGetAccess)(&flags, &device, base)));
    EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    const CUmemLocation nowhere{CU_MEM_LOCATION_TYPE_INVALID, 0};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemGetAccess)(&flags, &nowhere, base)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD8)(base, 1, 16)));
    EXPECT_TRUE(succeeds(CU(cuMemUnmap)(base, granularity_)));
    EXPECT_TRUE(succeeds(CU(cuMemAddressFree)(base, granularity_)));
}

TEST_F(MappedMemory, properties_are_checked) {
    const auto result_of = [&](const CUmemAllocationProp& properties,
                               std::size_t bytes) -> CUresult {
        CUmemGenericAllocationHandle handle = 55;
        const CUresult result = CU(cuMemCreate)(&handle, bytes, &properties, 0);
        if (result == CUDA_SUCCESS) {
            EXPECT_TRUE(succeeds(CU(cuMemRelease)(handle)));
        } else {
            EXPECT_EQ(handle, 55U) << "an output was written";
        }
        return result;
    };
    const auto expect = [&](CUresult expected, const CUmemAllocationProp& properties) {
        EXPECT_TRUE(returns(expected, result_of(properties, granularity_)));
    };
    CUmemAllocationProp host = properties_;
    host.location = {CU_MEM_LOCATION_TYPE_HOST, 0};
    expect(CUDA_SUCCESS, host);
    EXPECT_TRUE(returns(CUDA_ERROR_OUT_OF_MEMORY, result_of(host, std::size_t{1} << 45)));
    host.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    expect(CUDA_ERROR_INVALID_VALUE, host);
    host.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    expect(CUDA_SUCCESS, host);
    host.location.id = 12345;
    expect(CUDA_ERROR_INVALID_VALUE, host);
    host.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0};
    expect(CUDA_ERROR_INVALID_VALUE, host);
    CUmemAllocationProp other = properties_;
    other.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    expect(CUDA_ERROR_NOT_SUPPORTED, other);
    other.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(64);
    expect(CUDA_ERROR_INVALID_VALUE, other);
    other = properties_;
    other.allocFlags.compressionType = 9;
    expect(CUDA_ERROR_INVALID_VALUE, other);
    other = properties_;
    other.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
    expect(CUDA_SUCCESS, other);
    other.location = {CU_MEM_LOCATION_TYPE_HOST, 0};
    expect(CUDA_ERROR_INVALID_VALUE, other); // a tile pool is memory of a device
    other.location = properties_.location;
    other.allocFlags.usage = 0x100;
    expect(CUDA_ERROR_INVALID_VALUE, other);
    std::size_t granularity = 77;
    other.location = {CU_MEM_LOCATION_TYPE_INVALID, 0};
    EXPECT_TRUE(returns(
        CUDA_ERROR_INVALID_VALUE,
        CU(cuMemGetAllocationGranularity)(&granularity, &other, CU_MEM_ALLOC_GRANULARITY_MINIMUM)));
    EXPECT_EQ(granularity, 77U);
}

TEST_F(MappedMemory, a_reservation_can_follow_another_directly) {
    CUdeviceptr first = 0;
    CUdeviceptr second = 0;
    CUdeviceptr third = 0;
    ASSERT_TRUE(succeeds(CU(cuMemAddressReserve)(&first, granularity_, 0, 0, 0)));
    ASSERT_TRUE(
        succeeds(CU(cuMemAddressReserve)(&second, 2 * granularity_, 0, first + granularity_, 0)));
    EXPECT_EQ(second, first + granularity_);
    ASSERT_TRUE(
        succeeds(CU(cuMemAddressReserve)(&third, granularity_, 0, first + granularity_, 0)));
    EXPECT_NE(third, second) << "only a hint";
    EXPECT_TRUE(succeeds(CU(cuMemAddressFree)(third, granularity_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuMemAddressReserve)(&third, granularity_, 0, first + 1, 0)));

    // Pieces in two adjacent reservations can be used as one range.
    for (const CUdeviceptr place : {first, second}) {
        const auto handle = create(granularity_);
        ASSERT_TRUE(succeeds(CU(cuMemMap)(place, granularity_, 0, handle, 0)));
        EXPECT_TRUE(succeeds(CU(cuMemRelease)(handle)));
    }
    allow(first, 2 * granularity_);
    ASSERT_TRUE(succeeds(CU(cuMemsetD8)(first, 7, 2 * granularity_)));
    char byte = 0;
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&byte, second + granularity_ - 1, 1)));
    EXPECT_EQ(byte, 7);
    EXPECT_TRUE(succeeds(CU(cuMemUnmap)(first, granularity_)));
    EXPECT_TRUE(succeeds(CU(cuMemAddressFree)(first, granularity_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemAddressFree)(first, granularity_)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&byte, second, 1))) << "the other one stays";
    EXPECT_TRUE(succeeds(CU(cuMemUnmap)(second, granularity_)));
    EXPECT_TRUE(succeeds(CU(cuMemAddressFree)(second, 2 * granularity_)));
}

TEST_F(MappedMemory, a_reservation_grows_shrinks_and_grows_again_where_it_is) {
    CUdeviceptr base = 0;
    ASSERT_TRUE(succeeds(CU(cuMemAddressReserve)(&base, granularity_, 0, 0, 0)));
    for (const std::size_t pieces : {1, 3, 2, 5}) {
        CUdeviceptr behind = 0;
        ASSERT_TRUE(succeeds(
            CU(cuMemAddressReserve)(&behind, pieces * granularity_, 0, base + granularity_, 0)));
        EXPECT_EQ(behind, base + granularity_) << pieces;
        EXPECT_TRUE(succeeds(CU(cuMemAddressFree)(behind, pieces * granularity_)));
    }
    EXPECT_TRUE(succeeds(CU(cuMemAddressFree)(base, granularity_)));
    CUdeviceptr plain = allocate(64); // checks that nothing was freed twice
    EXPECT_TRUE(succeeds(CU(cuMemsetD8)(plain, 1, 64)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(plain)));
}

TEST_F(MappedMemory, mapped_memory_keeps_its_handle_s_value) {
    const auto handle = create(granularity_);
    CUdeviceptr base = 0;
    ASSERT_TRUE(succeeds(CU(cuMemAddressReserve)(&base, 2 * granularity_, 0, 0, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemMap)(base, granularity_, 0, handle, 0)));
    EXPECT_TRUE(succeeds(CU(cuMemRelease)(handle)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemRelease)(handle)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuMemMap)(base + granularity_, granularity_, 0, handle, 0)));
    CUmemGenericAllocationHandle again = 0;
    ASSERT_TRUE(
        succeeds(CU(cuMemRetainAllocationHandle)(&again, reinterpret_cast<void*>(base + 100))));
    EXPECT_EQ(again, handle);
    EXPECT_TRUE(succeeds(CU(cuMemMap)(base + granularity_, granularity_, 0, again, 0)));
    EXPECT_TRUE(succeeds(CU(cuMemUnmap)(base, granularity_)));
    EXPECT_TRUE(succeeds(CU(cuMemRelease)(again)));
    EXPECT_EQ(live_counts().physical_allocations, 1U) << "it is mapped at the other place";
    EXPECT_TRUE(succeeds(CU(cuMemUnmap)(base + granularity_, granularity_)));
    EXPECT_EQ(live_counts().physical_allocations, 0U);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemRelease)(again)));
    EXPECT_TRUE(succeeds(CU(cuMemAddressFree)(base, 2 * granularity_)));
}
