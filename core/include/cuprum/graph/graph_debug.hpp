// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

namespace cuprum {

/// What the driver's picture of a graph shows beside nodes and edges.
struct GraphDebugPrintOptions {
    bool verbose = false;       // everything
    bool runtime_types = false; // names of the runtime library's structures
    bool kernel_node_params = false;
    bool memcpy_node_params = false;
    bool memset_node_params = false;
    bool host_node_params = false;
    bool event_node_params = false;
    bool ext_semas_signal_node_params = false;
    bool ext_semas_wait_node_params = false;
    bool kernel_node_attributes = false;
    bool handles = false; // of nodes and kernels
    bool mem_alloc_node_params = false;
    bool mem_free_node_params = false;
    bool batch_mem_op_node_params = false;
    bool extra_topo_info = false; // numbers of edges
    bool conditional_node_params = false;

    friend bool operator==(const GraphDebugPrintOptions&, const GraphDebugPrintOptions&) = default;
};

namespace detail {

/// Returns the options as flags of cuGraphDebugDotPrint.
[[nodiscard]] CUPRUM_API unsigned debug_flags(const GraphDebugPrintOptions& options) noexcept;

} // namespace detail

} // namespace cuprum
