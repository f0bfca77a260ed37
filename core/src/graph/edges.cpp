// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/graph_state.hpp"

#include <cuprum/detail/unexposed_handle.hpp>
#include <cuprum/error.hpp>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

namespace cuprum::detail {

namespace {

using driver::table;

/// Edges as the driver takes them: three lists of equal length.
struct EdgeLists {
    std::vector<CUgraphNode> from;
    std::vector<CUgraphNode> to;
    std::vector<CUgraphEdgeData> data;

    [[nodiscard]] bool is_plain() const {
        return std::ranges::all_of(data, [](const CUgraphEdgeData& each) {
            return each.type == 0 && each.from_port == 0 && each.to_port == 0;
        });
    }
};

EdgeLists read_edges(CUgraph graph) {
    std::size_t count = 0;
    driver::call(table().cuGraphGetEdges, graph, nullptr, nullptr, nullptr, &count);
    EdgeLists edges{std::vector<CUgraphNode>(count), std::vector<CUgraphNode>(count),
                    std::vector<CUgraphEdgeData>(count)};
    if (count != 0) {
        driver::call(table().cuGraphGetEdges, graph, edges.from.data(), edges.to.data(),
                     edges.data.data(), &count);
    }
    return edges;
}

/// Says what is wrong with edges that the driver refused.
[[noreturn]] void raise_edges(CUresult status, const char* call, GraphState& graph,
                              const EdgeLists& edges, EdgeChange change) {
    if (status != CUDA_ERROR_INVALID_VALUE && status != CUDA_ERROR_NOT_FOUND) {
        driver::raise(status, call);
    }
    const CUDAError failure(status, call); // first: what follows calls the driver
    const EdgeLists present = read_edges(graph.handle);
    std::set<std::pair<CUgraphNode, CUgraphNode>> known;
    for (std::size_t i = 0; i < present.from.size(); ++i) {
        known.emplace(present.from[i], present.to[i]);
    }
    for (std::size_t i = 0; i < edges.from.size(); ++i) {
        const auto name = [&] {
            return describe(graph, edges.from[i]) + " to " + describe(graph, edges.to[i]);
        };
        if (edges.from[i] == edges.to[i]) {
            throw std::invalid_argument("the edge from " + name() + " joins a node with itself");
        }
        const bool is_known = known.contains({edges.from[i], edges.to[i]});
        if (change == EdgeChange::Add && is_known) {
            throw std::invalid_argument("the edge from " + name() + " is in the graph already");
        }
        if (change == EdgeChange::Remove && !is_known) {
            throw std::invalid_argument("there is no edge from " + name());
        }
        known.emplace(edges.from[i], edges.to[i]); // named twice is refused, too
    }
    throw failure;
}

void apply(GraphState& graph, const EdgeLists& edges, EdgeChange change) {
    if (edges.from.empty()) {
        return;
    }
    const auto& entry = change == EdgeChange::Add ? table().cuGraphAddDependencies
                                                  : table().cuGraphRemoveDependencies;
    const CUgraphEdgeData* const data = edges.is_plain() ? nullptr : edges.data.data();
    const CUresult status =
        entry(graph.handle, edges.from.data(), edges.to.data(), data, edges.from.size());
    if (status != CUDA_SUCCESS) {
        raise_edges(status, entry.name, graph, edges, change);
    }
}

} // namespace

void change_edges(GraphState& graph, std::span<const GraphNode> from, std::span<const GraphNode> to,
                  EdgeChange change) {
    EdgeLists edges;
    for (const GraphNode& first : from) {
        check_same_graph(graph, first);
        for (const GraphNode& second : to) {
            check_same_graph(graph, second);
            edges.from.push_back(unexposed_handle(first));
            edges.to.push_back(unexposed_handle(second));
            edges.data.push_back({});
        }
    }
    apply(graph, edges, change);
}

void change_edges(GraphState& graph, std::span<const GraphEdge> edges, EdgeChange change) {
    EdgeLists lists;
    for (const GraphEdge& edge : edges) {
        check_same_graph(graph, edge.from);
        check_same_graph(graph, edge.to);
        lists.from.push_back(unexposed_handle(edge.from));
        lists.to.push_back(unexposed_handle(edge.to));
        CUgraphEdgeData data{};
        data.from_port = edge.from_port;
        data.to_port = edge.to_port;
        data.type = edge.is_programmatic ? CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
                                         : CU_GRAPH_DEPENDENCY_TYPE_DEFAULT;
        lists.data.push_back(data);
    }
    apply(graph, lists, change);
}

std::vector<GraphEdge> edges_of(const GraphShare& graph) {
    GraphState& state = open(graph);
    const EdgeLists lists = read_edges(state.handle);
    std::vector<GraphEdge> edges;
    edges.reserve(lists.from.size());
    for (std::size_t i = 0; i < lists.from.size(); ++i) {
        edges.push_back({to_node(graph, node_state(state, lists.from[i])),
                         to_node(graph, node_state(state, lists.to[i])), lists.data[i].from_port,
                         lists.data[i].to_port,
                         lists.data[i].type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC});
    }
    return edges;
}

std::vector<GraphNode> neighbours(const GraphNode& node, const NeighbourEntry& entry) {
    if (node.is_entry()) {
        return {};
    }
    const NodeState& state = open(node, "GraphNode");
    std::size_t count = 0;
    driver::call(entry, state.handle, nullptr, nullptr, &count);
    std::vector<CUgraphNode> handles(count);
    std::vector<CUgraphEdgeData> data(count);
    if (count != 0) {
        driver::call(entry, state.handle, handles.data(), data.data(), &count);
    }
    const GraphShare& graph = Access::state(node);
    std::vector<GraphNode> nodes;
    nodes.reserve(count);
    for (const CUgraphNode handle : handles) {
        nodes.push_back(to_node(graph, node_state(*graph, handle)));
    }
    return nodes;
}

std::vector<CUgraphNode> find_cycle(CUgraph graph) {
    const EdgeLists edges = read_edges(graph);
    std::unordered_map<CUgraphNode, std::vector<CUgraphNode>> next;
    for (std::size_t i = 0; i < edges.from.size(); ++i) {
        next[edges.from[i]].push_back(edges.to[i]);
    }
    // A search in depth: a node that is met again while it is on the path closes a cycle.
    enum class Mark : unsigned char { New, OnPath, Done };
    std::unordered_map<CUgraphNode, Mark> marks;
    for (const CUgraphNode start : edges.from) {
        if (marks[start] != Mark::New) {
            continue;
        }
        std::vector<std::pair<CUgraphNode, std::size_t>> path{{start, 0}};
        marks[start] = Mark::OnPath;
        while (!path.empty()) {
            auto& [node, position] = path.back();
            const auto& followers = next[node];
            if (position == followers.size()) {
                marks[node] = Mark::Done;
                path.pop_back();
                continue;
            }
            const CUgraphNode follower = followers[position++];
            if (marks[follower] == Mark::OnPath) {
                std::vector<CUgraphNode> cycle;
                auto first =
                    std::ranges::find(path, follower, [](const auto& step) { return step.first; });
                for (; first != path.end(); ++first) {
                    cycle.push_back(first->first);
                }
                return cycle;
            }
            if (marks[follower] == Mark::New) {
                marks[follower] = Mark::OnPath;
                path.emplace_back(follower, 0);
            }
        }
    }
    return {};
}

} // namespace cuprum::detail
