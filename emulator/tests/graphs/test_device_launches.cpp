// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels of graphs that launch graphs.

#include "graphs/graph_test.hpp"

using namespace cuprum::emulator::test;

namespace {

/// launch_it(graph, stream, result): *result is the error of cudaGraphLaunch. again(p): launches
/// its own graph behind itself until *p, which it counts down, is 0.
constexpr const char* LAUNCHING_PTX = R"(
.version 8.0
.target sm_70
.address_size 64

.extern .func (.param .b32 result) cudaGraphLaunch(.param .b64 graph, .param .b64 stream);
.extern .func (.param .b64 result) cudaGetCurrentGraphExec();

.visible .entry launch_it(.param .u64 graph, .param .u64 stream, .param .u64 result)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [graph];
    ld.param.u64 %rd2, [stream];
    ld.param.u64 %rd3, [result];
    {
    .param .b64 param0;
    st.param.b64 [param0], %rd1;
    .param .b64 param1;
    st.param.b64 [param1], %rd2;
    .param .b32 retval0;
    call.uni (retval0), cudaGraphLaunch, (param0, param1);
    ld.param.b32 %r1, [retval0];
    }
    st.global.u32 [%rd3], %r1;
    ret;
}

.visible .entry again(.param .u64 p)
{
    .reg .pred %q<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r1, [%rd1];
    sub.u32 %r2, %r1, 1;
    st.global.u32 [%rd1], %r2;
    setp.eq.u32 %q1, %r2, 0;
    @%q1 bra DONE;
    {
    .param .b64 retval0;
    call.uni (retval0), cudaGetCurrentGraphExec, ();
    ld.param.b64 %rd2, [retval0];
    }
    {
    .param .b64 param0;
    st.param.b64 [param0], %rd2;
    .param .b64 param1;
    st.param.b64 [param1], 72057594037927936;
    .param .b32 retval0;
    call.uni (retval0), cudaGraphLaunch, (param0, param1);
    }
DONE:
    ret;
}
)";

constexpr std::uint64_t TAIL = 0x0100000000000000;
constexpr std::uint64_t FIRE_AND_FORGET = 0x0200000000000000;

} // namespace

class GraphDeviceLaunches : public GraphTest {
protected:
    void SetUp() override {
        GraphTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&launching_, LAUNCHING_PTX)));
        ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&inner_, 0)));
    }

    void TearDown() override {
        EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(inner_)));
        EXPECT_TRUE(succeeds(CU(cuModuleUnload)(launching_)));
        GraphTest::TearDown();
    }

    CUfunction launching(const char* name) {
        CUfunction function = nullptr;
        EXPECT_TRUE(succeeds(CU(cuModuleGetFunction)(&function, launching_, name)));
        return function;
    }

    /// Adds a kernel that launches a graph and stores the error in a word.
    CUgraphNode add_launch(CUgraphExec graph, std::uint64_t stream, std::size_t result) {
        CUdeviceptr address = word(result);
        void* arguments[] = {&graph, &stream, &address};
        const auto parameters = single(launching("launch_it"), arguments);
        CUgraphNode node = nullptr;
        EXPECT_TRUE(succeeds(CU(cuGraphAddKernelNode)(&node, graph_, nullptr, 0, &parameters)));
        return node;
    }

    CUmodule launching_ = nullptr;
    CUgraph inner_ = nullptr;
};

TEST_F(GraphDeviceLaunches, a_tail_runs_behind_the_whole_graph_and_before_later_work) {
    add_kernel("move", word(1), word(0), {}, inner_);
    const CUgraphExec inner = instantiate(inner_, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    const CUgraphNode launch = add_launch(inner, TAIL, 5);
    add_kernel("add", word(0), 3, {launch});
    const CUgraphExec outer = instantiate();
    for (std::uint32_t round = 1; round <= 5; ++round) {
        ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(outer, stream_)));
        ASSERT_TRUE(succeeds(CU(cuMemcpyDtoDAsync)(word(2), word(1), 4, stream_)));
        EXPECT_EQ(value(2), round * 3);
    }
    EXPECT_EQ(value(5), 0U);
    ASSERT_TRUE(succeeds(run(inner))) << "the host can launch it too";
}

TEST_F(GraphDeviceLaunches, fire_and_forget_runs_at_once) {
    // The kernel behind the launching one waits for what the launched graph does.
    add_kernel("store", word(0), 1, {}, inner_);
    const CUgraphExec inner = instantiate(inner_, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    add_kernel("wait", word(0), 0, {add_launch(inner, FIRE_AND_FORGET, 5)});
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(0), 1U);
}

TEST_F(GraphDeviceLaunches, a_kernel_launches_a_graph_that_the_program_queued_behind_it) {
    // The kernel waits for its own launch of the graph, not for the one that waits for the kernel.
    add_kernel("add", word(0), 1, {}, inner_);
    const CUgraphExec inner = instantiate(inner_, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    for (const std::uint64_t kind : {FIRE_AND_FORGET, TAIL}) {
        add_launch(inner, kind, 5);
    }
    const CUgraphExec outer = instantiate();
    for (int round = 0; round < 3; ++round) {
        ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(outer, stream_)));
        ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(inner, stream_)));
    }
    EXPECT_EQ(value(0), 9U);
    EXPECT_EQ(value(5), 0U);
}

TEST_F(GraphDeviceLaunches, a_graph_can_launch_itself) {
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(word(0), 500, 1)));
    CUdeviceptr address = word(0);
    void* arguments[] = {&address};
    const auto parameters = single(launching("again"), arguments);
    CUgraphNode node = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddKernelNode)(&node, inner_, nullptr, 0, &parameters)));
    add_kernel("add", word(1), 1, {node}, inner_);
    ASSERT_TRUE(succeeds(run(instantiate(inner_, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH))));
    EXPECT_EQ(value(0), 0U);
    EXPECT_EQ(value(1), 500U);
}

TEST_F(GraphDeviceLaunches, a_graph_launches_itself_while_a_second_launch_is_queued) {
    // The second launch must not be something that the tail of the first one waits for.
    CUdeviceptr address = word(0);
    void* arguments[] = {&address};
    const auto parameters = single(launching("again"), arguments);
    CUgraphNode node = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddKernelNode)(&node, inner_, nullptr, 0, &parameters)));
    add_kernel("add", word(1), 1, {node}, inner_);
    const CUgraphExec graph = instantiate(inner_, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    ASSERT_TRUE(succeeds(CU(cuMemsetD32Async)(word(0), 50, 1, stream_)));
    ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(graph, stream_)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD32Async)(word(0), 20, 1, stream_)));
    ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(graph, stream_)));
    EXPECT_EQ(value(0), 0U);
    EXPECT_EQ(value(1), 70U);
}

TEST_F(GraphDeviceLaunches, a_graph_cannot_start_itself_at_once) {
    CUdeviceptr address = word(5);
    CUgraphExec graph = nullptr;
    std::uint64_t stream = FIRE_AND_FORGET;
    void* arguments[] = {&graph, &stream, &address};
    auto parameters = single(launching("launch_it"), arguments);
    CUgraphNode node = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddKernelNode)(&node, inner_, nullptr, 0, &parameters)));
    graph = instantiate(inner_, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    ASSERT_TRUE(succeeds(CU(cuGraphExecKernelNodeSetParams)(graph, node, &parameters)));
    ASSERT_TRUE(succeeds(run(graph)));
    EXPECT_NE(value(5), 0U);
}

TEST_F(GraphDeviceLaunches, what_cannot_be_launched_is_an_error_of_the_call) {
    add_kernel("store", word(0), 1, {}, inner_);
    const CUgraphExec host_only = instantiate(inner_);
    const CUgraphExec inner = instantiate(inner_, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    add_launch(host_only, TAIL, 5);
    add_launch(inner, 77, 6);
    add_launch(nullptr, TAIL, 7);
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(0), 0U);
    EXPECT_NE(value(5), 0U) << "not instantiated for kernels";
    EXPECT_NE(value(6), 0U) << "no stream of kernels";
    EXPECT_NE(value(7), 0U);
    // A kernel that is not part of a graph cannot launch one.
    std::uint64_t stream = TAIL;
    CUdeviceptr result = word(8);
    CUgraphExec graph = inner;
    void* arguments[] = {&graph, &stream, &result};
    ASSERT_TRUE(succeeds(CU(cuLaunchKernel)(launching("launch_it"), 1, 1, 1, 1, 1, 1, 0, stream_,
                                            arguments, nullptr)));
    EXPECT_NE(value(8), 0U);
    EXPECT_EQ(value(0), 0U);
}
