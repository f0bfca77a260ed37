// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "builtins/kernel_launches.hpp"

#include "builtins/builtins.hpp"
#include "builtins/memory.hpp"

#include <atomic>
#include <bit>

namespace cuprum::emulator::builtins {

namespace {

constexpr std::uint32_t NOT_SUPPORTED = 801; // cudaErrorNotSupported

/// What kernels get before set_kernel_launches(), as in tests of single kernels.
constexpr KernelLaunches NONE{
    .make = [](const BlockContext&, std::uint32_t, std::uint64_t) -> std::uint64_t { return 0; },
    .launch = [](const BlockContext&, std::uint32_t, std::uint64_t,
                 std::uint64_t) { return NOT_SUPPORTED; },
    .copy = [](const BlockContext&, std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t,
               std::uint64_t) { return NOT_SUPPORTED; },
    .fill = [](const BlockContext&, std::uint32_t, std::uint64_t, std::uint8_t, std::uint64_t,
               std::uint64_t) { return NOT_SUPPORTED; },
    .ask = [](const BlockContext&, std::uint32_t, LauncherQuestion) -> std::uint32_t { return 0; },
};

std::atomic<const KernelLaunches*> launches{&NONE};

/// Calls a function for every lane of a mask. It gets the lane and the number of its thread.
template <typename Call>
const bytecode::Instruction* for_each_lane(const WarpContext& warp, const bytecode::Instruction* at,
                                           std::uint32_t mask, Call call) {
    for (; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        call(lane, warp.thread(lane));
    }
    return at + 1;
}

} // namespace

void set_kernel_launches(const KernelLaunches& functions) noexcept {
    launches.store(&functions);
}

const bytecode::Instruction* make_launch(WarpContext& warp, const bytecode::Instruction* at,
                                         std::uint32_t mask) {
    const auto make = launches.load()->make;
    return for_each_lane(warp, at, mask, [&](std::uint32_t lane, std::uint32_t thread) {
        store_long(warp, at->dst[0], lane,
                   make(*warp.block, thread, long_of(warp, at->src[0], lane)));
    });
}

const bytecode::Instruction* launch_kernel(WarpContext& warp, const bytecode::Instruction* at,
                                           std::uint32_t mask) {
    const auto launch = launches.load()->launch;
    return for_each_lane(warp, at, mask, [&](std::uint32_t lane, std::uint32_t thread) {
        const std::uint64_t header = long_of(warp, at->src[0], lane);
        const std::uint64_t stream = long_of(warp, at->src[1], lane);
        store_word(warp, at->dst[0], lane, launch(*warp.block, thread, header, stream));
    });
}

const bytecode::Instruction* launch_copy(WarpContext& warp, const bytecode::Instruction* at,
                                         std::uint32_t mask) {
    const auto copy = launches.load()->copy;
    return for_each_lane(warp, at, mask, [&](std::uint32_t lane, std::uint32_t thread) {
        const std::uint64_t to = long_of(warp, at->src[0], lane);
        const std::uint64_t from = long_of(warp, at->src[1], lane);
        const std::uint64_t bytes = long_of(warp, at->src[2], lane);
        const std::uint64_t stream = long_of(warp, at->src[3], lane);
        store_word(warp, at->dst[0], lane, copy(*warp.block, thread, to, from, bytes, stream));
    });
}

const bytecode::Instruction* launch_fill(WarpContext& warp, const bytecode::Instruction* at,
                                         std::uint32_t mask) {
    const auto fill = launches.load()->fill;
    return for_each_lane(warp, at, mask, [&](std::uint32_t lane, std::uint32_t thread) {
        const std::uint64_t to = long_of(warp, at->src[0], lane);
        const auto byte = static_cast<std::uint8_t>(word_of(warp, at->src[1], lane));
        const std::uint64_t bytes = long_of(warp, at->src[2], lane);
        const std::uint64_t stream = long_of(warp, at->src[3], lane);
        store_word(warp, at->dst[0], lane, fill(*warp.block, thread, to, byte, bytes, stream));
    });
}

const bytecode::Instruction* ask_launcher(WarpContext& warp, const bytecode::Instruction* at,
                                          std::uint32_t mask) {
    const auto ask = launches.load()->ask;
    return for_each_lane(warp, at, mask, [&](std::uint32_t lane, std::uint32_t thread) {
        const auto question = static_cast<LauncherQuestion>(word_of(warp, at->src[0], lane));
        store_word(warp, at->dst[0], lane, ask(*warp.block, thread, question));
    });
}

} // namespace cuprum::emulator::builtins
