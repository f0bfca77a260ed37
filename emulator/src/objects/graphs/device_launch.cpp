// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/device_launch.hpp"

#include "builtins/graph_launches.hpp"
#include "exec/block.hpp"
#include "exec/grid.hpp"
#include "objects/graphs/executable.hpp"
#include "objects/graphs/graph_launch.hpp"
#include "objects/graphs/work.hpp"

namespace cuprum::emulator {

namespace {

// The streams that cuda_device_runtime_api.h has for launches of graphs.
constexpr std::uint64_t TAIL_LAUNCH = 0x0100000000000000;
constexpr std::uint64_t FIRE_AND_FORGET = 0x0200000000000000;
constexpr std::uint64_t FIRE_AND_FORGET_AS_SIBLING = 0x0300000000000000;

constexpr std::uint32_t NO_ERROR = 0;         // cudaSuccess
constexpr std::uint32_t NOT_A_GRAPH = 1;      // cudaErrorInvalidValue
constexpr std::uint32_t NOT_IN_A_GRAPH = 400; // cudaErrorInvalidResourceHandle

/// Returns the launch that a block runs for, or nullptr if its kernel is not part of a graph.
GraphLaunch* launch_of(const BlockContext& block) {
    const auto& grid = static_cast<const exec::Block*>(block.owner)->grid();
    auto* const work = static_cast<KernelNodeWork*>(grid.launch().graph_work);
    return work == nullptr ? nullptr : &work->running().launch();
}

std::uint32_t launch_graph(const BlockContext& block, std::uint64_t graph, std::uint64_t stream) {
    GraphLaunch* const from = launch_of(block);
    if (from == nullptr) {
        return NOT_IN_A_GRAPH;
    }
    auto object = HandleTable::instance().find(HandleKind::GraphExecutable, graph);
    const bool is_tail = stream == TAIL_LAUNCH;
    if (object == nullptr ||
        (!is_tail && stream != FIRE_AND_FORGET && stream != FIRE_AND_FORGET_AS_SIBLING)) {
        return NOT_A_GRAPH;
    }
    auto executable = std::static_pointer_cast<GraphExecutable>(std::move(object));
    if ((executable->flags() & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) == 0) {
        return NOT_A_GRAPH;
    }
    // A graph that starts at once cannot wait for a launch that waits for it.
    for (const GraphLaunch* each = from; !is_tail && each != nullptr; each = each->parent()) {
        if (each->executable_handle() == graph) {
            return NOT_A_GRAPH;
        }
    }
    from->launch_from_kernel(std::move(executable), is_tail);
    return NO_ERROR;
}

std::uint64_t current_graph(const BlockContext& block) {
    const GraphLaunch* const from = launch_of(block);
    return from == nullptr ? 0 : from->executable_handle();
}

} // namespace

void enable_device_launches() noexcept {
    builtins::set_graph_launches({launch_graph, current_graph});
}

} // namespace cuprum::emulator
