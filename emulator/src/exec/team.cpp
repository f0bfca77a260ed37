// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/team.hpp"

#include "exec/block_setup.hpp"

#include <algorithm>

namespace cuprum::emulator::exec {

using bytecode::Bank;
using bytecode::WARP_SIZE;

namespace {

/// Each team that parts uses up the patience that this many finished teams have earned.
/// Without patience, the worker runs the blocks of the grid one by one.
constexpr std::int32_t COST_OF_PARTING = 8;
constexpr std::int32_t MAX_PATIENCE = 2 * COST_OF_PARTING;
/// For how many warps it is worthwhile to set up a team.
constexpr std::uint64_t MIN_WARPS = 128;
/// Teams have more than FEW_WARPS only if the share of a worker fills this many of them: setting up
/// a large team takes longer.
constexpr std::uint64_t MIN_TEAMS = 16;
/// How many warps teams have if larger ones part too often.
constexpr std::uint32_t FEW_WARPS = 32;
/// Teams have no loops, so this is never used up.
constexpr std::uint32_t NO_BUDGET = ~0u;

/// Returns the axis of a grid along which the blocks of a team lie.
std::uint32_t axis_of(const GridLaunch& launch) {
    std::uint32_t axis = 0;
    while (axis < 2 && launch.grid[axis] == 1) {
        ++axis;
    }
    return axis;
}

} // namespace

void Team::configure(const Grid& grid, std::uint64_t blocks, std::uint32_t sm,
                     PendingReductions& reductions) {
    if (configured_for_ == &grid) {
        return;
    }
    configured_for_ = nullptr; // for now, and in case the memory does not suffice
    lockstep_.is_configured = false;
    if (blocks * grid.thread_count() < MIN_WARPS * WARP_SIZE) {
        return;
    }
    most_blocks_ = fitting_blocks(grid, blocks);
    if (most_blocks_ < 2) {
        configured_for_ = &grid;
        return;
    }
    const bytecode::Kernel& kernel = grid.kernel();
    const std::uint32_t block_warps = grid.thread_count() / WARP_SIZE;
    const std::uint32_t warp_count = most_blocks_ * block_warps;
    contexts_.resize(std::max<std::size_t>(contexts_.size(), most_blocks_));
    warps_.resize(std::max<std::size_t>(warps_.size(), warp_count));
    const std::size_t stride = frame_stride(kernel);
    // One more frame holds the heads, and one more bank the values of all blocks.
    std::byte* const frames = frames_.reserve(stride * (warp_count + 1));
    std::byte* const banks = banks_.reserve(std::size_t{kernel.block_bytes} * (most_blocks_ + 1));
    for (std::uint32_t b = 0; b < most_blocks_; ++b) {
        BlockContext& context = contexts_[b];
        set_up_context(context, grid, sm);
        context.block_bank = banks + std::size_t{kernel.block_bytes} * b;
        context.warps = &warps_[b * block_warps];
        context.cluster = &cluster_;
        context.reductions = &reductions;
        for (std::uint32_t w = 0; w < block_warps; ++w) {
            const std::uint32_t number = b * block_warps + w;
            set_up_warp(warps_[number], grid, context, frames + stride * number, w);
        }
    }
    lockstep::configure(lockstep_, contexts_[0], frames + stride * warp_count, most_blocks_);
    lockstep_.whole.banks[static_cast<std::size_t>(Bank::Block)] =
        banks + std::size_t{kernel.block_bytes} * most_blocks_;
    find_values(grid);
    reductions.patience = PendingReductions::PATIENCE;
    patience_ = COST_OF_PARTING;
    configured_for_ = &grid;
}

Team::Outcome Team::run(std::uint64_t first, std::uint64_t most) {
    const GridLaunch& launch = configured_for_->launch();
    std::uint32_t(&index)[3] = contexts_[0].index;
    index[0] = static_cast<std::uint32_t>(first % launch.grid[0]);
    index[1] = static_cast<std::uint32_t>(first / launch.grid[0] % launch.grid[1]);
    index[2] = static_cast<std::uint32_t>(first / launch.grid[0] / launch.grid[1]);
    for (std::size_t i = 0; i < lockstep_.values.size(); ++i) {
        lockstep_.values[i].base = block_value(configured_for_->kernel().block_specials[i].special,
                                               index, contexts_[0].sm, launch.cluster);
    }
    const std::uint32_t left = length_ - index[lockstep_.axis]; // in this row of the grid
    const auto count =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(most, std::min(most_blocks_, left)));
    lockstep_.block_count = count;
    if (count < 2) {
        return Outcome::Finished;
    }
    lockstep::start(lockstep_, count);
    switch (lockstep::run(lockstep_, NO_BUDGET)) {
    case Lockstep::End::Finished:
        patience_ = std::min(patience_ + 1, MAX_PATIENCE);
        return Outcome::Finished;
    case Lockstep::End::Faulted:
        return Outcome::Faulted;
    default:
        break;
    }
    patience_ -= COST_OF_PARTING;
    if (patience_ < 0) {
        shrink();
    }
    return Outcome::Parted;
}

/// Continues with smaller teams, or without teams. Often one team of each row parts, whatever its
/// size; of large teams, that is a larger share.
void Team::shrink() {
    const std::uint32_t few = FEW_WARPS / lockstep_.block_warps;
    if (most_blocks_ > few && few >= 2) {
        most_blocks_ = few;
        patience_ = COST_OF_PARTING;
    } else {
        lockstep_.is_configured = false;
    }
}

Fault& Team::fault() noexcept {
    const auto faulted = std::find_if(contexts_.begin(), contexts_.end(), [](const auto& context) {
        return context.fault.kind != FaultKind::None;
    });
    return faulted == contexts_.end() ? contexts_[0].fault : faulted->fault;
}

bool Team::has_effects() const noexcept {
    return lockstep_.next > configured_for_->kernel().first_effect;
}

const std::byte* Team::frame(std::uint32_t block, std::uint32_t warp) const noexcept {
    return warps_[block * lockstep_.block_warps + warp].frames;
}

/// Returns how many blocks of a grid may run together, if this worker runs `blocks` of them; fewer
/// than two if none.
std::uint32_t Team::fitting_blocks(const Grid& grid, std::uint64_t blocks) const {
    const GridLaunch& launch = grid.launch();
    const bytecode::Kernel& kernel = grid.kernel();
    const std::uint32_t shared_bytes =
        kernel.static_shared_bytes + kernel.hidden_shared_bytes + launch.dynamic_shared_bytes;
    if (!kernel.can_run_in_teams || shared_bytes != 0 || launch.memory->checks != 0 ||
        launch.is_cooperative || grid.is_random() || grid.cluster_blocks() != 1 ||
        grid.thread_count() % WARP_SIZE != 0) {
        return 0;
    }
    const std::uint64_t block_warps = grid.thread_count() / WARP_SIZE;
    const auto most = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(blocks * block_warps / MIN_TEAMS, FEW_WARPS, MAX_TEAM_WARPS));
    const std::uint64_t fitting = std::min(most, lockstep::fitting_warps(kernel)) / block_warps;
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(fitting, launch.grid[axis_of(launch)]));
}

/// Finds the axis of the team and the steps of special values along it.
void Team::find_values(const Grid& grid) {
    const GridLaunch& launch = grid.launch();
    const std::uint32_t axis = axis_of(launch);
    lockstep_.axis = axis;
    length_ = launch.grid[axis];
    const std::uint32_t first[3] = {0, 0, 0};
    const std::uint32_t second[3] = {axis == 0 ? 1u : 0u, axis == 1 ? 1u : 0u, axis == 2 ? 1u : 0u};
    for (const bytecode::SpecialSlot& slot : grid.kernel().block_specials) {
        const auto value_at = [&](const std::uint32_t(&index)[3]) {
            return block_value(slot.special, index, contexts_[0].sm, launch.cluster);
        };
        lockstep_.values.push_back({.offset = slot.offset,
                                    .width = slot.width,
                                    .base = 0,
                                    .step = value_at(second) - value_at(first)});
    }
}

} // namespace cuprum::emulator::exec
