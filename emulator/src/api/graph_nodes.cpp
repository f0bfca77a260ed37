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
    *out = graph_from(graph)
               ->add(std::move(parameters), edges_from(dependencies, nullptr, count))
               ->handle<CUgraphNode>();
}

} // namespace

extern "C" {

// ---- kernels -----------------------------------------------------------------------------------

CUresult CUDAAPI cuGraphAddKernelNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph,
                                         const CUgraphNode* dependencies, size_t numDependencies,
                                         const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphAddKernelNode", [&] {
        add_node(phGraphNode, hGraph, dependencies, numDependencies, kernel_from(nodeParams));
    });
}

CUresult CUDAAPI cuGraphAddKernelNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                      const CUgraphNode* dependencies, size_t numDependencies,
                                      const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
    return graph_entry("cuGraphAddKernelNode", [&] {
        add_node(phGraphNode, hGraph, dependencies, numDependencies, kernel_from(nodeParams));
    });
}

CUresult CUDAAPI cuGraphKernelNodeGetParams_v2(CUgraphNode hNode,
                                               CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphKernelNodeGetParams", [&] {
        require(nodeParams != nullptr, "nodeParams must not be NULL");
        write_kernel(node_from(hNode), *nodeParams);
    });
}

CUresult CUDAAPI cuGraphKernelNodeGetParams(CUgraphNode hNode,
                                            CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
    return graph_entry("cuGraphKernelNodeGetParams", [&] {
        require(nodeParams != nullptr, "nodeParams must not be NULL");
        GraphNode& node = node_from(hNode);
        CUDA_KERNEL_NODE_PARAMS all{};
        write_kernel(node, all);
        *nodeParams = {node.get<KernelParameters>().function->handle<CUfunction>(),
                       all.gridDimX,
                       all.gridDimY,
                       all.gridDimZ,
                       all.blockDimX,
                       all.blockDimY,
                       all.blockDimZ,
                       all.sharedMemBytes,
                       all.kernelParams,
                       all.extra};
    });
}

CUresult CUDAAPI cuGraphKernelNodeSetParams_v2(CUgraphNode hNode,
                                               const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphKernelNodeSetParams",
                       [&] { set_kernel(node_from(hNode), kernel_from(nodeParams)); });
}

CUresult CUDAAPI cuGraphKernelNodeSetParams(CUgraphNode hNode,
                                            const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
    return graph_entry("cuGraphKernelNodeSetParams",
                       [&] { set_kernel(node_from(hNode), kernel_from(nodeParams)); });
}

// ---- copies and sets ---------------------------------------------------------------------------

CUresult CUDAAPI cuGraphAddMemcpyNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                      const CUgraphNode* dependencies, size_t numDependencies,
                                      const CUDA_MEMCPY3D* copyParams, CUcontext ctx) {
    return graph_entry("cuGraphAddMemcpyNode", [&] {
        add_node(phGraphNode, hGraph, dependencies, numDependencies, memcpy_from(copyParams, ctx));
    });
}

CUresult CUDAAPI cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D* nodeParams) {
    return graph_entry("cuGraphMemcpyNodeGetParams",
                       [&] { put(nodeParams, node_from(hNode).get<MemcpyParameters>().request); });
}

CUresult CUDAAPI cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D* nodeParams) {
    return graph_entry("cuGraphMemcpyNodeSetParams", [&] {
        auto& old = node_from(hNode).get<MemcpyParameters>();
        old = memcpy_from(nodeParams, old.context->handle<CUcontext>());
    });
}

CUresult CUDAAPI cuGraphAddMemsetNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                      const CUgraphNode* dependencies, size_t numDependencies,
                                      const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext ctx) {
    return graph_entry("cuGraphAddMemsetNode", [&] {
        add_node(phGraphNode, hGraph, dependencies, numDependencies,
                 memset_from(memsetParams, ctx));
    });
}

CUresult CUDAAPI cuGraphMemsetNodeGetParams(CUgraphNode hNode,
                                            CUDA_MEMSET_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphMemsetNodeGetParams", [&] {
        require(nodeParams != nullptr, "nodeParams must not be NULL");
        write_memset(node_from(hNode).get<MemsetParameters>(), *nodeParams);
    });
}

CUresult CUDAAPI cuGraphMemsetNodeSetParams(CUgraphNode hNode,
                                            const CUDA_MEMSET_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphMemsetNodeSetParams", [&] {
        auto& old = node_from(hNode).get<MemsetParameters>();
        old = memset_from(nodeParams, old.context->handle<CUcontext>());
    });
}

// ---- the host, events, words of memory ---------------------------------------------------------

CUresult CUDAAPI cuGraphAddHostNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                    const CUgraphNode* dependencies, size_t numDependencies,
                                    const CUDA_HOST_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphAddHostNode", [&] {
        add_node(phGraphNode, hGraph, dependencies, numDependencies, host_from(nodeParams));
    });
}

CUresult CUDAAPI cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphHostNodeGetParams", [&] {
        const auto& host = node_from(hNode).get<HostParameters>();
        put(nodeParams, CUDA_HOST_NODE_PARAMS{host.function, host.data});
    });
}

CUresult CUDAAPI cuGraphHostNodeSetParams(CUgraphNode hNode,
                                          const CUDA_HOST_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphHostNodeSetParams",
                       [&] { node_from(hNode).get<HostParameters>() = host_from(nodeParams); });
}

CUresult CUDAAPI cuGraphAddEventRecordNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                           const CUgraphNode* dependencies, size_t numDependencies,
                                           CUevent event) {
    return graph_entry("cuGraphAddEventRecordNode", [&] {
        add_node(phGraphNode, hGraph, dependencies, numDependencies,
                 RecordParameters{event_of_node(event)});
    });
}

CUresult CUDAAPI cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
    return graph_entry("cuGraphEventRecordNodeGetEvent", [&] {
        put(event_out, node_from(hNode).get<RecordParameters>().event->handle<CUevent>());
    });
}

CUresult CUDAAPI cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event) {
    return graph_entry("cuGraphEventRecordNodeSetEvent", [&] {
        node_from(hNode).get<RecordParameters>().event = event_of_node(event);
    });
}

CUresult CUDAAPI cuGraphAddEventWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                         const CUgraphNode* dependencies, size_t numDependencies,
                                         CUevent event) {
    return graph_entry("cuGraphAddEventWaitNode", [&] {
        add_node(phGraphNode, hGraph, dependencies, numDependencies,
                 WaitParameters{event_of_node(event)});
    });
}

CUresult CUDAAPI cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
    return graph_entry("cuGraphEventWaitNodeGetEvent", [&] {
        put(event_out, node_from(hNode).get<WaitParameters>().event->handle<CUevent>());
    });
}

CUresult CUDAAPI cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event) {
    return graph_entry("cuGraphEventWaitNodeSetEvent", [&] {
        node_from(hNode).get<WaitParameters>().event = event_of_node(event);
    });
}

CUresult CUDAAPI cuGraphAddBatchMemOpNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                          const CUgraphNode* dependencies, size_t numDependencies,
                                          const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphAddBatchMemOpNode", [&] {
        add_node(phGraphNode, hGraph, dependencies, numDependencies, batch_from(nodeParams));
    });
}

CUresult CUDAAPI cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode,
                                                CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams_out) {
    return graph_entry("cuGraphBatchMemOpNodeGetParams", [&] {
        auto& batch = node_from(hNode).get<BatchParameters>();
        put(nodeParams_out, CUDA_BATCH_MEM_OP_NODE_PARAMS{batch.context->handle<CUcontext>(),
                                                          static_cast<unsigned>(batch.items.size()),
                                                          batch.items.data(), batch.flags});
    });
}

CUresult CUDAAPI cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode,
                                                const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphBatchMemOpNodeSetParams",
                       [&] { node_from(hNode).get<BatchParameters>() = batch_from(nodeParams); });
}

// ---- structure ---------------------------------------------------------------------------------

CUresult CUDAAPI cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                     const CUgraphNode* dependencies, size_t numDependencies) {
    return graph_entry("cuGraphAddEmptyNode", [&] {
        add_node(phGraphNode, hGraph, dependencies, numDependencies, EmptyParameters{});
    });
}

CUresult CUDAAPI cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                          const CUgraphNode* dependencies, size_t numDependencies,
                                          CUgraph childGraph) {
    return graph_entry("cuGraphAddChildGraphNode", [&] {
        const auto edges = edges_from(dependencies, nullptr, numDependencies);
        require(phGraphNode != nullptr, "phGraphNode must not be NULL");
        *phGraphNode = add_child(*graph_from(hGraph), *graph_from(childGraph), edges, false)
                           ->handle<CUgraphNode>();
    });
}

CUresult CUDAAPI cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph* phGraph) {
    return graph_entry("cuGraphChildGraphNodeGetGraph", [&] {
        put(phGraph, node_from(hNode).get<ChildParameters>().graph->handle<CUgraph>());
    });
}

// ---- memory ------------------------------------------------------------------------------------

CUresult CUDAAPI cuGraphAddMemAllocNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                        const CUgraphNode* dependencies, size_t numDependencies,
                                        CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphAddMemAllocNode", [&] {
        require(phGraphNode != nullptr && nodeParams != nullptr, "an argument is NULL");
        const auto node = add_allocation(*graph_from(hGraph), *nodeParams,
                                         edges_from(dependencies, nullptr, numDependencies));
        nodeParams->dptr = node->get<AllocParameters>().request.dptr;
        *phGraphNode = node->handle<CUgraphNode>();
    });
}

CUresult CUDAAPI cuGraphMemAllocNodeGetParams(CUgraphNode hNode,
                                              CUDA_MEM_ALLOC_NODE_PARAMS* params_out) {
    return graph_entry("cuGraphMemAllocNodeGetParams", [&] {
        require(params_out != nullptr, "params_out must not be NULL");
        write_alloc(node_from(hNode).get<AllocParameters>(), *params_out);
    });
}

CUresult CUDAAPI cuGraphAddMemFreeNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                       const CUgraphNode* dependencies, size_t numDependencies,
                                       CUdeviceptr dptr) {
    return graph_entry("cuGraphAddMemFreeNode", [&] {
        require(phGraphNode != nullptr, "phGraphNode must not be NULL");
        *phGraphNode =
            add_free(*graph_from(hGraph), dptr, edges_from(dependencies, nullptr, numDependencies))
                ->handle<CUgraphNode>();
    });
}

CUresult CUDAAPI cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* dptr_out) {
    return graph_entry("cuGraphMemFreeNodeGetParams",
                       [&] { put(dptr_out, node_from(hNode).get<FreeParameters>().address); });
}

} // extern "C"
