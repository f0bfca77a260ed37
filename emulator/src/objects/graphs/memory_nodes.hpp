// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/graphs/graph.hpp"

#include <cuda.h>

#include <memory>
#include <vector>

namespace cuprum::emulator {

/// Adds a node that allocates memory; its parameters have the address. Uses the addresses of an
/// allocation of the same size that the graph frees before. Only under GraphLock.
///
/// @throws DriverError INVALID_VALUE, OUT_OF_MEMORY.
[[nodiscard]] std::shared_ptr<GraphNode> add_allocation(Graph& graph,
                                                        const CUDA_MEM_ALLOC_NODE_PARAMS& request,
                                                        const std::vector<GraphEdge>& dependencies);

/// Adds a node that frees the memory of an allocation node, of this graph or another. Only under
/// GraphLock.
///
/// @throws DriverError INVALID_VALUE for other memory, or memory that another node frees.
[[nodiscard]] std::shared_ptr<GraphNode> add_free(Graph& graph, CUdeviceptr address,
                                                  const std::vector<GraphEdge>& dependencies);

} // namespace cuprum::emulator
