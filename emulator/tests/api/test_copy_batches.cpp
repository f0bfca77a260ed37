// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/driver.hpp"

#include <numeric>
#include <vector>

using namespace cuprum::emulator::test;

class CopyBatches : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING)));
        memory_ = allocate(4096);
        ASSERT_TRUE(succeeds(CU(cuMemsetD8)(memory_, 0, 4096)));
        ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    }

    void TearDown() override {
        EXPECT_TRUE(succeeds(CU(cuMemFree)(memory_)));
        EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream_)));
        DriverTest::TearDown();
    }

    CUresult copy(std::vector<CUdeviceptr> to, std::vector<CUdeviceptr> from,
                  std::vector<std::size_t> sizes, CUmemcpySrcAccessOrder order, CUstream stream) {
        CUmemcpyAttributes attributes{};
        attributes.srcAccessOrder = order;
        std::size_t start = 0;
        return CU(cuMemcpyBatchAsync)(to.data(), from.data(), sizes.data(), sizes.size(),
                                      &attributes, &start, 1, stream);
    }

    static CUdeviceptr address(const void* pointer) {
        return reinterpret_cast<CUdeviceptr>(pointer);
    }

    std::vector<unsigned char> contents() {
        std::vector<unsigned char> bytes(4096);
        EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(bytes.data(), memory_, bytes.size())));
        return bytes;
    }

    CUstream stream_ = nullptr;
    CUdeviceptr memory_ = 0;
};

TEST_F(CopyBatches, all_copies_are_made_in_the_stream) {
    std::vector<unsigned char> host(256);
    std::iota(host.begin(), host.end(), static_cast<unsigned char>(0));
    ASSERT_TRUE(
        succeeds(copy({memory_, memory_ + 1000}, {address(host.data()), address(host.data() + 100)},
                      {10, 20}, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, stream_)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    const auto bytes = contents();
    EXPECT_EQ(bytes[9], 9);
    EXPECT_EQ(bytes[10], 0);
    EXPECT_EQ(bytes[1000], 100);
    EXPECT_EQ(bytes[1019], 119);
}

TEST_F(CopyBatches, a_source_read_during_the_call_may_change_afterwards) {
    void* pinned = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemAllocHost)(&pinned, 64)));
    auto* bytes = static_cast<unsigned char*>(pinned);
    {
        Gate gate;
        gate.block(stream_);
        bytes[0] = 5;
        ASSERT_TRUE(succeeds(copy({memory_}, {address(pinned)}, {1},
                                  CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL, stream_)));
        ASSERT_TRUE(succeeds(copy({memory_ + 1}, {address(pinned)}, {1},
                                  CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, stream_)));
        bytes[0] = 6;
    }
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    EXPECT_EQ(contents()[0], 5);
    EXPECT_EQ(contents()[1], 6);
    EXPECT_TRUE(succeeds(CU(cuMemFreeHost)(pinned)));
}

TEST_F(CopyBatches, wrong_batches_are_refused) {
    unsigned char host = 1;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        copy({}, {}, {}, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, copy({memory_}, {address(&host)}, {1},
                                                       CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, nullptr)))
        << "the legacy default stream";
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, copy({memory_}, {address(&host)}, {1},
                                               CU_MEMCPY_SRC_ACCESS_ORDER_INVALID, stream_)));
    // The version of CUDA 12.8 also returns the index of the copy that failed.
    using Older = CUresult(CUdeviceptr*, CUdeviceptr*, size_t*, size_t, CUmemcpyAttributes*,
                           size_t*, size_t, size_t*, CUstream);
    CUdeviceptr to[] = {memory_, memory_ + 5000};
    CUdeviceptr from[] = {address(&host), address(&host)};
    std::size_t sizes[] = {1, 1};
    CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    std::size_t start = 0;
    std::size_t failed = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        symbol<Older>("cuMemcpyBatchAsync")(to, from, sizes, 2, &attributes, &start,
                                                            1, &failed, stream_)));
    EXPECT_EQ(failed, 1U);
}

TEST_F(CopyBatches, boxes_are_copied_with_their_pitches) {
    std::vector<unsigned char> host(4 * 3 * 2);
    std::iota(host.begin(), host.end(), static_cast<unsigned char>(1));
    CUDA_MEMCPY3D_BATCH_OP operation{};
    operation.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    operation.src.op.ptr.ptr = address(host.data());
    operation.src.op.ptr.rowLength = 4;
    operation.src.op.ptr.layerHeight = 3;
    operation.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    operation.dst.op.ptr.ptr = memory_;
    operation.dst.op.ptr.rowLength = 16;
    operation.dst.op.ptr.layerHeight = 8;
    operation.extent = {2, 3, 2};
    operation.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    ASSERT_TRUE(succeeds(CU(cuMemcpy3DBatchAsync)(1, &operation, 0, stream_)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    const auto bytes = contents();
    EXPECT_EQ(bytes[0], 1);
    EXPECT_EQ(bytes[1], 2);
    EXPECT_EQ(bytes[2], 0) << "beyond the width";
    EXPECT_EQ(bytes[16], 5) << "the second row";
    EXPECT_EQ(bytes[16 * 8 + 16 * 2 + 1], 22) << "the last byte";
    operation.extent.depth = 0;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy3DBatchAsync)(1, &operation, 0, stream_)));
    operation.extent = {2, 3, 2};
    operation.dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY; // and a pointer where an array belongs
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy3DBatchAsync)(1, &operation, 0, stream_)));
}
