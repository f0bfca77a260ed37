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
    *out = object_of(graph)
               ->add(batch_of<Batch>(request), edges_from(dependencies, nullptr, count))
               ->template handle<CUgraphNode>();
}

/// Writes the parameters of a node. The arrays are valid until they change.
template <typename Batch, typename Request>
void write_semaphores(GraphNode& node, Request* out) {
    auto& batch = node.get<Batch>();
    put(out, Request{batch.handles.data(), batch.items.data(),
                     static_cast<unsigned>(batch.items.size())});
}

} // namespace

ROW(cuGraphAddExternalSemaphoresSignalNode, 11020, GraphLocked, CUgraphNode* phGraphNode,
    CUgraph hGraph, const CUgraphNode* dependencies, size_t numDependencies,
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* nodeParams) {
    add_semaphore_node<SemaphoreSignals>(phGraphNode, hGraph, dependencies, numDependencies,
                                         nodeParams);
}

ROW(cuGraphAddExternalSemaphoresWaitNode, 11020, GraphLocked, CUgraphNode* phGraphNode,
    CUgraph hGraph, const CUgraphNode* dependencies, size_t numDependencies,
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS* nodeParams) {
    add_semaphore_node<SemaphoreWaits>(phGraphNode, hGraph, dependencies, numDependencies,
                                       nodeParams);
}

ROW(cuGraphExternalSemaphoresSignalNodeGetParams, 11020, GraphLocked, GraphNode& node,
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* params_out) {
    write_semaphores<SemaphoreSignals>(node, params_out);
}

ROW(cuGraphExternalSemaphoresWaitNodeGetParams, 11020, GraphLocked, GraphNode& node,
    CUDA_EXT_SEM_WAIT_NODE_PARAMS* params_out) {
    write_semaphores<SemaphoreWaits>(node, params_out);
}

ROW(cuGraphExternalSemaphoresSignalNodeSetParams, 11020, GraphLocked, GraphNode& node,
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* nodeParams) {
    node.get<SemaphoreSignals>() = batch_of<SemaphoreSignals>(nodeParams);
}

ROW(cuGraphExternalSemaphoresWaitNodeSetParams, 11020, GraphLocked, GraphNode& node,
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS* nodeParams) {
    node.get<SemaphoreWaits>() = batch_of<SemaphoreWaits>(nodeParams);
}

ROW(cuGraphExecExternalSemaphoresSignalNodeSetParams, 11020, GraphLocked,
    GraphExecutable& executable, GraphNode& node,
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* nodeParams) {
    executable.set_parameters(node, batch_of<SemaphoreSignals>(nodeParams));
}

ROW(cuGraphExecExternalSemaphoresWaitNodeSetParams, 11020, GraphLocked, GraphExecutable& executable,
    GraphNode& node, const CUDA_EXT_SEM_WAIT_NODE_PARAMS* nodeParams) {
    executable.set_parameters(node, batch_of<SemaphoreWaits>(nodeParams));
}
