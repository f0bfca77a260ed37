// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/block_setup.hpp"

#include <algorithm>
#include <cstring>

namespace cuprum::emulator::exec {

using bytecode::Special;
using bytecode::WARP_SIZE;

namespace {

/// The least stack space that a call takes. Frames here are larger than on a real device, whose
/// compiler keeps most of their contents in registers, so this is a safe lower bound.
constexpr std::uint32_t MIN_FRAME_BYTES = 16;

/// Returns the head of a linear register.
bytecode::LinearHead& head_before(std::byte* lanes) {
    return *reinterpret_cast<bytecode::LinearHead*>(lanes - sizeof(bytecode::LinearHead));
}

} // namespace

std::uint32_t frame_stride(const bytecode::Kernel& kernel) {
    // An odd number of cache lines between frames avoids conflicts in the cache sets.
    constexpr std::uint32_t line = bytecode::BANK_ALIGNMENT;
    return (kernel.frame_bytes / line | 1) * line;
}

void set_up_context(BlockContext& context, const Grid& grid, std::uint32_t sm) {
    const GridLaunch& launch = grid.launch();
    const bytecode::Kernel& kernel = grid.kernel();
    context.sm = sm % std::max(1u, launch.sm_count);
    context.kernel = &kernel;
    context.code = &kernel.code_source->code();
    context.memory = launch.memory;
    context.stack_bytes = launch.stack_bytes;
    context.max_frames = kernel.max_frames;
    if (launch.stack_bytes != 0) {
        const std::uint32_t frames = launch.stack_bytes / MIN_FRAME_BYTES;
        context.max_frames = std::min(kernel.max_frames, frames + 2); // kernel and one callee
    }
    context.launch_bank = grid.launch_bank();
    context.parameters = launch.parameters.data();
    context.parameter_bytes = static_cast<std::uint32_t>(launch.parameters.size());
    std::memcpy(context.grid, launch.grid, sizeof context.grid);
    std::memcpy(context.dimensions, launch.block, sizeof context.dimensions);
    context.thread_count = grid.thread_count();
    context.warp_count = (grid.thread_count() + WARP_SIZE - 1) / WARP_SIZE;
    context.heap = launch.heap.get();
}

void set_up_warp(WarpContext& warp, const Grid& grid, BlockContext& context, std::byte* frames,
                 std::uint32_t index) {
    const GridLaunch& launch = grid.launch();
    const bytecode::Kernel& kernel = grid.kernel();
    std::byte* const constants =
        launch.constants != nullptr ? launch.constants.get() : kernel.constant_bank.get();
    warp.frames = frames;
    warp.frame_stride_bytes = frame_stride(kernel);
    warp.banks = {frames, constants, context.launch_bank, context.block_bank};
    warp.code = context.code->current().instructions;
    warp.index = index;
    warp.row_mask = warps_hold_two_rows(launch.block) ? 0 : bytecode::FULL_MASK;
    warp.block = &context;
    for (const std::uint32_t offset : kernel.linear_slots) {
        bytecode::LinearHead& head = head_before(frames + offset);
        head.has_lanes = 1;
        head.is_varied = 1;
    }
    for (std::size_t s = 0; s < kernel.warp_specials.size(); ++s) {
        std::byte* slot = frames + kernel.warp_specials[s].offset;
        if (kernel.warp_specials[s].special == Special::LocalBase) {
            std::memset(slot, 0, bytecode::slot_bytes(bytecode::Width::B64));
        } else {
            constexpr std::size_t head_bytes = sizeof(bytecode::LinearHead);
            constexpr std::size_t lane_bytes = WARP_SIZE * sizeof(std::uint32_t);
            const std::byte* const value = grid.warp_special(index, s);
            if (kernel.warp_specials[s].is_linear) {
                std::memcpy(slot - head_bytes, value, head_bytes + lane_bytes);
            } else {
                std::memcpy(slot, value + head_bytes, lane_bytes);
            }
        }
    }
}

std::uint64_t block_value(Special special, const std::uint32_t (&index)[3], std::uint32_t sm,
                          const std::uint32_t (&cluster)[3]) {
    const auto axis = [&](Special first) {
        return static_cast<std::size_t>(special) - static_cast<std::size_t>(first);
    };
    if (special <= Special::CtaidZ) {
        return index[axis(Special::CtaidX)];
    }
    if (special == Special::SmId) {
        return sm;
    }
    if (special <= Special::ClusterIdZ) {
        const std::size_t i = axis(Special::ClusterIdX);
        return index[i] / cluster[i];
    }
    if (special <= Special::ClusterCtaidZ) {
        const std::size_t i = axis(Special::ClusterCtaidX);
        return index[i] % cluster[i];
    }
    return index[0] % cluster[0] +
           cluster[0] *
               (index[1] % cluster[1] + std::uint64_t{cluster[1]} * (index[2] % cluster[2]));
}

} // namespace cuprum::emulator::exec
