// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/call.hpp"
#include "driver/current.hpp"
#include "driver/explanations.hpp"
#include "graph/executable_state.hpp"
#include "graph/graph_state.hpp"
#include "stream/stream_state.hpp"
#include "support/locks.hpp"
#include "support/text.hpp"

#include <cuprum/error.hpp>
#include <cuprum/graph/graph.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using detail::GraphState;
using driver::table;

static_assert(static_cast<int>(GraphInstantiateReason::ConditionalHandleUnused) ==
              CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED);

cuuint64_t flags_of(const GraphCompleteOptions& options) {
    if (options.device_launch && options.auto_free_on_launch) {
        throw std::invalid_argument("device_launch and auto_free_on_launch are both true: the "
                                    "driver has no executable graphs that do both");
    }
    cuuint64_t flags = 0;
    flags |= options.auto_free_on_launch ? CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH : 0;
    flags |= options.upload_stream.has_value() ? CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD : 0;
    flags |= options.device_launch ? CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH : 0;
    flags |= options.use_node_priority ? CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY : 0;
    return flags;
}

/// Throws if a graph, or one inside it, has a cycle.
void refuse_cycle(GraphState& graph, CUgraph handle) {
    std::vector<CUgraphNode> cycle;
    try {
        cycle = detail::find_cycle(handle);
    } catch (const CUDAError&) { // the refusal itself is what counts
        return;
    }
    if (cycle.empty()) {
        return;
    }
    std::string path;
    for (const CUgraphNode node : cycle) {
        path += detail::describe(graph, node) + " -> ";
    }
    throw std::invalid_argument("the graph has a cycle: " + path +
                                detail::describe(graph, cycle.front()) +
                                "; remove one of these edges");
}

std::string reason_text(GraphInstantiateReason reason) {
    switch (reason) {
    case GraphInstantiateReason::InvalidStructure:
        return "the graph has an invalid structure";
    case GraphInstantiateReason::NodeOperationNotSupported:
        return "a graph that kernels launch cannot contain this operation; instantiate it without "
               "device_launch, or take the node out";
    case GraphInstantiateReason::MultipleContextsNotSupported:
        return "the nodes of a graph that kernels launch must belong to one context";
    case GraphInstantiateReason::ConditionalHandleUnused:
        return "the graph has a condition that no conditional node uses; add the node, or make no "
               "such condition";
    case GraphInstantiateReason::Error:
        break;
    }
    return "the graph cannot become an executable";
}

[[noreturn]] void raise_refusal(CUresult status, const char* call, GraphState& graph,
                                const CUDA_GRAPH_INSTANTIATE_PARAMS& answer) {
    // The driver can refuse with a reason only.
    const CUresult code = status != CUDA_SUCCESS ? status : CUDA_ERROR_INVALID_VALUE;
    const auto reason = answer.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS
                            ? GraphInstantiateReason::Error
                            : static_cast<GraphInstantiateReason>(answer.result_out);
    const CUDAError failure(code, call); // first: what follows calls the driver
    if (code == CUDA_ERROR_INVALID_VALUE) {
        refuse_cycle(graph, graph.handle);
    }
    std::string text = reason_text(reason);
    if (answer.hErrNode_out != nullptr) {
        text += "; it is about " + detail::describe(graph, answer.hErrNode_out);
    }
    throw GraphInstantiateError(failure, reason, text + "; " + failure.what());
}

} // namespace

Graph detail::instantiate(const GraphShare& graph, const GraphCompleteOptions& options) {
    GraphState& state = open(graph);
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    parameters.flags = flags_of(options);
    if (options.upload_stream.has_value()) {
        parameters.hUploadStream = handle_of(*options.upload_stream);
    }
    release_payloads();
    auto made = std::make_shared<ExecutableState>();
    made->owners = owners_from(state);
    made->has_user_object = options.device_launch; // kernels launch it where we do not see it
    const auto& create = table().cuGraphInstantiateWithParams;
    CUresult status = CUDA_SUCCESS;
    {
        const CUcontext context = context_for_node(state);
        made->belong_to(context_state(context));
        const driver::Current current(context); // the driver needs one
        std::optional<RetainedPayload>
            lent; // the executable takes over what the definition retains
        if (made->has_user_object) {
            lent.emplace(state.handle, made->owners.payload());
        }
        status = create(&made->handle, state.handle, &parameters);
    }
    if (status != CUDA_SUCCESS || parameters.result_out != CUDA_GRAPH_INSTANTIATE_SUCCESS)
        [[unlikely]] {
        raise_refusal(status, create.name, state, parameters);
    }
    note_executable(made->handle, graph);
    return Access::make<Graph>(std::move(made));
}

GraphInstantiateError::GraphInstantiateError(const CUDAError& failure,
                                             GraphInstantiateReason reason, const std::string& text)
    : CUDAError(failure, text), reason_(reason) {}

// Updates of a whole executable from a definition.

namespace {

using detail::Access;
using detail::GraphShare;
using detail::GraphState;
using driver::table;

static_assert(static_cast<int>(GraphUpdateReason::AttributesChanged) ==
              CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);

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

/// Returns the object for a node that the driver reports; nothing if it is not in this graph.
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
        std::optional<detail::RetainedPayload> lent;
        if (state.has_user_object) {
            lent.emplace(definition.handle, owners.payload());
        }
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

} // namespace cuprum
