// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Nodes of graphs that signal external semaphores or wait for them.

#include "api/graph_handles.hpp"
#include "api/semaphores.hpp"
#include "objects/process/error.hpp"

using namespace cuprum::emulator;

namespace {

template <typename Batch, typename Request>
Batch batch_of(const Request* request) {
    require(request != nullptr, "nodeParams must not be NULL");
    return semaphores_from<Batch>(request->extSemArray, request->paramsArray, request->numExtSems);
}

template <typename Batch, typename Request>
void add_semaphore_node(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                        std::size_t count, const Request* request) {
    require(out != nullptr, "phGraphNode must not be NULL");
    *out = graph_from(graph)
               ->add(batch_of<Batch>(request), edges_from(dependencies, nullptr, count))
               ->template handle<CUgraphNode>();
}

/// Writes the parameters of a node. The arrays are valid until they change.
template <typename Batch, typename Request>
void write_semaphores(CUgraphNode node, Request* out) {
    auto& batch = node_from(node).get<Batch>();
    put(out, Request{batch.handles.data(), batch.items.data(),
                     static_cast<unsigned>(batch.items.size())});
}

} // namespace

extern "C" {

CUresult CUDAAPI cuGraphAddExternalSemaphoresSignalNode(
    CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
    size_t numDependencies, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphAddExternalSemaphoresSignalNode", [&] {
        add_semaphore_node<SemaphoreSignals>(phGraphNode, hGraph, dependencies, numDependencies,
                                             nodeParams);
    });
}

CUresult CUDAAPI cuGraphAddExternalSemaphoresWaitNode(
    CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
    size_t numDependencies, const CUDA_EXT_SEM_WAIT_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphAddExternalSemaphoresWaitNode", [&] {
        add_semaphore_node<SemaphoreWaits>(phGraphNode, hGraph, dependencies, numDependencies,
                                           nodeParams);
    });
}

CUresult CUDAAPI cuGraphExternalSemaphoresSignalNodeGetParams(
    CUgraphNode hNode, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* params_out) {
    return graph_entry("cuGraphExternalSemaphoresSignalNodeGetParams",
                       [&] { write_semaphores<SemaphoreSignals>(hNode, params_out); });
}

CUresult CUDAAPI cuGraphExternalSemaphoresWaitNodeGetParams(
    CUgraphNode hNode, CUDA_EXT_SEM_WAIT_NODE_PARAMS* params_out) {
    return graph_entry("cuGraphExternalSemaphoresWaitNodeGetParams",
                       [&] { write_semaphores<SemaphoreWaits>(hNode, params_out); });
}

CUresult CUDAAPI cuGraphExternalSemaphoresSignalNodeSetParams(
    CUgraphNode hNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphExternalSemaphoresSignalNodeSetParams", [&] {
        node_from(hNode).get<SemaphoreSignals>() = batch_of<SemaphoreSignals>(nodeParams);
    });
}

CUresult CUDAAPI cuGraphExternalSemaphoresWaitNodeSetParams(
    CUgraphNode hNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphExternalSemaphoresWaitNodeSetParams", [&] {
        node_from(hNode).get<SemaphoreWaits>() = batch_of<SemaphoreWaits>(nodeParams);
    });
}

CUresult CUDAAPI cuGraphExecExternalSemaphoresSignalNodeSetParams(
    CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphExecExternalSemaphoresSignalNodeSetParams", [&] {
        executable_from(hGraphExec)
            ->set_parameters(node_from(hNode), batch_of<SemaphoreSignals>(nodeParams));
    });
}

CUresult CUDAAPI cuGraphExecExternalSemaphoresWaitNodeSetParams(
    CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphExecExternalSemaphoresWaitNodeSetParams", [&] {
        executable_from(hGraphExec)
            ->set_parameters(node_from(hNode), batch_of<SemaphoreWaits>(nodeParams));
    });
}

} // extern "C"
