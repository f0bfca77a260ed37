// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Conditional nodes, whose conditions kernels set.

#include "graphs/graph_test.hpp"

using namespace cuprum::emulator::test;

class GraphConditionals : public GraphTest {
protected:
    CUgraphConditionalHandle make_handle(unsigned value, unsigned flags, CUgraph graph = nullptr) {
        CUgraphConditionalHandle handle = 0;
        EXPECT_TRUE(succeeds(CU(cuGraphConditionalHandleCreate)(
            &handle, graph != nullptr ? graph : graph_, context_, value, flags)));
        return handle;
    }

    static CUgraphNodeParams conditional(CUgraphConditionalHandle handle,
                                         CUgraphConditionalNodeType type, unsigned size,
                                         CUcontext context) {
        CUgraphNodeParams parameters{};
        parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
        parameters.conditional.handle = handle;
        parameters.conditional.type = type;
        parameters.conditional.size = size;
        parameters.conditional.ctx = context;
        return parameters;
    }

    /// Adds a conditional node and returns its bodies.
    std::vector<CUgraph> add(CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
                             unsigned size, const Nodes& after = {}, CUgraph graph = nullptr) {
        auto parameters = conditional(handle, type, size, context_);
        EXPECT_TRUE(succeeds(CU(cuGraphAddNode)(&node_, graph != nullptr ? graph : graph_,
                                                after.data(), nullptr, after.size(), &parameters)));
        return {parameters.conditional.phGraph_out, parameters.conditional.phGraph_out + size};
    }

    CUgraphNode node_ = nullptr;
};

TEST_F(GraphConditionals, if_runs_one_of_its_bodies) {
    const auto handle = make_handle(0, 0);
    const CUgraphNode set = add_kernel("set_condition", handle, 0);
    const auto bodies = add(handle, CU_GRAPH_COND_TYPE_IF, 2, {set});
    add_kernel("add", word(0), 1, {}, bodies[0]);
    add_kernel("add", word(1), 1, {}, bodies[1]);
    add_kernel("add", word(2), 1, {node_});
    const CUgraphExec executable = instantiate();
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(value(0), 0U);
    EXPECT_EQ(value(1), 1U);
    CUgraphConditionalHandle argument = handle;
    std::uint32_t number = 7;
    void* arguments[] = {&argument, &number};
    const auto parameters = single(function("set_condition"), arguments);
    ASSERT_TRUE(succeeds(CU(cuGraphExecKernelNodeSetParams)(executable, set, &parameters)));
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(value(0), 1U);
    EXPECT_EQ(value(1), 1U);
    EXPECT_EQ(value(2), 2U);
}

TEST_F(GraphConditionals, while_runs_until_a_kernel_ends_it) {
    const auto handle = make_handle(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    const CUgraphNode set = add_memset(word(0), 10);
    const auto bodies = add(handle, CU_GRAPH_COND_TYPE_WHILE, 1, {set});
    const CUgraphNode add_one = add_kernel("add", word(1), 1, {}, bodies[0]);
    add_kernel("countdown", handle, word(0), {add_one}, bodies[0]);
    const CUgraphExec executable = instantiate();
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(value(0), 0U);
    EXPECT_EQ(value(1), 10U);
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(value(1), 20U) << "the default value starts the loop again";
}

TEST_F(GraphConditionals, a_condition_without_default_keeps_its_value) {
    const auto handle = make_handle(1, 0);
    const auto bodies = add(handle, CU_GRAPH_COND_TYPE_IF, 1);
    const CUgraphNode add_one = add_kernel("add", word(0), 1, {}, bodies[0]);
    add_kernel("set_condition", handle, 0, {add_one}, bodies[0]);
    const CUgraphExec executable = instantiate();
    ASSERT_TRUE(succeeds(run(executable)));
    const std::uint32_t after_first = value(0);
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(value(0), after_first);
}

TEST_F(GraphConditionals, switch_runs_the_body_of_its_value_or_none) {
    for (const unsigned chosen : {0U, 2U, 9U}) {
        CUgraph graph = nullptr;
        ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&graph, 0)));
        const auto handle = make_handle(chosen, CU_GRAPH_COND_ASSIGN_DEFAULT, graph);
        const auto bodies = add(handle, CU_GRAPH_COND_TYPE_SWITCH, 3, {}, graph);
        for (unsigned body = 0; body < 3; ++body) {
            add_kernel("add", word(body), 1, {}, bodies[body]);
        }
        ASSERT_TRUE(succeeds(run(instantiate(graph))));
        EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph)));
    }
    EXPECT_EQ(value(0), 1U);
    EXPECT_EQ(value(1), 0U);
    EXPECT_EQ(value(2), 1U);
}

TEST_F(GraphConditionals, conditionals_and_child_graphs_nest) {
    // A loop of three rounds; in each, an if with a child graph that adds twice.
    const auto loop = make_handle(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    const auto inner = make_handle(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    const CUgraphNode set = add_memset(word(0), 3);
    const auto body = add(loop, CU_GRAPH_COND_TYPE_WHILE, 1, {set});
    const auto branch = add(inner, CU_GRAPH_COND_TYPE_IF, 1, {}, body[0]);
    const CUgraphNode condition = node_;
    CUgraph child = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&child, 0)));
    add_kernel("add", word(1), 1, {add_kernel("add", word(1), 1, {}, child)}, child);
    CUgraphNode node = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddChildGraphNode)(&node, branch[0], nullptr, 0, child)));
    add_kernel("countdown", loop, word(0), {condition}, body[0]);
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(1), 6U);
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(child)));
}

TEST_F(GraphConditionals, bodies_can_be_captured) {
    const auto handle = make_handle(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    const auto bodies = add(handle, CU_GRAPH_COND_TYPE_IF, 1);
    ASSERT_TRUE(succeeds(CU(cuStreamBeginCaptureToGraph)(stream_, bodies[0], nullptr, nullptr, 0,
                                                         CU_STREAM_CAPTURE_MODE_GLOBAL)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD32Async)(word(0), 21, 1, stream_)));
    CUgraph ended = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamEndCapture)(stream_, &ended)));
    EXPECT_EQ(ended, bodies[0]);
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(0), 21U);
}

TEST_F(GraphConditionals, updates_take_over_the_handle) {
    const auto build = [&](CUgraph graph, std::uint32_t number) {
        const auto handle = make_handle(0, 0, graph);
        const CUgraphNode set = add_kernel("set_condition", handle, number, {}, graph);
        const auto bodies = add(handle, CU_GRAPH_COND_TYPE_IF, 1, {set}, graph);
        add_kernel("add", word(0), 1, {}, bodies[0]);
    };
    build(graph_, 0);
    const CUgraphExec executable = instantiate();
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(value(0), 0U);
    CUgraph other = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&other, 0)));
    build(other, 1);
    CUgraphExecUpdateResultInfo info{};
    ASSERT_TRUE(succeeds(CU(cuGraphExecUpdate)(executable, other, &info)));
    ASSERT_TRUE(succeeds(run(executable)));
    EXPECT_EQ(value(0), 1U);
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(other)));
}

TEST_F(GraphConditionals, what_is_wrong_is_refused) {
    const auto handle = make_handle(0, 0);
    CUgraph other = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&other, 0)));
    CUgraphNode node = nullptr;
    const auto add_to = [&](CUgraph graph, CUgraphConditionalHandle which,
                            CUgraphConditionalNodeType type, unsigned size) {
        auto parameters = conditional(which, type, size, context_);
        return CU(cuGraphAddNode)(&node, graph, nullptr, nullptr, 0, &parameters);
    };
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, add_to(other, handle, CU_GRAPH_COND_TYPE_IF, 1)))
        << "a handle of another graph";
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, add_to(graph_, 12345, CU_GRAPH_COND_TYPE_IF, 1)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, add_to(graph_, handle, CU_GRAPH_COND_TYPE_IF, 3)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, add_to(graph_, handle, CU_GRAPH_COND_TYPE_WHILE, 2)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, add_to(graph_, handle, CU_GRAPH_COND_TYPE_SWITCH, 0)));
    CUgraphExec executable = nullptr;
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphInstantiateWithParams)(&executable, graph_, &parameters)));
    EXPECT_EQ(parameters.result_out, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED);
    const auto bodies = add(handle, CU_GRAPH_COND_TYPE_IF, 1);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, add_to(graph_, handle, CU_GRAPH_COND_TYPE_IF, 1)))
        << "in use";
    CUgraph clone = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_SUPPORTED, CU(cuGraphClone)(&clone, graph_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphDestroy)(bodies[0])));
    add_host([](void*) {}, nullptr, {}, bodies[0]);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphInstantiateWithParams)(&executable, graph_, &parameters)));
    CUgraphConditionalHandle made = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphConditionalHandleCreate)(&made, graph_, context_, 0, 8)));
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(other)));
}

TEST_F(GraphConditionals, setting_a_condition_can_be_linked) {
    CUlinkState link = nullptr;
    ASSERT_TRUE(succeeds(CU(cuLinkCreate)(0, nullptr, nullptr, &link)));
    std::string ptx = GRAPH_PTX;
    ASSERT_TRUE(succeeds(CU(cuLinkAddData)(link, CU_JIT_INPUT_PTX, ptx.data(), ptx.size() + 1,
                                           "graph.ptx", 0, nullptr, nullptr)));
    void* image = nullptr;
    std::size_t bytes = 0;
    ASSERT_TRUE(succeeds(CU(cuLinkComplete)(link, &image, &bytes)));
    CUmodule linked = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&linked, image)));
    const auto handle = make_handle(0, CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraphConditionalHandle argument = handle;
    std::uint32_t number = 1;
    void* arguments[] = {&argument, &number};
    CUfunction set = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&set, linked, "set_condition")));
    const auto parameters = single(set, arguments);
    CUgraphNode node = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddKernelNode)(&node, graph_, nullptr, 0, &parameters)));
    const auto bodies = add(handle, CU_GRAPH_COND_TYPE_IF, 1, {node});
    add_memset(word(0), 4, {}, bodies[0]);
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(0), 4U);
    EXPECT_TRUE(succeeds(CU(cuModuleUnload)(linked)));
    EXPECT_TRUE(succeeds(CU(cuLinkDestroy)(link)));
}
