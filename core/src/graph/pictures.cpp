// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/pictures.hpp"

#include "driver/call.hpp"
#include "support/run_program.hpp"
#include "support/text.hpp"

#include <cuprum/detail/unexposed_handle.hpp>
#include <cuprum/error.hpp>
#include <cuprum/graph/graph_definition.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <queue>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace cuprum {

namespace {

constexpr std::chrono::seconds MAX_LAYOUT_TIME{60};

/// Returns the positions of nodes in an order in which they can run. Nodes of a cycle come last.
std::vector<std::size_t> running_order(const std::vector<std::vector<std::size_t>>& predecessors,
                                       bool& has_cycle) {
    const std::size_t count = predecessors.size();
    std::vector<std::vector<std::size_t>> successors(count);
    std::vector<std::size_t> waits(count);
    for (std::size_t to = 0; to < count; ++to) {
        waits[to] = predecessors[to].size();
        for (const std::size_t from : predecessors[to]) {
            successors[from].push_back(to);
        }
    }
    // Among the nodes that can run, the one that was made first comes first.
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < count; ++i) {
        if (waits[i] == 0) {
            ready.push(i);
        }
    }
    std::vector<std::size_t> order;
    order.reserve(count);
    while (!ready.empty()) {
        const std::size_t next = ready.top();
        ready.pop();
        order.push_back(next);
        for (const std::size_t successor : successors[next]) {
            if (--waits[successor] == 0) {
                ready.push(successor);
            }
        }
    }
    has_cycle = order.size() != count;
    for (std::size_t i = 0; i < count && has_cycle; ++i) {
        if (waits[i] != 0) {
            order.push_back(i);
        }
    }
    return order;
}

/// Returns the graphs inside a node, and completes its text.
std::vector<detail::GraphPicture> pictures_inside(const GraphNode& node, detail::NodeText& text) {
    std::vector<detail::GraphPicture> children;
    if (text.type == GraphNodeType::Graph) {
        children.push_back(detail::picture_of(node.as<ChildGraphNode>().child_graph()));
        children.back().label = "child graph";
    } else if (text.type == GraphNodeType::Conditional) {
        const auto conditional = node.as<ConditionalNode>();
        const std::optional<GraphConditionalType> type = conditional.cond_type();
        const std::vector<GraphDefinition> branches = conditional.branches();
        if (type.has_value()) {
            text.title = *type == GraphConditionalType::While    ? "while"
                         : *type == GraphConditionalType::Switch ? "switch"
                         : branches.size() == 2                  ? "if, else"
                                                                 : "if";
        }
        if (const std::optional<GraphCondition> condition = conditional.condition()) {
            text.details.push_back("condition " + detail::hexadecimal(condition->handle()));
        }
        for (std::size_t i = 0; i < branches.size(); ++i) {
            children.push_back(detail::picture_of(branches[i]));
            children.back().label = type == GraphConditionalType::While ? "body"
                                    : type == GraphConditionalType::Switch
                                        ? "case " + std::to_string(i)
                                    : i == 0 ? "then"
                                             : "else";
        }
    }
    return children;
}

} // namespace

std::string GraphDefinition::to_dot() const {
    return detail::to_dot(detail::picture_of(*this));
}

std::string GraphDefinition::to_text() const {
    return detail::to_text(detail::picture_of(*this));
}

std::string GraphDefinition::to_svg() const {
    const std::string source = to_dot();
    std::vector<std::string> tried;
    const std::string program = detail::find_program("dot", tried);
    if (program.empty()) {
        throw LibraryNotFoundError(
            "Graphviz's program dot", std::move(tried),
            "install Graphviz (apt install graphviz, dnf install graphviz, brew install graphviz, "
            "conda install graphviz), or use to_text(), or to_dot() and draw it elsewhere");
    }
    const detail::ProgramRun run = detail::run_program(program, {"-Tsvg"}, source, MAX_LAYOUT_TIME);
    if (run.is_timed_out) {
        throw std::runtime_error(program + " did not draw the graph within " +
                                 std::to_string(MAX_LAYOUT_TIME.count()) +
                                 " seconds; it is too large for a picture, use to_text()");
    }
    if (run.exit_code != 0 || run.output.find("</svg>") == std::string::npos) {
        throw std::runtime_error(program + " failed with code " + std::to_string(run.exit_code) +
                                 ": " + run.errors);
    }
    return run.output;
}

detail::GraphPicture detail::picture_of(const GraphDefinition& graph) {
    const std::vector<GraphNode> nodes = graph.nodes();
    std::unordered_map<GraphNode, std::size_t> positions;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        positions.emplace(nodes[i], i);
    }
    std::vector<std::vector<std::size_t>> predecessors(nodes.size());
    std::vector<std::vector<std::size_t>> early_starts(nodes.size());
    for (const GraphEdge& edge : graph.edges()) {
        const std::size_t from = positions.at(edge.from);
        const std::size_t to = positions.at(edge.to);
        predecessors[to].push_back(from);
        if (edge.is_programmatic) {
            early_starts[to].push_back(from);
        }
    }
    GraphPicture picture;
    const std::vector<std::size_t> order = running_order(predecessors, picture.has_cycle);
    std::vector<std::size_t> places(nodes.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        places[order[i]] = i;
    }
    const auto placed = [&](std::vector<std::size_t> indices) {
        std::ranges::transform(indices, indices.begin(), [&](std::size_t i) { return places[i]; });
        std::ranges::sort(indices);
        return indices;
    };
    for (const std::size_t index : order) {
        NodePicture node;
        node.text = describe_node(unexposed_handle(nodes[index]), driver::table());
        node.predecessors = placed(predecessors[index]);
        node.early_starts = placed(early_starts[index]);
        node.children = pictures_inside(nodes[index], node.text);
        picture.nodes.push_back(std::move(node));
    }
    return picture;
}

} // namespace cuprum
