// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a capture leaves: work with its order, kept but not run.

#pragma once

#include "objects/process/handle_table.hpp"
#include "objects/streams/operation.hpp"

#include <cuda.h>

#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

namespace cuprum::emulator {

class Graph;

/// One piece of work in a graph.
class GraphNode final : public Object {
public:
    GraphNode(Graph& graph, CUgraphNodeType type, std::vector<GraphNode*> dependencies,
              std::shared_ptr<Operation> operation)
        : graph_(graph), type_(type), dependencies_(std::move(dependencies)),
          operation_(std::move(operation)) {}

    [[nodiscard]] Graph& graph() const noexcept { return graph_; }

    [[nodiscard]] CUgraphNodeType type() const noexcept { return type_; }

    [[nodiscard]] const std::vector<GraphNode*>& dependencies() const noexcept {
        return dependencies_;
    }

private:
    Graph& graph_;
    CUgraphNodeType type_;
    std::vector<GraphNode*> dependencies_;
    std::shared_ptr<Operation> operation_; // never submitted; nullptr for what is none
};

/// Nodes and their order.
class Graph final : public Object {
public:
    /// Makes an empty graph.
    [[nodiscard]] static std::shared_ptr<Graph> create();

    /// Adds a node behind others of this graph.
    GraphNode* add(CUgraphNodeType type, std::vector<GraphNode*> dependencies,
                   std::shared_ptr<Operation> operation);

    /// Returns the nodes in the order of their making.
    [[nodiscard]] std::vector<GraphNode*> nodes() const;

    /// Ends the handles of the graph and its nodes.
    void destroy();

    /// Returns nodes and all that must come before them.
    [[nodiscard]] static std::unordered_set<const GraphNode*>
    with_ancestors(const std::vector<GraphNode*>& nodes);

private:
    Graph() = default;

    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<GraphNode>> nodes_;
};

} // namespace cuprum::emulator
