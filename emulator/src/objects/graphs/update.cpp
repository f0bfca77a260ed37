// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Updating an executable graph from another graph.
//
// Nodes are paired by their order: the first root with the first root, and so on along the edges.
// Both sides come in the same topological order if they have the same shape, so that the pairs are
// the nodes of equal rank, and every edge must lead from the partner of the one to that of the
// other.

#include "objects/graphs/update.hpp"

#include "objects/graphs/conditional.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/process/error.hpp"

#include <type_traits>
#include <unordered_map>

namespace cuprum::emulator {

namespace {

/// Returns what the driver knows of the memory at an address: kind and device, or nothing.
std::pair<int, int> home_of(std::uint64_t address) {
    const auto allocation = Allocations::instance().find(address);
    if (allocation == nullptr) {
        return {-1, -1};
    }
    // Pools and graphs give device memory like any other.
    const bool is_on_device = !allocation->is_host_accessible();
    return {is_on_device ? 0 : 1, is_on_device ? allocation->device : -1};
}

bool has_array(const CUDA_MEMCPY3D& request) {
    return request.srcMemoryType == CU_MEMORYTYPE_ARRAY ||
           request.dstMemoryType == CU_MEMORYTYPE_ARRAY;
}

bool is_one_dimensional(const Copy& copy) {
    return copy.height == 1 && copy.depth == 1;
}

CUgraphExecUpdateResult compare_kernels(const KernelParameters& old, const KernelParameters& now,
                                        const ScheduleOptions& options) {
    if (old.context != now.context) {
        return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
    }
    const LaunchRequest before = old.request();
    const LaunchRequest after = now.request();
    if (before.is_cooperative != after.is_cooperative ||
        (options.uses_node_priority && before.priority != after.priority)) {
        return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

bool may_become(const MemcpyParameters& old, const MemcpyParameters& now) {
    const auto has_same_shape = [&] {
        return old.copy.width_bytes == now.copy.width_bytes && old.copy.height == now.copy.height &&
               old.copy.depth == now.copy.depth;
    };
    return old.request.srcMemoryType == now.request.srcMemoryType &&
           old.request.dstMemoryType == now.request.dstMemoryType && old.context == now.context &&
           home_of(old.copy.source.address) == home_of(now.copy.source.address) &&
           home_of(old.copy.destination.address) == home_of(now.copy.destination.address) &&
           ((is_one_dimensional(old.copy) && is_one_dimensional(now.copy)) ||
            (has_same_shape() && !has_array(now.request)));
}

bool may_become(const MemsetParameters& old, const MemsetParameters& now) {
    const bool is_flat = old.fill.height == 1 && now.fill.height == 1;
    const bool has_same_shape = old.fill.width == now.fill.width &&
                                old.fill.height == now.fill.height &&
                                old.fill.element_bytes == now.fill.element_bytes &&
                                old.fill.pitch_bytes == now.fill.pitch_bytes;
    return (is_flat || has_same_shape) && old.context == now.context &&
           home_of(old.fill.address) == home_of(now.fill.address);
}

bool may_become(const BatchParameters& old, const BatchParameters& now) {
    if (old.items.size() != now.items.size() || old.context != now.context) {
        return false;
    }
    for (std::size_t index = 0; index < old.items.size(); ++index) {
        if (old.items[index].operation != now.items[index].operation) {
            return false;
        }
    }
    return true;
}

template <typename Item>
bool may_become(const SemaphoreBatch<Item>& old, const SemaphoreBatch<Item>& now) {
    return old.items.size() == now.items.size();
}

bool may_become(const ConditionalParameters& old, const ConditionalParameters& now) {
    return old.type == now.type && old.bodies.size() == now.bodies.size() &&
           old.context == now.context;
}

/// Compares a schedule with one that was made from another graph.
class Comparison {
public:
    Comparison(const Schedule& old, const Schedule& now, CUgraphExecUpdateResultInfo& info)
        : old_(old), now_(now), info_(info) {}

    /// Gives the new steps the identities of the old ones; false if they do not match.
    bool pair(const Graph& graph) {
        if (old_.steps().size() != now_.steps().size()) {
            info_.result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
            return false;
        }
        std::unordered_map<std::uint64_t, const GraphNode*> nodes;
        for (const auto& node : graph.nodes()) {
            nodes[node->id()] = node.get();
        }
        for (std::uint32_t index = 0; index < now_.steps().size(); ++index) {
            if (!match(index, *nodes.at(now_.step(index).id))) {
                return false;
            }
        }
        return true;
    }

private:
    bool refuse(CUgraphExecUpdateResult result, CUgraphNode node, CUgraphNode from = nullptr) {
        info_ = {result, node, from};
        return false;
    }

    bool match(std::uint32_t index, const GraphNode& node) {
        const Step& old = old_.step(index);
        Step& now = now_.step(index);
        const auto handle = node.handle<CUgraphNode>();
        if (old.dependencies.size() != now.dependencies.size()) {
            return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, handle);
        }
        for (std::size_t edge = 0; edge < old.dependencies.size(); ++edge) {
            if (old.dependencies[edge] != now.dependencies[edge]) {
                return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, handle,
                              node.dependencies()[edge].node->handle<CUgraphNode>());
            }
        }
        const CUgraphExecUpdateResult result = compare(old, now.parameters, old_.options());
        if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
            return refuse(result, handle);
        }
        std::size_t body = 0;
        bool is_good = true;
        for_each_embedded(node.parameters(), [&](const Graph& embedded) {
            if (is_good) {
                is_good = Comparison(*old.bodies[body], *now.bodies[body], info_).pair(embedded);
            }
            ++body;
        });
        now.is_enabled = old.is_enabled;
        now.id = old.id;
        now.number = old.number;
        return is_good;
    }

    const Schedule& old_;
    const Schedule& now_;
    CUgraphExecUpdateResultInfo& info_;
};

} // namespace

std::unique_ptr<Schedule> make_updated(const Schedule& schedule, const Graph& graph,
                                       CUgraphExecUpdateResultInfo& info) {
    info = {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
    if (schedule.steps().size() != graph.nodes().size()) {
        info.result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        return nullptr;
    }
    GraphNode* bad_node = nullptr;
    auto updated = Schedule::make(graph, schedule.options(), bad_node);
    if (!Comparison(schedule, *updated, info).pair(graph)) {
        return nullptr;
    }
    info = {CU_GRAPH_EXEC_UPDATE_SUCCESS, nullptr, nullptr};
    return updated;
}

CUgraphExecUpdateResult compare(const Step& step, const NodeParameters& parameters,
                                const ScheduleOptions& options) {
    if (step.parameters.index() != parameters.index()) {
        return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    }
    return std::visit(
        [&](const auto& old) {
            using Parameters = std::remove_cvref_t<decltype(old)>;
            const auto& now = std::get<Parameters>(parameters);
            if constexpr (std::is_same_v<Parameters, KernelParameters>) {
                return compare_kernels(old, now, options);
            } else if constexpr (std::is_same_v<Parameters, AllocParameters> ||
                                 std::is_same_v<Parameters, FreeParameters>) {
                return old.memory == now.memory ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                                : CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
            } else if constexpr (requires { may_become(old, now); }) {
                return may_become(old, now) ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                            : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
            } else {
                return CU_GRAPH_EXEC_UPDATE_SUCCESS;
            }
        },
        step.parameters);
}

} // namespace cuprum::emulator
