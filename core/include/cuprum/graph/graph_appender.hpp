// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/detail/active_captures.hpp>
#include <cuprum/detail/argument_type.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/handle_argument.hpp>
#include <cuprum/device.hpp>
#include <cuprum/event.hpp>
#include <cuprum/graph/graph_condition.hpp>
#include <cuprum/graph/node_memory.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/launch.hpp>
#include <cuprum/launch_config.hpp>
#include <cuprum/region.hpp>
#include <cuprum/typed_buffer.hpp>
#include <cuprum/typed_kernel.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace cuprum {

class AllocNode;
class ChildGraphNode;
class EmptyNode;
class EventRecordNode;
class EventWaitNode;
class FreeNode;
class GraphDefinition;
class GraphNode;
class GraphPoint;
class HostCallbackNode;
class IfElseNode;
class IfNode;
class KernelNode;
class MemcpyNode;
class MemsetNode;
class SwitchNode;
class WhileNode;

namespace detail {
struct Access;
struct GraphState;
struct NodeState;
} // namespace detail

/// A one-dimensional copy.
struct MemcpyParameters {
    NodeMemory dst;       // where to write
    NodeMemory src;       // where to read
    std::size_t size = 0; // bytes
};

/// A copy of a rectangle or a box. `region.hpp` explains places and extents.
struct MemcpyRegionParameters {
    NodeMemory dst;             // the memory to write
    RegionPlace dst_place = {}; // where in it
    NodeMemory src;             // the memory to read
    RegionPlace src_place = {}; // where in it
    RegionExtent extent = {};   // the size of the rectangle or box
};

/// A repeated value written to one or more rows.
struct MemsetParameters {
    NodeMemory dst;            // where to write
    std::uint32_t value = 0;   // its lowest `element_size` bytes
    unsigned element_size = 1; // bytes: 1, 2 or 4
    std::size_t width = 0;     // elements in a row
    std::size_t height = 1;    // rows
    std::size_t pitch = 0;     // bytes from row to row; unused for one row, 0 means without gaps
};

/// A C function that a graph calls with a pointer. `owner` lives as long as the graph may call it.
struct HostFunctionParameters {
    /// The function. It must not throw.
    void (*function)(void*) = nullptr;
    void* user_data = nullptr;             // its argument
    std::shared_ptr<void> owner = {};      // kept alive with the graph
    std::shared_ptr<void> data_owner = {}; // a second object to keep alive
};

/// Where a graph's allocation lies.
enum class GraphMemoryType : std::uint8_t { Device, Host, Managed };

/// How a graph allocates memory.
struct GraphAllocationOptions {
    std::optional<Device> device = {}; // none is the device of the graph's or the current context
    GraphMemoryType memory_type = GraphMemoryType::Device; // where the memory lies
    std::vector<Device> peer_access = {}; // devices that may read and write it, too
};

namespace detail {

/// The arguments of a kernel node. Refers to the caller's values, which the node copies.
struct NodeArguments {
    const void* const* addresses = nullptr;
    std::span<const ArgumentType> types = {};
    std::span<const Buffer* const> buffers = {}; // those among the arguments; null entries are none
    std::span<const HandleArgument* const> handles = {}; // the textures and surfaces likewise
    std::shared_ptr<void> owner = {};                    // kept alive with the node
    bool is_packed = false; // bindings packed and checked them; there are no types
};

/// What a kernel node keeps alive of its arguments.
template <typename... Arguments>
struct KeptArguments {
    std::array<const Buffer*, (std::size_t{HasBuffer<Arguments>} + ... + 0)> buffers;
    std::array<const HandleArgument*, (std::size_t{PassedByHandle<Arguments>} + ... + 0)> handles;
    std::shared_ptr<void> owner; // of tensor maps; may be null

    explicit KeptArguments(const Arguments&... arguments) : owner(owner_of_all(arguments...)) {
        [[maybe_unused]] std::size_t buffer = 0;
        [[maybe_unused]] std::size_t handle = 0;
        [[maybe_unused]] const auto add = [&]<typename Argument>(const Argument& argument) {
            if constexpr (HasBuffer<Argument>) {
                buffers[buffer++] = buffer_of(argument);
            } else if constexpr (PassedByHandle<Argument>) {
                handles[handle++] = &argument;
            }
        };
        (add(arguments), ...);
    }
};

/// Calls `use` with the stored values as NodeArguments.
template <typename Kept, typename Use, typename... Stored>
decltype(auto) with_node_arguments(const Kept& kept, const Use& use, const Stored&... stored) {
    static constexpr std::array<ArgumentType, sizeof...(Stored)> TYPES{
        ARGUMENT_TYPE<decltype(stored.value)>...};
    const std::array<const void*, sizeof...(Stored)> addresses{&stored.value...};
    return use(NodeArguments{.addresses = addresses.data(),
                             .types = TYPES,
                             .buffers = kept.buffers,
                             .handles = kept.handles,
                             .owner = kept.owner});
}

/// Calls `use` with arguments for a kernel.
template <typename Use, typename... Arguments>
decltype(auto) pack_for_node(const Use& use, const Kernel& /*kernel*/,
                             const Arguments&... arguments) {
    return with_node_arguments(KeptArguments<Arguments...>(arguments...), use,
                               StoredArgument<std::decay_t<Arguments>>(arguments)...);
}

/// Calls `use` with arguments for a typed kernel: they convert to its parameters or do not compile.
template <typename Use, typename Signature, typename... Arguments>
decltype(auto) pack_for_node(const Use& use, const TypedKernel<Signature>& kernel,
                             const Arguments&... arguments) {
    const KeptArguments<Arguments...> kept(arguments...);
    return kernel.with_converted(
        [&](const auto&... converted) -> decltype(auto) {
            return with_node_arguments(
                kept, use, StoredArgument<std::decay_t<decltype(converted)>>(converted)...);
        },
        arguments...);
}

[[nodiscard]] inline const Kernel& untyped(const Kernel& kernel) noexcept {
    return kernel;
}

template <typename Signature>
[[nodiscard]] const Kernel& untyped(const TypedKernel<Signature>& kernel) noexcept {
    return kernel.kernel();
}

/// A Kernel or a TypedKernel.
template <typename T>
concept AnyKernel = requires(const T& kernel) {
    { untyped(kernel) } -> std::same_as<const Kernel&>;
};

} // namespace detail

/// A place in a graph where nodes can be added: the words that add nodes.
///
/// A GraphDefinition adds nodes that depend on nothing, a GraphNode adds nodes that depend on it,
/// and a GraphPoint (see `after`) adds nodes that depend on several others. A node keeps alive what
/// it uses: its kernel, the memory of its buffers, its textures, its event, its callback. This also
/// holds for clones of the graph, for executables made from it, and while one of them runs.
///
/// A graph is edited by one thread at a time. Kernel, copy and fill nodes run in the context of the
/// GraphDefinition if that has one; else in the current context, or in the context of a buffer that
/// lies on another device.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::MemsetNode fill = definition.memset(buffer, 0, 1024); // depends on nothing
/// fill.launch({.block = 32}, kernel, buffer);                         // depends on the fill
/// @endcode
class CUPRUM_API GraphAppender {
public:
    /// Adds a kernel node. Arguments are as in `cuprum::launch`; a TypedKernel checks them at
    /// compile time.
    /// @throws std::invalid_argument as `cuprum::launch` does.
    template <detail::AnyKernel AnyKernel, typename... Arguments>
        requires(!(sizeof...(Arguments) == 1 &&
                   (std::is_convertible_v<Arguments, std::span<const KernelArgument>> && ...)))
    KernelNode launch(const LaunchConfig& config, const AnyKernel& kernel,
                      const Arguments&... arguments) const;
    /// Adds a kernel node with arguments whose types are known only at run time.
    KernelNode launch(const LaunchConfig& config, const Kernel& kernel,
                      std::span<const KernelArgument> arguments,
                      std::shared_ptr<void> owner = {}) const;
    /// Adds a kernel node, for bindings.
    KernelNode launch_with(const LaunchConfig& config, const Kernel& kernel,
                           const detail::NodeArguments& arguments) const;

    /// Adds a copy of `bytes` bytes. Devices, pinned and pageable host memory can be on both sides.
    /// @throws std::invalid_argument if it does not fit into a buffer, or nothing is to be copied.
    MemcpyNode memcpy(const NodeMemory& dst, const NodeMemory& src, std::size_t bytes) const;
    /// Adds a copy of a buffer to another of the same size.
    MemcpyNode memcpy(const Buffer& dst, const Buffer& src) const;
    /// Adds a copy of a rectangle or a box.
    MemcpyNode memcpy(const MemcpyRegionParameters& parameters) const;

    /// Adds a fill with a byte: `width` bytes in each of `height` rows.
    /// @throws std::invalid_argument if the value is not 0 to 255.
    MemsetNode memset(const NodeMemory& dst, int value, std::size_t width, std::size_t height = 1,
                      std::size_t pitch = 0) const;
    /// Adds a fill with a 1-, 2- or 4-byte value: `width` elements in each of `height` rows.
    MemsetNode memset(const NodeMemory& dst, std::uint8_t value, std::size_t width,
                      std::size_t height = 1, std::size_t pitch = 0) const;
    /// Adds a fill with a 2-byte value.
    MemsetNode memset(const NodeMemory& dst, std::uint16_t value, std::size_t width,
                      std::size_t height = 1, std::size_t pitch = 0) const;
    /// Adds a fill with a 4-byte value.
    MemsetNode memset(const NodeMemory& dst, std::uint32_t value, std::size_t width,
                      std::size_t height = 1, std::size_t pitch = 0) const;
    /// Adds a fill that a structure describes.
    MemsetNode memset(const MemsetParameters& parameters) const;
    /// Adds a fill of all elements with a value of 1, 2 or 4 bytes.
    template <typename T>
        requires(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4)
    MemsetNode memset(const TypedBuffer<T>& dst, const std::type_identity_t<T>& value) const;

    /// Adds a node that does nothing, to gather dependencies.
    EmptyNode empty() const;
    /// Adds an empty node that depends on other nodes as well.
    EmptyNode join(std::span<const GraphNode> nodes) const;
    /// Adds an empty node that depends on other nodes as well.
    template <std::derived_from<GraphNode>... Nodes>
        requires(sizeof...(Nodes) > 0)
    EmptyNode join(const Nodes&... nodes) const;

    /// Adds a copy of another graph as one node. Later changes of `child` do not affect it.
    ChildGraphNode embed(const GraphDefinition& child) const;
    /// Adds a node that records an event.
    EventRecordNode record(const Event& event) const;
    /// Adds a node that waits for an event.
    EventWaitNode wait(const Event& event) const;

    /// Adds a node that calls a function on a thread of the driver, at every launch.
    ///
    /// The function must not call CUDA, directly or through this library. If it throws, the library
    /// sends a warning of kind HostFunction and the graph goes on.
    HostCallbackNode callback(std::function<void()> function) const;
    /// Adds a node that calls a C function. It must not throw.
    HostCallbackNode callback(const HostFunctionParameters& parameters) const;

    /// Adds a node that allocates memory. Its address is known at once and stays the same for all
    /// launches.
    AllocNode allocate(std::size_t bytes, const GraphAllocationOptions& options = {}) const;
    /// Adds a node that frees memory that an allocation node of a graph made.
    /// @throws std::invalid_argument if this graph frees it already.
    FreeNode deallocate(CUdeviceptr pointer) const;
    /// Adds a node that frees the memory of an allocation node.
    FreeNode deallocate(const AllocNode& allocation) const;

    /// Adds a node that runs its body if the condition is not 0.
    IfNode if_then(const GraphCondition& condition) const;
    /// Adds a node that runs one of two bodies.
    IfElseNode if_else(const GraphCondition& condition) const;
    /// Adds a node that runs its body as long as the condition is not 0.
    WhileNode while_loop(const GraphCondition& condition) const;
    /// Adds a node that runs the body whose index the condition is, if there is one.
    SwitchNode switch_cases(const GraphCondition& condition, unsigned count) const;

    /// Returns the place behind all these nodes, and behind this one if this is a node:
    /// `graph.after(a, b).launch(...)`.
    [[nodiscard]] GraphPoint after(std::span<const GraphNode> nodes) const;
    /// Returns the place behind all these nodes.
    template <std::derived_from<GraphNode>... Nodes>
    [[nodiscard]] GraphPoint after(const Nodes&... nodes) const;

protected:
    friend struct detail::Access;

    GraphAppender(std::shared_ptr<detail::GraphState> graph,
                  std::shared_ptr<detail::NodeState> node) noexcept
        : state_(std::move(graph)), node_(std::move(node)) {}

    GraphAppender(const GraphAppender&) = default;
    GraphAppender(GraphAppender&&) noexcept = default;
    GraphAppender& operator=(const GraphAppender&) = default;
    GraphAppender& operator=(GraphAppender&&) noexcept = default;
    ~GraphAppender() = default;

    std::shared_ptr<detail::GraphState> state_; // the graph
    std::shared_ptr<detail::NodeState> node_;   // null for the graph itself
};

} // namespace cuprum
