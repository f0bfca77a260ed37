// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "builtins/graph_launches.hpp"

#include "builtins/builtins.hpp"
#include "builtins/memory.hpp"

#include <atomic>
#include <bit>

namespace cuprum::emulator::builtins {

namespace {

constexpr std::uint32_t INVALID_VALUE = 1; // cudaErrorInvalidValue

std::atomic<decltype(GraphLaunches::launch)> launch_function{nullptr};
std::atomic<decltype(GraphLaunches::current)> current_function{nullptr};

} // namespace

void set_graph_launches(const GraphLaunches& functions) noexcept {
    launch_function.store(functions.launch);
    current_function.store(functions.current);
}

const bytecode::Instruction* launch_graph(WarpContext& warp, const bytecode::Instruction* at,
                                          std::uint32_t mask) {
    const auto launch = launch_function.load();
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint64_t graph = long_of(warp, at->src[0], lane);
        const std::uint64_t stream = long_of(warp, at->src[1], lane);
        store_word(warp, at->dst[0], lane,
                   launch == nullptr ? INVALID_VALUE : launch(*warp.block, graph, stream));
    }
    return at + 1;
}

const bytecode::Instruction* find_current_graph(WarpContext& warp, const bytecode::Instruction* at,
                                                std::uint32_t mask) {
    const auto current = current_function.load();
    const std::uint64_t graph = current == nullptr ? 0 : current(*warp.block);
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        store_long(warp, at->dst[0], static_cast<std::uint32_t>(std::countr_zero(left)), graph);
    }
    return at + 1;
}

} // namespace cuprum::emulator::builtins
