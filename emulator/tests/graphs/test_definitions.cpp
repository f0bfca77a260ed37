// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Graphs as they are defined: nodes, edges, parameters, clones.

#include "graphs/graph_test.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace cuprum::emulator::test;

class GraphDefinitions : public GraphTest {
protected:
    static Nodes nodes_of(CUgraph graph) {
        Nodes nodes(node_count(graph));
        std::size_t count = nodes.size();
        EXPECT_TRUE(succeeds(CU(cuGraphGetNodes)(graph, nodes.data(), &count)));
        return nodes;
    }

    static Nodes dependencies_of(CUgraphNode node) {
        std::size_t count = 0;
        EXPECT_TRUE(succeeds(CU(cuGraphNodeGetDependencies)(node, nullptr, nullptr, &count)));
        Nodes nodes(count);
        EXPECT_TRUE(succeeds(CU(cuGraphNodeGetDependencies)(node, nodes.data(), nullptr, &count)));
        return nodes;
    }

    CUresult connect(CUgraphNode from, CUgraphNode to, const CUgraphEdgeData* data = nullptr) {
        return CU(cuGraphAddDependencies)(graph_, &from, &to, data, 1);
    }

    std::string dot(unsigned flags) {
        const auto path = std::filesystem::temp_directory_path() /
                          ("cuprum_graph_" + std::to_string(::getpid()) + ".dot");
        EXPECT_TRUE(succeeds(CU(cuGraphDebugDotPrint)(graph_, path.c_str(), flags)));
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        std::filesystem::remove(path);
        return text.str();
    }
};

TEST_F(GraphDefinitions, nodes_and_edges_can_be_walked) {
    const CUgraphNode root = add_empty();
    const CUgraphNode left = add_empty({root});
    const CUgraphNode right = add_empty({root});
    const CUgraphNode join = add_empty({left, right});
    EXPECT_EQ(nodes_of(graph_), (Nodes{root, left, right, join}));
    EXPECT_EQ(dependencies_of(join), (Nodes{left, right}));
    CUgraphNode roots[2] = {join, join};
    std::size_t count = 2;
    ASSERT_TRUE(succeeds(CU(cuGraphGetRootNodes)(graph_, roots, &count)));
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(roots[0], root);
    EXPECT_EQ(roots[1], nullptr) << "the rest of the array is cleared";
    ASSERT_TRUE(succeeds(CU(cuGraphGetEdges)(graph_, nullptr, nullptr, nullptr, &count)));
    EXPECT_EQ(count, 4U);
    Nodes from(3);
    Nodes to(3);
    count = 3;
    ASSERT_TRUE(succeeds(CU(cuGraphGetEdges)(graph_, from.data(), to.data(), nullptr, &count)));
    EXPECT_EQ(count, 3U) << "no more than fits";
    EXPECT_EQ(from[0], root);
    CUgraphNode dependent[2];
    count = 2;
    ASSERT_TRUE(succeeds(CU(cuGraphNodeGetDependentNodes)(root, dependent, nullptr, &count)));
    EXPECT_EQ(dependent[1], right);
}

TEST_F(GraphDefinitions, bad_edges_are_refused_and_change_nothing) {
    const CUgraphNode one = add_empty();
    const CUgraphNode two = add_empty({one});
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, connect(one, two))) << "exists already";
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, connect(one, one)));
    CUgraph other = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&other, 0)));
    CUgraphNode foreign = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddEmptyNode)(&foreign, other, nullptr, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, connect(one, foreign)));
    CUgraphNode node = nullptr;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphAddEmptyNode)(&node, graph_, &foreign, 1)));
    const CUgraphNode twice[] = {one, one};
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphAddEmptyNode)(&node, graph_, twice, 2)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphRemoveDependencies)(graph_, &two, &one, nullptr, 1)));
    EXPECT_TRUE(succeeds(CU(cuGraphRemoveDependencies)(graph_, &one, &two, nullptr, 1)));
    EXPECT_TRUE(dependencies_of(two).empty());
    EXPECT_EQ(node_count(graph_), 2U);
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(other)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphDestroy)(other)));
    CUgraphNodeType type{};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphNodeGetType)(foreign, &type)));
}

TEST_F(GraphDefinitions, a_cycle_is_refused_at_instantiation_which_names_a_node) {
    const CUgraphNode one = add_empty();
    const CUgraphNode two = add_empty({one});
    const CUgraphNode three = add_empty({two});
    ASSERT_TRUE(succeeds(connect(three, two)));
    CUgraphExec executable = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphInstantiate)(&executable, graph_, 0)));
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphInstantiateWithParams)(&executable, graph_, &parameters)));
    EXPECT_EQ(parameters.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    EXPECT_TRUE(parameters.hErrNode_out == two || parameters.hErrNode_out == three);
    ASSERT_TRUE(succeeds(CU(cuGraphRemoveDependencies)(graph_, &three, &two, nullptr, 1)));
    ASSERT_TRUE(succeeds(CU(cuGraphInstantiateWithParams)(&executable, graph_, &parameters)));
    EXPECT_EQ(parameters.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
    EXPECT_EQ(parameters.hErrNode_out, nullptr);
    executables_.push_back(executable);
}

TEST_F(GraphDefinitions, edge_data_stays_with_the_edge) {
    const CUgraphNode one = add_kernel("store", word(0), 1);
    const CUgraphNode two = add_kernel("store", word(0), 2);
    CUgraphEdgeData data{};
    data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, connect(one, two, &data))) << "wrong type";
    data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, connect(add_empty(), two, &data)))
        << "empty nodes have no ports";
    ASSERT_TRUE(succeeds(connect(one, two, &data)));
    CUgraphNode from = nullptr;
    std::size_t count = 1;
    EXPECT_TRUE(returns(CUDA_ERROR_LOSSY_QUERY,
                        CU(cuGraphNodeGetDependencies)(two, &from, nullptr, &count)));
    CUgraphEdgeData found{};
    ASSERT_TRUE(succeeds(CU(cuGraphNodeGetDependencies)(two, &from, &found, &count)));
    EXPECT_EQ(found.type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    EXPECT_EQ(found.from_port, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphRemoveDependencies)(graph_, &one, &two, nullptr, 1)))
        << "an edge with other data";
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(0), 2U);
}

TEST_F(GraphDefinitions, kernel_parameters_are_values) {
    std::uint32_t number = 5;
    CUdeviceptr address = word(0);
    void* arguments[] = {&address, &number};
    auto parameters = single(function("store"), arguments);
    CUgraphNode node = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddKernelNode)(&node, graph_, nullptr, 0, &parameters)));
    number = 6; // the node has its copy
    CUDA_KERNEL_NODE_PARAMS found{};
    ASSERT_TRUE(succeeds(CU(cuGraphKernelNodeGetParams)(node, &found)));
    EXPECT_EQ(found.func, parameters.func);
    EXPECT_EQ(found.ctx, context_);
    EXPECT_EQ(*static_cast<std::uint32_t*>(found.kernelParams[1]), 5U);
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(0), 5U);

    struct {
        CUdeviceptr address;
        std::uint32_t number;
    } packed{word(1), 8};

    std::size_t bytes = sizeof packed;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    parameters.kernelParams = nullptr;
    parameters.extra = extra;
    ASSERT_TRUE(succeeds(CU(cuGraphKernelNodeSetParams)(node, &parameters)));
    ASSERT_TRUE(succeeds(CU(cuGraphKernelNodeGetParams)(node, &found)));
    EXPECT_EQ(found.kernelParams, nullptr);
    ASSERT_NE(found.extra, nullptr);
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(1), 8U);

    parameters.kernelParams = arguments;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphKernelNodeSetParams)(node, &parameters)))
        << "both kinds of arguments";
    parameters.extra = nullptr;
    parameters.blockDimX = 2000;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphKernelNodeSetParams)(node, &parameters)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphKernelNodeSetParams)(add_empty(), &parameters)));
}

TEST_F(GraphDefinitions, kernels_of_libraries_keep_their_name) {
    CUlibrary library = nullptr;
    CUkernel kernel = nullptr;
    ASSERT_TRUE(succeeds(
        CU(cuLibraryLoadData)(&library, GRAPH_PTX, nullptr, nullptr, 0, nullptr, nullptr, 0)));
    ASSERT_TRUE(succeeds(CU(cuLibraryGetKernel)(&kernel, library, "store")));
    CUdeviceptr address = word(0);
    std::uint32_t number = 4;
    void* arguments[] = {&address, &number};
    auto parameters = single(nullptr, arguments);
    parameters.kern = kernel;
    CUgraphNode node = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddKernelNode)(&node, graph_, nullptr, 0, &parameters)));
    CUDA_KERNEL_NODE_PARAMS found{};
    ASSERT_TRUE(succeeds(CU(cuGraphKernelNodeGetParams)(node, &found)));
    EXPECT_EQ(found.kern, kernel);
    EXPECT_EQ(found.func, nullptr);
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(0), 4U);
    EXPECT_TRUE(succeeds(CU(cuLibraryUnload)(library)));
}

TEST_F(GraphDefinitions, copy_set_and_host_parameters_can_be_read_and_written) {
    const CUgraphNode set = add_memset(word(0), 1);
    CUDA_MEMSET_NODE_PARAMS set_parameters{};
    ASSERT_TRUE(succeeds(CU(cuGraphMemsetNodeGetParams)(set, &set_parameters)));
    EXPECT_EQ(set_parameters.dst, word(0));
    set_parameters.value = 77;
    ASSERT_TRUE(succeeds(CU(cuGraphMemsetNodeSetParams)(set, &set_parameters)));
    set_parameters.elementSize = 3;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphMemsetNodeSetParams)(set, &set_parameters)));
    const CUgraphNode copy = add_memcpy(word(1), word(2), {set});
    CUDA_MEMCPY3D copy_parameters{};
    ASSERT_TRUE(succeeds(CU(cuGraphMemcpyNodeGetParams)(copy, &copy_parameters)));
    EXPECT_EQ(copy_parameters.srcDevice, word(2));
    copy_parameters.srcDevice = word(0);
    ASSERT_TRUE(succeeds(CU(cuGraphMemcpyNodeSetParams)(copy, &copy_parameters)));
    copy_parameters.srcDevice = 64;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphMemcpyNodeSetParams)(copy, &copy_parameters)));
    int calls = 0;
    const CUgraphNode host = add_host([](void* data) { ++*static_cast<int*>(data); }, nullptr);
    CUDA_HOST_NODE_PARAMS host_parameters{};
    ASSERT_TRUE(succeeds(CU(cuGraphHostNodeGetParams)(host, &host_parameters)));
    host_parameters.userData = &calls;
    ASSERT_TRUE(succeeds(CU(cuGraphHostNodeSetParams)(host, &host_parameters)));
    host_parameters.fn = nullptr;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphHostNodeSetParams)(host, &host_parameters)));
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(1), 77U);
    EXPECT_EQ(calls, 1);
    CUDA_MEMSET_NODE_PARAMS wrong{};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphMemsetNodeGetParams)(copy, &wrong)));
}

TEST_F(GraphDefinitions, one_function_adds_and_changes_all_types_of_nodes) {
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_MEMSET;
    parameters.memset = {word(0), 0, 3, 4, 1, 1, context_};
    CUgraphNode set = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddNode)(&set, graph_, nullptr, nullptr, 0, &parameters)));
    parameters.memset.value = 9;
    ASSERT_TRUE(succeeds(CU(cuGraphNodeSetParams)(set, &parameters)));
    CUgraphNodeParams copy{};
    copy.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    copy.memcpy.copyCtx = context_;
    copy.memcpy.copyParams = copy_of(word(1), word(0), 4);
    CUgraphNode node = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddNode)(&node, graph_, &set, nullptr, 1, &copy)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphNodeSetParams)(node, &parameters)))
        << "another type";
    copy.reserved0[1] = 1;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphAddNode)(&node, graph_, &set, nullptr, 1, &copy)));
    copy.reserved0[1] = 0;
    CUgraphNodeParams signal{};
    signal.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
    signal.extSemSignal.numExtSems = 1;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphAddNode)(&node, graph_, &set, nullptr, 1, &signal)))
        << "there is no array of semaphores";
    signal.extSemSignal.numExtSems = 0;
    EXPECT_TRUE(succeeds(CU(cuGraphAddNode)(&node, graph_, &set, nullptr, 1, &signal)));
    copy.type = static_cast<CUgraphNodeType>(99);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphAddNode)(&node, graph_, &set, nullptr, 1, &copy)));
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(1), 9U);
}

TEST_F(GraphDefinitions, words_of_memory_are_written_and_waited_for) {
    CUstreamBatchMemOpParams items[2] = {};
    items[0].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    items[0].waitValue.address = word(0);
    items[0].waitValue.value = 1;
    items[0].waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
    items[1].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    items[1].writeValue.address = word(1);
    items[1].writeValue.value = 6;
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch{context_, 2, items, 0};
    CUgraphNode node = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddBatchMemOpNode)(&node, graph_, nullptr, 0, &batch)));
    CUDA_BATCH_MEM_OP_NODE_PARAMS found{};
    ASSERT_TRUE(succeeds(CU(cuGraphBatchMemOpNodeGetParams)(node, &found)));
    ASSERT_EQ(found.count, 2U);
    EXPECT_EQ(found.paramArray[1].writeValue.value, 6U);
    ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(instantiate(), stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream_)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(word(0), 1, 1)));
    EXPECT_EQ(value(1), 6U);
    batch.count = 0;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphBatchMemOpNodeSetParams)(node, &batch)));
}

TEST_F(GraphDefinitions, kernel_attributes_are_kept_and_checked) {
    const CUgraphNode node = add_kernel("store", word(0), 1);
    CUkernelNodeAttrValue priority{};
    priority.priority = -2;
    ASSERT_TRUE(succeeds(
        CU(cuGraphKernelNodeSetAttribute)(node, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &priority)));
    const CUgraphNode other = add_kernel("store", word(1), 1, {node});
    ASSERT_TRUE(succeeds(CU(cuGraphKernelNodeCopyAttributes)(other, node)));
    CUkernelNodeAttrValue found{};
    ASSERT_TRUE(succeeds(
        CU(cuGraphKernelNodeGetAttribute)(other, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &found)));
    EXPECT_EQ(found.priority, -2);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphKernelNodeGetAttribute)(
                            node, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &found)));
    EXPECT_TRUE(returns(
        CUDA_ERROR_INVALID_VALUE,
        CU(cuGraphKernelNodeGetAttribute)(add_empty(), CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &found)));
    ASSERT_TRUE(succeeds(run(instantiate(nullptr, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY))));
    EXPECT_EQ(value(1), 1U);
}

TEST_F(GraphDefinitions, clones_are_independent_and_know_their_originals) {
    const CUgraphNode set = add_memset(word(0), 1);
    add_kernel("add", word(0), 1, {set});
    CUgraph clone = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphClone)(&clone, graph_)));
    CUgraphNode found = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphNodeFindInClone)(&found, set, clone)));
    EXPECT_EQ(found, nodes_of(clone)[0]);
    EXPECT_NE(found, set);
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphNodeFindInClone)(&found, found, graph_)));
    CUDA_MEMSET_NODE_PARAMS parameters{word(0), 0, 10, 4, 1, 1};
    ASSERT_TRUE(succeeds(CU(cuGraphMemsetNodeSetParams)(found, &parameters)));
    ASSERT_TRUE(succeeds(run(instantiate(clone))));
    EXPECT_EQ(value(0), 11U);
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(0), 2U);
    ASSERT_TRUE(succeeds(CU(cuGraphDestroyNode)(found)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphDestroyNode)(found)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphNodeFindInClone)(&found, set, clone)));
    EXPECT_EQ(node_count(clone), 1U);
    EXPECT_TRUE(dependencies_of(nodes_of(clone)[0]).empty());
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(clone)));
}

TEST_F(GraphDefinitions, a_child_graph_can_be_moved_into_its_node) {
    CUgraph child = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&child, 0)));
    add_memset(word(0), 8, {}, child);
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
    parameters.graph = {child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE};
    CUgraphNode node = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddNode)(&node, graph_, nullptr, nullptr, 0, &parameters)));
    CUgraph embedded = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphChildGraphNodeGetGraph)(node, &embedded)));
    EXPECT_EQ(embedded, child);
    CUgraphExec executable = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphDestroy)(child)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphInstantiate)(&executable, child, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphAddNode)(&node, graph_, nullptr, nullptr, 0, &parameters)))
        << "moved before";
    ASSERT_TRUE(succeeds(run(instantiate())));
    EXPECT_EQ(value(0), 8U);
}

TEST_F(GraphDefinitions, graphs_and_nodes_have_numbers_that_the_picture_shows) {
    auto* const graph_id = symbol<CUresult(CUgraph, unsigned*)>("cuGraphGetId");
    auto* const local_id = symbol<CUresult(CUgraphNode, unsigned*)>("cuGraphNodeGetLocalId");
    auto* const tools_id =
        symbol<CUresult(CUgraphNode, unsigned long long*)>("cuGraphNodeGetToolsId");
    auto* const containing =
        symbol<CUresult(CUgraphNode, CUgraph*)>("cuGraphNodeGetContainingGraph");
    const CUgraphNode first = add_empty();
    const CUgraphNode second = add_empty({first});
    unsigned graph = 0;
    ASSERT_TRUE(succeeds(graph_id(graph_, &graph)));
    EXPECT_NE(graph, 0U);
    unsigned numbers[2]{};
    unsigned long long unique[2]{};
    ASSERT_TRUE(succeeds(local_id(first, &numbers[0])));
    ASSERT_TRUE(succeeds(local_id(second, &numbers[1])));
    EXPECT_NE(numbers[0], numbers[1]);
    ASSERT_TRUE(succeeds(tools_id(first, &unique[0])));
    ASSERT_TRUE(succeeds(tools_id(second, &unique[1])));
    EXPECT_NE(unique[0], unique[1]);
    EXPECT_NE(dot(0).find("graph_" + std::to_string(graph) + "_node_" + std::to_string(numbers[1])),
              std::string::npos);
    CUgraph found = nullptr;
    ASSERT_TRUE(succeeds(containing(second, &found)));
    EXPECT_EQ(found, graph_);

    CUgraph child = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&child, 0)));
    CUgraphNode inner = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddEmptyNode)(&inner, child, nullptr, 0)));
    CUgraphNode outer = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphAddChildGraphNode)(&outer, graph_, nullptr, 0, child)));
    CUgraph embedded = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphChildGraphNodeGetGraph)(outer, &embedded)));
    ASSERT_TRUE(succeeds(containing(outer, &found)));
    EXPECT_EQ(found, graph_);
    ASSERT_TRUE(succeeds(containing(nodes_of(embedded).at(0), &found)));
    EXPECT_EQ(found, embedded) << "the graph that the node is in, not the whole one";
    unsigned others[2]{};
    ASSERT_TRUE(succeeds(graph_id(child, &others[0])));
    ASSERT_TRUE(succeeds(graph_id(embedded, &others[1])));
    EXPECT_NE(others[0], graph);
    EXPECT_NE(others[1], graph);
    EXPECT_NE(others[0], others[1]) << "the node has a copy";

    const CUgraphExec executable = instantiate();
    unsigned id = 0;
    ASSERT_TRUE(
        succeeds(symbol<CUresult(CUgraphExec, unsigned*)>("cuGraphExecGetId")(executable, &id)));
    EXPECT_NE(id, 0U);
    EXPECT_NE(id, graph);

    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, graph_id(nullptr, &graph)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, graph_id(graph_, nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, local_id(nullptr, &graph)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, local_id(first, nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, tools_id(first, nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, containing(first, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuGraphDestroy)(child)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, graph_id(child, &graph)));
}

TEST_F(GraphDefinitions, the_picture_says_what_is_asked_for) {
    const CUgraphNode set = add_memset(word(0), 171);
    const CUgraphNode kernel = add_kernel("store", word(0), 1, {set});
    add_memcpy(word(1), word(0), {kernel});
    const std::string plain = dot(0);
    EXPECT_TRUE(plain.starts_with("digraph"));
    EXPECT_NE(plain.find("KERNEL"), std::string::npos);
    EXPECT_NE(plain.find("store"), std::string::npos);
    EXPECT_NE(plain.find("->"), std::string::npos);
    EXPECT_EQ(plain.find("0xab"), std::string::npos);
    EXPECT_NE(dot(CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS).find("0xab"), std::string::npos);
    EXPECT_NE(dot(CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES).find("cudaGraphNodeTypeKernel"),
              std::string::npos);
    const std::string verbose = dot(CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
    for (const char* part :
         {"0xab", "grid (1, 1, 1)", "priority", "handle 0x", "edge 1", "D to D"}) {
        EXPECT_NE(verbose.find(part), std::string::npos) << part;
    }
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphDebugDotPrint)(graph_, nullptr, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphDebugDotPrint)(graph_, "/tmp/x.dot", 1U << 20)));
    EXPECT_TRUE(returns(CUDA_ERROR_OPERATING_SYSTEM,
                        CU(cuGraphDebugDotPrint)(graph_, "/nowhere/x.dot", 0)));
}
