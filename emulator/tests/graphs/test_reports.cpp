// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What goes wrong in a graph names the node. Each case runs in its own process: errors are sticky,
// and the environment is read once.

#include "graphs/graph_test.hpp"

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>

using namespace cuprum::emulator::test;

namespace {

/// A graph in a process that may fail.
class Reports : public GraphTest {
public:
    void TestBody() override {}

    void set_up() { SetUp(); }

    using GraphTest::add_kernel;
    using GraphTest::add_memcpy;
    using GraphTest::add_memset;
    using GraphTest::context_;
    using GraphTest::graph_;
    using GraphTest::instantiate;
    using GraphTest::run;
    using GraphTest::stream_;
    using GraphTest::word;
    using GraphTest::words_;
};

/// Runs a body under a setting in another process, and expects a text on its stderr.
void expect_report(const char* variable, const char* setting,
                   const std::function<void(Reports&)>& body, const std::string& expected) {
    const auto program = [&] {
        if (variable != nullptr) {
            ::setenv(variable, setting, 1);
        }
        Reports graph;
        graph.set_up();
        body(graph);
        std::_Exit(0);
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), expected);
}

/// Expects that nothing is reported.
void expect_silence(const char* variable, const char* setting,
                    const std::function<void(Reports&)>& body) {
    expect_report(variable, setting, body, "^$");
}

void check(CUresult expected, CUresult actual) {
    if (expected != actual) {
        std::fprintf(stderr, "expected %s, got %s\n", name_of(expected).c_str(),
                     name_of(actual).c_str());
        std::_Exit(1);
    }
}

constexpr const char* CHECK = "CUPRUM_EMULATOR_CHECK";

} // namespace

TEST(GraphReports, a_kernel_that_fails_names_its_node_and_the_launch) {
    expect_report(
        nullptr, nullptr,
        [](Reports& graph) {
            const CUgraphNode first = graph.add_kernel("store", graph.word(0), 1);
            const CUgraphNode bad = graph.add_kernel("store", 64, 1, {first});
            graph.add_kernel("store", graph.word(1), 1, {bad});
            const CUgraphExec executable = graph.instantiate();
            check(CUDA_ERROR_ILLEGAL_ADDRESS, graph.run(executable));
            check(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuGraphLaunch)(executable, graph.stream_));
            check(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)());
        },
        "illegal address.*in kernel store.*in node 1, kernel 'store', of a graph\n  launched by "
        "cuGraphLaunch");
}

TEST(GraphReports, a_copy_of_freed_memory_is_found) {
    expect_report(
        nullptr, nullptr,
        [](Reports& graph) {
            CUdeviceptr memory = 0;
            check(CUDA_SUCCESS, CU(cuMemAlloc)(&memory, 64));
            graph.add_memcpy(graph.word(0), memory);
            const CUgraphExec executable = graph.instantiate();
            check(CUDA_SUCCESS, graph.run(executable));
            check(CUDA_SUCCESS, CU(cuMemFree)(memory));
            check(CUDA_ERROR_ILLEGAL_ADDRESS, graph.run(executable));
        },
        "was freed or is not allocated.*freed by cuMemFree.*in node 0, memory copy of 4 bytes");
}

TEST(GraphReports, a_batch_on_freed_memory_is_found) {
    for (const bool is_wait : {false, true}) {
        expect_report(
            nullptr, nullptr,
            [&](Reports& graph) {
                CUdeviceptr memory = 0;
                check(CUDA_SUCCESS, CU(cuMemAlloc)(&memory, 64));
                check(CUDA_SUCCESS, CU(cuMemsetD32)(memory, 0, 1));
                CUstreamBatchMemOpParams item{};
                item.operation =
                    is_wait ? CU_STREAM_MEM_OP_WAIT_VALUE_32 : CU_STREAM_MEM_OP_WRITE_VALUE_32;
                item.writeValue.address = memory; // at the same place in waitValue; 0 and GEQ
                CUDA_BATCH_MEM_OP_NODE_PARAMS batch{graph.context_, 1, &item, 0};
                CUgraphNode node = nullptr;
                check(CUDA_SUCCESS,
                      CU(cuGraphAddBatchMemOpNode)(&node, graph.graph_, nullptr, 0, &batch));
                const CUgraphExec executable = graph.instantiate();
                check(CUDA_SUCCESS, graph.run(executable));
                check(CUDA_SUCCESS, CU(cuMemFree)(memory));
                check(CUDA_ERROR_ILLEGAL_ADDRESS, graph.run(executable));
            },
            std::string(is_wait ? "wait for a value" : "write") +
                " of 4 bytes at 0x.*which was freed or is not allocated.*freed by cuMemFree.*"
                "in node 0");
    }
}

/// Runs a graph whose while node never ends by itself. The body is a kernel or only a memset.
void run_endless_loop(Reports& graph, bool has_kernel) {
    CUgraphConditionalHandle handle = 0;
    check(CUDA_SUCCESS, CU(cuGraphConditionalHandleCreate)(&handle, graph.graph_, graph.context_, 1,
                                                           CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    parameters.conditional.handle = handle;
    parameters.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    parameters.conditional.size = 1;
    parameters.conditional.ctx = graph.context_;
    CUgraphNode node = nullptr;
    check(CUDA_SUCCESS, CU(cuGraphAddNode)(&node, graph.graph_, nullptr, nullptr, 0, &parameters));
    const CUgraph body = parameters.conditional.phGraph_out[0];
    if (has_kernel) {
        graph.add_kernel("add", graph.word(0), 1, {}, body);
    } else {
        graph.add_memset(graph.word(0), 1, {}, body);
    }
    const CUgraphExec executable = graph.instantiate();
    const auto begin = std::chrono::steady_clock::now();
    check(CUDA_SUCCESS, CU(cuGraphLaunch)(executable, graph.stream_));
    if (std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(500)) {
        std::fprintf(stderr, "the launch itself waited\n");
        std::_Exit(1);
    }
    check(CUDA_ERROR_LAUNCH_TIMEOUT, CU(cuStreamSynchronize)(graph.stream_));
}

TEST(GraphReports, a_loop_that_never_ends_is_stopped) {
    expect_report(
        "CUPRUM_EMULATOR_WATCHDOG", "1:strict",
        [](Reports& graph) { run_endless_loop(graph, true); },
        "the body of a while node has run [0-9]+ times.*in node 0, conditional, of a graph");
}

TEST(GraphReports, a_loop_that_no_kernel_can_end_is_stopped_without_the_watchdog) {
    expect_report(
        nullptr, nullptr, [](Reports& graph) { run_endless_loop(graph, false); },
        "no kernel that could set its condition to 0.*add a kernel that calls "
        "cudaGraphSetConditional");
}

TEST(GraphReports, a_condition_that_does_not_exist_is_reported) {
    expect_report(
        nullptr, nullptr,
        [](Reports& graph) {
            graph.add_kernel("set_condition", 4711, 1);
            check(CUDA_ERROR_LAUNCH_FAILED, graph.run(graph.instantiate()));
        },
        "cudaGraphSetConditional: 4711 is not the handle of a condition");
}

TEST(GraphReports, nodes_that_share_memory_without_an_edge_are_named) {
    expect_report(
        CHECK, "graphs",
        [](Reports& graph) {
            graph.add_kernel("store", graph.word(3), 1);
            graph.add_kernel("move", graph.word(4), graph.word(3));
            check(CUDA_SUCCESS, graph.run(graph.instantiate()));
        },
        "warning: unordered nodes: node 0, kernel 'store', of a graph, writes 4 bytes at "
        "0x[0-9a-f]+ "
        "that\n  node 1, kernel 'move', of a graph, reads too.*12 bytes into device memory");
}

TEST(GraphReports, copies_and_sets_count_and_a_pair_is_reported_once) {
    expect_report(
        CHECK, "graphs",
        [](Reports& graph) {
            graph.add_memset(graph.word(0), 1, {}, nullptr, 4);
            graph.add_memcpy(graph.word(8), graph.word(3));
            const CUgraphExec executable = graph.instantiate();
            check(CUDA_SUCCESS, graph.run(executable));
            std::fprintf(stderr, "again\n");
            check(CUDA_SUCCESS, graph.run(executable));
        },
        "node 0, memory set of 16 bytes.*node 1, memory copy of 4 bytes.*again\n$");
}

TEST(GraphReports, ordered_nodes_reads_and_other_memory_are_not_reported) {
    expect_silence(CHECK, "graphs", [](Reports& graph) {
        const CUgraphNode first = graph.add_kernel("store", graph.word(0), 1);
        const CUgraphNode empty = graph.add_memset(graph.word(9), 1, {first});
        graph.add_kernel("add", graph.word(0), 1, {empty}); // ordered through another node
        graph.add_kernel("move", graph.word(1), graph.word(5));
        graph.add_kernel("move", graph.word(2), graph.word(5)); // both only read word 5
        check(CUDA_SUCCESS, graph.run(graph.instantiate()));
        graph.add_kernel("store", graph.word(0), 1); // not part of what was instantiated
    });
}

TEST(GraphReports, embedded_graphs_are_looked_into) {
    expect_report(
        CHECK, "graphs",
        [](Reports& graph) {
            CUgraph child = nullptr;
            check(CUDA_SUCCESS, CU(cuGraphCreate)(&child, 0));
            graph.add_kernel("store", graph.word(0), 1, {}, child);
            CUgraphNode node = nullptr;
            check(CUDA_SUCCESS,
                  CU(cuGraphAddChildGraphNode)(&node, graph.graph_, nullptr, 0, child));
            graph.add_kernel("add", graph.word(0), 1);
            check(CUDA_SUCCESS, graph.run(graph.instantiate()));
        },
        "node 0, child graph, of a graph, writes 4 bytes.*node 1, kernel 'add', of a graph");
}
