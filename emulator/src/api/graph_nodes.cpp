// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Nodes of graphs, with functions for each type of node.

#include "api/graph_handles.hpp"
#include "objects/graphs/embedded_nodes.hpp"
#include "objects/graphs/memory_nodes.hpp"
#include "objects/process/error.hpp"

using namespace cuprum::emulator;

namespace {

/// Adds a node and returns its handle to the caller.
void add_node(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
              NodeParameters parameters) {
    require(out != nullptr, "phGraphNode must not be NULL");
    *out = object_of(graph)
               ->add(std::move(parameters), edges_from(dependencies, nullptr, count))
               ->handle<CUgraphNode>();
}

} // namespace

// ---- kernels -----------------------------------------------------------------------------------

ROW(cuGraphAddKernelNode_v2, 12000, GraphLocked, CUgraphNode* phGraphNode, CUgraph hGraph,
    const CUgraphNode* dependencies, size_t numDependencies,
    const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    add_node(phGraphNode, hGraph, dependencies, numDependencies, kernel_from(nodeParams));
}

ROW(cuGraphAddKernelNode, 10000, GraphLocked, CUgraphNode* phGraphNode, CUgraph hGraph,
    const CUgraphNode* dependencies, size_t numDependencies,
    const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
    add_node(phGraphNode, hGraph, dependencies, numDependencies, kernel_from(nodeParams));
}

ROW(cuGraphKernelNodeGetParams_v2, 12000, GraphLocked, GraphNode& node,
    CUDA_KERNEL_NODE_PARAMS& nodeParams) {
    write_kernel(node, nodeParams);
}

ROW(cuGraphKernelNodeGetParams, 10000, GraphLocked, GraphNode& node,
    CUDA_KERNEL_NODE_PARAMS_v1& nodeParams) {
    CUDA_KERNEL_NODE_PARAMS all{};
    write_kernel(node, all);
    nodeParams = {node.get<KernelParameters>().function->handle<CUfunction>(),
                  all.gridDimX,
                  all.gridDimY,
                  all.gridDimZ,
                  all.blockDimX,
                  all.blockDimY,
                  all.blockDimZ,
                  all.sharedMemBytes,
                  all.kernelParams,
                  all.extra};
}

ROW(cuGraphKernelNodeSetParams_v2, 12000, GraphLocked, GraphNode& node,
    const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    set_kernel(node, kernel_from(nodeParams));
}

ROW(cuGraphKernelNodeSetParams, 10000, GraphLocked, GraphNode& node,
    const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
    set_kernel(node, kernel_from(nodeParams));
}

// ---- copies and sets ---------------------------------------------------------------------------

ROW(cuGraphAddMemcpyNode, 10000, GraphLocked, CUgraphNode* phGraphNode, CUgraph hGraph,
    const CUgraphNode* dependencies, size_t numDependencies, const CUDA_MEMCPY3D* copyParams,
    CUcontext ctx) {
    add_node(phGraphNode, hGraph, dependencies, numDependencies, memcpy_from(copyParams, ctx));
}

ROW(cuGraphMemcpyNodeGetParams, 10000, GraphLocked, GraphNode& node, CUDA_MEMCPY3D* nodeParams) {
    put(nodeParams, node.get<MemcpyParameters>().request);
}

ROW(cuGraphMemcpyNodeSetParams, 10000, GraphLocked, GraphNode& node,
    const CUDA_MEMCPY3D* nodeParams) {
    auto& old = node.get<MemcpyParameters>();
    old = memcpy_from(nodeParams, old.context->handle<CUcontext>());
}

ROW(cuGraphAddMemsetNode, 10000, GraphLocked, CUgraphNode* phGraphNode, CUgraph hGraph,
    const CUgraphNode* dependencies, size_t numDependencies,
    const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext ctx) {
    add_node(phGraphNode, hGraph, dependencies, numDependencies, memset_from(memsetParams, ctx));
}

ROW(cuGraphMemsetNodeGetParams, 10000, GraphLocked, GraphNode& node,
    CUDA_MEMSET_NODE_PARAMS& nodeParams) {
    write_memset(node.get<MemsetParameters>(), nodeParams);
}

ROW(cuGraphMemsetNodeSetParams, 10000, GraphLocked, GraphNode& node,
    const CUDA_MEMSET_NODE_PARAMS* nodeParams) {
    auto& old = node.get<MemsetParameters>();
    old = memset_from(nodeParams, old.context->handle<CUcontext>());
}

// ---- the host, events, words of memory ---------------------------------------------------------

ROW(cuGraphAddHostNode, 10000, GraphLocked, CUgraphNode* phGraphNode, CUgraph hGraph,
    const CUgraphNode* dependencies, size_t numDependencies,
    const CUDA_HOST_NODE_PARAMS* nodeParams) {
    add_node(phGraphNode, hGraph, dependencies, numDependencies, host_from(nodeParams));
}

ROW(cuGraphHostNodeGetParams, 10000, GraphLocked, GraphNode& node,
    CUDA_HOST_NODE_PARAMS* nodeParams) {
    const auto& host = node.get<HostParameters>();
    put(nodeParams, CUDA_HOST_NODE_PARAMS{host.function, host.data});
}

ROW(cuGraphHostNodeSetParams, 10000, GraphLocked, GraphNode& node,
    const CUDA_HOST_NODE_PARAMS* nodeParams) {
    node.get<HostParameters>() = host_from(nodeParams);
}

ROW(cuGraphAddEventRecordNode, 11010, GraphLocked, CUgraphNode* phGraphNode, CUgraph hGraph,
    const CUgraphNode* dependencies, size_t numDependencies, CUevent event) {
    add_node(phGraphNode, hGraph, dependencies, numDependencies,
             RecordParameters{event_of_node(event)});
}

ROW(cuGraphEventRecordNodeGetEvent, 11010, GraphLocked, GraphNode& node, CUevent* event_out) {
    put(event_out, node.get<RecordParameters>().event->handle<CUevent>());
}

ROW(cuGraphEventRecordNodeSetEvent, 11010, GraphLocked, GraphNode& node, CUevent event) {
    node.get<RecordParameters>().event = event_of_node(event);
}

ROW(cuGraphAddEventWaitNode, 11010, GraphLocked, CUgraphNode* phGraphNode, CUgraph hGraph,
    const CUgraphNode* dependencies, size_t numDependencies, CUevent event) {
    add_node(phGraphNode, hGraph, dependencies, numDependencies,
             WaitParameters{event_of_node(event)});
}

ROW(cuGraphEventWaitNodeGetEvent, 11010, GraphLocked, GraphNode& node, CUevent* event_out) {
    put(event_out, node.get<WaitParameters>().event->handle<CUevent>());
}

ROW(cuGraphEventWaitNodeSetEvent, 11010, GraphLocked, GraphNode& node, CUevent event) {
    node.get<WaitParameters>().event = event_of_node(event);
}

ROW(cuGraphAddBatchMemOpNode, 11070, GraphLocked, CUgraphNode* phGraphNode, CUgraph hGraph,
    const CUgraphNode* dependencies, size_t numDependencies,
    const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
    add_node(phGraphNode, hGraph, dependencies, numDependencies, batch_from(nodeParams));
}

ROW(cuGraphBatchMemOpNodeGetParams, 11070, GraphLocked, GraphNode& node,
    CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams_out) {
    auto& batch = node.get<BatchParameters>();
    put(nodeParams_out, CUDA_BATCH_MEM_OP_NODE_PARAMS{batch.context->handle<CUcontext>(),
                                                      static_cast<unsigned>(batch.items.size()),
                                                      batch.items.data(), batch.flags});
}

ROW(cuGraphBatchMemOpNodeSetParams, 11070, GraphLocked, GraphNode& node,
    const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
    node.get<BatchParameters>() = batch_from(nodeParams);
}

// ---- structure ---------------------------------------------------------------------------------

ROW(cuGraphAddEmptyNode, 10000, GraphLocked, CUgraphNode* phGraphNode, CUgraph hGraph,
    const CUgraphNode* dependencies, size_t numDependencies) {
    add_node(phGraphNode, hGraph, dependencies, numDependencies, EmptyParameters{});
}

ROW(cuGraphAddChildGraphNode, 10000, GraphLocked, CUgraphNode* phGraphNode, CUgraph hGraph,
    const CUgraphNode* dependencies, size_t numDependencies, CUgraph childGraph) {
    const auto edges = edges_from(dependencies, nullptr, numDependencies);
    require(phGraphNode != nullptr, "phGraphNode must not be NULL");
    *phGraphNode =
        add_child(*object_of(hGraph), *object_of(childGraph), edges, false)->handle<CUgraphNode>();
}

ROW(cuGraphChildGraphNodeGetGraph, 10000, GraphLocked, GraphNode& node, CUgraph* phGraph) {
    put(phGraph, node.get<ChildParameters>().graph->handle<CUgraph>());
}

// ---- memory ------------------------------------------------------------------------------------

ROW(cuGraphAddMemAllocNode, 11040, GraphLocked, CUgraphNode& phGraphNode, Graph& graph,
    const CUgraphNode* dependencies, size_t numDependencies,
    CUDA_MEM_ALLOC_NODE_PARAMS& nodeParams) {
    const auto node =
        add_allocation(graph, nodeParams, edges_from(dependencies, nullptr, numDependencies));
    nodeParams.dptr = node->get<AllocParameters>().request.dptr;
    phGraphNode = node->handle<CUgraphNode>();
}

ROW(cuGraphMemAllocNodeGetParams, 11040, GraphLocked, GraphNode& node,
    CUDA_MEM_ALLOC_NODE_PARAMS& params_out) {
    write_alloc(node.get<AllocParameters>(), params_out);
}

ROW(cuGraphAddMemFreeNode, 11040, GraphLocked, CUgraphNode& phGraphNode, Graph& graph,
    const CUgraphNode* dependencies, size_t numDependencies, CUdeviceptr dptr) {
    phGraphNode = add_free(graph, dptr, edges_from(dependencies, nullptr, numDependencies))
                      ->handle<CUgraphNode>();
}

ROW(cuGraphMemFreeNodeGetParams, 11040, GraphLocked, GraphNode& node, CUdeviceptr* dptr_out) {
    put(dptr_out, node.get<FreeParameters>().address);
}
