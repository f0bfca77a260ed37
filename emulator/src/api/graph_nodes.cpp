// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Nodes of graphs, with functions for each type of node.

#include "api/graph_handles.hpp"
#include "objects/graphs/embedded_nodes.hpp"
#include "objects/graphs/memory_nodes.hpp"
#include "objects/process/error.hpp"

using namespace cuprum::emulator;

namespace {

// The bodies that all kinds of nodes share. `Request` is what cuda.h has for the parameters.

template <typename Kind, typename... Request>
void add_node(GraphLocked /*lock*/, CUgraphNode& node, Graph& graph,
              const CUgraphNode* dependencies, std::size_t count, Request... request) {
    auto parameters = read<Kind>(request...);
    node = graph.add(std::move(parameters), edges_from(dependencies, nullptr, count))
               ->template handle<CUgraphNode>();
}

template <typename Kind, typename Request>
void get_node(GraphLocked /*lock*/, GraphNode& node, Request* request) {
    put(request, request_of(node, node.get<Kind>()));
}

template <typename Kind, typename Request>
void set_node(GraphLocked /*lock*/, GraphNode& node, Request request) {
    if constexpr (requires(Kind old) { parameters_from(request, CUcontext{}); }) {
        set_parameters(node,
                       read<Kind>(request, node.get<Kind>().context->template handle<CUcontext>()));
    } else {
        auto parameters = read<Kind>(request);
        (void)node.get<Kind>(); // throws for a node of another kind
        set_parameters(node, std::move(parameters));
    }
}

template <typename Kind, typename... Request>
void set_executable(GraphLocked /*lock*/, GraphExecutable& executable, GraphNode& node,
                    Request... request) {
    executable.set_parameters(node, read<Kind>(request...));
}

} // namespace

// ---- kernels -----------------------------------------------------------------------------------

USE(cuGraphAddKernelNode_v2, 12000, add_node<KernelParameters, const CUDA_KERNEL_NODE_PARAMS*>);
USE(cuGraphAddKernelNode, 10000, add_node<KernelParameters, const CUDA_KERNEL_NODE_PARAMS_v1*>);
USE(cuGraphKernelNodeGetParams_v2, 12000, get_node<KernelParameters, CUDA_KERNEL_NODE_PARAMS>);
USE(cuGraphKernelNodeSetParams_v2, 12000,
    set_node<KernelParameters, const CUDA_KERNEL_NODE_PARAMS*>);
USE(cuGraphKernelNodeSetParams, 10000,
    set_node<KernelParameters, const CUDA_KERNEL_NODE_PARAMS_v1*>);
USE(cuGraphExecKernelNodeSetParams_v2, 12000,
    set_executable<KernelParameters, const CUDA_KERNEL_NODE_PARAMS*>);
USE(cuGraphExecKernelNodeSetParams, 10010,
    set_executable<KernelParameters, const CUDA_KERNEL_NODE_PARAMS_v1*>);

ROW(cuGraphKernelNodeGetParams, 10000, GraphLocked, GraphNode& node,
    CUDA_KERNEL_NODE_PARAMS_v1& nodeParams) {
    const auto& kernel = node.get<KernelParameters>();
    const CUDA_KERNEL_NODE_PARAMS all = request_of(node, kernel);
    nodeParams = {kernel.function->handle<CUfunction>(),
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

// ---- copies and sets ---------------------------------------------------------------------------

USE(cuGraphAddMemcpyNode, 10000, add_node<MemcpyParameters, const CUDA_MEMCPY3D*, CUcontext>);
USE(cuGraphMemcpyNodeGetParams, 10000, get_node<MemcpyParameters, CUDA_MEMCPY3D>);
USE(cuGraphMemcpyNodeSetParams, 10000, set_node<MemcpyParameters, const CUDA_MEMCPY3D*>);
USE(cuGraphExecMemcpyNodeSetParams, 10020,
    set_executable<MemcpyParameters, const CUDA_MEMCPY3D*, CUcontext>);
USE(cuGraphAddMemsetNode, 10000,
    add_node<MemsetParameters, const CUDA_MEMSET_NODE_PARAMS*, CUcontext>);
USE(cuGraphMemsetNodeGetParams, 10000, get_node<MemsetParameters, CUDA_MEMSET_NODE_PARAMS>);
USE(cuGraphMemsetNodeSetParams, 10000, set_node<MemsetParameters, const CUDA_MEMSET_NODE_PARAMS*>);
USE(cuGraphExecMemsetNodeSetParams, 10020,
    set_executable<MemsetParameters, const CUDA_MEMSET_NODE_PARAMS*, CUcontext>);

// ---- the host, events, words of memory, semaphores ---------------------------------------------

USE(cuGraphAddHostNode, 10000, add_node<HostParameters, const CUDA_HOST_NODE_PARAMS*>);
USE(cuGraphHostNodeGetParams, 10000, get_node<HostParameters, CUDA_HOST_NODE_PARAMS>);
USE(cuGraphHostNodeSetParams, 10000, set_node<HostParameters, const CUDA_HOST_NODE_PARAMS*>);
USE(cuGraphExecHostNodeSetParams, 10020,
    set_executable<HostParameters, const CUDA_HOST_NODE_PARAMS*>);
USE(cuGraphAddEventRecordNode, 11010, add_node<RecordParameters, CUevent>);
USE(cuGraphEventRecordNodeGetEvent, 11010, get_node<RecordParameters, CUevent>);
USE(cuGraphEventRecordNodeSetEvent, 11010, set_node<RecordParameters, CUevent>);
USE(cuGraphExecEventRecordNodeSetEvent, 11010, set_executable<RecordParameters, CUevent>);
USE(cuGraphAddEventWaitNode, 11010, add_node<WaitParameters, CUevent>);
USE(cuGraphEventWaitNodeGetEvent, 11010, get_node<WaitParameters, CUevent>);
USE(cuGraphEventWaitNodeSetEvent, 11010, set_node<WaitParameters, CUevent>);
USE(cuGraphExecEventWaitNodeSetEvent, 11010, set_executable<WaitParameters, CUevent>);
USE(cuGraphAddBatchMemOpNode, 11070,
    add_node<BatchParameters, const CUDA_BATCH_MEM_OP_NODE_PARAMS*>);
USE(cuGraphBatchMemOpNodeGetParams, 11070,
    get_node<BatchParameters, CUDA_BATCH_MEM_OP_NODE_PARAMS>);
USE(cuGraphBatchMemOpNodeSetParams, 11070,
    set_node<BatchParameters, const CUDA_BATCH_MEM_OP_NODE_PARAMS*>);
USE(cuGraphExecBatchMemOpNodeSetParams, 11070,
    set_executable<BatchParameters, const CUDA_BATCH_MEM_OP_NODE_PARAMS*>);
USE(cuGraphAddExternalSemaphoresSignalNode, 11020,
    add_node<SemaphoreSignals, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS*>);
USE(cuGraphExternalSemaphoresSignalNodeGetParams, 11020,
    get_node<SemaphoreSignals, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS>);
USE(cuGraphExternalSemaphoresSignalNodeSetParams, 11020,
    set_node<SemaphoreSignals, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS*>);
USE(cuGraphExecExternalSemaphoresSignalNodeSetParams, 11020,
    set_executable<SemaphoreSignals, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS*>);
USE(cuGraphAddExternalSemaphoresWaitNode, 11020,
    add_node<SemaphoreWaits, const CUDA_EXT_SEM_WAIT_NODE_PARAMS*>);
USE(cuGraphExternalSemaphoresWaitNodeGetParams, 11020,
    get_node<SemaphoreWaits, CUDA_EXT_SEM_WAIT_NODE_PARAMS>);
USE(cuGraphExternalSemaphoresWaitNodeSetParams, 11020,
    set_node<SemaphoreWaits, const CUDA_EXT_SEM_WAIT_NODE_PARAMS*>);
USE(cuGraphExecExternalSemaphoresWaitNodeSetParams, 11020,
    set_executable<SemaphoreWaits, const CUDA_EXT_SEM_WAIT_NODE_PARAMS*>);

// ---- structure ---------------------------------------------------------------------------------

USE(cuGraphAddEmptyNode, 10000, add_node<EmptyParameters>);
USE(cuGraphChildGraphNodeGetGraph, 10000, get_node<ChildParameters, CUgraph>);

ROW(cuGraphAddChildGraphNode, 10000, GraphLocked, CUgraphNode& phGraphNode, Graph& graph,
    const CUgraphNode* dependencies, size_t numDependencies, Graph& childGraph) {
    const auto edges = edges_from(dependencies, nullptr, numDependencies);
    phGraphNode = add_child(graph, childGraph, edges, false)->handle<CUgraphNode>();
}

ROW(cuGraphExecChildGraphNodeSetParams, 11010, GraphLocked, GraphExecutable& executable,
    GraphNode& node, Graph& graph) {
    executable.set_child(node, graph);
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

ROW(cuGraphAddMemFreeNode, 11040, GraphLocked, CUgraphNode& phGraphNode, Graph& graph,
    const CUgraphNode* dependencies, size_t numDependencies, CUdeviceptr dptr) {
    phGraphNode = add_free(graph, dptr, edges_from(dependencies, nullptr, numDependencies))
                      ->handle<CUgraphNode>();
}

USE(cuGraphMemAllocNodeGetParams, 11040, get_node<AllocParameters, CUDA_MEM_ALLOC_NODE_PARAMS>);
USE(cuGraphMemFreeNodeGetParams, 11040, get_node<FreeParameters, CUdeviceptr>);
