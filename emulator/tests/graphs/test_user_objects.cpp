// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graphs/graph_test.hpp"

#include <atomic>
#include <chrono>
#include <thread>

using namespace cuprum::emulator::test;

class GraphUserObjects : public GraphTest {
protected:
    struct Counter {
        std::atomic<int> destroyed{0};
        std::atomic<CUresult> result{CUDA_SUCCESS};
    };

    CUuserObject make(unsigned count) {
        CUuserObject object = nullptr;
        EXPECT_TRUE(succeeds(CU(cuUserObjectCreate)(
            &object, &counter_,
            [](void* data) {
                auto* counter = static_cast<Counter*>(data);
                counter->result = CU(cuCtxSynchronize)();
                ++counter->destroyed;
            },
            count, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)));
        return object;
    }

    /// Waits until the destructor ran: it does so on a thread of the driver.
    [[nodiscard]] bool is_destroyed() const {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (counter_.destroyed == 0 && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::yield();
        }
        return counter_.destroyed == 1;
    }

    Counter counter_;
};

TEST_F(GraphUserObjects, the_last_reference_calls_the_destructor) {
    const CUuserObject object = make(2);
    ASSERT_TRUE(succeeds(CU(cuUserObjectRetain)(object, 1)));
    ASSERT_TRUE(succeeds(CU(cuUserObjectRelease)(object, 2)));
    EXPECT_EQ(counter_.destroyed, 0);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuUserObjectRelease)(object, 2)));
    ASSERT_TRUE(succeeds(CU(cuUserObjectRelease)(object, 1)));
    EXPECT_TRUE(is_destroyed());
    EXPECT_EQ(counter_.result, CUDA_ERROR_NOT_PERMITTED) << "it may not call the driver";
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuUserObjectRetain)(object, 1)));
}

TEST_F(GraphUserObjects, graphs_clones_and_executable_graphs_hold_references) {
    const CUuserObject object = make(1);
    ASSERT_TRUE(
        succeeds(CU(cuGraphRetainUserObject)(graph_, object, 1, CU_GRAPH_USER_OBJECT_MOVE)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuUserObjectRelease)(object, 1)))
        << "the graph has it now";
    CUgraph clone = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphClone)(&clone, graph_)));
    const CUgraphExec executable = instantiate(clone);
    ASSERT_TRUE(succeeds(CU(cuGraphDestroy)(graph_)));
    graph_ = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphDestroy)(clone)));
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(counter_.destroyed, 0);
    destroy(executable);
    EXPECT_TRUE(is_destroyed());
}

TEST_F(GraphUserObjects, a_running_launch_holds_references) {
    const CUuserObject object = make(1);
    ASSERT_TRUE(
        succeeds(CU(cuGraphRetainUserObject)(graph_, object, 1, CU_GRAPH_USER_OBJECT_MOVE)));
    add_kernel("wait", word(0), 0);
    const CUgraphExec executable = instantiate();
    ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(executable, stream_)));
    destroy(executable);
    ASSERT_TRUE(succeeds(CU(cuGraphDestroy)(graph_)));
    graph_ = nullptr;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(counter_.destroyed, 0);
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(word(0), 1, 1)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    EXPECT_TRUE(is_destroyed());
}

TEST_F(GraphUserObjects, a_child_graph_brings_its_references_along) {
    CUgraph child = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&child, 0)));
    const CUuserObject object = make(1);
    ASSERT_TRUE(succeeds(CU(cuGraphRetainUserObject)(child, object, 1, CU_GRAPH_USER_OBJECT_MOVE)));
    CUgraphNode node = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddChildGraphNode)(&node, graph_, nullptr, 0, child)));
    ASSERT_TRUE(succeeds(CU(cuGraphDestroy)(child)));
    EXPECT_EQ(counter_.destroyed, 0);
    ASSERT_TRUE(succeeds(CU(cuGraphDestroyNode)(node)));
    EXPECT_TRUE(is_destroyed());
}

TEST_F(GraphUserObjects, an_update_replaces_what_the_executable_graph_holds) {
    const CUuserObject object = make(1);
    ASSERT_TRUE(
        succeeds(CU(cuGraphRetainUserObject)(graph_, object, 1, CU_GRAPH_USER_OBJECT_MOVE)));
    const CUgraphExec executable = instantiate();
    ASSERT_TRUE(succeeds(CU(cuGraphReleaseUserObject)(graph_, object, 1)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphReleaseUserObject)(graph_, object, 1)));
    EXPECT_EQ(counter_.destroyed, 0);
    CUgraph other = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&other, 0)));
    CUgraphExecUpdateResultInfo info{};
    ASSERT_TRUE(succeeds(CU(cuGraphExecUpdate)(executable, other, &info)));
    EXPECT_TRUE(is_destroyed());
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(other)));
}

TEST_F(GraphUserObjects, bad_arguments_are_refused) {
    CUuserObject object = nullptr;
    const CUhostFn nothing = [](void*) {};
    EXPECT_TRUE(returns(
        CUDA_ERROR_INVALID_VALUE,
        CU(cuUserObjectCreate)(&object, nullptr, nothing, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuUserObjectCreate)(&object, nullptr, nothing, 1, 0)));
    EXPECT_TRUE(returns(
        CUDA_ERROR_INVALID_VALUE,
        CU(cuUserObjectCreate)(&object, nullptr, nullptr, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)));
    object = make(1);
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphRetainUserObject)(graph_, object, 0, 0)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphRetainUserObject)(graph_, object, 1, 4)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphRetainUserObject)(graph_, object, 2, CU_GRAPH_USER_OBJECT_MOVE)))
        << "more than the program has";
    ASSERT_TRUE(succeeds(CU(cuUserObjectRelease)(object, 1)));
    EXPECT_TRUE(is_destroyed());
}
