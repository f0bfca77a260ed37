// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Changes of executable graphs.

#include "graphs/graph_test.hpp"

using namespace cuprum::emulator::test;

class GraphUpdates : public GraphTest {
protected:
    void SetUp() override {
        GraphTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&other_, 0)));
    }

    void TearDown() override {
        EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(other_)));
        GraphTest::TearDown();
    }

    /// Updates and expects a result.
    CUgraphExecUpdateResultInfo update(CUgraphExec executable, CUresult expected) {
        CUgraphExecUpdateResultInfo info{};
        EXPECT_TRUE(returns(expected, CU(cuGraphExecUpdate)(executable, other_, &info)));
        return info;
    }

    CUgraph other_ = nullptr;
};

TEST_F(GraphUpdates, node_parameters_change_for_later_launches_only) {
    const CUgraphNode kernel = add_kernel("store", word(0), 1);
    const CUgraphExec executable = instantiate();
    Gate gate;
    gate.block(stream_);
    ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(executable, stream_)));
    CUdeviceptr address = word(1);
    std::uint32_t number = 2;
    void* arguments[] = {&address, &number};
    const auto parameters = single(function("add"), arguments);
    ASSERT_TRUE(succeeds(CU(cuGraphExecKernelNodeSetParams)(executable, kernel, &parameters)));
    ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(executable, stream_)));
    gate.open();
    EXPECT_EQ(value(0), 1U);
    EXPECT_EQ(value(1), 2U);
    CUDA_KERNEL_NODE_PARAMS found{};
    ASSERT_TRUE(succeeds(CU(cuGraphKernelNodeGetParams)(kernel, &found)));
    EXPECT_EQ(found.func, function("store")) << "the node itself stays as it is";
}

TEST_F(GraphUpdates, every_type_of_node_can_change) {
    CUevent events[2] = {};
    for (CUevent& event : events) {
        ASSERT_TRUE(succeeds(CU(cuEventCreate)(&event, CU_EVENT_DEFAULT)));
    }
    int calls = 0;
    const CUgraphNode set = add_memset(word(0), 1);
    const CUgraphNode copy = add_memcpy(word(1), word(0), {set});
    const CUgraphNode host = add_host([](void*) {}, nullptr, {copy});
    CUgraphNode record = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddEventRecordNode)(&record, graph_, &host, 1, events[0])));
    CUgraphNode wait = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddEventWaitNode)(&wait, graph_, &record, 1, events[0])));
    add_memset(word(5), 1, {}, other_);
    CUgraphNode child = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddChildGraphNode)(&child, graph_, &wait, 1, other_)));
    const CUgraphExec executable = instantiate();

    CUDA_MEMSET_NODE_PARAMS new_set{word(0), 0, 42, 4, 1, 1};
    EXPECT_TRUE(succeeds(CU(cuGraphExecMemsetNodeSetParams)(executable, set, &new_set, context_)));
    CUDA_MEMCPY3D new_copy = copy_of(word(2), word(0), 4);
    EXPECT_TRUE(
        succeeds(CU(cuGraphExecMemcpyNodeSetParams)(executable, copy, &new_copy, context_)));
    const CUDA_HOST_NODE_PARAMS new_host{[](void* data) { ++*static_cast<int*>(data); }, &calls};
    EXPECT_TRUE(succeeds(CU(cuGraphExecHostNodeSetParams)(executable, host, &new_host)));
    EXPECT_TRUE(succeeds(CU(cuGraphExecEventRecordNodeSetEvent)(executable, record, events[1])));
    EXPECT_TRUE(succeeds(CU(cuGraphExecEventWaitNodeSetEvent)(executable, wait, events[1])));
    CUgraph replacement = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&replacement, 0)));
    add_memset(word(5), 9, {}, replacement);
    EXPECT_TRUE(succeeds(CU(cuGraphExecChildGraphNodeSetParams)(executable, child, replacement)));
    add_memset(word(5), 9, {}, replacement);
    EXPECT_TRUE(returns(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
                        CU(cuGraphExecChildGraphNodeSetParams)(executable, child, replacement)));
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(value(2), 42U);
    EXPECT_EQ(value(1), 0U);
    EXPECT_EQ(value(5), 9U);
    EXPECT_EQ(calls, 1);

    // The wrong type, the wrong graph, and what cannot change.
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphExecMemsetNodeSetParams)(executable, copy, &new_set, context_)));
    const CUgraphNode foreign = add_memset(word(0), 1, {}, replacement);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphExecMemsetNodeSetParams)(
                                                      executable, foreign, &new_set, context_)));
    const CUgraphNode late = add_memset(word(0), 1);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphExecMemsetNodeSetParams)(executable, late, &new_set, context_)));
    std::uint32_t on_host = 0;
    new_copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    new_copy.dstHost = &on_host;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphExecMemcpyNodeSetParams)(executable, copy, &new_copy, context_)));
    new_set.height = 2;
    new_set.pitch = 8;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphExecMemsetNodeSetParams)(executable, set, &new_set, context_)));
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(replacement)));
    for (const CUevent event : events) {
        EXPECT_TRUE(succeeds(CU(cuEventDestroy)(event)));
    }
}

TEST_F(GraphUpdates, a_whole_graph_can_be_taken_over) {
    add_kernel("add", word(0), 1, {add_memset(word(0), 10)});
    const CUgraphExec executable = instantiate();
    add_kernel("add", word(1), 5, {add_memset(word(1), 20, {}, other_)}, other_);
    const auto info = update(executable, CUDA_SUCCESS);
    EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(value(0), 0U);
    EXPECT_EQ(value(1), 25U);
}

TEST_F(GraphUpdates, what_differs_is_named) {
    const CUgraphNode set = add_memset(word(0), 10);
    add_kernel("add", word(0), 1, {set});
    const CUgraphExec executable = instantiate();
    EXPECT_EQ(update(executable, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE).result,
              CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED)
        << "the number of nodes";
    const CUgraphNode first = add_memset(word(0), 10, {}, other_);
    const CUgraphNode second = add_kernel("add", word(0), 1, {}, other_);
    auto info = update(executable, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    EXPECT_EQ(info.errorNode, second);
    ASSERT_TRUE(succeeds(CU(cuGraphAddDependencies)(other_, &second, &first, nullptr, 1)));
    info = update(executable, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    EXPECT_EQ(info.errorNode, second) << "the kernel is first now";
    ASSERT_TRUE(succeeds(CU(cuGraphRemoveDependencies)(other_, &second, &first, nullptr, 1)));
    ASSERT_TRUE(succeeds(CU(cuGraphAddDependencies)(other_, &first, &second, nullptr, 1)));
    CUDA_MEMSET_NODE_PARAMS wide{word(0), 8, 1, 4, 1, 2};
    ASSERT_TRUE(succeeds(CU(cuGraphMemsetNodeSetParams)(first, &wide)));
    info = update(executable, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
    EXPECT_EQ(info.errorNode, first);
    // After all refusals the executable graph is what it was.
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(value(0), 11U);
}

TEST_F(GraphUpdates, nodes_can_be_disabled) {
    const CUgraphNode set = add_memset(word(0), 10);
    const CUgraphNode add = add_kernel("add", word(0), 1, {set});
    const CUgraphNode empty = add_empty({add});
    const CUgraphExec executable = instantiate();
    unsigned enabled = 0;
    ASSERT_TRUE(succeeds(CU(cuGraphNodeGetEnabled)(executable, add, &enabled)));
    EXPECT_EQ(enabled, 1U);
    ASSERT_TRUE(succeeds(CU(cuGraphNodeSetEnabled)(executable, add, 0)));
    ASSERT_TRUE(succeeds(CU(cuGraphNodeGetEnabled)(executable, add, &enabled)));
    EXPECT_EQ(enabled, 0U);
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(value(0), 10U);
    ASSERT_TRUE(succeeds(CU(cuGraphNodeSetEnabled)(executable, add, 1)));
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(value(0), 11U);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphNodeSetEnabled)(executable, empty, 0)));
}

TEST_F(GraphUpdates, the_context_and_the_flags_of_instantiation_are_checked) {
    add_empty();
    CUgraphExec executable = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(nullptr)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_CONTEXT, CU(cuGraphInstantiate)(&executable, graph_, 0)));
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphInstantiate)(&executable, graph_, 64)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE,
                CU(cuGraphInstantiate)(&executable, graph_,
                                       CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                                           CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)));
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    parameters.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_SUPPORTED,
                        CU(cuGraphInstantiateWithParams)(&executable, graph_, &parameters)));
    EXPECT_EQ(parameters.result_out, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
    EXPECT_NE(parameters.hErrNode_out, nullptr);
    executable = instantiate(nullptr, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
    cuuint64_t flags = 0;
    ASSERT_TRUE(succeeds(CU(cuGraphExecGetFlags)(executable, &flags)));
    EXPECT_EQ(flags, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
}
