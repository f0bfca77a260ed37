// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a node of a graph does, as values.
//
// A node keeps everything that its work needs: objects by shared pointers, arguments as bytes. So
// reading, changing, cloning, updating and printing a node never depend on how it was made.

#pragma once

#include "objects/code/function.hpp"
#include "objects/code/launch.hpp"
#include "objects/code/module.hpp"
#include "objects/memory/copy.hpp"
#include "objects/streams/external_semaphore.hpp"

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace cuprum::emulator {

class ConditionalVariable;
class Context;
class Event;
class Graph;
class GraphMemory;

/// Does nothing; joins branches.
struct EmptyParameters {};

/// A launch. The arguments are packed as the kernel declares them.
struct KernelParameters {
    std::shared_ptr<Function> function;
    std::shared_ptr<Module> module; // keeps the kernel's variables
    CUkernel kernel = nullptr;      // the name that the program used; nullptr: the function's
    std::shared_ptr<Context> context;
    std::uint32_t grid[3] = {1, 1, 1};
    std::uint32_t block[3] = {1, 1, 1};
    std::uint32_t shared_bytes = 0;
    std::vector<std::byte> packed;
    bool is_extra = false; // given, and returned, as one buffer
    std::map<CUlaunchAttributeID, CUlaunchAttributeValue> attributes;

    /// Returns the launch that the node makes. It refers to `packed`.
    [[nodiscard]] LaunchRequest request() const;
};

struct MemcpyParameters {
    CUDA_MEMCPY3D request{}; // as given
    Copy copy;               // what it means
    std::shared_ptr<Context> context;
};

struct MemsetParameters {
    Fill fill;
    std::shared_ptr<Context> context;
};

struct HostParameters {
    CUhostFn function = nullptr;
    void* data = nullptr;
};

struct RecordParameters {
    std::shared_ptr<Event> event;
};

struct WaitParameters {
    std::shared_ptr<Event> event;
};

/// A graph that belongs to the node.
struct ChildParameters {
    std::shared_ptr<Graph> graph;
    bool is_moved = false; // was the program's own before
};

struct AllocParameters {
    CUDA_MEM_ALLOC_NODE_PARAMS request{}; // accessDescs refers to `access`
    std::vector<CUmemAccessDesc> access;
    std::shared_ptr<GraphMemory> memory;
};

struct FreeParameters {
    CUdeviceptr address = 0;
    std::shared_ptr<GraphMemory> memory;
};

struct BatchParameters {
    std::shared_ptr<Context> context;
    std::vector<CUstreamBatchMemOpParams> items;
    unsigned flags = 0;
};

struct ConditionalParameters {
    std::shared_ptr<ConditionalVariable> variable;
    CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
    std::shared_ptr<Context> context;
    std::vector<std::shared_ptr<Graph>> bodies;
    std::vector<CUgraph> handles; // of the bodies, for the program to read
};

using NodeParameters =
    std::variant<EmptyParameters, KernelParameters, MemcpyParameters, MemsetParameters,
                 HostParameters, RecordParameters, WaitParameters, ChildParameters, AllocParameters,
                 FreeParameters, BatchParameters, ConditionalParameters, SemaphoreSignals,
                 SemaphoreWaits>;

/// Returns the type of a node with these parameters.
[[nodiscard]] CUgraphNodeType type_of(const NodeParameters& parameters) noexcept;

/// Names a type of node in messages, such as "memory copy".
[[nodiscard]] const char* name_of(CUgraphNodeType type) noexcept;

/// Returns what a node is, for reports: "kernel 'saxpy'", "memory set of 64 bytes at 0x7f…".
[[nodiscard]] std::string describe(const NodeParameters& parameters);

/// Returns the context that the work of a node belongs to; nullptr if it belongs to none.
[[nodiscard]] std::shared_ptr<Context> context_of(const NodeParameters& parameters);

/// Checks a launch and copies its arguments.
///
/// @throws DriverError as a launch does.
[[nodiscard]] KernelParameters kernel_parameters(const std::shared_ptr<Function>& function,
                                                 CUkernel kernel, const LaunchRequest& request);

/// Checks a set of memory, which must not be empty.
void check_memset(const MemsetParameters& parameters);

/// Checks a copy, which must not be empty.
void check_memcpy(const MemcpyParameters& parameters);

} // namespace cuprum::emulator
