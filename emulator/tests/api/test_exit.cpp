// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What happens to threads that wait for the device while the process exits. A static object may
// join such a thread in its destructor, so each of them must come back.

#include "api/driver.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

using namespace cuprum::emulator::test;

namespace {

constexpr std::size_t LARGE = std::size_t{16} << 20; // such copies run on a worker

/// Blocks until is_open_now is set.
std::atomic<bool> is_open_now = false;

void wait_until_open(void* /*data*/) {
    is_open_now.wait(false);
}

/// Ends the process with code 2 if a call has failed.
void check(CUresult result) {
    if (result != CUDA_SUCCESS) {
        std::fprintf(stderr, "%s\n", name_of(result).c_str());
        std::_Exit(2);
    }
}

struct Waiting {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    CUdeviceptr memory = 0;
    std::thread thread;
    CUresult result = CUDA_ERROR_UNKNOWN;
};

Waiting waiting;

/// Exits while a thread waits for what `enqueue` has enqueued. That goes on, after wait_until_open,
/// when the workers have stopped.
void exit_while_a_thread_waits(const std::function<void()>& enqueue) {
    // Registered before the driver's own function, so it runs after it.
    std::atexit([] {
        is_open_now.store(true);
        is_open_now.notify_all();
        waiting.thread.join();
        std::fprintf(stderr, "the thread came back with %s\n", name_of(waiting.result).c_str());
    });
    check(CU(cuInit)(0));
    check(CU(cuDevicePrimaryCtxRetain)(&waiting.context, 0));
    check(CU(cuCtxSetCurrent)(waiting.context));
    check(CU(cuStreamCreate)(&waiting.stream, CU_STREAM_NON_BLOCKING));
    check(CU(cuMemAlloc)(&waiting.memory, 2 * LARGE));
    check(CU(cuMemsetD8)(waiting.memory, 0, 2 * LARGE)); // the workers have started
    enqueue();
    std::atomic<bool> is_ready = false;
    waiting.thread = std::thread([&] {
        check(CU(cuCtxSetCurrent)(waiting.context));
        is_ready.store(true);
        is_ready.notify_all();
        waiting.result = CU(cuStreamSynchronize)(waiting.stream);
    });
    is_ready.wait(false);
    std::exit(0);
}

/// Adds a node that waits for is_open_now.
CUgraphNode add_waiting_node(CUgraph graph) {
    CUDA_HOST_NODE_PARAMS host{};
    host.fn = wait_until_open;
    CUgraphNode node = nullptr;
    check(CU(cuGraphAddHostNode)(&node, graph, nullptr, 0, &host));
    return node;
}

void launch(CUgraph graph) {
    CUgraphExec executable = nullptr;
    check(CU(cuGraphInstantiate)(&executable, graph, 0));
    check(CU(cuGraphLaunch)(executable, waiting.stream));
}

class Exit : public testing::Test {
protected:
    // GoogleTest 1.11 has no GTEST_FLAG_SET.
    void SetUp() override { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

} // namespace

TEST_F(Exit, a_thread_that_waits_for_a_copy_comes_back) {
    const auto enqueue = [] {
        check(CU(cuLaunchHostFunc)(waiting.stream, wait_until_open, nullptr));
        check(CU(cuMemcpyDtoDAsync)(waiting.memory, waiting.memory + LARGE, LARGE, waiting.stream));
    };
    EXPECT_EXIT(exit_while_a_thread_waits(enqueue), testing::ExitedWithCode(0), "came back with");
}

TEST_F(Exit, a_thread_that_waits_for_a_copy_in_a_graph_comes_back) {
    const auto enqueue = [] {
        CUgraph graph = nullptr;
        check(CU(cuGraphCreate)(&graph, 0));
        const CUgraphNode first = add_waiting_node(graph);
        CUDA_MEMCPY3D copy{};
        copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.srcDevice = waiting.memory;
        copy.dstDevice = waiting.memory + LARGE;
        copy.WidthInBytes = LARGE;
        copy.Height = copy.Depth = 1;
        CUgraphNode node = nullptr;
        check(CU(cuGraphAddMemcpyNode)(&node, graph, &first, 1, &copy, waiting.context));
        launch(graph);
    };
    EXPECT_EXIT(exit_while_a_thread_waits(enqueue), testing::ExitedWithCode(0), "came back with");
}

TEST_F(Exit, a_thread_that_waits_for_a_loop_in_a_graph_comes_back) {
    const auto enqueue = [] {
        CUgraph graph = nullptr;
        check(CU(cuGraphCreate)(&graph, 0));
        CUgraphNodeParams loop{};
        loop.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
        check(CU(cuGraphConditionalHandleCreate)(&loop.conditional.handle, graph, waiting.context,
                                                 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
        loop.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
        loop.conditional.size = 1;
        loop.conditional.ctx = waiting.context;
        const CUgraphNode first = add_waiting_node(graph);
        CUgraphNode node = nullptr;
        check(CU(cuGraphAddNode)(&node, graph, &first, nullptr, 1, &loop));
        check(CU(cuGraphAddEmptyNode)(&node, loop.conditional.phGraph_out[0], nullptr, 0));
        launch(graph);
    };
    EXPECT_EXIT(exit_while_a_thread_waits(enqueue), testing::ExitedWithCode(0),
                "the process exits while a loop still runs");
}
