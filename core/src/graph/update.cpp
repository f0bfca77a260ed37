// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Updates of a whole executable from a definition.

#include "driver/call.hpp"
#include "driver/current.hpp"
#include "graph/executable_state.hpp"
#include "graph/executables.hpp"
#include "graph/graph_state.hpp"
#include "support/quiet_lock.hpp"

#include <cuprum/error.hpp>
#include <cuprum/graph/graph.hpp>

#include <string>
#include <utility>

namespace cuprum {

namespace {

using detail::Access;
using detail::GraphShare;
using detail::GraphState;
using driver::table;

static_assert(static_cast<int>(GraphUpdateReason::AttributesChanged) ==
              CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);

std::string reason_text(GraphUpdateReason reason);
/// Returns the object for a node that the driver reports; nothing if it is not in this graph.
std::optional<GraphNode> reported_node(const GraphShare& graph, CUgraphNode handle);

} // namespace

void Graph::update(const GraphDefinition& source) const {
    GraphUpdateResult result = try_update(source);
    if (!result.is_updated) {
        const CUDAError failure(result.code, table().cuGraphExecUpdate.name);
        throw GraphUpdateError(failure, std::move(result));
    }
}

GraphUpdateResult Graph::try_update(const GraphDefinition& source) const {
    detail::ExecutableState& state = detail::open(*this);
    const GraphShare& graph = Access::state(source);
    GraphState& definition = detail::open(graph);
    detail::release_payloads();
    detail::OwnersShare owners = detail::owners_from(definition);
    detail::RetiredShare replaced;
    CUgraphExecUpdateResultInfo info{};
    const auto& update_executable = table().cuGraphExecUpdate;
    CUresult status = CUDA_SUCCESS;
    {
        const driver::Current current(detail::context_for_node(definition)); // as to instantiate
        const detail::RetainedPayload lent =
            state.has_user_object ? detail::RetainedPayload(definition.handle, owners.payload())
                                  : detail::RetainedPayload();
        const detail::QuietLock lock(state.mutex);
        status = update_executable(state.handle, definition.handle, &info);
        if (status == CUDA_SUCCESS) [[likely]] {
            replaced = detail::replace_owners(state, std::move(owners));
        }
    }
    if (status == CUDA_SUCCESS) [[likely]] {
        detail::retire_from(state, std::move(replaced));
        detail::note_executable(state.handle, graph);
        return {.is_updated = true};
    }
    if (status != CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) {
        driver::raise(status, update_executable.name);
    }
    GraphUpdateResult result;
    result.code = status;
    result.reason = info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS
                        ? GraphUpdateReason::Error
                        : static_cast<GraphUpdateReason>(info.result);
    result.text = reason_text(result.reason);
    result.node = reported_node(graph, info.errorNode);
    result.from_node = reported_node(graph, info.errorFromNode);
    if (info.errorFromNode != nullptr && info.errorNode != nullptr) {
        result.text += "; the edge from " + detail::describe(definition, info.errorFromNode) +
                       " to " + detail::describe(definition, info.errorNode) + " differs";
    } else if (info.errorNode != nullptr) {
        result.text += "; it is about " + detail::describe(definition, info.errorNode);
    }
    return result;
}

GraphUpdateError::GraphUpdateError(const CUDAError& failure, GraphUpdateResult result)
    : CUDAError(failure, "Graph update failed: " + result.text + "; " + failure.what()),
      result_(std::move(result)) {}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::string reason_text(GraphUpdateReason reason) {
    switch (reason) {
    case GraphUpdateReason::TopologyChanged:
        return "the definition has other nodes or edges than the executable; instantiate it anew";
    case GraphUpdateReason::NodeTypeChanged:
        return "a node has become one of another kind; instantiate the definition anew";
    case GraphUpdateReason::FunctionChanged:
        return "a node launches another kernel, which this driver cannot update";
    case GraphUpdateReason::ParametersChanged:
        return "parameters of a node changed in a way that an executable cannot take over, such as "
               "other kinds of memory in a copy; instantiate the definition anew";
    case GraphUpdateReason::NotSupported:
        return "a node is of a kind that an executable cannot update; instantiate the definition "
               "anew";
    case GraphUpdateReason::UnsupportedFunctionChange:
        return "a node launches another kernel in a way that an executable cannot take over, such "
               "as one of another context or one that launches kernels itself; instantiate the "
               "definition anew";
    case GraphUpdateReason::AttributesChanged:
        return "launch attributes of a node changed in a way that an executable cannot take over; "
               "instantiate the definition anew";
    case GraphUpdateReason::None:
    case GraphUpdateReason::Error:
        break;
    }
    return "the driver refuses the update";
}

std::optional<GraphNode> reported_node(const GraphShare& graph, CUgraphNode handle) {
    if (handle == nullptr) {
        return std::nullopt;
    }
    const std::lock_guard lock(graph->lock);
    detail::NodeShare known = graph->nodes.find(handle);
    return known == nullptr ? std::nullopt
                            : std::optional(detail::to_node(graph, std::move(known)));
}

} // namespace

} // namespace cuprum
