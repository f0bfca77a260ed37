// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/context.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/device.hpp>
#include <cuprum/graph/graph_appender.hpp>
#include <cuprum/graph/graph_condition.hpp>
#include <cuprum/graph/graph_debug.hpp>
#include <cuprum/graph/graph_node.hpp>
#include <cuprum/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cuprum {

class Graph;

/// How an executable graph is made.
struct GraphCompleteOptions {
    bool auto_free_on_launch = false; // free what the last launch allocated before the next one
    std::optional<Stream> upload_stream = {}; // upload the executable on this stream at once
    bool device_launch = false;               // kernels can launch the graph
    bool use_node_priority = false;           // priorities of the nodes, not of the stream
};

/// One dependency: `to` waits for `from`.
struct GraphEdge {
    GraphNode from;             // runs first
    GraphNode to;               // waits for `from`
    std::uint8_t from_port = 0; // of a kernel node: 0 is its end, 1 its trigger, 2 its launch order
    std::uint8_t to_port = 0;   // of a kernel node; 0 is its start
    bool is_programmatic = false; // `to` may start early: programmatic dependent launch

    friend bool operator==(const GraphEdge&, const GraphEdge&) = default;
};

/// A graph of work to be edited and made into executables.
///
/// Copies mean the same graph, and nodes share it. The last of them destroys it; executables made
/// from it stay. A graph is edited by one thread at a time, together with its child graphs.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// definition.memset(buffer, 0, 1024).launch({.block = 32}, kernel, buffer);
/// const cuprum::Graph graph = definition.instantiate();
/// graph.launch(stream);
/// @endcode
class CUPRUM_API GraphDefinition : public GraphAppender {
public:
    /// Makes an empty graph. Its nodes run in the context that is current when they are added.
    GraphDefinition();
    /// Makes an empty graph whose nodes run in this context.
    explicit GraphDefinition(const Context& context);
    /// Makes an empty graph whose nodes run in the primary context of this device.
    explicit GraphDefinition(const Device& device);
    /// Wraps a graph made elsewhere, without owning it; `owner` is kept alive with it.
    [[nodiscard]] static GraphDefinition from_handle(CUgraph handle,
                                                     std::shared_ptr<void> owner = {});

    /// Returns the driver's handle. From now on user objects of the driver keep alive what the
    /// graph uses, so that you can clone, embed or instantiate it yourself. This makes launches of
    /// executables that are made later several microseconds slower.
    /// @throws ClosedError if the graph was a child or a body of a node that was destroyed.
    [[nodiscard]] CUgraph handle() const;

    /// Returns the nodes in the driver's order, which is the order of creation.
    [[nodiscard]] std::vector<GraphNode> nodes() const;
    /// Returns all edges.
    [[nodiscard]] std::vector<GraphEdge> edges() const;
    /// Returns the nodes that wait for no other.
    [[nodiscard]] std::vector<GraphNode> roots() const;
    /// Adds edges in one driver call.
    /// @throws std::invalid_argument if a node is of another graph or destroyed, or the edge
    /// exists, or it joins a node with itself; names the nodes.
    void add_edges(std::span<const GraphEdge> edges) const;
    /// Removes edges in one driver call.
    void remove_edges(std::span<const GraphEdge> edges) const;
    /// Makes `to` wait for `from`.
    void add_edge(const GraphNode& from, const GraphNode& to) const;
    /// Removes the edge between two nodes.
    void remove_edge(const GraphNode& from, const GraphNode& to) const;
    /// Returns the place before all nodes: nodes added to it depend on nothing.
    [[nodiscard]] GraphNode entry() const;

    /// Returns the node object for a handle of the driver, which must belong to this graph.
    [[nodiscard]] GraphNode node_from_handle(CUgraphNode handle) const;

    /// Returns a copy that changes on its own.
    [[nodiscard]] GraphDefinition clone() const;
    /// Returns the node of this graph, a clone, that a node of the original became.
    [[nodiscard]] GraphNode find_clone(const GraphNode& original) const;

    /// Makes an executable graph.
    /// @throws std::invalid_argument if the graph has a cycle; names its nodes.
    /// @throws GraphInstantiateError if the driver refuses it for another reason.
    [[nodiscard]] Graph instantiate(const GraphCompleteOptions& options = {}) const;

    /// Makes a condition for a conditional node of this graph. Each launch sets it to the default
    /// value, if there is one.
    [[nodiscard]] GraphCondition create_condition(std::optional<unsigned> default_value = {}) const;

    /// Keeps an object alive as long as this graph, its clones, executables and their launches.
    void keep_alive(std::shared_ptr<void> object) const;

    /// Writes the driver's picture of the graph, in the language of Graphviz, to a file.
    void debug_dot_print(const std::filesystem::path& path,
                         const GraphDebugPrintOptions& options = {}) const;
    /// Returns a picture of the graph in the language of Graphviz.
    [[nodiscard]] std::string to_dot() const;
    /// Returns the same picture as SVG. Runs the program `dot` of Graphviz, which must be on PATH.
    /// @throws LibraryNotFoundError if it is not installed, std::runtime_error if it fails.
    [[nodiscard]] std::string to_svg() const;
    /// Returns the graph as a tree of lines for a terminal.
    [[nodiscard]] std::string to_text() const;

    /// Returns whether this is a child graph or the body of a conditional node.
    [[nodiscard]] bool is_child() const;

    /// Returns whether `close()` was called.
    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this copy's share. Calling it again does nothing; any other use is a ClosedError.
    void close() noexcept { state_.reset(); }

    /// Compares the graphs, not what is in them.
    friend bool operator==(const GraphDefinition& left, const GraphDefinition& right) noexcept {
        return left.state_ == right.state_;
    }

private:
    friend struct detail::Access;
    friend struct std::hash<GraphDefinition>;

    explicit GraphDefinition(std::shared_ptr<detail::GraphState> state) noexcept
        : GraphAppender(std::move(state), nullptr) {}
};

/// Returns the handle for messages and logs. Makes no driver call.
[[nodiscard]] CUPRUM_API std::string to_string(const GraphDefinition& graph);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::GraphDefinition> {
    [[nodiscard]] std::size_t operator()(const cuprum::GraphDefinition& graph) const noexcept {
        return std::hash<std::shared_ptr<cuprum::detail::GraphState>>()(graph.state_);
    }
};
