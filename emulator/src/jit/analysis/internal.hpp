// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The steps of the analysis, in order. build.cpp runs them.

#pragma once

#include "jit/graph.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cuprum::emulator::jit::analysis {

/// The graph and what its steps share.
struct Work {
    Graph& graph;

    // find_blocks. For each block the one that dominates it directly, or NONE.
    std::vector<std::uint32_t> dominators;
    // The loops that contain a block are those whose blocks lie between header and latch: the
    // blocks of a loop are adjacent.
};

/// Finds blocks, loops and their order. Returns why that cannot be done, or an empty string.
[[nodiscard]] std::string find_blocks(Work& work);

/// Fills in the nodes' operands, the values, and what is live. Returns why not, or an empty string.
[[nodiscard]] std::string find_values(Work& work);

/// Finds the order under masks and the lanes of all values, for both versions. Returns why not, or
/// an empty string.
[[nodiscard]] std::string find_flows(Work& work);

/// Returns the lanes of the results of a node, apart from its guard. Unknown if a source is.
[[nodiscard]] Lanes lanes_of_result(const Graph& graph, const Node& node, std::size_t result,
                                    Version version);

/// Returns Lanes::most of the first result of a node, apart from its guard.
[[nodiscard]] std::uint64_t most_of_result(const Graph& graph, const Node& node, Version version);

/// Returns the lanes of a value that stands in the frame.
[[nodiscard]] Lanes lanes_of_entry(const Graph& graph, const Value& value);

/// Returns what both have in common.
[[nodiscard]] Lanes meet(const Lanes& left, const Lanes& right);

/// Returns whether a loop contains a block.
[[nodiscard]] inline bool contains(const Loop& loop, std::uint32_t block) {
    return block >= loop.header && block <= loop.latch;
}

/// The registers and other operands of an instruction, in the order of passes::for_each_source.
[[nodiscard]] std::vector<bytecode::Operand> sources_of(const bytecode::Kernel& kernel,
                                                        const bytecode::Instruction& instruction);
[[nodiscard]] std::vector<bytecode::Operand>
destinations_of(const bytecode::Kernel& kernel, const bytecode::Instruction& instruction);

/// Returns whether an instruction does nothing here: it concerns the interpreter alone.
[[nodiscard]] bool does_nothing(const bytecode::Instruction& instruction);

} // namespace cuprum::emulator::jit::analysis
