// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/text.hpp>
#include <cuprum/event.hpp>
#include <cuprum/graph/graph_appender.hpp>
#include <cuprum/graph/graph_condition.hpp>
#include <cuprum/graph/node_memory.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/launch_config.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cuprum {

/// What a node does. The numbers are the driver's CUgraphNodeType.
enum class GraphNodeType : std::uint8_t {
    Kernel = 0,
    Memcpy = 1,
    Memset = 2,
    Host = 3,
    Graph = 4, // a child graph
    Empty = 5,
    WaitEvent = 6,
    EventRecord = 7,
    ExtSemasSignal = 8,
    ExtSemasWait = 9,
    MemAlloc = 10,
    MemFree = 11,
    BatchMemOp = 12,
    Conditional = 13,
};

/// Returns what messages call such a node: "kernel node", "copy node"...
[[nodiscard]] CUPRUM_API const char* to_string(GraphNodeType type) noexcept;

/// One piece of work in a graph.
///
/// A value: copies mean the same node, which belongs to its graph. A node shares the graph, so that
/// the graph lives at least as long. Once `destroy` was called on one copy, all copies know it.
/// The words of GraphAppender add nodes that depend on this one.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::GraphNode first = definition.memset(buffer, 0, 1024);
/// const cuprum::GraphNode second = first.launch({.block = 32}, kernel, buffer); // after the fill
/// assert(second.predecessors().size() == 1);
/// @endcode
class CUPRUM_API GraphNode : public GraphAppender {
public:
    /// Returns what the node does, or did; nothing for the entry of a graph.
    [[nodiscard]] std::optional<GraphNodeType> type() const noexcept;
    /// Returns the graph that the node belongs to.
    [[nodiscard]] GraphDefinition graph() const;
    /// Returns the driver's handle; null once the node is destroyed, and for the entry of a graph.
    /// Like GraphDefinition::handle(), it makes launches of later executables slower.
    [[nodiscard]] CUgraphNode handle() const;

    /// Returns whether the node has not been destroyed.
    [[nodiscard]] bool is_valid() const noexcept;

    /// Returns whether this is the entry of a graph, which has no node: see
    /// GraphDefinition::entry().
    [[nodiscard]] bool is_entry() const noexcept { return node_ == nullptr; }

    /// Removes the node and its edges from the graph. Calling it again does nothing. Executables
    /// made before are not affected.
    void destroy() const;

    /// Returns the nodes that this one waits for, in the driver's order.
    [[nodiscard]] std::vector<GraphNode> predecessors() const;
    /// Returns the nodes that wait for this one.
    [[nodiscard]] std::vector<GraphNode> successors() const;
    /// Makes this node wait for others, in one driver call. They must belong to the same graph.
    void add_predecessors(std::span<const GraphNode> nodes) const;
    /// Removes edges from other nodes to this one, in one driver call.
    void remove_predecessors(std::span<const GraphNode> nodes) const;
    /// Makes other nodes wait for this one, in one driver call. They must belong to the same graph.
    void add_successors(std::span<const GraphNode> nodes) const;
    /// Removes edges from this node to others, in one driver call.
    void remove_successors(std::span<const GraphNode> nodes) const;

    /// Returns the node as its own class: `node.as<KernelNode>()`.
    /// @throws std::invalid_argument if it is another kind of node.
    template <std::derived_from<GraphNode> Node>
    [[nodiscard]] Node as() const {
        check_class(Node::CLASS_NAME, Node::matches(*this));
        return Node(*this);
    }

    /// Compares the nodes, not what they do.
    friend bool operator==(const GraphNode& left, const GraphNode& right) noexcept {
        return left.node_ == right.node_ && (left.node_ != nullptr || left.state_ == right.state_);
    }

    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "GraphNode";

    /// Returns whether a node is of this class.
    [[nodiscard]] static bool matches(const GraphNode& /*node*/) noexcept { return true; }

protected:
    friend struct detail::Access;
    friend struct std::hash<GraphNode>;

    GraphNode(std::shared_ptr<detail::GraphState> graph,
              std::shared_ptr<detail::NodeState> node) noexcept
        : GraphAppender(std::move(graph), std::move(node)) {}

    [[nodiscard]] static bool has_type(const GraphNode& node, GraphNodeType type) noexcept;

private:
    void check_class(const char* class_name, bool is_match) const;
};

/// A place behind several nodes: new nodes depend on all of them.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const auto fill = definition.memset(buffer, 0, 512);
/// const auto other = definition.memset(buffer.handle() + 512, 1, 512);
/// definition.after(fill, other).launch({.block = 32}, kernel, buffer); // waits for both
/// @endcode
class CUPRUM_API GraphPoint : public GraphAppender {
private:
    friend struct detail::Access;

    GraphPoint(std::shared_ptr<detail::GraphState> graph,
               std::shared_ptr<detail::NodeState> nodes) noexcept
        : GraphAppender(std::move(graph), std::move(nodes)) {}
};

namespace detail {

/// What the classes of nodes share: each is for nodes of one type.
template <GraphNodeType TYPE>
class NodeOf : public GraphNode {
public:
    /// Returns whether a node is of this class.
    [[nodiscard]] static bool matches(const GraphNode& node) noexcept {
        return has_type(node, TYPE);
    }

protected:
    friend struct Access;
    friend class cuprum::GraphNode;

    explicit NodeOf(GraphNode node) noexcept : GraphNode(std::move(node)) {}
};

} // namespace detail

/// A node that does nothing.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const auto fill = definition.memset(buffer, 0, 512);
/// const auto other = definition.memset(buffer.handle() + 512, 1, 512);
/// const cuprum::EmptyNode both = fill.join(other); // done when both are
/// @endcode
class CUPRUM_API EmptyNode : public detail::NodeOf<GraphNodeType::Empty> {
public:
    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "EmptyNode";

private:
    using NodeOf::NodeOf;
};

/// A kernel launch.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::KernelNode node = definition.launch({.block = 32}, kernel, buffer);
/// node.update(cuprum::LaunchConfig{.grid = 2, .block = 16}); // keeps kernel and arguments
/// assert(node.grid().x == 2);
/// @endcode
class CUPRUM_API KernelNode : public detail::NodeOf<GraphNodeType::Kernel> {
public:
    /// Returns the number of blocks.
    [[nodiscard]] Dim3 grid() const;
    /// Returns the number of threads in a block.
    [[nodiscard]] Dim3 block() const;
    /// Returns the dynamic shared memory of a block, in bytes.
    [[nodiscard]] std::size_t shmem_size() const;
    /// Returns the kernel.
    [[nodiscard]] Kernel kernel() const;
    /// Returns how the kernel is launched, with the attributes that the driver reports for nodes:
    /// cluster, cooperative launch, priority, access policy window, memory synchronisation.
    [[nodiscard]] LaunchConfig config() const;

    /// Returns the bytes of an argument.
    /// @throws std::out_of_range if the kernel has fewer; NotSupportedError if the driver cannot
    /// report parameters.
    [[nodiscard]] std::vector<std::byte> argument_bytes(std::size_t index) const;

    /// Returns an argument as a value of its size.
    template <typename T>
    [[nodiscard]] T argument(std::size_t index) const {
        static_assert(std::is_trivially_copyable_v<T>);
        T value;
        copy_argument(index, &value, sizeof(value));
        return value;
    }

    /// Replaces the configuration and keeps kernel and arguments.
    void update(const LaunchConfig& config) const;

    /// Replaces all arguments and keeps kernel and configuration.
    template <typename... Arguments>
    void update_arguments(const Arguments&... arguments) const {
        detail::pack_for_node(
            [&](const detail::NodeArguments& packed) { update_with(nullptr, nullptr, &packed); },
            kernel(), arguments...);
    }

    /// Replaces everything.
    template <detail::AnyKernel AnyKernel, typename... Arguments>
    void update(const LaunchConfig& config, const AnyKernel& kernel,
                const Arguments&... arguments) const {
        detail::pack_for_node(
            [&](const detail::NodeArguments& packed) {
                update_with(&config, &detail::untyped(kernel), &packed);
            },
            kernel, arguments...);
    }

    /// Replaces what is not null. A new kernel needs arguments, too.
    /// @throws std::invalid_argument if there is a kernel without arguments.
    void update_with(const LaunchConfig* config, const Kernel* kernel,
                     const detail::NodeArguments* arguments) const;

    /// Returns one of the attributes by the driver's number.
    [[nodiscard]] RawLaunchAttribute attribute(int id) const;
    /// Sets one of the attributes by the driver's number.
    void set_attribute(const RawLaunchAttribute& attribute) const;
    /// Takes over all attributes of another kernel node.
    void copy_attributes_from(const KernelNode& other) const;

    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "KernelNode";

private:
    using NodeOf::NodeOf;

    void copy_argument(std::size_t index, void* value, std::size_t size) const;
};

/// A change of a copy. What is left out stays.
struct MemcpyUpdate {
    std::optional<NodeMemory> dst = {};   // where to write
    std::optional<NodeMemory> src = {};   // where to read
    std::optional<std::size_t> size = {}; // bytes
};

/// A copy of memory.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::Buffer copy = device.allocate(1024, stream);
/// const cuprum::MemcpyNode node = definition.memcpy(copy, buffer);
/// node.update({.size = 512}); // copies the first half
/// @endcode
class CUPRUM_API MemcpyNode : public detail::NodeOf<GraphNodeType::Memcpy> {
public:
    /// Returns where the copy begins to write and to read. Includes offsets into the memory.
    [[nodiscard]] CUdeviceptr dst() const;
    /// Returns where the copy begins to read.
    [[nodiscard]] CUdeviceptr src() const;

    /// Returns the bytes of one row, which is all for a one-dimensional copy.
    [[nodiscard]] std::size_t size() const { return extent().width; }

    /// Returns the size of the copy: bytes in a row, rows, slices.
    [[nodiscard]] RegionExtent extent() const;
    /// Returns whether the driver counts a side as host memory.
    [[nodiscard]] bool is_dst_on_host() const;
    /// Returns whether the driver counts the source as host memory.
    [[nodiscard]] bool is_src_on_host() const;
    /// Returns whether the copy is one range of bytes in linear memory.
    [[nodiscard]] bool is_one_dimensional() const;

    /// @throws std::invalid_argument if the copy has more than one dimension.
    void update(const MemcpyUpdate& change) const;
    /// Replaces everything about the copy.
    void update(const MemcpyRegionParameters& parameters) const;

    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "MemcpyNode";

private:
    using NodeOf::NodeOf;
};

/// A change of a fill. What is left out stays.
struct MemsetUpdate {
    std::optional<NodeMemory> dst = {};        // where to write
    std::optional<std::uint32_t> value = {};   // its lowest `element_size` bytes
    std::optional<unsigned> element_size = {}; // bytes
    std::optional<std::size_t> width = {};     // elements
    std::optional<std::size_t> height = {};    // rows
    std::optional<std::size_t> pitch = {};     // bytes
};

/// A fill of memory with a value.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::MemsetNode node = definition.memset(buffer, 0, 1024);
/// node.update({.value = 1});
/// assert(node.value() == 1);
/// @endcode
class CUPRUM_API MemsetNode : public detail::NodeOf<GraphNodeType::Memset> {
public:
    /// Returns where the fill begins to write.
    [[nodiscard]] CUdeviceptr dptr() const;
    /// Returns the value that is written.
    [[nodiscard]] std::uint32_t value() const;
    /// Returns the size of an element in bytes.
    [[nodiscard]] unsigned element_size() const;
    /// Returns the elements in a row.
    [[nodiscard]] std::size_t width() const;
    /// Returns the number of rows.
    [[nodiscard]] std::size_t height() const;
    /// Returns the bytes from row to row.
    [[nodiscard]] std::size_t pitch() const;

    /// Changes the fill. What is left out stays.
    void update(const MemsetUpdate& change) const;

    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "MemsetNode";

private:
    using NodeOf::NodeOf;
};

/// A call of a function on the host.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::HostCallbackNode node = definition.callback([] { std::puts("called"); });
/// node.update([] { std::puts("called instead"); });
/// @endcode
class CUPRUM_API HostCallbackNode : public detail::NodeOf<GraphNodeType::Host> {
public:
    /// Returns the owner of HostFunctionParameters; null for a std::function and for nodes of
    /// others.
    [[nodiscard]] std::shared_ptr<void> owner() const;
    /// Returns the C function that the driver calls, and its argument.
    [[nodiscard]] HostFunctionParameters parameters() const;

    /// Calls another function.
    void update(std::function<void()> function) const;
    /// Calls another C function.
    void update(const HostFunctionParameters& parameters) const;

    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "HostCallbackNode";

private:
    using NodeOf::NodeOf;
};

/// The recording of an event.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::Event done = device.create_event();
/// const cuprum::EventRecordNode node = definition.memset(buffer, 0, 1024).record(done);
/// @endcode
class CUPRUM_API EventRecordNode : public detail::NodeOf<GraphNodeType::EventRecord> {
public:
    /// Returns the event that is recorded.
    [[nodiscard]] Event event() const;
    /// Records another event.
    void update(const Event& event) const;

    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "EventRecordNode";

private:
    using NodeOf::NodeOf;
};

/// A wait for an event.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::Event ready = stream.record();
/// const cuprum::EventWaitNode node = definition.wait(ready);
/// node.memset(buffer, 0, 1024); // runs after the event
/// @endcode
class CUPRUM_API EventWaitNode : public detail::NodeOf<GraphNodeType::WaitEvent> {
public:
    /// Returns the event that is waited for.
    [[nodiscard]] Event event() const;
    /// Waits for another event.
    void update(const Event& event) const;

    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "EventWaitNode";

private:
    using NodeOf::NodeOf;
};

/// A graph inside a graph.
///
/// @code
/// const cuprum::GraphDefinition child;
/// child.memset(buffer, 0, 1024);
/// const cuprum::GraphDefinition parent;
/// const cuprum::ChildGraphNode node = parent.embed(child); // a copy of the child
/// assert(node.child_graph().nodes().size() == 1);
/// @endcode
class CUPRUM_API ChildGraphNode : public detail::NodeOf<GraphNodeType::Graph> {
public:
    /// Returns the embedded graph, which belongs to this node. It can be edited.
    [[nodiscard]] GraphDefinition child_graph() const;
    /// Replaces the embedded graph by a copy of another one.
    /// @throws std::invalid_argument if `child` is part of the same graph.
    void update(const GraphDefinition& child) const;

    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "ChildGraphNode";

private:
    using NodeOf::NodeOf;
};

/// An allocation of memory at each launch.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::AllocNode memory = definition.allocate(128);
/// memory.launch({.block = 32}, kernel, memory).deallocate(memory);
/// @endcode
class CUPRUM_API AllocNode : public detail::NodeOf<GraphNodeType::MemAlloc> {
public:
    /// Returns the address, the same for all launches.
    [[nodiscard]] CUdeviceptr dptr() const;
    /// Returns the size in bytes.
    [[nodiscard]] std::size_t bytesize() const;
    /// Returns the ordinal of the device that the memory lies on; 0 for host memory.
    [[nodiscard]] int device_id() const;
    /// Returns where the memory lies.
    [[nodiscard]] GraphMemoryType memory_type() const;
    /// Returns the ordinals of the other devices that may read and write it.
    [[nodiscard]] std::vector<int> peer_access() const;

    /// Returns the address as a typed pointer, for kernels.
    template <typename T>
    [[nodiscard]] T* data() const {
        return reinterpret_cast<T*>(static_cast<std::uintptr_t>(dptr()));
    }

    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "AllocNode";

private:
    using NodeOf::NodeOf;
};

/// The end of an allocation.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::AllocNode memory = definition.allocate(128);
/// const cuprum::FreeNode last = memory.memset(memory, 0, 128).deallocate(memory);
/// @endcode
class CUPRUM_API FreeNode : public detail::NodeOf<GraphNodeType::MemFree> {
public:
    /// Returns the address that is freed.
    [[nodiscard]] CUdeviceptr dptr() const;

    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "FreeNode";

private:
    using NodeOf::NodeOf;
};

/// How a conditional node chooses. The numbers are the driver's CUgraphConditionalNodeType.
enum class GraphConditionalType : std::uint8_t { If = 0, While = 1, Switch = 2 };

/// A node that runs one of its bodies, or none.
///
/// A conditional node that was made elsewhere (captured, or in a clone) can be asked only with a
/// driver from CUDA 13.2 on. Before, it has no condition, no type and no branches.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::ConditionalNode node = definition.if_then(definition.create_condition(1));
/// node.branches().front().memset(buffer, 0, 1024);
/// @endcode
class CUPRUM_API ConditionalNode : public detail::NodeOf<GraphNodeType::Conditional> {
public:
    /// Returns the condition that selects the body.
    [[nodiscard]] std::optional<GraphCondition> condition() const;
    /// Returns whether the node is an if, a loop or a switch.
    [[nodiscard]] std::optional<GraphConditionalType> cond_type() const;
    /// Returns the bodies, which belong to this node.
    [[nodiscard]] std::vector<GraphDefinition> branches() const;

    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "ConditionalNode";

protected:
    using NodeOf::NodeOf;

    /// Returns whether a node is known to be of this type and to have so many bodies; 0 is any.
    [[nodiscard]] static bool is_kind(const GraphNode& node, GraphConditionalType type,
                                      std::size_t bodies) noexcept;
    [[nodiscard]] GraphDefinition branch(std::size_t index) const;
};

namespace detail {

/// What the classes of conditional nodes share. `BODIES` is 0 for any number.
template <GraphConditionalType TYPE, std::size_t BODIES>
class ConditionalOf : public ConditionalNode {
public:
    /// Returns whether a node is of this class.
    [[nodiscard]] static bool matches(const GraphNode& node) noexcept {
        return is_kind(node, TYPE, BODIES);
    }

protected:
    friend struct Access;
    friend class cuprum::GraphNode;

    explicit ConditionalOf(GraphNode node) noexcept : ConditionalNode(std::move(node)) {}
};

} // namespace detail

/// A node that runs its body if a condition is not 0.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::IfNode node = definition.if_then(definition.create_condition(1));
/// node.then().memset(buffer, 0, 1024); // runs unless a kernel sets the condition to 0
/// @endcode
class CUPRUM_API IfNode : public detail::ConditionalOf<GraphConditionalType::If, 1> {
public:
    /// Returns the body that runs if the condition is not 0.
    [[nodiscard]] GraphDefinition then() const;

    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "IfNode";

private:
    using ConditionalOf::ConditionalOf;
};

/// A node that runs one of two bodies.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::IfElseNode node = definition.if_else(definition.create_condition(0));
/// node.then().memset(buffer, 0, 1024);
/// node.otherwise().memset(buffer, 1, 1024); // the condition is 0, so this one runs
/// @endcode
class CUPRUM_API IfElseNode : public detail::ConditionalOf<GraphConditionalType::If, 2> {
public:
    /// Returns the body that runs if the condition is not 0.
    [[nodiscard]] GraphDefinition then() const;
    /// Returns the body that runs if the condition is 0. `else` is a keyword.
    [[nodiscard]] GraphDefinition otherwise() const;

    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "IfElseNode";

private:
    using ConditionalOf::ConditionalOf;
};

/// A node that repeats its body as long as a condition is not 0.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::GraphCondition more = definition.create_condition(1);
/// const cuprum::WhileNode node = definition.while_loop(more);
/// node.body().launch({.block = 32}, kernel, buffer); // a kernel of the body must set `more` to 0
/// @endcode
class CUPRUM_API WhileNode : public detail::ConditionalOf<GraphConditionalType::While, 0> {
public:
    /// Returns the body of the loop.
    [[nodiscard]] GraphDefinition body() const;

    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "WhileNode";

private:
    using ConditionalOf::ConditionalOf;
};

/// A node that runs the body whose index is the condition.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::SwitchNode node = definition.switch_cases(definition.create_condition(1), 2);
/// node.branches()[1].memset(buffer, 0, 1024); // runs: the condition is 1
/// @endcode
class CUPRUM_API SwitchNode : public detail::ConditionalOf<GraphConditionalType::Switch, 0> {
public:
    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "SwitchNode";

private:
    using ConditionalOf::ConditionalOf;
};

/// Returns kind, handle and kernel of a node for messages and logs.
[[nodiscard]] CUPRUM_API std::string to_string(const GraphNode& node);

// ---- templates that need the classes above ------------------------------------------------------

template <detail::AnyKernel AnyKernel, typename... Arguments>
    requires(!(sizeof...(Arguments) == 1 &&
               (std::is_convertible_v<Arguments, std::span<const KernelArgument>> && ...)))
KernelNode GraphAppender::launch(const LaunchConfig& config, const AnyKernel& kernel,
                                 const Arguments&... arguments) const {
    return detail::pack_for_node(
        [&](const detail::NodeArguments& packed) {
            return launch_with(config, detail::untyped(kernel), packed);
        },
        kernel, arguments...);
}

template <std::derived_from<GraphNode>... Nodes>
    requires(sizeof...(Nodes) > 0)
EmptyNode GraphAppender::join(const Nodes&... nodes) const {
    const std::array<GraphNode, sizeof...(Nodes)> all{nodes...};
    return join(std::span<const GraphNode>(all));
}

template <std::derived_from<GraphNode>... Nodes>
GraphPoint GraphAppender::after(const Nodes&... nodes) const {
    const std::array<GraphNode, sizeof...(Nodes)> all{nodes...};
    return after(std::span<const GraphNode>(all));
}

template <typename T>
    requires(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4)
MemsetNode GraphAppender::memset(const TypedBuffer<T>& dst,
                                 const std::type_identity_t<T>& value) const {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(value)); // little-endian, as every host with a device
    return memset({.dst = dst, .value = bits, .element_size = sizeof(T), .width = dst.size()});
}

namespace detail {

/// An allocation of a graph passes its address to a kernel.
template <>
struct StoredArgument<AllocNode> {
    CUdeviceptr value;

    // NOLINTNEXTLINE(google-explicit-constructor)
    StoredArgument(const AllocNode& allocation) : value(allocation.dptr()) {}
};

} // namespace detail

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::GraphNode> {
    [[nodiscard]] std::size_t operator()(const cuprum::GraphNode& node) const noexcept {
        return node.node_ != nullptr
                   ? std::hash<std::shared_ptr<cuprum::detail::NodeState>>()(node.node_)
                   : std::hash<std::shared_ptr<cuprum::detail::GraphState>>()(node.state_);
    }
};
