// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Captured work as graphs: the nodes can be read, changed and run like others.

#include "graphs/graph_test.hpp"

#include <cstring>

using namespace cuprum::emulator::test;

class CapturedGraphs : public GraphTest {
protected:
    void begin() {
        ASSERT_TRUE(
            succeeds(CU(cuStreamBeginCapture)(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)));
    }

    /// Ends the capture; the graph takes the place of the empty one.
    void end() {
        EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph_)));
        ASSERT_TRUE(succeeds(CU(cuStreamEndCapture)(stream_, &graph_)));
    }

    Nodes nodes() const {
        Nodes all(node_count(graph_));
        std::size_t count = all.size();
        EXPECT_TRUE(succeeds(CU(cuGraphGetNodes)(graph_, all.data(), &count)));
        return all;
    }

    void launch(const char* name, CUdeviceptr address, std::uint64_t number, CUstream stream) {
        void* arguments[] = {&address, &number};
        EXPECT_TRUE(succeeds(
            CU(cuLaunchKernel)(function(name), 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr)));
    }
};

TEST_F(CapturedGraphs, kernels_copies_sets_and_host_functions_run_again) {
    std::uint32_t host[2] = {30, 0};
    int calls = 0;
    begin();
    ASSERT_TRUE(succeeds(CU(cuMemcpyHtoDAsync)(word(0), &host[0], 4, stream_)));
    launch("add", word(0), 4, stream_);
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoHAsync)(&host[1], word(0), 4, stream_)));
    ASSERT_TRUE(succeeds(
        CU(cuLaunchHostFunc)(stream_, [](void* data) { ++*static_cast<int*>(data); }, &calls)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD32Async)(word(1), 7, 1, stream_)));
    ASSERT_TRUE(succeeds(CU(cuStreamWriteValue32)(stream_, word(2), 8, 0)));
    end();
    const CUgraphExec executable = instantiate();
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(host[1], 34U);
    EXPECT_EQ(value(1), 7U);
    EXPECT_EQ(value(2), 8U);
    host[0] = 50; // pageable memory is read when the graph runs
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(host[1], 54U);
    EXPECT_EQ(calls, 2);
}

TEST_F(CapturedGraphs, the_parameters_of_captured_nodes_can_be_read) {
    std::uint32_t host = 0;
    begin();
    launch("store", word(0), 9, stream_);
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoHAsync)(&host, word(0), 4, stream_)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyAsync)(word(2), word(0), 8, stream_)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD2D16Async)(word(4), 8, 3, 2, 2, stream_)));
    end();
    const Nodes all = nodes();
    ASSERT_EQ(all.size(), 4U);
    CUDA_KERNEL_NODE_PARAMS kernel{};
    ASSERT_TRUE(succeeds(CU(cuGraphKernelNodeGetParams)(all[0], &kernel)));
    EXPECT_EQ(kernel.func, function("store"));
    EXPECT_EQ(*static_cast<std::uint32_t*>(kernel.kernelParams[1]), 9U);
    CUDA_MEMCPY3D copy{};
    ASSERT_TRUE(succeeds(CU(cuGraphMemcpyNodeGetParams)(all[1], &copy)));
    EXPECT_EQ(copy.dstMemoryType, CU_MEMORYTYPE_HOST);
    EXPECT_EQ(copy.dstHost, &host);
    EXPECT_EQ(copy.srcDevice, word(0));
    EXPECT_EQ(copy.WidthInBytes, 4U);
    ASSERT_TRUE(succeeds(CU(cuGraphMemcpyNodeGetParams)(all[2], &copy)));
    EXPECT_EQ(copy.srcMemoryType, CU_MEMORYTYPE_DEVICE) << "the type that the address has";
    CUDA_MEMSET_NODE_PARAMS set{};
    ASSERT_TRUE(succeeds(CU(cuGraphMemsetNodeGetParams)(all[3], &set)));
    EXPECT_EQ(set.elementSize, 2U);
    EXPECT_EQ(set.width, 2U);
    EXPECT_EQ(set.height, 2U);
    EXPECT_EQ(set.pitch, 8U);
    // What was captured can be given back as it is.
    EXPECT_TRUE(succeeds(CU(cuGraphMemcpyNodeSetParams)(all[2], &copy)));
    EXPECT_TRUE(succeeds(CU(cuGraphKernelNodeSetParams)(all[0], &kernel)));
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(host, 9U);
    EXPECT_EQ(value(2), 9U);
    EXPECT_EQ(value(6), 0x00030003U);
}

TEST_F(CapturedGraphs, two_and_three_dimensional_copies_run_again) {
    std::vector<std::uint32_t> host(24);
    for (std::uint32_t i = 0; i < host.size(); ++i) {
        host[i] = i + 1;
    }
    const CUdeviceptr memory = allocate(4096);
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host.data();
    copy.srcPitch = 16;
    copy.srcHeight = 3;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = memory;
    copy.dstPitch = 64;
    copy.dstHeight = 4;
    copy.srcXInBytes = 4;
    copy.WidthInBytes = 8;
    copy.Height = 2;
    copy.Depth = 2;
    CUDA_MEMCPY2D back{};
    std::uint32_t result[2][2] = {};
    back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    back.srcDevice = memory + 4 * 64; // the second slice
    back.srcPitch = 64;
    back.dstMemoryType = CU_MEMORYTYPE_HOST;
    back.dstHost = result;
    back.dstPitch = 8;
    back.WidthInBytes = 8;
    back.Height = 2;
    begin();
    ASSERT_TRUE(succeeds(CU(cuMemcpy3DAsync)(&copy, stream_)));
    ASSERT_TRUE(succeeds(CU(cuMemcpy2DAsync)(&back, stream_)));
    end();
    // Reading and writing the parameters changes nothing.
    CUDA_MEMCPY3D found{};
    ASSERT_TRUE(succeeds(CU(cuGraphMemcpyNodeGetParams)(nodes()[0], &found)));
    ASSERT_TRUE(succeeds(CU(cuGraphMemcpyNodeSetParams)(nodes()[0], &found)));
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(result[0][0], 14U);
    EXPECT_EQ(result[0][1], 15U);
    EXPECT_EQ(result[1][0], 18U);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
}

TEST_F(CapturedGraphs, forked_streams_become_branches) {
    CUstream other = nullptr;
    CUevent fork = nullptr;
    CUevent join = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&other, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuEventCreate)(&fork, CU_EVENT_DISABLE_TIMING)));
    ASSERT_TRUE(succeeds(CU(cuEventCreate)(&join, CU_EVENT_DISABLE_TIMING)));
    begin();
    ASSERT_TRUE(succeeds(CU(cuEventRecord)(fork, stream_)));
    ASSERT_TRUE(succeeds(CU(cuStreamWaitEvent)(other, fork, 0)));
    // Each waits for the other: only branches that run at the same time end.
    launch("store", word(0), 1, stream_);
    launch("wait", word(1), 0, stream_);
    launch("store", word(1), 1, other);
    launch("wait", word(0), 0, other);
    ASSERT_TRUE(succeeds(CU(cuEventRecord)(join, other)));
    ASSERT_TRUE(succeeds(CU(cuStreamWaitEvent)(stream_, join, 0)));
    launch("add", word(2), 5, stream_);
    end();
    std::size_t count = 0;
    ASSERT_TRUE(succeeds(CU(cuGraphNodeGetDependencies)(nodes()[4], nullptr, nullptr, &count)));
    EXPECT_EQ(count, 2U);
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(2), 5U);
    EXPECT_TRUE(succeeds(CU(cuEventDestroy)(fork)));
    EXPECT_TRUE(succeeds(CU(cuEventDestroy)(join)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(other)));
}

TEST_F(CapturedGraphs, external_events_become_nodes) {
    CUevent event = nullptr;
    ASSERT_TRUE(succeeds(CU(cuEventCreate)(&event, CU_EVENT_DEFAULT)));
    begin();
    launch("wait", word(0), 0, stream_);
    ASSERT_TRUE(succeeds(CU(cuEventRecordWithFlags)(event, stream_, CU_EVENT_RECORD_EXTERNAL)));
    end();
    CUevent found = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphEventRecordNodeGetEvent)(nodes()[1], &found)));
    EXPECT_EQ(found, event);
    ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(instantiate(), stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(word(0), 1, 1)));
    EXPECT_TRUE(succeeds(CU(cuEventSynchronize)(event)));
    EXPECT_TRUE(succeeds(CU(cuEventDestroy)(event)));
}

TEST_F(CapturedGraphs, overlapping_launches_become_programmatic_edges) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig config{1, 1, 1, 1, 1, 1, 0, stream_, &attribute, 1};
    CUdeviceptr address = word(0);
    std::uint32_t number = 2;
    void* arguments[] = {&address, &number};
    begin();
    launch("store", word(0), 1, stream_);
    ASSERT_TRUE(succeeds(CU(cuLaunchKernelEx)(&config, function("add"), arguments, nullptr)));
    end();
    CUgraphNode from = nullptr;
    CUgraphEdgeData data{};
    std::size_t count = 1;
    ASSERT_TRUE(succeeds(CU(cuGraphNodeGetDependencies)(nodes()[1], &from, &data, &count)));
    EXPECT_EQ(data.type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(0), 3U);
}

TEST_F(CapturedGraphs, nodes_stay_while_a_stream_captures_into_their_graph) {
    ASSERT_TRUE(succeeds(CU(cuStreamBeginCaptureToGraph)(stream_, graph_, nullptr, nullptr, 0,
                                                         CU_STREAM_CAPTURE_MODE_RELAXED)));
    launch("store", word(0), 1, stream_);
    launch("store", word(0), 2, stream_);
    CUgraphNode empty = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddEmptyNode)(&empty, graph_, nullptr, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_STATE, CU(cuGraphDestroyNode)(nodes()[1])));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_STATE, CU(cuGraphDestroyNode)(empty)))
        << "also nodes that the capture did not add";
    launch("add", word(1), 3, stream_);
    CUgraph ended = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamEndCapture)(stream_, &ended)));
    EXPECT_EQ(ended, graph_);
    EXPECT_TRUE(succeeds(CU(cuGraphDestroyNode)(nodes()[1])));
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(0), 1U);
    EXPECT_EQ(value(1), 3U);
}

TEST_F(CapturedGraphs, launching_a_graph_into_a_capture_is_refused) {
    const CUgraphExec executable = instantiate();
    begin();
    EXPECT_TRUE(
        returns(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CU(cuGraphLaunch)(executable, stream_)));
    CUgraph graph = nullptr;
    EXPECT_TRUE(
        returns(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CU(cuStreamEndCapture)(stream_, &graph)));
    EXPECT_TRUE(succeeds(run(executable)));
}
