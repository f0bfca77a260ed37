// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/memory_nodes.hpp"

#include "objects/graphs/graph_memory.hpp"
#include "objects/process/error.hpp"

namespace cuprum::emulator {

namespace {

/// Finds memory that can serve once more: its free comes before the new node.
std::shared_ptr<GraphMemory> find_freed(const Graph& graph,
                                        const CUDA_MEM_ALLOC_NODE_PARAMS& request,
                                        const std::vector<GraphEdge>& dependencies) {
    if (request.accessDescCount != 0) {
        return nullptr;
    }
    for (const GraphNode* node : Graph::with_ancestors(dependencies)) {
        const auto* const freed = std::get_if<FreeParameters>(&node->parameters());
        if (freed == nullptr) {
            continue;
        }
        const GraphMemory& memory = *freed->memory;
        if (memory.freed_by() == node->id() && memory.allocated_in() == graph.handle_value() &&
            memory.bytes() == request.bytesize && !memory.is_shared_by_devices() &&
            memory.suits(request.poolProps)) {
            return freed->memory;
        }
    }
    return nullptr;
}

/// Refuses memory nodes where they cannot be.
void check_place(Graph& graph) {
    if (graph.owner() != nullptr) {
        fail(CUDA_ERROR_NOT_SUPPORTED, "allocation and free nodes cannot be added to a child graph "
                                       "or to the body of a conditional node");
    }
}

} // namespace

std::shared_ptr<GraphNode> add_allocation(Graph& graph, const CUDA_MEM_ALLOC_NODE_PARAMS& request,
                                          const std::vector<GraphEdge>& dependencies) {
    check_place(graph);
    auto memory = find_freed(graph, request, dependencies);
    if (memory == nullptr) {
        memory = GraphMemory::create(request);
        memory->set_allocated_in(graph.handle_value());
    }
    AllocParameters parameters;
    parameters.request = request;
    parameters.access.assign(request.accessDescs, request.accessDescs + request.accessDescCount);
    parameters.request.accessDescs = nullptr; // whoever reads the node gets those in `access`
    parameters.request.dptr = memory->address();
    parameters.memory = memory;
    auto node = graph.add(std::move(parameters), dependencies);
    memory->set_freed(0, 0);
    return node;
}

std::shared_ptr<GraphNode> add_free(Graph& graph, CUdeviceptr address,
                                    const std::vector<GraphEdge>& dependencies) {
    check_place(graph);
    const auto memory = GraphMemory::find(address);
    require(memory != nullptr, "dptr is not the address of an allocation node");
    const bool is_own = memory->allocated_in() == graph.handle_value();
    require(memory->freed_in() == 0 || (!is_own && memory->freed_in() != graph.handle_value() &&
                                        memory->freed_in() != memory->allocated_in()),
            "another node frees the memory already");
    auto node = graph.add(FreeParameters{address, memory}, dependencies);
    memory->set_freed(graph.handle_value(), node->id());
    return node;
}

} // namespace cuprum::emulator
