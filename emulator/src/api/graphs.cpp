// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Graphs: their life, their edges, and ways to look at them.

#include "api/graph_handles.hpp"
#include "api/newer_cuda.hpp"
#include "objects/graphs/debug_output.hpp"
#include "objects/process/error.hpp"

using namespace cuprum::emulator;

namespace {

using Edges = std::vector<std::pair<GraphEdge, GraphNode*>>;

CUgraphNode handle_of(const std::shared_ptr<GraphNode>& node) {
    return node->handle<CUgraphNode>();
}

Edges edge_list(const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* data,
                std::size_t count) {
    require((from != nullptr && to != nullptr) || count == 0, "the nodes are NULL");
    Edges edges;
    for (std::size_t index = 0; index < count; ++index) {
        edges.push_back(
            {{&node_from(from[index]), data != nullptr ? data[index] : CUgraphEdgeData{}},
             &node_from(to[index])});
    }
    return edges;
}

/// Refuses to leave out what edges say.
void check_lossless(const CUgraphEdgeData* out, bool has_only_plain_edges) {
    if (out == nullptr && !has_only_plain_edges) {
        fail(CUDA_ERROR_LOSSY_QUERY, "an edge has data: pass an array for it");
    }
}

/// Writes one side of a node's edges.
void put_edges(const std::vector<GraphEdge>& edges, CUgraphNode* nodes, CUgraphEdgeData* data,
               std::size_t* count) {
    require(count != nullptr, "the count must not be NULL");
    if (nodes != nullptr) {
        check_lossless(data, std::ranges::all_of(
                                 edges, [](const GraphEdge& edge) { return is_plain(edge.data); }));
        put_list(data, *count, edges, [](const GraphEdge& edge) { return edge.data; });
    }
    put_list(nodes, *count, edges,
             [](const GraphEdge& edge) { return edge.node->handle<CUgraphNode>(); });
    put_count(nodes != nullptr, count, edges.size());
}

void put_all_edges(const Graph& graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                   std::size_t* count) {
    require(count != nullptr, "numEdges must not be NULL");
    require((from == nullptr) == (to == nullptr), "from and to must both be NULL, or none");
    Edges edges;
    bool has_only_plain_edges = true;
    for (const auto& node : graph.nodes()) {
        for (const GraphEdge& edge : node->dependents()) {
            edges.push_back({{node.get(), edge.data}, edge.node});
            has_only_plain_edges &= is_plain(edge.data);
        }
    }
    if (from != nullptr) {
        check_lossless(data, has_only_plain_edges);
        put_list(data, *count, edges, [](const auto& edge) { return edge.first.data; });
    }
    put_list(from, *count, edges,
             [](const auto& edge) { return edge.first.node->template handle<CUgraphNode>(); });
    put_list(to, *count, edges,
             [](const auto& edge) { return edge.second->template handle<CUgraphNode>(); });
    put_count(from != nullptr, count, edges.size());
}

} // namespace

extern "C" {

CUresult CUDAAPI cuGraphCreate(CUgraph* phGraph, unsigned int flags) {
    return entry("cuGraphCreate", [&] {
        require(phGraph != nullptr, "phGraph must not be NULL");
        require(flags == 0, "the flags must be 0");
        *phGraph = Graph::create()->handle<CUgraph>();
    });
}

CUresult CUDAAPI cuGraphDestroy(CUgraph hGraph) {
    return graph_entry("cuGraphDestroy", [&] {
        const auto graph = graph_from(hGraph);
        graph->check_own("destroyed by itself");
        graph->check_not_capturing("a graph cannot be destroyed");
        graph->destroy();
    });
}

CUresult CUDAAPI cuGraphClone(CUgraph* phGraphClone, CUgraph originalGraph) {
    return graph_entry("cuGraphClone", [&] {
        require(phGraphClone != nullptr, "phGraphClone must not be NULL");
        *phGraphClone = graph_from(originalGraph)->clone()->handle<CUgraph>();
    });
}

CUresult CUDAAPI cuGraphNodeFindInClone(CUgraphNode* phNode, CUgraphNode hOriginalNode,
                                        CUgraph hClonedGraph) {
    return graph_entry("cuGraphNodeFindInClone", [&] {
        require(phNode != nullptr, "phNode must not be NULL");
        *phNode =
            graph_from(hClonedGraph)->find_clone(node_from(hOriginalNode)).handle<CUgraphNode>();
    });
}

CUresult CUDAAPI cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, size_t* numNodes) {
    return graph_entry("cuGraphGetNodes", [&] {
        require(numNodes != nullptr, "numNodes must not be NULL");
        const auto graph = graph_from(hGraph);
        put_list(nodes, *numNodes, graph->nodes(), handle_of);
        put_count(nodes != nullptr, numNodes, graph->nodes().size());
    });
}

CUresult CUDAAPI cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode* rootNodes, size_t* numRootNodes) {
    return graph_entry("cuGraphGetRootNodes", [&] {
        require(numRootNodes != nullptr, "numRootNodes must not be NULL");
        auto roots = graph_from(hGraph)->nodes();
        std::erase_if(roots, [](const auto& node) { return !node->dependencies().empty(); });
        put_list(rootNodes, *numRootNodes, roots, handle_of);
        put_count(rootNodes != nullptr, numRootNodes, roots.size());
    });
}

CUresult CUDAAPI cuGraphGetEdges(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to,
                                 size_t* numEdges) {
    return graph_entry("cuGraphGetEdges",
                       [&] { put_all_edges(*graph_from(hGraph), from, to, nullptr, numEdges); });
}

CUresult CUDAAPI cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to,
                                    CUgraphEdgeData* edgeData, size_t* numEdges) {
    return graph_entry("cuGraphGetEdges",
                       [&] { put_all_edges(*graph_from(hGraph), from, to, edgeData, numEdges); });
}

CUresult CUDAAPI cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode* dependencies,
                                            size_t* numDependencies) {
    return graph_entry("cuGraphNodeGetDependencies", [&] {
        put_edges(node_from(hNode).dependencies(), dependencies, nullptr, numDependencies);
    });
}

CUresult CUDAAPI cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode* dependencies,
                                               CUgraphEdgeData* edgeData, size_t* numDependencies) {
    return graph_entry("cuGraphNodeGetDependencies", [&] {
        put_edges(node_from(hNode).dependencies(), dependencies, edgeData, numDependencies);
    });
}

CUresult CUDAAPI cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                              size_t* numDependentNodes) {
    return graph_entry("cuGraphNodeGetDependentNodes", [&] {
        put_edges(node_from(hNode).dependents(), dependentNodes, nullptr, numDependentNodes);
    });
}

CUresult CUDAAPI cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                                 CUgraphEdgeData* edgeData,
                                                 size_t* numDependentNodes) {
    return graph_entry("cuGraphNodeGetDependentNodes", [&] {
        put_edges(node_from(hNode).dependents(), dependentNodes, edgeData, numDependentNodes);
    });
}

CUresult CUDAAPI cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode* from,
                                           const CUgraphNode* to, const CUgraphEdgeData* edgeData,
                                           size_t numDependencies) {
    return graph_entry("cuGraphAddDependencies", [&] {
        graph_from(hGraph)->add_edges(edge_list(from, to, edgeData, numDependencies));
    });
}

CUresult CUDAAPI cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode* from,
                                        const CUgraphNode* to, size_t numDependencies) {
    return cuGraphAddDependencies_v2(hGraph, from, to, nullptr, numDependencies);
}

CUresult CUDAAPI cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode* from,
                                              const CUgraphNode* to,
                                              const CUgraphEdgeData* edgeData,
                                              size_t numDependencies) {
    return graph_entry("cuGraphRemoveDependencies", [&] {
        graph_from(hGraph)->remove_edges(edge_list(from, to, edgeData, numDependencies));
    });
}

CUresult CUDAAPI cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode* from,
                                           const CUgraphNode* to, size_t numDependencies) {
    return cuGraphRemoveDependencies_v2(hGraph, from, to, nullptr, numDependencies);
}

CUresult CUDAAPI cuGraphDestroyNode(CUgraphNode hNode) {
    return graph_entry("cuGraphDestroyNode", [&] {
        GraphNode& node = node_from(hNode);
        node.graph().remove(node);
    });
}

CUresult CUDAAPI cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) {
    return graph_entry("cuGraphNodeGetType", [&] { put(type, node_from(hNode).type()); });
}

CUresult CUDAAPI cuGraphNodeGetContainingGraph(CUgraphNode hNode, CUgraph* phGraph) {
    return graph_entry("cuGraphNodeGetContainingGraph",
                       [&] { put(phGraph, node_from(hNode).graph().handle<CUgraph>()); });
}

CUresult CUDAAPI cuGraphNodeGetLocalId(CUgraphNode hNode, unsigned int* nodeId) {
    return graph_entry("cuGraphNodeGetLocalId", [&] { put(nodeId, node_from(hNode).number()); });
}

CUresult CUDAAPI cuGraphNodeGetToolsId(CUgraphNode hNode, unsigned long long* toolsNodeId) {
    return graph_entry("cuGraphNodeGetToolsId", [&] { put(toolsNodeId, node_from(hNode).id()); });
}

CUresult CUDAAPI cuGraphGetId(CUgraph hGraph, unsigned int* graphId) {
    return graph_entry("cuGraphGetId", [&] { put(graphId, graph_from(hGraph)->id()); });
}

CUresult CUDAAPI cuGraphExecGetId(CUgraphExec hGraphExec, unsigned int* graphId) {
    return graph_entry("cuGraphExecGetId",
                       [&] { put(graphId, executable_from(hGraphExec)->id()); });
}

CUresult CUDAAPI cuGraphDebugDotPrint(CUgraph hGraph, const char* path, unsigned int flags) {
    return graph_entry("cuGraphDebugDotPrint", [&] {
        require(path != nullptr, "path must not be NULL");
        write_dot(*graph_from(hGraph), path, flags);
    });
}

} // extern "C"
