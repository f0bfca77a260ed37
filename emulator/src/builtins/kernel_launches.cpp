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

std::atomic<decltype(KernelLaunches::make)> make_function{nullptr};
std::atomic<decltype(KernelLaunches::launch)> start_function{nullptr};
std::atomic<decltype(KernelLaunches::copy)> copy_function{nullptr};
std::atomic<decltype(KernelLaunches::fill)> fill_function{nullptr};
std::atomic<decltype(KernelLaunches::ask)> ask_function{nullptr};

/// Calls a function for every lane of a mask.
template <typename Call>
const bytecode::Instruction* for_each_lane(const bytecode::Instruction* at, std::uint32_t mask,
                                           Call call) {
    for (; mask != 0; mask &= mask - 1) {
        call(static_cast<std::uint32_t>(std::countr_zero(mask)));
    }
    return at + 1;
}

} // namespace

void set_kernel_launches(const KernelLaunches& functions) noexcept {
    make_function.store(functions.make);
    start_function.store(functions.launch);
    copy_function.store(functions.copy);
    fill_function.store(functions.fill);
    ask_function.store(functions.ask);
}

const bytecode::Instruction* make_launch(WarpContext& warp, const bytecode::Instruction* at,
                                         std::uint32_t mask) {
    const auto make = make_function.load();
    return for_each_lane(at, mask, [&](std::uint32_t lane) {
        const std::uint64_t kernel = long_of(warp, at->src[0], lane);
        store_long(warp, at->dst[0], lane,
                   make == nullptr ? 0 : make(*warp.block, warp.thread(lane), kernel));
    });
}

const bytecode::Instruction* launch_kernel(WarpContext& warp, const bytecode::Instruction* at,
                                           std::uint32_t mask) {
    const auto start = start_function.load();
    return for_each_lane(at, mask, [&](std::uint32_t lane) {
        const std::uint64_t header = long_of(warp, at->src[0], lane);
        const std::uint64_t stream = long_of(warp, at->src[1], lane);
        store_word(warp, at->dst[0], lane,
                   start == nullptr ? NOT_SUPPORTED
                                    : start(*warp.block, warp.thread(lane), header, stream));
    });
}

const bytecode::Instruction* launch_copy(WarpContext& warp, const bytecode::Instruction* at,
                                         std::uint32_t mask) {
    const auto copy = copy_function.load();
    return for_each_lane(at, mask, [&](std::uint32_t lane) {
        const std::uint64_t to = long_of(warp, at->src[0], lane);
        const std::uint64_t from = long_of(warp, at->src[1], lane);
        const std::uint64_t bytes = long_of(warp, at->src[2], lane);
        const std::uint64_t stream = long_of(warp, at->src[3], lane);
        store_word(warp, at->dst[0], lane,
                   copy == nullptr ? NOT_SUPPORTED
                                   : copy(*warp.block, warp.thread(lane), to, from, bytes, stream));
    });
}

const bytecode::Instruction* launch_fill(WarpContext& warp, const bytecode::Instruction* at,
                                         std::uint32_t mask) {
    const auto fill = fill_function.load();
    return for_each_lane(at, mask, [&](std::uint32_t lane) {
        const std::uint64_t to = long_of(warp, at->src[0], lane);
        const auto byte = static_cast<std::uint8_t>(word_of(warp, at->src[1], lane));
        const std::uint64_t bytes = long_of(warp, at->src[2], lane);
        const std::uint64_t stream = long_of(warp, at->src[3], lane);
        store_word(warp, at->dst[0], lane,
                   fill == nullptr ? NOT_SUPPORTED
                                   : fill(*warp.block, warp.thread(lane), to, byte, bytes, stream));
    });
}

const bytecode::Instruction* ask_launcher(WarpContext& warp, const bytecode::Instruction* at,
                                          std::uint32_t mask) {
    const auto ask = ask_function.load();
    return for_each_lane(at, mask, [&](std::uint32_t lane) {
        const auto question = static_cast<LauncherQuestion>(word_of(warp, at->src[0], lane));
        store_word(warp, at->dst[0], lane,
                   ask == nullptr ? 0 : ask(*warp.block, warp.thread(lane), question));
    });
}

} // namespace cuprum::emulator::builtins
