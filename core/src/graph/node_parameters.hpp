// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Parameters of nodes: checked, and written as the driver takes them. Adding a node, updating it
// and updating it in an executable share these.

#pragma once

#include "graph/graph_state.hpp"
#include "launch/encoded_config.hpp"
#include "launch/packed_arguments.hpp"

#include <cuprum/graph/graph_appender.hpp>

#include <cuda.h>

#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace cuprum::detail {

/// A kernel launch for a node. It refers to the caller's arguments, so that it lives no longer.
class PreparedKernel {
public:
    /// Checks everything. The launch attributes stay apart: see attributes().
    /// @throws std::invalid_argument if the arguments are not the kernel's, or the configuration
    /// has what nodes cannot have.
    [[nodiscard]] PreparedKernel(const LaunchConfig& config, const Kernel& kernel,
                                 const NodeArguments& arguments);
    /// Takes arguments whose types are known only at run time.
    [[nodiscard]] PreparedKernel(const LaunchConfig& config, const Kernel& kernel,
                                 std::span<const KernelArgument> arguments);

    PreparedKernel(const PreparedKernel&) = delete;
    PreparedKernel& operator=(const PreparedKernel&) = delete;

    /// Returns whether `in` must know the device: the configuration depends on its limits.
    [[nodiscard]] bool needs_device() const noexcept {
        return config_->shmem_size != 0 || config_->priority.has_value();
    }

    /// Returns the parameters for a node that runs in a context, and raises the kernel's limit of
    /// shared memory there if need be. Without a context, the driver takes the current one.
    [[nodiscard]] const CUDA_KERNEL_NODE_PARAMS& in(CUcontext context) {
        if (needs_device()) {
            prepare_device(context);
        }
        parameters_.ctx = context;
        return parameters_;
    }

    /// Returns the attributes that belong to nodes.
    [[nodiscard]] std::span<const CUlaunchAttribute> attributes() const noexcept {
        return encoded_.has_value() ? std::span(encoded_->attributes, encoded_->driver.numAttrs)
                                    : std::span<const CUlaunchAttribute>();
    }

    /// Returns whether the node may start before its predecessors, if these are kernels, end.
    [[nodiscard]] bool is_programmatic() const noexcept { return is_programmatic_; }

    [[nodiscard]] const LaunchConfig& config() const noexcept { return *config_; }

    [[nodiscard]] const Kernel& kernel() const noexcept { return *kernel_; }

private:
    [[nodiscard]] PreparedKernel(const LaunchConfig& config, const Kernel& kernel)
        : config_(&config), kernel_(&kernel), state_(&open(kernel)) {
        check_shape(config);
        if (has_attributes(config)) [[unlikely]] {
            encode_attributes();
        }
        const Dim3 grid = encoded_.has_value()
                              ? Dim3(encoded_->driver.gridDimX, encoded_->driver.gridDimY,
                                     encoded_->driver.gridDimZ)
                              : config.grid;
        parameters_.gridDimX = grid.x;
        parameters_.gridDimY = grid.y;
        parameters_.gridDimZ = grid.z;
        parameters_.blockDimX = config.block.x;
        parameters_.blockDimY = config.block.y;
        parameters_.blockDimZ = config.block.z;
        parameters_.sharedMemBytes = static_cast<unsigned>(config.shmem_size);
        parameters_.kern = state_->handle;
    }

    [[gnu::cold]] void encode_attributes();
    [[gnu::cold]] void pack(const NodeArguments& arguments);
    void prepare_device(CUcontext context) const;

    CUDA_KERNEL_NODE_PARAMS parameters_{};
    const LaunchConfig* config_;
    const Kernel* kernel_;
    const KernelState* state_;
    bool is_programmatic_ = false;
    // Last, since they are large and most nodes need neither.
    std::optional<EncodedConfig> encoded_;  // if there are attributes
    std::optional<PackedArguments> packed_; // if arguments have to be converted
};

// Inline: it is part of every kernel node.
inline PreparedKernel::PreparedKernel(const LaunchConfig& config, const Kernel& kernel,
                                      const NodeArguments& arguments)
    : PreparedKernel(config, kernel) {
    if (arguments.is_packed || are_taken(*state_, arguments.types)) [[likely]] {
        parameters_.kernelParams = const_cast<void**>(arguments.addresses); // it is only read
    } else {
        pack(arguments);
    }
}

/// Returns what a kernel node keeps alive.
[[nodiscard]] PayloadShare kernel_payload(const std::shared_ptr<void>& kernel,
                                          const NodeArguments& arguments);

/// Returns whether a Payload, which may be null, keeps exactly this alive.
template <typename Owner>
[[nodiscard]] bool keeps(Payload* payload, const std::shared_ptr<Owner>& kernel,
                         const NodeArguments& arguments) noexcept {
    if (payload == nullptr) {
        return false;
    }
    const auto owners = payload->owners();
    auto next = owners.begin();
    const auto is_next = [&](const auto& wanted) {
        if (next == owners.end() || next->owner_before(wanted) || wanted.owner_before(*next)) {
            return false;
        }
        ++next;
        return true;
    };
    if (!is_next(kernel)) {
        return false;
    }
    for (const Buffer* const buffer : arguments.buffers) {
        if (buffer != nullptr && !is_next(Access::state(*buffer))) {
            return false;
        }
    }
    for (const HandleArgument* const handle : arguments.handles) {
        if (handle != nullptr && !is_next(Access::state(*handle))) {
            return false;
        }
    }
    if (arguments.owner.use_count() != 0 && !is_next(arguments.owner)) {
        return false;
    }
    return next == owners.end();
}

/// Returns the first buffer among the arguments, or null.
[[nodiscard]] inline const MemoryRange* first_buffer(const NodeArguments& arguments) noexcept {
    for (const Buffer* const buffer : arguments.buffers) {
        if (buffer != nullptr) {
            return Access::state(*buffer).get();
        }
    }
    return nullptr;
}

/// Returns a launch attribute of a kernel node, or nothing if the driver does not know it.
[[nodiscard]] std::optional<CUlaunchAttributeValue> node_attribute(CUgraphNode node, int id);
/// Sets launch attributes of a kernel node.
/// @throws CUDAError, naming the attribute.
void set_node_attributes(CUgraphNode node, std::span<const CUlaunchAttribute> attributes);

/// Returns a one-dimensional copy as the driver takes it. Needs a current context.
/// @throws std::invalid_argument if it does not fit into its buffers, or is empty.
[[nodiscard]] CUDA_MEMCPY3D copy_parameters(GraphState& graph, const NodeMemory& dst,
                                            const NodeMemory& src, std::size_t bytes);
[[nodiscard]] CUDA_MEMCPY3D copy_parameters(GraphState& graph,
                                            const MemcpyRegionParameters& parameters);
/// Returns the buffer that decides where a copy runs: that of a device if there is one.
[[nodiscard]] const MemoryRange* deciding_buffer(const NodeMemory& dst,
                                                 const NodeMemory& src) noexcept;

/// Returns a fill as the driver takes it.
/// @throws std::invalid_argument if a number is out of its range, or the fill does not fit.
[[nodiscard]] CUDA_MEMSET_NODE_PARAMS fill_parameters(const MemsetParameters& parameters);

/// Returns the context of a node, asking the driver if the node was added elsewhere; null if nobody
/// knows it.
[[nodiscard]] CUcontext context_of(NodeState& node);

/// Throws for a failed call about a node, and describes the node.
[[noreturn]] void raise_for_node(CUresult status, const char* call, const NodeState& node);

/// Notes that a node uses a new Payload, and releases the old one.
inline void exchange_payload(NodeState& node, PayloadShare payload) noexcept {
    node.payload = std::move(payload);
    release_payloads();
}

/// Replaces the parameters of a node: `entry` takes the node and `arguments`. If the driver
/// refuses, everything stays as it was.
template <typename Entry, typename... Arguments>
void replace_parameters(const GraphNode& node, const char* class_name, PayloadShare payload,
                        const Entry& entry, Arguments... arguments) {
    NodeState& state = open(node, class_name);
    GraphState& graph = open(Access::state(node));
    keep_if_exposed(graph, payload);
    if (const CUresult status = entry(state.handle, arguments...); status != CUDA_SUCCESS) {
        raise_for_node(status, entry.name, state);
    }
    exchange_payload(state, std::move(payload));
}

} // namespace cuprum::detail
