// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The work on graphs with many nodes: a call must not look at the whole graph for each node.

#include "graphs/graph_test.hpp"
#include "support/scaling.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

CUgraph make_graph() {
    CUgraph graph = nullptr;
    EXPECT_TRUE(succeeds(CU(cuGraphCreate)(&graph, 0)));
    return graph;
}

void destroy_graph(CUgraph graph) {
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph)));
}

void destroy_executable(CUgraphExec executable) {
    EXPECT_TRUE(succeeds(CU(cuGraphExecDestroy)(executable)));
}

/// A graph and its nodes.
struct Made {
    CUgraph graph = nullptr;
    std::vector<CUgraphNode> nodes;
};

CUgraphNode add_empty_to(CUgraph graph, const std::vector<CUgraphNode>& after = {}) {
    CUgraphNode node = nullptr;
    EXPECT_TRUE(succeeds(CU(cuGraphAddEmptyNode)(&node, graph, after.data(), after.size())));
    return node;
}

/// Nodes that do not depend on each other.
Made make_loose(std::size_t count) {
    Made made{make_graph(), {}};
    for (std::size_t index = 0; index < count; ++index) {
        made.nodes.push_back(add_empty_to(made.graph));
    }
    return made;
}

Made make_chain(std::size_t count) {
    Made made{make_graph(), {add_empty_to(made.graph)}};
    while (made.nodes.size() < count) {
        made.nodes.push_back(add_empty_to(made.graph, {made.nodes.back()}));
    }
    return made;
}

/// One node before all others, one behind them.
Made make_fan(std::size_t count) {
    Made made{make_graph(), {}};
    made.nodes.push_back(add_empty_to(made.graph));
    for (std::size_t index = 0; index < count; ++index) {
        made.nodes.push_back(add_empty_to(made.graph, {made.nodes.front()}));
    }
    made.nodes.push_back(add_empty_to(made.graph, {made.nodes.begin() + 1, made.nodes.end()}));
    return made;
}

} // namespace

class GraphScaling : public GraphTest {
protected:
    /// Returns a chain of nodes that write words.
    [[nodiscard]] Made make_memsets(std::size_t count) {
        Made made{make_graph(), {}};
        for (std::size_t index = 0; index < count; ++index) {
            const Nodes after = made.nodes.empty() ? Nodes{} : Nodes{made.nodes.back()};
            made.nodes.push_back(add_memset(word(0), 1, after, made.graph));
        }
        return made;
    }
};

TEST_F(GraphScaling, adding_nodes) {
    expect_scales(500, [](std::size_t count) { destroy_graph(make_chain(count).graph); });
    expect_scales(500, [](std::size_t count) { destroy_graph(make_fan(count).graph); });
}

TEST_F(GraphScaling, adding_edges_together_and_one_by_one) {
    expect_scales(500, make_loose, [](const Made& made) {
        const std::vector<CUgraphNode> from(made.nodes.size() - 1, made.nodes.front());
        EXPECT_TRUE(succeeds(CU(cuGraphAddDependencies)(
            made.graph, from.data(), made.nodes.data() + 1, nullptr, from.size())));
        EXPECT_TRUE(succeeds(CU(cuGraphRemoveDependencies)(
            made.graph, from.data(), made.nodes.data() + 1, nullptr, from.size())));
        destroy_graph(made.graph);
    });
    expect_scales(500, make_loose, [](const Made& made) {
        const CUgraphNode last = made.nodes.back();
        for (std::size_t index = 0; index + 1 < made.nodes.size(); ++index) {
            EXPECT_TRUE(succeeds(
                CU(cuGraphAddDependencies)(made.graph, &made.nodes[index], &last, nullptr, 1)));
        }
        for (std::size_t index = 0; index + 1 < made.nodes.size(); ++index) {
            EXPECT_TRUE(succeeds(
                CU(cuGraphRemoveDependencies)(made.graph, &made.nodes[index], &last, nullptr, 1)));
        }
        destroy_graph(made.graph);
    });
}

TEST_F(GraphScaling, destroying_nodes) {
    for (const auto& make : {make_loose, make_chain, make_fan}) {
        expect_scales(1000, make, [](const Made& made) {
            for (const CUgraphNode node : made.nodes) {
                EXPECT_TRUE(succeeds(CU(cuGraphDestroyNode)(node)));
            }
            destroy_graph(made.graph);
        });
        expect_scales(1000, make, [](const Made& made) {
            for (auto node = made.nodes.rbegin(); node != made.nodes.rend(); ++node) {
                EXPECT_TRUE(succeeds(CU(cuGraphDestroyNode)(*node)));
            }
            destroy_graph(made.graph);
        });
    }
}

TEST_F(GraphScaling, cloning_and_finding_nodes_in_the_clone) {
    expect_scales(2000, make_chain, [](const Made& made) {
        CUgraph clone = nullptr;
        ASSERT_TRUE(succeeds(CU(cuGraphClone)(&clone, made.graph)));
        for (const CUgraphNode node : made.nodes) {
            CUgraphNode found = nullptr;
            EXPECT_TRUE(succeeds(CU(cuGraphNodeFindInClone)(&found, node, clone)));
        }
        destroy_graph(clone);
        destroy_graph(made.graph);
    });
}

TEST_F(GraphScaling, instantiating_and_launching) {
    for (const auto& make : {make_loose, make_chain, make_fan}) {
        expect_scales(500, make, [&](const Made& made) {
            CUgraphExec executable = nullptr;
            ASSERT_TRUE(succeeds(CU(cuGraphInstantiate)(&executable, made.graph, 0)));
            EXPECT_TRUE(succeeds(CU(cuGraphLaunch)(executable, stream_)));
            EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
            destroy_executable(executable);
            destroy_graph(made.graph);
        });
    }
}

TEST_F(GraphScaling, updating_an_executable_graph_and_each_of_its_nodes) {
    const auto prepare = [this](std::size_t count) { return make_memsets(count); };
    expect_scales(200, prepare, [this](const Made& made) {
        CUgraphExec executable = nullptr;
        ASSERT_TRUE(succeeds(CU(cuGraphInstantiate)(&executable, made.graph, 0)));
        CUgraphExecUpdateResultInfo info{};
        EXPECT_TRUE(succeeds(CU(cuGraphExecUpdate)(executable, made.graph, &info)));
        const CUDA_MEMSET_NODE_PARAMS other{word(1), 0, 2, 4, 1, 1};
        for (const CUgraphNode node : made.nodes) {
            EXPECT_TRUE(
                succeeds(CU(cuGraphExecMemsetNodeSetParams)(executable, node, &other, context_)));
            EXPECT_TRUE(succeeds(CU(cuGraphNodeSetEnabled)(executable, node, 0)));
        }
        destroy_executable(executable);
        destroy_graph(made.graph);
    });
}

TEST_F(GraphScaling, memory_nodes) {
    expect_scales(100, [](std::size_t count) {
        const CUgraph graph = make_graph();
        std::vector<CUgraphNode> last;
        for (std::size_t index = 0; index < count; ++index) {
            CUDA_MEM_ALLOC_NODE_PARAMS request{};
            request.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
            request.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
            request.bytesize = 64 * (index + 1); // no two are the same memory
            CUgraphNode alloc = nullptr;
            CUgraphNode freed = nullptr;
            EXPECT_TRUE(succeeds(
                CU(cuGraphAddMemAllocNode)(&alloc, graph, last.data(), last.size(), &request)));
            EXPECT_TRUE(
                succeeds(CU(cuGraphAddMemFreeNode)(&freed, graph, &alloc, 1, request.dptr)));
            last = {freed};
        }
        destroy_graph(graph);
    });
}

TEST_F(GraphScaling, child_graphs) {
    expect_scales(200, [](std::size_t count) {
        const CUgraph child = make_chain(2).graph;
        const CUgraph graph = make_graph();
        std::vector<CUgraphNode> nodes(count);
        for (CUgraphNode& node : nodes) {
            EXPECT_TRUE(succeeds(CU(cuGraphAddChildGraphNode)(&node, graph, nullptr, 0, child)));
        }
        for (const CUgraphNode node : nodes) {
            EXPECT_TRUE(succeeds(CU(cuGraphDestroyNode)(node)));
        }
        destroy_graph(graph);
        destroy_graph(child);
    });
}

TEST_F(GraphScaling, conditional_nodes) {
    expect_scales(1000, [this](std::size_t count) {
        const CUgraph graph = make_graph();
        for (std::size_t index = 0; index < count; ++index) {
            CUgraphNodeParams parameters{};
            parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
            EXPECT_TRUE(succeeds(CU(cuGraphConditionalHandleCreate)(&parameters.conditional.handle,
                                                                    graph, context_, 0, 0)));
            parameters.conditional.type = CU_GRAPH_COND_TYPE_IF;
            parameters.conditional.size = 1;
            parameters.conditional.ctx = context_;
            CUgraphNode node = nullptr;
            EXPECT_TRUE(
                succeeds(CU(cuGraphAddNode)(&node, graph, nullptr, nullptr, 0, &parameters)));
        }
        destroy_graph(graph);
    });
}

TEST_F(GraphScaling, user_objects) {
    expect_scales(800, [](std::size_t count) {
        const CUgraph graph = make_graph();
        std::vector<CUuserObject> objects(count);
        for (CUuserObject& object : objects) {
            EXPECT_TRUE(succeeds(CU(cuUserObjectCreate)(
                &object, graph, [](void*) {}, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)));
            EXPECT_TRUE(
                succeeds(CU(cuGraphRetainUserObject)(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE)));
        }
        CUgraph clone = nullptr;
        EXPECT_TRUE(succeeds(CU(cuGraphClone)(&clone, graph)));
        for (const CUuserObject object : objects) {
            EXPECT_TRUE(succeeds(CU(cuGraphReleaseUserObject)(graph, object, 1)));
        }
        destroy_graph(clone);
        destroy_graph(graph);
    });
}

TEST_F(GraphScaling, captures) {
    expect_scales(500, [this](std::size_t count) {
        ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(stream_, CU_STREAM_CAPTURE_MODE_RELAXED)));
        for (std::size_t index = 0; index < count; ++index) {
            EXPECT_TRUE(succeeds(CU(cuMemsetD32Async)(word(0), 1, 1, stream_)));
        }
        CUgraph graph = nullptr;
        EXPECT_TRUE(succeeds(CU(cuStreamEndCapture)(stream_, &graph)));
        destroy_graph(graph);
    });
}

TEST_F(GraphScaling, captures_that_fork) {
    struct Fork {
        CUstream stream = nullptr;
        CUevent event = nullptr;
    };

    const auto prepare = [](std::size_t count) {
        std::vector<Fork> forks(count);
        for (Fork& fork : forks) {
            EXPECT_TRUE(succeeds(CU(cuStreamCreate)(&fork.stream, CU_STREAM_NON_BLOCKING)));
            EXPECT_TRUE(succeeds(CU(cuEventCreate)(&fork.event, CU_EVENT_DISABLE_TIMING)));
        }
        return forks;
    };
    CUevent begin = nullptr;
    ASSERT_TRUE(succeeds(CU(cuEventCreate)(&begin, CU_EVENT_DISABLE_TIMING)));
    expect_scales(100, prepare, [&](const std::vector<Fork>& forks) {
        ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(stream_, CU_STREAM_CAPTURE_MODE_RELAXED)));
        EXPECT_TRUE(succeeds(CU(cuEventRecord)(begin, stream_)));
        for (const Fork& fork : forks) {
            EXPECT_TRUE(succeeds(CU(cuStreamWaitEvent)(fork.stream, begin, 0)));
            EXPECT_TRUE(succeeds(CU(cuMemsetD32Async)(word(0), 1, 1, fork.stream)));
            EXPECT_TRUE(succeeds(CU(cuEventRecord)(fork.event, fork.stream)));
            EXPECT_TRUE(succeeds(CU(cuStreamWaitEvent)(stream_, fork.event, 0)));
        }
        CUgraph graph = nullptr;
        EXPECT_TRUE(succeeds(CU(cuStreamEndCapture)(stream_, &graph)));
        destroy_graph(graph);
        for (const Fork& fork : forks) {
            EXPECT_TRUE(succeeds(CU(cuEventDestroy)(fork.event)));
            EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(fork.stream)));
        }
    });
    EXPECT_TRUE(succeeds(CU(cuEventDestroy)(begin)));
}
