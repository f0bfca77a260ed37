// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/graphs/graph.hpp"
#include "objects/graphs/schedule.hpp"

#include <cuda.h>

#include <memory>

namespace cuprum::emulator {

/// Makes a schedule with the parameters of a graph, if the graph has the shape of a schedule and
/// differs only in what may change. Returns nullptr and says in `info` why not. The steps stand for
/// the nodes that the schedule stood for before, and keep what is disabled. Only under GraphLock.
[[nodiscard]] std::unique_ptr<Schedule> make_updated(const Schedule& schedule, const Graph& graph,
                                                     CUgraphExecUpdateResultInfo& info);

/// Returns whether a step may get other parameters, and which result says why not.
[[nodiscard]] CUgraphExecUpdateResult compare(const Step& step, const NodeParameters& parameters,
                                              const ScheduleOptions& options);

} // namespace cuprum::emulator
