// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Allocation and free nodes, and the memory behind them.

#include "graphs/graph_test.hpp"

using namespace cuprum::emulator::test;

class GraphMemoryNodes : public GraphTest {
protected:
    static CUDA_MEM_ALLOC_NODE_PARAMS request(std::size_t bytes) {
        CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
        parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        parameters.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        parameters.bytesize = bytes;
        return parameters;
    }

    CUgraphNode add_alloc(CUdeviceptr& address, std::size_t bytes = 64, const Nodes& after = {}) {
        auto parameters = request(bytes);
        CUgraphNode node = nullptr;
        EXPECT_TRUE(succeeds(
            CU(cuGraphAddMemAllocNode)(&node, graph_, after.data(), after.size(), &parameters)));
        address = parameters.dptr;
        return node;
    }

    CUgraphNode add_free(CUdeviceptr address, const Nodes& after) {
        CUgraphNode node = nullptr;
        EXPECT_TRUE(succeeds(
            CU(cuGraphAddMemFreeNode)(&node, graph_, after.data(), after.size(), address)));
        return node;
    }

    static cuuint64_t attribute(CUgraphMem_attribute which) {
        cuuint64_t found = 0;
        EXPECT_TRUE(succeeds(CU(cuDeviceGetGraphMemAttribute)(0, which, &found)));
        return found;
    }
};

TEST_F(GraphMemoryNodes, memory_lives_from_the_allocation_to_the_free) {
    CUdeviceptr memory = 0;
    const CUgraphNode alloc = add_alloc(memory);
    ASSERT_NE(memory, 0U);
    const CUgraphNode set = add_memset(memory, 5, {alloc}, nullptr, 16);
    const CUgraphNode add = add_kernel("add", memory, 2, {set});
    const CUgraphNode copy = add_memcpy(word(0), memory, {add});
    const CUgraphNode free = add_free(memory, {copy});
    const CUgraphExec executable = instantiate();
    for (int launch = 0; launch < 3; ++launch) {
        ASSERT_TRUE(succeeds(run(executable)));
        EXPECT_EQ(value(0), 7U);
    }
    std::uint32_t host = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoH)(&host, memory, 4)))
        << "not allocated between launches";
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(memory)))
        << "the graph frees it itself";
    CUDA_MEM_ALLOC_NODE_PARAMS found{};
    ASSERT_TRUE(succeeds(CU(cuGraphMemAllocNodeGetParams)(alloc, &found)));
    EXPECT_EQ(found.dptr, memory);
    EXPECT_EQ(found.bytesize, 64U);
    CUdeviceptr freed = 0;
    ASSERT_TRUE(succeeds(CU(cuGraphMemFreeNodeGetParams)(free, &freed)));
    EXPECT_EQ(freed, memory);
}

TEST_F(GraphMemoryNodes, addresses_are_used_again_behind_a_free) {
    CUdeviceptr first = 0;
    CUdeviceptr second = 0;
    CUdeviceptr beside = 0;
    const CUgraphNode alloc = add_alloc(first);
    const CUgraphNode free = add_free(first, {alloc});
    add_alloc(beside); // not ordered behind the free
    const CUgraphNode again = add_alloc(second, 64, {free});
    EXPECT_EQ(second, first);
    EXPECT_NE(beside, first);
    const CUgraphNode set = add_memset(second, 3, {again});
    add_free(second, {add_memcpy(word(0), second, {set})});
    const CUgraphExec executable =
        instantiate(nullptr, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    ASSERT_TRUE(succeeds(run(executable)));
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(value(0), 3U);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(beside)));
}

TEST_F(GraphMemoryNodes, memory_that_stays_is_freed_by_the_program) {
    CUdeviceptr memory = 0;
    const CUgraphNode alloc = add_alloc(memory);
    add_memset(memory, 6, {alloc});
    const CUgraphExec executable = instantiate();
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemFreeAsync)(memory, stream_)))
        << "not launched yet";
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphLaunch)(executable, stream_)))
        << "not freed yet";
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoDAsync)(word(0), memory, 4, stream_)));
    ASSERT_TRUE(succeeds(CU(cuMemFreeAsync)(memory, stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemFreeAsync)(memory, stream_)));
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(value(0), 6U);
    // The memory outlives both graphs.
    destroy(executable);
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph_)));
    graph_ = nullptr;
    std::uint32_t host = 0;
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&host, memory, 4)));
    EXPECT_EQ(host, 6U);
    ASSERT_TRUE(succeeds(CU(cuMemFree)(memory)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoH)(&host, memory, 4)));
}

TEST_F(GraphMemoryNodes, a_launch_can_free_what_the_last_one_left) {
    CUdeviceptr memory = 0;
    const CUgraphNode alloc = add_alloc(memory);
    add_kernel("store", memory, 4, {alloc});
    const CUgraphExec executable =
        instantiate(nullptr, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    ASSERT_TRUE(succeeds(run(executable)));
    ASSERT_TRUE(succeeds(run(executable)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoD)(word(0), memory, 4)));
    EXPECT_EQ(value(0), 4U);
    EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(memory, stream_)));
}

TEST_F(GraphMemoryNodes, another_graph_can_free_it) {
    CUdeviceptr memory = 0;
    add_alloc(memory);
    const CUgraphExec allocating = instantiate();
    CUgraph other = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&other, 0)));
    CUgraphNode free = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddMemFreeNode)(&free, other, nullptr, 0, memory)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphAddMemFreeNode)(&free, graph_, nullptr, 0, memory)))
        << "the other graph frees it";
    const CUgraphExec freeing = instantiate(other);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphLaunch)(freeing, stream_)));
    ASSERT_TRUE(succeeds(run(allocating)));
    ASSERT_TRUE(succeeds(run(freeing)));
    ASSERT_TRUE(succeeds(run(allocating)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(other)));
}

TEST_F(GraphMemoryNodes, bad_requests_are_refused) {
    CUgraphNode node = nullptr;
    auto parameters = request(0);
    const auto add = [&] {
        return CU(cuGraphAddMemAllocNode)(&node, graph_, nullptr, 0, &parameters);
    };
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, add()));
    parameters = request(64);
    parameters.poolProps.location.id = 99;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, add()));
    parameters = request(64);
    parameters.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, add()));
    parameters = request(std::size_t{1} << 60);
    EXPECT_TRUE(returns(CUDA_ERROR_OUT_OF_MEMORY, add()));
    const auto free = [&](CUdeviceptr address) {
        return CU(cuGraphAddMemFreeNode)(&node, graph_, nullptr, 0, address);
    };
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, free(0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, free(words_)));
    CUdeviceptr memory = 0;
    add_alloc(memory);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, free(memory + 16))) << "inside an allocation";
    EXPECT_EQ(node_count(graph_), 1U);
}

TEST_F(GraphMemoryNodes, graphs_with_memory_nodes_are_unique_and_fixed) {
    CUdeviceptr memory = 0;
    const CUgraphNode alloc = add_alloc(memory);
    const CUgraphNode free = add_free(memory, {alloc});
    CUgraphNode node = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphAddMemFreeNode)(&node, graph_, nullptr, 0, memory)))
        << "freed twice";
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_SUPPORTED, CU(cuGraphDestroyNode)(free)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_SUPPORTED,
                        CU(cuGraphRemoveDependencies)(graph_, &alloc, &free, nullptr, 1)));
    CUgraph clone = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_SUPPORTED, CU(cuGraphClone)(&clone, graph_)));
    CUgraph parent = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&parent, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_SUPPORTED,
                        CU(cuGraphAddChildGraphNode)(&node, parent, nullptr, 0, graph_)));
    const CUgraphExec executable = instantiate();
    CUgraphExec second = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_SUPPORTED, CU(cuGraphInstantiate)(&second, graph_, 0)));
    destroy(executable);
    instantiate();
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(parent)));
}

TEST_F(GraphMemoryNodes, captured_allocations_become_nodes) {
    CUdeviceptr memory = 0;
    ASSERT_TRUE(succeeds(CU(cuStreamBeginCaptureToGraph)(stream_, graph_, nullptr, nullptr, 0,
                                                         CU_STREAM_CAPTURE_MODE_GLOBAL)));
    ASSERT_TRUE(succeeds(CU(cuMemAllocAsync)(&memory, 256, stream_)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD32Async)(memory, 12, 64, stream_)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoDAsync)(word(0), memory + 252, 4, stream_)));
    ASSERT_TRUE(succeeds(CU(cuMemFreeAsync)(memory, stream_)));
    CUgraph ended = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamEndCapture)(stream_, &ended)));
    EXPECT_EQ(node_count(graph_), 4U);
    const CUgraphExec executable = instantiate();
    ASSERT_TRUE(succeeds(CU(cuGraphUpload)(executable, stream_)));
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(value(0), 12U);
}

TEST_F(GraphMemoryNodes, what_graphs_take_is_counted_and_given_back) {
    ASSERT_TRUE(succeeds(CU(cuDeviceGraphMemTrim)(0)));
    const cuuint64_t before = attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
    std::size_t free_before = 0;
    std::size_t total = 0;
    ASSERT_TRUE(succeeds(CU(cuMemGetInfo)(&free_before, &total)));
    constexpr std::size_t bytes = 1 << 20;
    CUdeviceptr memory = 0;
    const CUgraphNode alloc = add_alloc(memory, bytes);
    add_free(memory, {alloc});
    const CUgraphExec executable = instantiate();
    EXPECT_EQ(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), before);
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), before + bytes);
    EXPECT_GE(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), bytes);
    std::size_t free_now = 0;
    ASSERT_TRUE(succeeds(CU(cuMemGetInfo)(&free_now, &total)));
    EXPECT_EQ(free_now, free_before - bytes);
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), before + bytes)
        << "launches use the same memory";
    ASSERT_TRUE(succeeds(CU(cuDeviceGraphMemTrim)(0)));
    EXPECT_EQ(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), before);
    EXPECT_GE(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), bytes);
    ASSERT_TRUE(succeeds(CU(cuMemGetInfo)(&free_now, &total)));
    EXPECT_EQ(free_now, free_before);
    cuuint64_t value = 0;
    ASSERT_TRUE(
        succeeds(CU(cuDeviceSetGraphMemAttribute)(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &value)));
    EXPECT_LT(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), bytes);
    value = 1;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE,
                CU(cuDeviceSetGraphMemAttribute)(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &value)));
    value = 0;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE,
                CU(cuDeviceSetGraphMemAttribute)(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value)));
    ASSERT_TRUE(succeeds(run(executable)));
}
