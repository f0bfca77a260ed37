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
[[nodiscard]] KernelParameters kernel_from(const CUDA_KERNEL_NODE_PARAMS* request);
[[nodiscard]] KernelParameters kernel_from(const CUDA_KERNEL_NODE_PARAMS_v1* request);
[[nodiscard]] MemcpyParameters memcpy_from(const CUDA_MEMCPY3D* request, CUcontext context);
[[nodiscard]] MemsetParameters memset_from(const CUDA_MEMSET_NODE_PARAMS* request,
                                           CUcontext context);
[[nodiscard]] HostParameters host_from(const CUDA_HOST_NODE_PARAMS* request);
[[nodiscard]] BatchParameters batch_from(const CUDA_BATCH_MEM_OP_NODE_PARAMS* request);
[[nodiscard]] std::shared_ptr<Event> event_of_node(CUevent handle);

/// Writes the parameters of a node.
void write_kernel(GraphNode& node, CUDA_KERNEL_NODE_PARAMS& out);
void write_memset(const MemsetParameters& parameters, CUDA_MEMSET_NODE_PARAMS& out);
void write_alloc(AllocParameters& parameters, CUDA_MEM_ALLOC_NODE_PARAMS& out);

/// Replaces the parameters of a kernel node; its attributes stay.
void set_kernel(GraphNode& node, KernelParameters parameters);

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
