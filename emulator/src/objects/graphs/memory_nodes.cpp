// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/memory_nodes.hpp"

#include "objects/graphs/graph_memory.hpp"
#include "objects/process/error.hpp"

namespace cuprum::emulator {

namespace {

/// Finds memory that can serve once more: its free comes before the new node.
std::shared_ptr<GraphMemory> find_freed(Graph& graph, const CUDA_MEM_ALLOC_NODE_PARAMS& request,
                                        const std::vector<GraphEdge>& dependencies) {
    const auto freed = graph.freed_sizes().find(request.bytesize);
    if (request.accessDescCount != 0 || freed == graph.freed_sizes().end() || freed->second == 0) {
        return nullptr;
    }
    const auto is_suitable = [&](const GraphNode& node) {
        const auto* const parameters = std::get_if<FreeParameters>(&node.parameters());
        if (parameters == nullptr) {
            return false;
        }
        const GraphMemory& memory = *parameters->memory;
        return memory.freed_by() == node.id() && memory.allocated_in() == graph.handle_value() &&
               memory.bytes() == request.bytesize && !memory.is_shared_by_devices() &&
               memory.suits(request.poolProps);
    };
    const GraphNode* const node = Graph::find_ancestor(dependencies, is_suitable);
    return node == nullptr ? nullptr : std::get<FreeParameters>(node->parameters()).memory;
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
    const bool is_used_again = memory != nullptr;
    if (!is_used_again) {
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
    if (is_used_again) {
        --graph.freed_sizes()[request.bytesize];
    }
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
    if (is_own) {
        ++graph.freed_sizes()[memory->bytes()];
    }
    return node;
}

} // namespace cuprum::emulator
