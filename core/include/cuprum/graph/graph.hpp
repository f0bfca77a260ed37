// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/text.hpp>
#include <cuprum/error.hpp>
#include <cuprum/graph/graph_definition.hpp>
#include <cuprum/graph/graph_node.hpp>
#include <cuprum/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace cuprum {

namespace detail {
struct ExecutableState;
} // namespace detail

/// Why a graph cannot become an executable. The numbers are the driver's CUgraphInstantiateResult.
enum class GraphInstantiateReason : std::uint8_t {
    Error = 1,                     // see code()
    InvalidStructure = 2,          // such as a cycle
    NodeOperationNotSupported = 3, // by a graph that kernels launch
    MultipleContextsNotSupported = 4,
    ConditionalHandleUnused = 5,
};

/// A graph that the driver does not make into an executable. The text names the node.
class CUPRUM_API GraphInstantiateError : public CUDAError {
public:
    /// Adds a reason and a text to the driver's failure.
    GraphInstantiateError(const CUDAError& failure, GraphInstantiateReason reason,
                          const std::string& text);

    /// Returns why the graph cannot become an executable.
    [[nodiscard]] GraphInstantiateReason reason() const noexcept { return reason_; }

private:
    GraphInstantiateReason reason_;
};

/// Why an executable cannot take over a definition. The numbers are the driver's
/// CUgraphExecUpdateResult.
enum class GraphUpdateReason : std::uint8_t {
    None = 0, // it was updated
    Error = 1,
    TopologyChanged = 2,
    NodeTypeChanged = 3,
    FunctionChanged = 4,
    ParametersChanged = 5,
    NotSupported = 6,
    UnsupportedFunctionChange = 7,
    AttributesChanged = 8,
};

/// The answer of Graph::try_update.
struct [[nodiscard]] GraphUpdateResult {
    bool is_updated = false;                            // whether the executable was updated
    GraphUpdateReason reason = GraphUpdateReason::None; // why it was not
    std::string text = {};              // what differs, and what to do; empty if it was updated
    std::optional<GraphNode> node = {}; // of the new definition, where the difference is
    std::optional<GraphNode> from_node = {}; // the start of the edge that differs
    int code = 0;                            // the driver's CUresult

    /// Returns whether the executable was updated.
    explicit operator bool() const noexcept { return is_updated; }
};

/// An executable that cannot take over a definition; it stays as it was.
class CUPRUM_API GraphUpdateError : public CUDAError {
public:
    /// Adds what differs to the driver's failure.
    GraphUpdateError(const CUDAError& failure, GraphUpdateResult result);

    /// Returns what differs.
    [[nodiscard]] const GraphUpdateResult& result() const noexcept { return result_; }

private:
    GraphUpdateResult result_;
};

/// A node of an executable graph. Changes apply to later launches.
///
/// It is named by the node of the definition that the executable was made from. The executable
/// keeps alive what its nodes use, also what an update brought.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::KernelNode node = definition.launch({.block = 32}, kernel, buffer);
/// const cuprum::Graph graph = definition.instantiate();
/// assert(graph[node].node() == node);
/// @endcode
class CUPRUM_API ExecutableGraphNode {
public:
    /// Returns the node of the definition.
    [[nodiscard]] const GraphNode& node() const noexcept { return node_; }

protected:
    friend class Graph;

    ExecutableGraphNode(std::shared_ptr<detail::ExecutableState> state, GraphNode node) noexcept
        : state_(std::move(state)), node_(std::move(node)) {}

    std::shared_ptr<detail::ExecutableState> state_;
    GraphNode node_;
};

/// A node of an executable graph that can be switched off: it then does nothing.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::KernelNode node = definition.launch({.block = 32}, kernel, buffer);
/// const cuprum::Graph graph = definition.instantiate();
/// graph[node].disable(); // later launches skip the node
/// graph.launch(stream);
/// @endcode
class CUPRUM_API SwitchableGraphNode : public ExecutableGraphNode {
public:
    /// Returns whether launches run the node.
    [[nodiscard]] bool is_enabled() const;
    /// Makes later launches run the node.
    void enable() const;
    /// Makes later launches skip the node.
    void disable() const;

protected:
    using ExecutableGraphNode::ExecutableGraphNode;

private:
    void set_enabled(bool is_on) const;
};

/// A kernel launch in an executable graph.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::KernelNode node = definition.launch({.block = 32}, kernel, buffer);
/// const cuprum::Graph graph = definition.instantiate();
/// graph[node].update({.block = 16}, kernel, buffer);
/// @endcode
class CUPRUM_API ExecutableKernelNode : public SwitchableGraphNode {
public:
    /// Replaces configuration, kernel and arguments. The attributes of the configuration stay those
    /// of the definition; the driver cannot change them in an executable.
    template <detail::AnyKernel AnyKernel, typename... Arguments>
    void update(const LaunchConfig& config, const AnyKernel& kernel,
                const Arguments&... arguments) const {
        detail::pack_for_node(
            [&](const detail::NodeArguments& packed) {
                update_with(config, detail::untyped(kernel), packed);
            },
            kernel, arguments...);
    }

    /// Replaces configuration, kernel and arguments, for bindings.
    void update_with(const LaunchConfig& config, const Kernel& kernel,
                     const detail::NodeArguments& arguments) const;

private:
    friend class Graph;
    using SwitchableGraphNode::SwitchableGraphNode;
};

/// A copy in an executable graph.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::Buffer copy = device.allocate(1024, stream);
/// const cuprum::MemcpyNode node = definition.memcpy(copy, buffer);
/// const cuprum::Graph graph = definition.instantiate();
/// graph[node].update(copy, buffer, 512);
/// @endcode
class CUPRUM_API ExecutableMemcpyNode : public SwitchableGraphNode {
public:
    /// Replaces both sides and the size of a one-dimensional copy.
    void update(const NodeMemory& dst, const NodeMemory& src, std::size_t bytes) const;
    /// Replaces everything about the copy. Its kind of memory on each side must stay.
    void update(const MemcpyRegionParameters& parameters) const;

private:
    friend class Graph;
    using SwitchableGraphNode::SwitchableGraphNode;
};

/// A fill in an executable graph.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::MemsetNode node = definition.memset(buffer, 0, 1024);
/// const cuprum::Graph graph = definition.instantiate();
/// graph[node].update({.dst = buffer, .value = 1, .width = 1024});
/// @endcode
class CUPRUM_API ExecutableMemsetNode : public SwitchableGraphNode {
public:
    /// Replaces everything about the fill.
    void update(const MemsetParameters& parameters) const;

private:
    friend class Graph;
    using SwitchableGraphNode::SwitchableGraphNode;
};

/// A child graph in an executable graph.
///
/// @code
/// const cuprum::GraphDefinition child;
/// child.memset(buffer, 0, 1024);
/// const cuprum::GraphDefinition parent;
/// const cuprum::ChildGraphNode node = parent.embed(child);
/// const cuprum::Graph graph = parent.instantiate();
/// graph[node].update(child);
/// @endcode
class CUPRUM_API ExecutableChildGraphNode : public ExecutableGraphNode {
public:
    /// Replaces the parameters of the child's nodes by those of a graph with the same topology.
    void update(const GraphDefinition& child) const;

private:
    friend class Graph;
    using ExecutableGraphNode::ExecutableGraphNode;
};

/// A recorded event in an executable graph.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::EventRecordNode node = definition.record(device.create_event());
/// const cuprum::Graph graph = definition.instantiate();
/// graph[node].update(device.create_event());
/// @endcode
class CUPRUM_API ExecutableEventRecordNode : public ExecutableGraphNode {
public:
    /// Records another event.
    void update(const Event& event) const;

private:
    friend class Graph;
    using ExecutableGraphNode::ExecutableGraphNode;
};

/// A wait for an event in an executable graph.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::EventWaitNode node = definition.wait(stream.record());
/// const cuprum::Graph graph = definition.instantiate();
/// graph[node].update(stream.record());
/// @endcode
class CUPRUM_API ExecutableEventWaitNode : public ExecutableGraphNode {
public:
    /// Waits for another event.
    void update(const Event& event) const;

private:
    friend class Graph;
    using ExecutableGraphNode::ExecutableGraphNode;
};

/// A call of a function on the host in an executable graph.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::HostCallbackNode node = definition.callback([] {});
/// const cuprum::Graph graph = definition.instantiate();
/// graph[node].update([] { std::puts("called"); });
/// @endcode
class CUPRUM_API ExecutableHostCallbackNode : public ExecutableGraphNode {
public:
    /// Calls another function.
    void update(std::function<void()> function) const;
    /// Calls another C function.
    void update(const HostFunctionParameters& parameters) const;

private:
    friend class Graph;
    using ExecutableGraphNode::ExecutableGraphNode;
};

/// An executable graph: many pieces of work that one call launches.
///
/// `GraphDefinition::instantiate` makes one. Copies share one driver object, which is destroyed
/// with the last of them; a launch that still runs completes, and what it uses lives until then.
/// Two launches of one executable never overlap. Several threads may launch and update it.
///
/// @code
/// const cuprum::GraphDefinition definition =
///     cuprum::capture(stream, [&] { cuprum::launch(stream, {.block = 32}, kernel, buffer); });
/// const cuprum::Graph graph = definition.instantiate();
/// graph.launch(stream);
/// stream.sync();
/// @endcode
class CUPRUM_API Graph {
public:
    /// Returns the driver's handle. You may launch it yourself, and close this object meanwhile.
    [[nodiscard]] CUgraphExec handle() const;

    /// Launches the graph, ordered on `stream`. Returns at once.
    /// @throws CUDAError if the stream is being captured: use GraphBuilder::embed() there.
    void launch(const Stream& stream) const;
    /// Prepares the device for the next launch, ordered on `stream`, so that this one is as fast as
    /// later ones. Returns at once.
    void upload(const Stream& stream) const;

    /// Takes over the parameters of a definition with the same topology.
    /// @throws GraphUpdateError if it differs in more; names the node. The graph stays as it was.
    void update(const GraphDefinition& source) const;
    /// Does the same, but returns a refusal of the driver.
    GraphUpdateResult try_update(const GraphDefinition& source) const;

    /// Returns a node, named by the definition's, to change it in this executable alone.
    [[nodiscard]] ExecutableKernelNode operator[](const KernelNode& node) const;
    /// Returns the node of the executable for a copy of the definition.
    [[nodiscard]] ExecutableMemcpyNode operator[](const MemcpyNode& node) const;
    /// Returns the node of the executable for a fill of the definition.
    [[nodiscard]] ExecutableMemsetNode operator[](const MemsetNode& node) const;
    /// Returns the node of the executable for a child graph of the definition.
    [[nodiscard]] ExecutableChildGraphNode operator[](const ChildGraphNode& node) const;
    /// Returns the node of the executable for a recorded event of the definition.
    [[nodiscard]] ExecutableEventRecordNode operator[](const EventRecordNode& node) const;
    /// Returns the node of the executable for a wait of the definition.
    [[nodiscard]] ExecutableEventWaitNode operator[](const EventWaitNode& node) const;
    /// Returns the node of the executable for a host function of the definition.
    [[nodiscard]] ExecutableHostCallbackNode operator[](const HostCallbackNode& node) const;

    /// Returns the driver's flags: CUgraphInstantiate_flags.
    [[nodiscard]] std::uint64_t flags() const;

    /// Returns whether `close()` was called.
    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this copy's share. Calling it again does nothing; any other use is a ClosedError.
    void close() noexcept;

    /// Compares handles.
    friend bool operator==(const Graph& left, const Graph& right) noexcept {
        return left.state_ == right.state_;
    }

private:
    friend struct detail::Access;
    friend struct std::hash<Graph>;

    explicit Graph(std::shared_ptr<detail::ExecutableState> state) noexcept
        : state_(std::move(state)) {}

    template <typename View>
    [[nodiscard]] View view(const GraphNode& node) const;

    std::shared_ptr<detail::ExecutableState> state_;
};

/// Returns the handle for messages and logs. Makes no driver call.
[[nodiscard]] CUPRUM_API std::string to_string(const Graph& graph);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::Graph> {
    [[nodiscard]] std::size_t operator()(const cuprum::Graph& graph) const noexcept {
        return std::hash<std::shared_ptr<cuprum::detail::ExecutableState>>()(graph.state_);
    }
};
