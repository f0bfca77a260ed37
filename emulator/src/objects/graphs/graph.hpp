// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Graphs as programs define them: nodes and their order. Nothing here runs.

#pragma once

#include "objects/graphs/node_parameters.hpp"
#include "objects/graphs/ordered_list.hpp"
#include "objects/graphs/user_object.hpp"
#include "objects/process/handle_table.hpp"

#include <cuda.h>

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace cuprum::emulator {

class ConditionalVariable;
class Graph;
class GraphExecutable;
class GraphNode;

/// Protects all graph definitions of the process. Whoever reads or changes one holds it.
class [[nodiscard]] GraphLock {
public:
    GraphLock() : lock_(mutex()) {}

private:
    static std::recursive_mutex& mutex();

    std::lock_guard<std::recursive_mutex> lock_;
};

/// One end of an edge, and how the edge orders its nodes.
struct GraphEdge {
    GraphNode* node = nullptr;
    CUgraphEdgeData data{};
};

/// The nodes that items of lists lead to.
struct NodeOf {
    GraphNode* operator()(const GraphEdge& edge) const noexcept { return edge.node; }

    GraphNode* operator()(const std::shared_ptr<GraphNode>& node) const noexcept {
        return node.get();
    }
};

/// One side of a node's edges. No two lead to the same node.
using GraphEdges = OrderedList<GraphEdge, NodeOf>;

/// Returns a number for a graph or an executable graph that no other one of the process had. It is
/// not 0.
[[nodiscard]] std::uint32_t next_graph_id() noexcept;

/// Returns whether an edge is a plain dependency.
[[nodiscard]] bool is_plain(const CUgraphEdgeData& data) noexcept;

/// One piece of work in a graph. Only under GraphLock.
class GraphNode final : public Object, public std::enable_shared_from_this<GraphNode> {
public:
    GraphNode(Graph& graph, NodeParameters parameters);

    [[nodiscard]] Graph& graph() const noexcept { return *graph_; }

    /// Returns a number that no other node of the process has or had.
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }

    /// Returns the place of the node in the order in which its graph got nodes.
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

    [[nodiscard]] CUgraphNodeType type() const noexcept { return type_of(parameters_); }

    [[nodiscard]] const NodeParameters& parameters() const noexcept { return parameters_; }

    [[nodiscard]] NodeParameters& parameters() noexcept { return parameters_; }

    /// Returns parameters of a type; throws INVALID_VALUE if the node is of another.
    template <typename Parameters>
    [[nodiscard]] Parameters& get() {
        auto* const found = std::get_if<Parameters>(&parameters_);
        if (found == nullptr) {
            refuse_type(Parameters{});
        }
        return *found;
    }

    /// Replaces the parameters by others of the same type.
    void set_parameters(NodeParameters parameters) { parameters_ = std::move(parameters); }

    [[nodiscard]] const std::vector<GraphEdge>& dependencies() const noexcept {
        return dependencies_.items();
    }

    [[nodiscard]] const std::vector<GraphEdge>& dependents() const noexcept {
        return dependents_.items();
    }

    /// Returns whether the node is still part of its graph.
    [[nodiscard]] bool is_alive() const noexcept { return graph_ != nullptr; }

    /// Returns the addresses of the arguments of a kernel node, for programs to read. Valid until
    /// the parameters change.
    [[nodiscard]] void** argument_pointers();

    /// Returns the arguments of a kernel node as cuLaunchKernel takes them in `extra`.
    [[nodiscard]] void** extra_pointers();

private:
    friend class Graph;

    [[noreturn]] void refuse_type(const NodeParameters& wanted) const;

    Graph* graph_;
    std::uint64_t id_;
    std::uint64_t original_id_ = 0; // of the node that this one was cloned from
    std::uint32_t number_ = 0;
    NodeParameters parameters_;
    GraphEdges dependencies_;
    GraphEdges dependents_;
    std::vector<void*> pointers_; // what argument_pointers() and extra_pointers() return
    std::size_t packed_bytes_ = 0;
};

/// Nodes and their order. Only under GraphLock, except creation.
class Graph final : public Object, public std::enable_shared_from_this<Graph> {
public:
    /// Makes an empty graph.
    [[nodiscard]] static std::shared_ptr<Graph> create();

    ~Graph() override;

    /// Returns a number that no other graph of the process has or had.
    [[nodiscard]] std::uint32_t id() const noexcept { return id_; }

    /// Adds a node behind others of this graph.
    ///
    /// @throws DriverError INVALID_VALUE for nodes of other graphs, duplicates and bad edges.
    std::shared_ptr<GraphNode> add(NodeParameters parameters,
                                   const std::vector<GraphEdge>& dependencies);

    /// Adds edges between nodes of this graph; all or nothing.
    void add_edges(const std::vector<std::pair<GraphEdge, GraphNode*>>& edges);

    /// Removes edges, which must be there with the same data; all or nothing.
    void remove_edges(const std::vector<std::pair<GraphEdge, GraphNode*>>& edges);

    /// Removes a node and its edges.
    void remove(GraphNode& node);

    /// Returns the nodes in the order of their making.
    [[nodiscard]] const std::vector<std::shared_ptr<GraphNode>>& nodes() const noexcept {
        return nodes_.items();
    }

    /// Copies the graph and what is embedded in it.
    ///
    /// @throws DriverError NOT_SUPPORTED if it has memory or conditional nodes.
    [[nodiscard]] std::shared_ptr<Graph> clone() const;

    /// Returns the node of this graph that was cloned from another one; throws INVALID_VALUE.
    [[nodiscard]] GraphNode& find_clone(const GraphNode& original) const;

    /// Ends the handles of the graph, of its nodes and of the graphs embedded in it.
    void destroy();

    /// Throws INVALID_VALUE unless the graph is the program's own, not part of another one's node.
    void check_own(const char* what) const;

    /// Replaces the graph inside a node of this graph.
    void replace_child(GraphNode& node, ChildParameters child);

    /// Returns the graph that has this one in a node, nullptr for none.
    [[nodiscard]] Graph* owner() const noexcept { return owner_; }

    /// Returns the graph that is not embedded in any other.
    [[nodiscard]] Graph& root() noexcept;

    /// Returns whether the graph, or one embedded in it, has nodes of one of these types.
    [[nodiscard]] bool contains(std::initializer_list<CUgraphNodeType> types) const;

    /// Returns whether the graph, or one embedded in it, has nodes that no other graph may share.
    [[nodiscard]] bool is_unique() const;

    /// Returns the references to user objects that the graph holds.
    [[nodiscard]] UserReferences& references() noexcept { return references_; }

    /// Collects the references of the graph and of those embedded in it.
    void collect_references(UserReferences& into) const;

    /// Returns the executable graph of a graph that can have only one at a time.
    [[nodiscard]] std::weak_ptr<GraphExecutable>& only_executable() noexcept {
        return only_executable_;
    }

    /// Returns the conditional handles that were made for the graph.
    [[nodiscard]] std::vector<std::shared_ptr<ConditionalVariable>>& variables() noexcept {
        return variables_;
    }

    /// Throws ILLEGAL_STATE if a stream captures into the graph.
    void check_not_capturing(const char* what) const;

    /// Counts the captures that add nodes. Meanwhile the program can neither remove nodes nor
    /// destroy the graph.
    void begin_capture() noexcept { ++capture_count_; }

    void end_capture() noexcept { --capture_count_; }

    /// Returns nodes and all that must come before them.
    [[nodiscard]] static std::unordered_set<const GraphNode*>
    with_ancestors(const std::vector<GraphEdge>& nodes);

    /// Returns one of nodes, or of those that must come before them, for which `is_wanted` returns
    /// true; nullptr if there is none.
    [[nodiscard]] static const GraphNode*
    find_ancestor(const std::vector<GraphEdge>& nodes,
                  const std::function<bool(const GraphNode&)>& is_wanted);

    /// Returns how many pieces of memory of each size the graph's own nodes have freed and no later
    /// node uses again.
    [[nodiscard]] std::unordered_map<std::uint64_t, std::uint32_t>& freed_sizes() noexcept {
        return freed_sizes_;
    }

private:
    Graph() = default;

    static constexpr std::size_t MOST_TYPES = 16;

    /// How many nodes there are of each type, in a graph and what is embedded in it.
    using Counts = std::array<std::uint32_t, MOST_TYPES>;

    void check_edge(const GraphEdge& from, const NodeParameters& to) const;
    void end_handles(GraphNode& node);
    void adopt(GraphNode& node);
    [[nodiscard]] static Counts counts_of(const GraphNode& node);
    void add_counts(const Counts& counts) noexcept;
    void subtract_counts(const Counts& counts) noexcept;

    const std::uint32_t id_ = next_graph_id();
    OrderedList<std::shared_ptr<GraphNode>, NodeOf> nodes_;
    std::unordered_map<std::uint64_t, GraphNode*> clones_; // by the number of the original
    Counts counts_{};
    std::unordered_map<std::uint64_t, std::uint32_t> freed_sizes_;
    std::uint32_t next_number_ = 0;
    std::uint32_t capture_count_ = 0;
    Graph* owner_ = nullptr;
    UserReferences references_;
    std::weak_ptr<GraphExecutable> only_executable_;
    std::vector<std::shared_ptr<ConditionalVariable>> variables_;
};

/// Calls a function for every graph that is embedded in a node.
template <typename Function>
void for_each_embedded(const NodeParameters& parameters, Function&& function) {
    if (const auto* child = std::get_if<ChildParameters>(&parameters)) {
        function(*child->graph);
    } else if (const auto* conditional = std::get_if<ConditionalParameters>(&parameters)) {
        for (const auto& body : conditional->bodies) {
            function(*body);
        }
    }
}

} // namespace cuprum::emulator
