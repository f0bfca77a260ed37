// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

namespace cuprum {

/// What the driver's picture of a graph shows beside nodes and edges.
struct GraphDebugPrintOptions {
    bool verbose = false;                      // everything
    bool runtime_types = false;                // names of the runtime library's structures
    bool kernel_node_params = false;           // arguments of kernels
    bool memcpy_node_params = false;           // both sides of copies
    bool memset_node_params = false;           // what fills write
    bool host_node_params = false;             // functions on the host
    bool event_node_params = false;            // events
    bool ext_semas_signal_node_params = false; // signalled semaphores
    bool ext_semas_wait_node_params = false;   // semaphores that are waited for
    bool kernel_node_attributes = false;       // attributes of kernels
    bool handles = false;                      // of nodes and kernels
    bool mem_alloc_node_params = false;        // sizes of allocations
    bool mem_free_node_params = false;         // addresses that are freed
    bool batch_mem_op_node_params = false;     // values that streams write or wait for
    bool extra_topo_info = false;              // numbers of edges
    bool conditional_node_params = false;      // conditions

    friend bool operator==(const GraphDebugPrintOptions&, const GraphDebugPrintOptions&) = default;
};

namespace detail {

/// Returns the options as flags of cuGraphDebugDotPrint.
[[nodiscard]] CUPRUM_API unsigned debug_flags(const GraphDebugPrintOptions& options) noexcept;

} // namespace detail

} // namespace cuprum
