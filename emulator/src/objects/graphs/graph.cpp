// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/graph.hpp"

namespace cuprum::emulator {

std::shared_ptr<Graph> Graph::create() {
    std::shared_ptr<Graph> graph(new Graph);
    HandleTable::instance().insert(HandleKind::Graph, graph);
    return graph;
}

GraphNode* Graph::add(CUgraphNodeType type, std::vector<GraphNode*> dependencies,
                      std::shared_ptr<Operation> operation) {
    auto node =
        std::make_shared<GraphNode>(*this, type, std::move(dependencies), std::move(operation));
    HandleTable::instance().insert(HandleKind::GraphNode, node);
    const std::lock_guard lock(mutex_);
    nodes_.push_back(node);
    return node.get();
}

std::vector<GraphNode*> Graph::nodes() const {
    const std::lock_guard lock(mutex_);
    std::vector<GraphNode*> nodes;
    nodes.reserve(nodes_.size());
    for (const auto& node : nodes_) {
        nodes.push_back(node.get());
    }
    return nodes;
}

void Graph::destroy() {
    auto& table = HandleTable::instance();
    const auto self = table.erase(HandleKind::Graph, handle_value()); // lives until we are done
    const std::lock_guard lock(mutex_);
    for (const auto& node : nodes_) {
        table.erase(HandleKind::GraphNode, node->handle_value());
    }
}

std::unordered_set<const GraphNode*> Graph::with_ancestors(const std::vector<GraphNode*>& nodes) {
    std::unordered_set<const GraphNode*> found;
    std::vector<const GraphNode*> open(nodes.begin(), nodes.end());
    while (!open.empty()) {
        const GraphNode* node = open.back();
        open.pop_back();
        if (found.insert(node).second) {
            open.insert(open.end(), node->dependencies().begin(), node->dependencies().end());
        }
    }
    return found;
}

} // namespace cuprum::emulator
