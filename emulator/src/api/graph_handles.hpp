// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the functions of graphs share: handles, edges, and node parameters as cuda.h has them.

#pragma once

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/graphs/executable.hpp"
#include "objects/graphs/graph.hpp"
#include "objects/graphs/user_object.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace cuprum::emulator {

/// Holds the lock of graph definitions for one call.
template <>
struct Argument<GraphLocked, NoArgument> {
    GraphLock lock;

    explicit Argument(NoArgument /*none*/) {}

    static void check(const Row& /*row*/, std::size_t /*parameter*/, NoArgument /*none*/) {}

    [[nodiscard]] GraphLocked get() const { return {}; }
};

/// Returns edges from nodes; `data` may be NULL for plain dependencies.
[[nodiscard]] std::vector<GraphEdge> edges_from(const CUgraphNode* handles,
                                                const CUgraphEdgeData* data, std::size_t count);

/// Returns node parameters that a caller passed, checked.
[[nodiscard]] KernelParameters parameters_from(const CUDA_KERNEL_NODE_PARAMS* request);
[[nodiscard]] KernelParameters parameters_from(const CUDA_KERNEL_NODE_PARAMS_v1* request);
[[nodiscard]] MemcpyParameters parameters_from(const CUDA_MEMCPY3D* request, CUcontext context);
[[nodiscard]] MemsetParameters parameters_from(const CUDA_MEMSET_NODE_PARAMS* request,
                                               CUcontext context);
[[nodiscard]] HostParameters parameters_from(const CUDA_HOST_NODE_PARAMS* request);
[[nodiscard]] BatchParameters parameters_from(const CUDA_BATCH_MEM_OP_NODE_PARAMS* request);
[[nodiscard]] SemaphoreSignals parameters_from(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* request);
[[nodiscard]] SemaphoreWaits parameters_from(const CUDA_EXT_SEM_WAIT_NODE_PARAMS* request);
[[nodiscard]] std::shared_ptr<Event> event_of_node(CUevent handle);

/// The same by the kind of node, which the type of the request does not always tell.
template <typename Kind, typename... Request>
[[nodiscard]] Kind read(Request... request) {
    if constexpr (std::is_same_v<Kind, RecordParameters> || std::is_same_v<Kind, WaitParameters>) {
        return Kind{event_of_node(request...)};
    } else if constexpr (sizeof...(request) == 0) {
        return {};
    } else {
        return parameters_from(request...);
    }
}

/// Returns the parameters of a node as cuda.h has them. Pointers in them are valid until the node
/// changes.
[[nodiscard]] CUDA_KERNEL_NODE_PARAMS request_of(GraphNode& node, const KernelParameters& kernel);
[[nodiscard]] CUDA_MEMCPY3D request_of(GraphNode& node, const MemcpyParameters& copy);
[[nodiscard]] CUDA_MEMSET_NODE_PARAMS request_of(GraphNode& node, const MemsetParameters& set);
[[nodiscard]] CUDA_HOST_NODE_PARAMS request_of(GraphNode& node, const HostParameters& host);
[[nodiscard]] CUDA_BATCH_MEM_OP_NODE_PARAMS request_of(GraphNode& node, BatchParameters& batch);
[[nodiscard]] CUDA_MEM_ALLOC_NODE_PARAMS request_of(GraphNode& node, AllocParameters& memory);
[[nodiscard]] CUDA_EXT_SEM_SIGNAL_NODE_PARAMS request_of(GraphNode& node, SemaphoreSignals& batch);
[[nodiscard]] CUDA_EXT_SEM_WAIT_NODE_PARAMS request_of(GraphNode& node, SemaphoreWaits& batch);
[[nodiscard]] CUevent request_of(GraphNode& node, const RecordParameters& record);
[[nodiscard]] CUevent request_of(GraphNode& node, const WaitParameters& wait);
[[nodiscard]] CUgraph request_of(GraphNode& node, const ChildParameters& child);
[[nodiscard]] CUdeviceptr request_of(GraphNode& node, const FreeParameters& memory);

/// Replaces the parameters of a node; the attributes of a kernel stay.
void set_parameters(GraphNode& node, NodeParameters parameters);

/// Writes a list as all functions of graphs do: without an array the size, else as much as fits,
/// the rest of the array filled with zeros.
template <typename Handle, typename Items, typename Convert>
void put_list(Handle* out, std::size_t count, const Items& items, Convert&& convert) {
    for (std::size_t index = 0; out != nullptr && index < count; ++index) {
        out[index] = index < items.size() ? convert(items[index]) : Handle{};
    }
}

/// Writes the size of a list that put_list() wrote, or that was asked for.
inline void put_count(bool is_written, std::size_t* count, std::size_t size) {
    *count = is_written ? std::min(*count, size) : size;
}

} // namespace cuprum::emulator
