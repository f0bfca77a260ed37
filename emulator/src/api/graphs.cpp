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
            {{object_of(from[index]).get(), data != nullptr ? data[index] : CUgraphEdgeData{}},
             object_of(to[index]).get()});
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

ROW(cuGraphCreate, 10000, CUgraph& phGraph, Flags<> /*flags*/) {
    phGraph = Graph::create()->handle<CUgraph>();
}

ROW(cuGraphDestroy, 10000, GraphLocked, Graph& graph) {
    graph.check_own("destroyed by itself");
    graph.check_not_capturing("a graph cannot be destroyed");
    graph.destroy();
}

ROW(cuGraphClone, 10000, GraphLocked, CUgraph& phGraphClone, Graph& graph) {
    phGraphClone = graph.clone()->handle<CUgraph>();
}

ROW(cuGraphNodeFindInClone, 10000, GraphLocked, CUgraphNode& phNode, GraphNode& node,
    Graph& graph) {
    phNode = graph.find_clone(node).handle<CUgraphNode>();
}

ROW(cuGraphGetNodes, 10000, GraphLocked, Graph& graph, CUgraphNode* nodes, size_t& numNodes) {
    put_list(nodes, numNodes, graph.nodes(), handle_of);
    put_count(nodes != nullptr, &numNodes, graph.nodes().size());
}

ROW(cuGraphGetRootNodes, 10000, GraphLocked, Graph& graph, CUgraphNode* rootNodes,
    size_t& numRootNodes) {
    auto roots = graph.nodes();
    std::erase_if(roots, [](const auto& node) { return !node->dependencies().empty(); });
    put_list(rootNodes, numRootNodes, roots, handle_of);
    put_count(rootNodes != nullptr, &numRootNodes, roots.size());
}

ROW(cuGraphGetEdges, 10000, GraphLocked, Graph& graph, CUgraphNode* from, CUgraphNode* to,
    size_t* numEdges) {
    put_all_edges(graph, from, to, nullptr, numEdges);
}

ROW(cuGraphGetEdges_v2, 12030, GraphLocked, Graph& graph, CUgraphNode* from, CUgraphNode* to,
    CUgraphEdgeData* edgeData, size_t* numEdges) {
    put_all_edges(graph, from, to, edgeData, numEdges);
}

ROW(cuGraphNodeGetDependencies, 10000, GraphLocked, GraphNode& node, CUgraphNode* dependencies,
    size_t* numDependencies) {
    put_edges(node.dependencies(), dependencies, nullptr, numDependencies);
}

ROW(cuGraphNodeGetDependencies_v2, 12030, GraphLocked, GraphNode& node, CUgraphNode* dependencies,
    CUgraphEdgeData* edgeData, size_t* numDependencies) {
    put_edges(node.dependencies(), dependencies, edgeData, numDependencies);
}

ROW(cuGraphNodeGetDependentNodes, 10000, GraphLocked, GraphNode& node, CUgraphNode* dependentNodes,
    size_t* numDependentNodes) {
    put_edges(node.dependents(), dependentNodes, nullptr, numDependentNodes);
}

ROW(cuGraphNodeGetDependentNodes_v2, 12030, GraphLocked, GraphNode& node,
    CUgraphNode* dependentNodes, CUgraphEdgeData* edgeData, size_t* numDependentNodes) {
    put_edges(node.dependents(), dependentNodes, edgeData, numDependentNodes);
}

ROW(cuGraphAddDependencies_v2, 12030, GraphLocked, Graph& graph, const CUgraphNode* from,
    const CUgraphNode* to, const CUgraphEdgeData* edgeData, size_t numDependencies) {
    graph.add_edges(edge_list(from, to, edgeData, numDependencies));
}

FORWARD(cuGraphAddDependencies, 10000, CUgraph hGraph, const CUgraphNode* from,
        const CUgraphNode* to, size_t numDependencies) {
    return cuGraphAddDependencies_v2(hGraph, from, to, nullptr, numDependencies);
}

ROW(cuGraphRemoveDependencies_v2, 12030, GraphLocked, Graph& graph, const CUgraphNode* from,
    const CUgraphNode* to, const CUgraphEdgeData* edgeData, size_t numDependencies) {
    graph.remove_edges(edge_list(from, to, edgeData, numDependencies));
}

FORWARD(cuGraphRemoveDependencies, 10000, CUgraph hGraph, const CUgraphNode* from,
        const CUgraphNode* to, size_t numDependencies) {
    return cuGraphRemoveDependencies_v2(hGraph, from, to, nullptr, numDependencies);
}

ROW(cuGraphDestroyNode, 10000, GraphLocked, GraphNode& node) {
    node.graph().remove(node);
}

ROW(cuGraphNodeGetType, 10000, GraphLocked, GraphNode& node, CUgraphNodeType* type) {
    put(type, node.type());
}

ROW(cuGraphNodeGetContainingGraph, 13010, GraphLocked, GraphNode& node, CUgraph* phGraph) {
    put(phGraph, node.graph().handle<CUgraph>());
}

ROW(cuGraphNodeGetLocalId, 13010, GraphLocked, GraphNode& node, unsigned int* nodeId) {
    put(nodeId, node.number());
}

ROW(cuGraphNodeGetToolsId, 13010, GraphLocked, GraphNode& node, unsigned long long* toolsNodeId) {
    put(toolsNodeId, node.id());
}

ROW(cuGraphGetId, 13010, GraphLocked, Graph& graph, unsigned int* graphId) {
    put(graphId, graph.id());
}

ROW(cuGraphExecGetId, 13010, GraphLocked, GraphExecutable& executable, unsigned int* graphId) {
    put(graphId, executable.id());
}

ROW(cuGraphDebugDotPrint, 11030, GraphLocked, Graph& graph, const std::string& path,
    unsigned int flags) {
    write_dot(graph, path, flags);
}
