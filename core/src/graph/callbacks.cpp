// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Functions that a graph calls on the host. The driver always calls call_from_graph(), which marks
// the thread (see HostFunctionScope) and reports what the function throws.

#include "driver/call.hpp"
#include "graph/graph_state.hpp"
#include "graph/node_parameters.hpp"
#include "stream/deferred_release.hpp"
#include "support/text.hpp"
#include "support/warn.hpp"

#include <cuprum/graph/graph_node.hpp>

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using detail::Access;
using driver::table;

/// What a callback node calls.
struct GraphCallback {
    std::function<void()> function; // or
    void (*plain)(void*) = nullptr; // with
    void* user_data = nullptr;      //
    CUgraph graph = nullptr;        // that the node was added to, for warnings
};

void CUDA_CB call_from_graph(void* data) noexcept;
void report_callback(CUgraph graph, const char* what) noexcept;

} // namespace

detail::PayloadShare detail::callback_payload(std::function<void()> function, CUgraph graph,
                                              CUDA_HOST_NODE_PARAMS& parameters) {
    if (!function) {
        throw std::invalid_argument("function is empty, expected something to call");
    }
    auto callback = std::make_shared<GraphCallback>();
    callback->function = std::move(function);
    callback->graph = graph;
    parameters.fn = &call_from_graph;
    parameters.userData = callback.get();
    return Payload::of(std::move(callback));
}

detail::PayloadShare detail::callback_payload(const HostFunctionParameters& function,
                                              CUDA_HOST_NODE_PARAMS& parameters) {
    if (function.function == nullptr) {
        throw std::invalid_argument("function is null, expected something to call");
    }
    auto callback = std::make_shared<GraphCallback>();
    callback->plain = function.function;
    callback->user_data = function.user_data;
    parameters.fn = &call_from_graph;
    parameters.userData = callback.get();
    PayloadShare payload = Payload::make(3);
    payload->owners()[0] = std::move(callback);
    payload->owners()[1] = function.owner;
    payload->owners()[2] = function.data_owner;
    return payload;
}

std::shared_ptr<void> HostCallbackNode::owner() const {
    const detail::NodeState& state = detail::open(*this, CLASS_NAME);
    return state.payload == nullptr ? nullptr : state.payload->owners()[1];
}

HostFunctionParameters HostCallbackNode::parameters() const {
    const detail::NodeState& state = detail::open(*this, CLASS_NAME);
    CUDA_HOST_NODE_PARAMS parameters{};
    driver::call(table().cuGraphHostNodeGetParams, state.handle, &parameters);
    if (parameters.fn != &call_from_graph || state.payload == nullptr) {
        return {.function = parameters.fn, .user_data = parameters.userData};
    }
    const auto owners = state.payload->owners();
    const auto& callback = *static_cast<const GraphCallback*>(owners[0].get());
    return {.function = callback.plain,
            .user_data = callback.user_data,
            .owner = owners[1],
            .data_owner = owners.size() > 2 ? owners[2] : nullptr};
}

void HostCallbackNode::update(std::function<void()> function) const {
    CUDA_HOST_NODE_PARAMS parameters{};
    auto payload =
        detail::callback_payload(std::move(function), detail::open(state_).handle, parameters);
    detail::replace_parameters(*this, CLASS_NAME, std::move(payload),
                               table().cuGraphHostNodeSetParams, &parameters);
}

void HostCallbackNode::update(const HostFunctionParameters& parameters) const {
    CUDA_HOST_NODE_PARAMS driver_parameters{};
    auto payload = detail::callback_payload(parameters, driver_parameters);
    detail::replace_parameters(*this, CLASS_NAME, std::move(payload),
                               table().cuGraphHostNodeSetParams, &driver_parameters);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void CUDA_CB call_from_graph(void* data) noexcept {
    const auto& callback = *static_cast<const GraphCallback*>(data);
    const detail::HostFunctionScope scope;
    try {
        if (callback.plain != nullptr) {
            callback.plain(callback.user_data);
        } else {
            callback.function();
        }
    } catch (const std::exception& error) {
        report_callback(callback.graph, error.what());
    } catch (...) {
        report_callback(callback.graph, "something that is not a std::exception");
    }
}

void report_callback(CUgraph graph, const char* what) noexcept {
    try {
        detail::warn(WarningKind::HostFunction,
                     "a callback of graph " + detail::hexadecimal(graph) + " threw: " + what);
    } catch (...) {
        detail::warn(WarningKind::HostFunction, "a callback of a graph threw");
    }
}

} // namespace

} // namespace cuprum
