// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "textures/array_test.hpp"

using namespace cuprum::emulator::test;

using ArrayCopies = ArrayTest;

namespace {

constexpr auto BYTE = CU_AD_FORMAT_UNSIGNED_INT8;

} // namespace

TEST_F(ArrayCopies, bytes_come_back_as_they_went) {
    for (const auto& [width, height, depth, flags] : {std::array<std::size_t, 4>{16, 0, 0, 0},
                                                      {16, 4, 0, 0},
                                                      {16, 4, 3, 0},
                                                      {16, 0, 3, CUDA_ARRAY3D_LAYERED},
                                                      {8, 8, 6, CUDA_ARRAY3D_CUBEMAP}}) {
        const CUarray array =
            create(descriptor(width, height, depth, static_cast<unsigned>(flags), BYTE));
        const std::size_t rows = std::max<std::size_t>(height, 1);
        const std::size_t slices = std::max<std::size_t>(depth, 1);
        auto values = numbers(width * rows * slices);
        auto copy = between(array, values.data(), true, width, rows, slices);
        ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&copy)));
        std::vector<std::uint8_t> back(values.size());
        copy = between(array, back.data(), false, width, rows, slices);
        ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&copy)));
        EXPECT_EQ(back, values);
        destroy(array);
    }
}

TEST_F(ArrayCopies, parts_go_to_their_place) {
    const CUarray array = create(descriptor(8, 4, 3, 0, BYTE));
    auto zeros = std::vector<std::uint8_t>(96);
    auto fill = between(array, zeros.data(), true, 8, 4, 3);
    ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&fill)));
    auto values = numbers(8);
    auto part = between(array, values.data(), true, 4, 2, 1);
    part.dstXInBytes = 3;
    part.dstY = 1;
    part.dstZ = 2;
    ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&part)));
    std::vector<std::uint8_t> back(96);
    auto read = between(array, back.data(), false, 8, 4, 3);
    ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&read)));
    for (std::size_t index = 0; index < back.size(); ++index) {
        const std::size_t x = index % 8;
        const std::size_t y = index / 8 % 4;
        const std::size_t z = index / 32;
        const bool is_inside = z == 2 && (y == 1 || y == 2) && x >= 3 && x < 7;
        EXPECT_EQ(back[index], is_inside ? (y - 1) * 4 + (x - 3) + 1 : 0) << index;
    }
    destroy(array);
}

TEST_F(ArrayCopies, flat_copies_reach_the_first_row_only) {
    const CUarray array = create(descriptor(8, 4, 0, 0, BYTE));
    auto values = numbers(32);
    EXPECT_TRUE(succeeds(CU(cuMemcpyHtoA)(array, 2, values.data(), 6)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyHtoA)(array, 2, values.data(), 7)));
    EXPECT_NE(last_message().find("bytes 2 to 9 of an array of 8"), std::string::npos)
        << last_message();
    std::vector<std::uint8_t> back(6);
    EXPECT_TRUE(succeeds(CU(cuMemcpyAtoH)(back.data(), array, 2, 6)));
    EXPECT_EQ(back, numbers(6));
    EXPECT_TRUE(succeeds(CU(cuMemcpyHtoA)(array, 100, nullptr, 0)));
    destroy(array);
}

TEST_F(ArrayCopies, arrays_and_device_memory_exchange_bytes) {
    const CUarray first = create(descriptor(16));
    const CUarray second = create(descriptor(16, 0, 0, 0, CU_AD_FORMAT_HALF, 2));
    const CUdeviceptr memory = allocate(256);
    auto values = numbers(64);
    ASSERT_TRUE(succeeds(CU(cuMemcpyHtoD)(memory, values.data(), 64)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoA)(first, 0, memory, 64)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyAtoA)(second, 8, first, 4, 16)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyAtoD)(memory + 65, second, 8, 16)));
    std::vector<std::uint8_t> back(16);
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(back.data(), memory + 65, 16)));
    EXPECT_EQ(back, std::vector<std::uint8_t>(values.begin() + 4, values.begin() + 20));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyAtoD)(memory + 250, first, 0, 8)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyAtoD)(0, first, 0, 8)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    destroy(first);
    destroy(second);
}

TEST_F(ArrayCopies, copies_wait_for_their_stream) {
    const CUarray array = create(descriptor(16, 0, 0, 0, BYTE));
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    void* pinned = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemAllocHost)(&pinned, 32)));
    auto* const bytes = static_cast<std::uint8_t*>(pinned);
    std::fill_n(bytes, 16, std::uint8_t{7});
    std::fill_n(bytes + 16, 16, std::uint8_t{0});
    {
        Gate gate;
        gate.block(stream);
        ASSERT_TRUE(succeeds(CU(cuMemcpyHtoAAsync)(array, 0, bytes, 16, stream)));
        ASSERT_TRUE(succeeds(CU(cuMemcpyAtoHAsync)(bytes + 16, array, 0, 16, stream)));
        EXPECT_EQ(bytes[16], 0);
        std::fill_n(bytes, 16, std::uint8_t{9}); // pinned memory is read when the copy runs
    }
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream)));
    EXPECT_EQ(bytes[16], 9);
    EXPECT_EQ(bytes[31], 9);
    EXPECT_TRUE(succeeds(CU(cuMemFreeHost)(pinned)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
    destroy(array);
}

TEST_F(ArrayCopies, destroying_an_array_waits_for_its_copies) {
    const CUarray array = create(descriptor(16, 0, 0, 0, BYTE));
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    auto values = numbers(16);
    ASSERT_TRUE(succeeds(CU(cuMemcpyHtoA)(array, 0, values.data(), 16)));
    void* pinned = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemAllocHost)(&pinned, 16)));
    std::fill_n(static_cast<std::uint8_t*>(pinned), 16, std::uint8_t{0});
    Gate gate;
    gate.block(stream);
    ASSERT_TRUE(succeeds(CU(cuMemcpyAtoHAsync)(pinned, array, 0, 16, stream)));
    std::atomic<bool> is_destroyed{false};
    std::thread other([&] {
        EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
        destroy(array);
        is_destroyed = true;
    });
    EXPECT_FALSE(is_destroyed);
    gate.open();
    other.join();
    EXPECT_EQ(static_cast<std::uint8_t*>(pinned)[15], 16);
    EXPECT_TRUE(succeeds(CU(cuMemFreeHost)(pinned)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
}

TEST_F(ArrayCopies, compressed_arrays_are_copied_by_blocks) {
    const CUarray array = create(descriptor(30, 14, 0, 0, CU_AD_FORMAT_BC1_UNORM, 4));
    auto values = numbers(8 * 8 * 4); // 8 x 4 blocks of 8 bytes
    auto copy = between(array, values.data(), true, 64, 4);
    ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&copy)));
    std::vector<std::uint8_t> back(8);
    auto part = between(array, back.data(), false, 8);
    part.srcXInBytes = 16;
    part.srcY = 3;
    ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&part)));
    EXPECT_EQ(back, std::vector<std::uint8_t>(values.begin() + 208, values.begin() + 216));
    copy.Height = 14;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy3D)(&copy)));
    destroy(array);
}

TEST_F(ArrayCopies, batches_count_texels) {
    const CUarray array = create(descriptor(8, 4));
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    auto zeros = std::vector<std::uint8_t>(128);
    auto fill = between(array, zeros.data(), true, 32, 4);
    ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&fill)));
    auto values = numbers(64);
    CUDA_MEMCPY3D_BATCH_OP operation{};
    operation.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    operation.src.op.ptr.ptr = reinterpret_cast<CUdeviceptr>(values.data());
    operation.src.op.ptr.rowLength = 4;
    operation.dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
    operation.dst.op.array.array = array;
    operation.dst.op.array.offset = {2, 1, 0};
    operation.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    operation.extent = {3, 2, 1};
    ASSERT_TRUE(succeeds(CU(cuMemcpy3DBatchAsync)(1, &operation, 0, stream)));
    operation.dst.op.array.offset = {6, 1, 0};
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy3DBatchAsync)(1, &operation, 0, stream)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream)));
    std::vector<std::uint8_t> back(128);
    auto read = between(array, back.data(), false, 32, 4);
    ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&read)));
    for (std::size_t index = 0; index < 128; ++index) {
        const std::size_t x = index % 32;
        const std::size_t y = index / 32;
        const bool is_inside = (y == 1 || y == 2) && x >= 8 && x < 20;
        EXPECT_EQ(back[index], is_inside ? values[(y - 1) * 16 + (x - 8)] : 0) << index;
    }
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
    destroy(array);
}

TEST_F(ArrayCopies, graphs_copy_arrays) {
    const CUarray array = create(descriptor(8, 4, 0, 0, BYTE));
    auto values = numbers(32);
    CUgraph graph = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&graph, 0)));
    auto copy = between(array, values.data(), true, 8, 4);
    CUgraphNode node = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddMemcpyNode)(&node, graph, nullptr, 0, &copy, context_)));
    CUDA_MEMCPY3D found{};
    ASSERT_TRUE(succeeds(CU(cuGraphMemcpyNodeGetParams)(node, &found)));
    EXPECT_EQ(found.dstMemoryType, CU_MEMORYTYPE_ARRAY);
    EXPECT_EQ(found.dstArray, array);
    auto wrong = copy;
    wrong.Height = 5;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphAddMemcpyNode)(&node, graph, nullptr, 0, &wrong, context_)));
    CUgraphExec executable = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphInstantiate)(&executable, graph, 0)));
    ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(executable, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    std::vector<std::uint8_t> back(32);
    auto read = between(array, back.data(), false, 8, 4);
    ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&read)));
    EXPECT_EQ(back, values);
    EXPECT_TRUE(succeeds(CU(cuGraphExecDestroy)(executable)));
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph)));
    destroy(array);
}

TEST_F(ArrayCopies, a_launch_of_a_graph_whose_array_was_destroyed_fails) {
    CUcontext own = nullptr; // the failure would spoil the primary context
    CUctxCreateParams parameters{};
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&own, &parameters, 0, 0)));
    const CUarray array = create(descriptor(8, 4, 0, 0, BYTE));
    auto values = numbers(32);
    CUgraph graph = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&graph, 0)));
    const auto copy = between(array, values.data(), true, 8, 4);
    CUgraphNode node = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddMemcpyNode)(&node, graph, nullptr, 0, &copy, own)));
    CUgraphExec executable = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphInstantiate)(&executable, graph, 0)));
    destroy(array);
    EXPECT_TRUE(succeeds(CU(cuGraphLaunch)(executable, nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)()));
    EXPECT_TRUE(succeeds(CU(cuGraphExecDestroy)(executable)));
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph)));
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(own)));
}

TEST_F(ArrayCopies, captures_remember_where_in_the_array_a_copy_goes) {
    const CUarray array = create(descriptor(8, 4, 0, 0, BYTE));
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)));
    auto values = numbers(16);
    auto copy = between(array, values.data(), true, 4, 2);
    copy.dstXInBytes = 2;
    copy.dstY = 1;
    ASSERT_TRUE(succeeds(CU(cuMemcpy3DAsync)(&copy, stream)));
    CUgraph graph = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamEndCapture)(stream, &graph)));
    std::size_t count = 1;
    CUgraphNode node = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphGetNodes)(graph, &node, &count)));
    CUDA_MEMCPY3D found{};
    ASSERT_TRUE(succeeds(CU(cuGraphMemcpyNodeGetParams)(node, &found)));
    EXPECT_EQ(found.dstArray, array);
    EXPECT_EQ(found.dstXInBytes, 2);
    EXPECT_EQ(found.dstY, 1);
    CUgraphExec executable = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphInstantiate)(&executable, graph, 0)));
    ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(executable, stream)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream)));
    std::vector<std::uint8_t> back(4);
    auto read = between(array, back.data(), false, 4);
    read.srcXInBytes = 2;
    read.srcY = 2;
    ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&read)));
    EXPECT_EQ(back, std::vector<std::uint8_t>(values.begin() + 4, values.begin() + 8));
    EXPECT_TRUE(succeeds(CU(cuGraphExecDestroy)(executable)));
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
    destroy(array);
}
