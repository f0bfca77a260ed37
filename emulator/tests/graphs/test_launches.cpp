// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graphs/graph_test.hpp"

#include <atomic>
#include <thread>

using namespace cuprum::emulator::test;

class GraphLaunches : public GraphTest {};

TEST_F(GraphLaunches, nodes_run_in_the_order_of_the_edges) {
    const CUgraphNode set = add_memset(word(0), 5);
    const CUgraphNode add = add_kernel("add", word(0), 2, {set});
    const CUgraphNode copy = add_memcpy(word(1), word(0), {add});
    add_kernel("add", word(1), 10, {copy});
    const CUgraphExec executable = instantiate();
    for (int launch = 0; launch < 3; ++launch) {
        ASSERT_TRUE(succeeds(run(executable)));
        EXPECT_EQ(value(0), 7U);
        EXPECT_EQ(value(1), 17U);
    }
}

TEST_F(GraphLaunches, launches_of_one_graph_follow_each_other_on_any_streams) {
    CUgraphNode last = add_kernel("add", word(0), 1);
    last = add_memcpy(word(1), word(0), {last});
    add_memcpy(word(0), word(1), {last});
    const CUgraphExec executable = instantiate();
    std::vector<CUstream> streams(4);
    for (CUstream& stream : streams) {
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    }
    for (int launch = 0; launch < 200; ++launch) {
        ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(executable, streams[launch % streams.size()])));
    }
    EXPECT_EQ(value(0), 200U);
    for (const CUstream stream : streams) {
        EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
    }
}

TEST_F(GraphLaunches, a_launch_waits_for_its_stream_and_later_work_waits_for_it) {
    add_kernel("add", word(0), 1);
    const CUgraphExec executable = instantiate();
    Gate gate;
    gate.block(stream_);
    ASSERT_TRUE(succeeds(CU(cuMemsetD32Async)(word(0), 40, 1, stream_)));
    ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(executable, stream_)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoDAsync)(word(1), word(0), 4, stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream_)));
    gate.open();
    EXPECT_EQ(value(1), 41U);
}

// Recorded on an H200 in November 2026, with driver 580.
TEST_F(GraphLaunches, an_upload_is_ordered_behind_launches_on_other_streams) {
    add_kernel("add", word(0), 1);
    const CUgraphExec executable = instantiate();
    CUstream other = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&other, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuGraphUpload)(executable, other)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(other)));
    Gate gate;
    gate.block(stream_);
    ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(executable, stream_)));
    ASSERT_TRUE(succeeds(CU(cuGraphUpload)(executable, other)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(other)));
    gate.open();
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(other)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(other)));
    EXPECT_EQ(value(0), 1U);
}

TEST_F(GraphLaunches, branches_run_at_the_same_time) {
    // Each branch waits for what the other one does at its beginning.
    add_kernel("wait", word(2), 0, {add_kernel("store", word(1), 1)});
    add_kernel("wait", word(1), 0, {add_kernel("store", word(2), 1)});
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(1), 1U);
}

TEST_F(GraphLaunches, a_wide_and_deep_graph_runs_every_node_once) {
    constexpr int width = 40;
    constexpr int depth = 25;
    Nodes level;
    for (int row = 0; row < depth; ++row) {
        Nodes next;
        for (int column = 0; column < width; ++column) {
            next.push_back(add_empty(level));
        }
        // One kernel for each row, so that no two run at once.
        level = {add_kernel("add", word(0), 1, next)};
    }
    const CUgraphExec executable = instantiate();
    for (int launch = 0; launch < 20; ++launch) {
        ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(executable, stream_)));
    }
    EXPECT_EQ(value(0), 20U * depth);
}

TEST_F(GraphLaunches, host_functions_run_and_may_not_call_the_driver) {
    struct Seen {
        std::atomic<int> calls{0};
        std::atomic<CUresult> result{CUDA_SUCCESS};
    } seen;

    const CUgraphNode first = add_host(
        [](void* data) {
            auto* seen = static_cast<Seen*>(data);
            ++seen->calls;
            seen->result = CU(cuCtxSynchronize)();
        },
        &seen);
    add_kernel("store", word(0), 3, {first});
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(seen.calls, 1);
    EXPECT_EQ(seen.result, CUDA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(value(0), 3U);
}

TEST_F(GraphLaunches, events_are_recorded_and_waited_for) {
    CUevent event = nullptr;
    ASSERT_TRUE(succeeds(CU(cuEventCreate)(&event, CU_EVENT_DEFAULT)));
    Gate gate;
    gate.block(stream_);
    CUgraphNode record = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddEventRecordNode)(&record, graph_, nullptr, 0, event)));
    ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(instantiate(), stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event)));

    CUgraph other = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&other, 0)));
    CUgraphNode wait = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddEventWaitNode)(&wait, other, nullptr, 0, event)));
    add_kernel("move", word(1), word(0), {wait}, other);
    CUstream second = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&second, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(instantiate(other), second)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(second)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(word(0), 9, 1)));
    gate.open();
    ASSERT_TRUE(succeeds(CU(cuEventSynchronize)(event)));
    EXPECT_EQ(value(1), 9U);
    CUevent found = nullptr;
    EXPECT_TRUE(succeeds(CU(cuGraphEventWaitNodeGetEvent)(wait, &found)));
    EXPECT_EQ(found, event);
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(other)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(second)));
    EXPECT_TRUE(succeeds(CU(cuEventDestroy)(event)));
}

TEST_F(GraphLaunches, child_graphs_run_between_their_neighbours) {
    CUgraph child = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&child, 0)));
    const CUgraphNode inner = add_kernel("add", word(0), 1, {}, child);
    add_kernel("add", word(0), 1, {inner}, child);
    const CUgraphNode before = add_memset(word(0), 10);
    CUgraphNode node = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddChildGraphNode)(&node, graph_, &before, 1, child)));
    add_memcpy(word(1), word(0), {node});
    CUgraph embedded = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphChildGraphNodeGetGraph)(node, &embedded)));
    EXPECT_NE(embedded, child);
    EXPECT_EQ(node_count(embedded), 2U);
    // The node has a copy: what happens to the original does not matter.
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(child)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphDestroy)(embedded)));
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(1), 12U);
}

TEST_F(GraphLaunches, an_executable_graph_lives_on_without_its_graph_and_ends_after_its_launch) {
    add_kernel("wait", word(0), 0);
    CUgraphExec executable = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphInstantiate)(&executable, graph_, 0)));
    ASSERT_TRUE(succeeds(CU(cuGraphDestroy)(graph_)));
    graph_ = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(executable, stream_)));
    ASSERT_TRUE(succeeds(CU(cuGraphExecDestroy)(executable)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphExecDestroy)(executable)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphLaunch)(executable, stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream_)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(word(0), 1, 1)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
}

TEST_F(GraphLaunches, many_threads_launch_their_own_graphs) {
    constexpr std::size_t threads = 6;
    constexpr int launches = 100;
    std::vector<CUgraph> graphs(threads);
    std::vector<CUgraphExec> executables;
    for (std::size_t thread = 0; thread < threads; ++thread) {
        ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&graphs[thread], 0)));
        CUgraphNode last = add_kernel("add", word(thread), 1, {}, graphs[thread]);
        for (int node = 1; node < 10; ++node) {
            last = add_kernel("add", word(thread), 1, {last}, graphs[thread]);
        }
        executables.push_back(instantiate(graphs[thread]));
    }
    std::vector<std::thread> runners;
    for (std::size_t thread = 0; thread < threads; ++thread) {
        runners.emplace_back([&, thread] {
            EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
            CUstream stream = nullptr;
            EXPECT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
            for (int launch = 0; launch < launches; ++launch) {
                EXPECT_TRUE(succeeds(CU(cuGraphLaunch)(executables[thread], stream)));
            }
            EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream)));
            EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
        });
    }
    for (std::thread& runner : runners) {
        runner.join();
    }
    for (std::size_t thread = 0; thread < threads; ++thread) {
        EXPECT_EQ(value(thread), 10U * launches);
        EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graphs[thread])));
    }
}
