// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/driver.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

using namespace cuprum::emulator::test;

class Memory : public DriverTest {
protected:
    static std::vector<int> numbers(std::size_t count) {
        std::vector<int> values(count);
        std::iota(values.begin(), values.end(), 1);
        return values;
    }
};

TEST_F(Memory, bytes_come_back_as_they_went) {
    const auto values = numbers(100000);
    const std::size_t bytes = values.size() * sizeof(int);
    const CUdeviceptr first = allocate(bytes);
    const CUdeviceptr second = allocate(bytes);
    std::vector<int> back(values.size());
    ASSERT_TRUE(succeeds(CU(cuMemcpyHtoD)(first, values.data(), bytes)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoD)(second, first, bytes)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(back.data(), second, bytes)));
    EXPECT_EQ(back, values);
    std::fill(back.begin(), back.end(), 0);
    ASSERT_TRUE(succeeds(CU(cuMemcpy)(reinterpret_cast<CUdeviceptr>(back.data()), first, bytes)));
    EXPECT_EQ(back, values);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(first)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(second)));
}

TEST_F(Memory, free_memory_goes_down_and_up_again) {
    std::size_t before = 0;
    std::size_t during = 0;
    std::size_t after = 0;
    std::size_t total = 0;
    ASSERT_TRUE(succeeds(CU(cuMemGetInfo)(&before, &total)));
    const CUdeviceptr memory = allocate(1 << 20);
    ASSERT_TRUE(succeeds(CU(cuMemGetInfo)(&during, &total)));
    ASSERT_TRUE(succeeds(CU(cuMemFree)(memory)));
    ASSERT_TRUE(succeeds(CU(cuMemGetInfo)(&after, &total)));
    EXPECT_LE(during + (1 << 20), before);
    EXPECT_EQ(after, before);
    EXPECT_LE(before, total);
}

TEST_F(Memory, too_much_is_out_of_memory_and_leaves_the_context_usable) {
    std::size_t free = 0;
    std::size_t total = 0;
    ASSERT_TRUE(succeeds(CU(cuMemGetInfo)(&free, &total)));
    CUdeviceptr address = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_OUT_OF_MEMORY, CU(cuMemAlloc)(&address, total + 1)));
    EXPECT_TRUE(returns(CUDA_ERROR_OUT_OF_MEMORY, CU(cuMemAlloc)(&address, ~std::size_t{0} / 2)));
    ASSERT_TRUE(succeeds(CU(cuMemAlloc)(&address, 64)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(address)));
}

TEST_F(Memory, wrong_frees_are_refused) {
    const CUdeviceptr address = allocate(256);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(address + 16)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(0)));
    ASSERT_TRUE(succeeds(CU(cuMemFree)(address)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(address)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(0x1234)));
    CUdeviceptr none = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemAlloc)(&none, 0)));
}

TEST_F(Memory, copies_past_the_end_or_into_freed_memory_are_refused) {
    std::vector<char> host(512);
    const CUdeviceptr address = allocate(256);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyHtoD)(address, host.data(), 257)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoH)(host.data(), address + 200, 100)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD32)(address, 0, 65)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD32)(address + 2, 0, 1)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(address)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyHtoD)(address, host.data(), 16)));
    EXPECT_TRUE(returns(
        CUDA_ERROR_INVALID_VALUE,
        CU(cuMemcpyHtoD)(reinterpret_cast<CUdeviceptr>(host.data()), host.data() + 256, 16)));
}

TEST_F(Memory, an_asynchronous_copy_waits_for_its_turn) {
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    const CUdeviceptr device = allocate(64);
    void* pinned = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemHostAlloc)(&pinned, 64, 0)));
    std::memset(pinned, 0, 64);
    ASSERT_TRUE(succeeds(CU(cuMemsetD8)(device, 0x5A, 64)));
    ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    {
        Gate gate;
        gate.block(stream);
        ASSERT_TRUE(succeeds(CU(cuMemcpyDtoHAsync)(pinned, device, 64, stream)));
        EXPECT_EQ(*static_cast<volatile char*>(pinned), 0);
        gate.open();
        ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream)));
    }
    EXPECT_EQ(*static_cast<char*>(pinned), 0x5A);
    EXPECT_TRUE(succeeds(CU(cuMemFreeHost)(pinned)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(device)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
}

TEST_F(Memory, a_pageable_source_may_change_as_soon_as_the_copy_returns) {
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    const CUdeviceptr device = allocate(sizeof(int));
    int value = 42;
    {
        Gate gate;
        gate.block(stream);
        ASSERT_TRUE(succeeds(CU(cuMemcpyHtoDAsync)(device, &value, sizeof value, stream)));
        value = 0;
        gate.open();
        ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream)));
    }
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&value, device, sizeof value)));
    EXPECT_EQ(value, 42);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(device)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
}

TEST_F(Memory, fills_write_their_elements) {
    const CUdeviceptr device = allocate(1024);
    std::vector<std::uint16_t> halves(512);
    ASSERT_TRUE(succeeds(CU(cuMemsetD8)(device, 0, 1024)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD16)(device + 4, 0xBEEF, 3)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(halves.data(), device, 1024)));
    EXPECT_EQ(halves[1], 0);
    EXPECT_EQ(halves[2], 0xBEEF);
    EXPECT_EQ(halves[4], 0xBEEF);
    EXPECT_EQ(halves[5], 0);
    ASSERT_TRUE(succeeds(CU(cuMemsetD2D32)(device, 64, 0x01020304, 2, 3)));
    std::vector<std::uint32_t> words(256);
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(words.data(), device, 1024)));
    EXPECT_EQ(words[16], 0x01020304U);
    EXPECT_EQ(words[17], 0x01020304U);
    EXPECT_EQ(words[18], 0U);
    EXPECT_EQ(words[48], 0U);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(device)));
}

TEST_F(Memory, a_rectangle_is_copied_out_of_pitched_memory) {
    CUdeviceptr device = 0;
    std::size_t pitch = 0;
    ASSERT_TRUE(succeeds(CU(cuMemAllocPitch)(&device, &pitch, 40, 4, 4)));
    EXPECT_GE(pitch, 40U);
    const auto values = numbers(40);
    CUDA_MEMCPY2D in{};
    in.srcMemoryType = CU_MEMORYTYPE_HOST;
    in.srcHost = values.data();
    in.srcPitch = 40;
    in.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    in.dstDevice = device;
    in.dstPitch = pitch;
    in.WidthInBytes = 40;
    in.Height = 4;
    ASSERT_TRUE(succeeds(CU(cuMemcpy2D)(&in)));
    std::vector<int> corner(4);
    CUDA_MEMCPY2D out{};
    out.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    out.srcDevice = device;
    out.srcPitch = pitch;
    out.srcXInBytes = 8;
    out.srcY = 1;
    out.dstMemoryType = CU_MEMORYTYPE_HOST;
    out.dstHost = corner.data();
    out.dstPitch = 8;
    out.WidthInBytes = 8;
    out.Height = 2;
    ASSERT_TRUE(succeeds(CU(cuMemcpy2D)(&out)));
    EXPECT_EQ(corner, (std::vector<int>{13, 14, 23, 24}));
    out.WidthInBytes = 4096;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy2D)(&out)));
    out.WidthInBytes = 8;
    out.srcY = std::numeric_limits<std::size_t>::max() / out.srcPitch + 1; // wraps around to 0
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy2D)(&out)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(device)));
}

TEST_F(Memory, a_box_is_copied) {
    const auto values = numbers(2 * 3 * 4);
    const CUdeviceptr device = allocate(values.size() * sizeof(int));
    ASSERT_TRUE(succeeds(CU(cuMemcpyHtoD)(device, values.data(), values.size() * sizeof(int))));
    std::vector<int> box(4);
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = device;
    copy.srcPitch = 4 * sizeof(int);
    copy.srcHeight = 3;
    copy.srcXInBytes = 2 * sizeof(int);
    copy.srcY = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = box.data();
    copy.dstPitch = 2 * sizeof(int);
    copy.dstHeight = 1;
    copy.WidthInBytes = 2 * sizeof(int);
    copy.Height = 1;
    copy.Depth = 2;
    ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&copy)));
    EXPECT_EQ(box, (std::vector<int>{7, 8, 19, 20}));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(device)));
}

TEST_F(Memory, pointers_can_be_asked_about) {
    const CUdeviceptr device = allocate(4096);
    CUmemorytype type{};
    ASSERT_TRUE(
        succeeds(CU(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device + 8)));
    EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
    CUdeviceptr base = 0;
    std::size_t size = 0;
    ASSERT_TRUE(succeeds(CU(cuMemGetAddressRange)(&base, &size, device + 100)));
    EXPECT_EQ(base, device);
    EXPECT_EQ(size, 4096U);
    CUcontext owner = nullptr;
    ASSERT_TRUE(succeeds(CU(cuPointerGetAttribute)(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, device)));
    EXPECT_EQ(owner, context_);
    int local = 0;
    const auto unknown = reinterpret_cast<CUdeviceptr>(&local);
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE,
                CU(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, unknown)));
    unsigned is_managed = 7;
    int ordinal = 7;
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void* data[] = {&is_managed, &ordinal};
    ASSERT_TRUE(succeeds(CU(cuPointerGetAttributes)(2, attributes, data, unknown)));
    EXPECT_EQ(is_managed, 0U);
    EXPECT_EQ(ordinal, CU_DEVICE_INVALID);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(device)));
}

TEST_F(Memory, host_memory_is_registered_once) {
    std::vector<char> host(8192);
    ASSERT_TRUE(succeeds(CU(cuMemHostRegister)(host.data(), host.size(), 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                        CU(cuMemHostRegister)(host.data() + 100, 100, 0)));
    CUdeviceptr device = 0;
    ASSERT_TRUE(succeeds(CU(cuMemHostGetDevicePointer)(&device, host.data() + 4, 0)));
    EXPECT_EQ(device, reinterpret_cast<CUdeviceptr>(host.data() + 4));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemHostUnregister)(host.data() + 4)));
    ASSERT_TRUE(succeeds(CU(cuMemHostUnregister)(host.data())));
    EXPECT_TRUE(
        returns(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, CU(cuMemHostUnregister)(host.data())));
}

TEST_F(Memory, a_fill_ends_where_registered_memory_ends) {
    std::vector<char> host(8192);
    const auto device = reinterpret_cast<CUdeviceptr>(host.data());
    const CUdeviceptr other = allocate(8192);
    ASSERT_TRUE(succeeds(CU(cuMemHostRegister)(host.data(), 4096, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD8)(device, 1, 4097)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoD)(device, other, 4097)));
    EXPECT_EQ(std::ranges::count(host, 0), 8192);
    EXPECT_TRUE(succeeds(CU(cuMemsetD8)(device, 1, 4096)));
    EXPECT_TRUE(succeeds(CU(cuMemcpyHtoD)(other, host.data(), 8192)))
        << "the source is host memory";
    ASSERT_TRUE(succeeds(CU(cuMemHostUnregister)(host.data())));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(other)));
}

TEST_F(Memory, only_what_is_mapped_can_be_registered) {
    std::vector<char> host(8192);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuMemHostRegister)(host.data(), std::size_t{1} << 46, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuMemHostRegister)(reinterpret_cast<void*>(0x1000), 4096, 0)));
}

TEST_F(Memory, managed_memory_is_for_both_sides) {
    CUdeviceptr managed = 0;
    ASSERT_TRUE(succeeds(CU(cuMemAllocManaged)(&managed, 64, CU_MEM_ATTACH_GLOBAL)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD8)(managed, 3, 64)));
    ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    EXPECT_EQ(reinterpret_cast<char*>(managed)[63], 3);
    unsigned is_managed = 0;
    ASSERT_TRUE(
        succeeds(CU(cuPointerGetAttribute)(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed)));
    EXPECT_EQ(is_managed, 1U);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(managed)));
}

TEST_F(Memory, rows_of_a_fill_are_aligned_to_their_elements) {
    const CUdeviceptr memory = allocate(256);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD2D16)(memory, 7, 1, 2, 3)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD2D32)(memory, 6, 1, 1, 3)));
    EXPECT_TRUE(succeeds(CU(cuMemsetD2D16)(memory, 6, 1, 2, 3)));
    EXPECT_TRUE(succeeds(CU(cuMemsetD2D16)(memory, 7, 1, 2, 1))) << "one row needs no pitch";
    EXPECT_TRUE(succeeds(CU(cuMemsetD2D8)(memory, 7, 1, 2, 3)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
}

TEST_F(Memory, copies_between_contexts_name_contexts_that_there_are) {
    const CUdeviceptr memory = allocate(256);
    CUDA_MEMCPY3D_PEER copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = memory;
    copy.dstDevice = memory + 128;
    copy.WidthInBytes = 16;
    copy.Height = copy.Depth = 1;
    copy.srcContext = copy.dstContext = context_;
    EXPECT_TRUE(succeeds(CU(cuMemcpy3DPeer)(&copy)));
    copy.dstContext = reinterpret_cast<CUcontext>(&copy);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT, CU(cuMemcpy3DPeer)(&copy)));
    char bytes[16];
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = bytes;
    EXPECT_TRUE(succeeds(CU(cuMemcpy3DPeer)(&copy))) << "host memory has no context";
    CUDA_MEMCPY3D box{};
    box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    box.srcDevice = memory;
    box.dstDevice = memory + 128;
    box.WidthInBytes = 16;
    box.Height = box.Depth = 1;
    EXPECT_TRUE(succeeds(CU(cuMemcpy3D)(&box)));
    box.reserved1 = &box;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy3D)(&box)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
}
