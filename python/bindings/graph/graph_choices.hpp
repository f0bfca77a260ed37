// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Enumerations of graphs, which Python passes as strings.

#pragma once

#include "support/choices.hpp"

#include <cuprum/graph/graph.hpp>
#include <cuprum/graph/graph_appender.hpp>
#include <cuprum/graph/graph_builder.hpp>
#include <cuprum/graph/graph_node.hpp>

namespace cuprum::python {

inline constexpr Choices<GraphMemoryType, 3> GRAPH_MEMORY_TYPES{
    "GraphMemoryType",
    {{{"device", GraphMemoryType::Device},
      {"host", GraphMemoryType::Host},
      {"managed", GraphMemoryType::Managed}}}};

inline constexpr Choices<GraphConditionalType, 3> GRAPH_CONDITIONAL_TYPES{
    "GraphConditionalType",
    {{{"if", GraphConditionalType::If},
      {"while", GraphConditionalType::While},
      {"switch", GraphConditionalType::Switch}}}};

inline constexpr Choices<GraphNodeType, 14> GRAPH_NODE_TYPES{
    "GraphNodeType",
    {{{"kernel", GraphNodeType::Kernel},
      {"memcpy", GraphNodeType::Memcpy},
      {"memset", GraphNodeType::Memset},
      {"host", GraphNodeType::Host},
      {"graph", GraphNodeType::Graph},
      {"empty", GraphNodeType::Empty},
      {"wait_event", GraphNodeType::WaitEvent},
      {"event_record", GraphNodeType::EventRecord},
      {"ext_semas_signal", GraphNodeType::ExtSemasSignal},
      {"ext_semas_wait", GraphNodeType::ExtSemasWait},
      {"mem_alloc", GraphNodeType::MemAlloc},
      {"mem_free", GraphNodeType::MemFree},
      {"batch_mem_op", GraphNodeType::BatchMemOp},
      {"conditional", GraphNodeType::Conditional}}}};

inline constexpr Choices<GraphUpdateReason, 9> GRAPH_UPDATE_REASONS{
    "GraphUpdateReasonType",
    {{{"success", GraphUpdateReason::None},
      {"error", GraphUpdateReason::Error},
      {"topology_changed", GraphUpdateReason::TopologyChanged},
      {"node_type_changed", GraphUpdateReason::NodeTypeChanged},
      {"function_changed", GraphUpdateReason::FunctionChanged},
      {"parameters_changed", GraphUpdateReason::ParametersChanged},
      {"not_supported", GraphUpdateReason::NotSupported},
      {"unsupported_function_change", GraphUpdateReason::UnsupportedFunctionChange},
      {"attributes_changed", GraphUpdateReason::AttributesChanged}}}};

/// Returns the name of a reason in the driver's header.
[[nodiscard]] inline std::string driver_name(GraphUpdateReason reason) {
    std::string name = "CU_GRAPH_EXEC_UPDATE_";
    name += reason == GraphUpdateReason::None || reason == GraphUpdateReason::Error ? "" : "ERROR_";
    for (const auto& choice : GRAPH_UPDATE_REASONS.all) {
        if (choice.value == reason) {
            for (const char letter : choice.name) {
                name += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
            }
        }
    }
    return name;
}

} // namespace cuprum::python
