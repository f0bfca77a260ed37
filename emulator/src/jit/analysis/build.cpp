// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "jit/analysis/internal.hpp"

#include <array>

namespace cuprum::emulator::jit {

namespace {

/// The order is the design. Each comment says what holds after its step has run.
constexpr std::array STEPS{
    analysis::find_blocks, // blocks and loops are in their final order
    analysis::find_values, // every operand is a value or a constant, and what is live is known
    analysis::find_flows,  // the order under masks and the lanes of all values are known
};

} // namespace

std::string build(const bytecode::Kernel& kernel, const Shape& shape, Graph& graph) {
    graph = {};
    graph.kernel = &kernel;
    graph.shape = shape;
    analysis::Work work{.graph = graph, .dominators = {}};
    for (const auto step : STEPS) {
        if (std::string problem = step(work); !problem.empty()) {
            return problem;
        }
    }
    return {};
}

} // namespace cuprum::emulator::jit
