// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "check/group_shadow.hpp"

#include "interp/warpgroup.hpp"

#include <algorithm>

namespace cuprum::emulator::check {

void GroupShadow::start(const BlockContext& block) {
    const std::size_t count = block.kernel->group_registers.size();
    warps_.clear();
    groups_.clear();
    piece_count_ = 0;
    if (!block.kernel->uses_warpgroups) {
        return;
    }
    piece_count_ = (block.shared_bytes + PIECE_BYTES - 1) / PIECE_BYTES;
    warps_.resize(block.warp_count);
    for (Warp& warp : warps_) {
        warp.registers.resize(count);
    }
    groups_.resize((block.warp_count + warpgroup::WARPS - 1) / warpgroup::WARPS);
}

std::optional<GroupShadow::Misuse> GroupShadow::use(std::uint32_t warp, std::uint32_t index,
                                                    Use use, std::uint32_t instruction,
                                                    std::optional<std::uint32_t> other) {
    Warp& own = warps_[warp];
    Register& entry = own.registers[index];
    std::optional<Misuse> misuse;
    switch (use) {
    case Use::Read:
        if (entry.pending != 0 && !entry.is_read_only) {
            misuse = Misuse{false, entry.instruction};
        }
        break;
    case Use::Write:
        if (entry.pending != 0) {
            misuse = Misuse{false, entry.instruction};
        }
        entry = {.instruction = instruction, .is_unfenced = true};
        break;
    case Use::Copy: // compilers copy accumulators between products; ptxas removes such copies
        entry = other ? own.registers[*other]
                      : Register{.instruction = instruction, .is_unfenced = true};
        break;
    case Use::Accumulate:
    case Use::Multiply:
        if (entry.is_unfenced) {
            misuse = Misuse{true, entry.instruction};
        } else if (use == Use::Multiply && entry.pending != 0 && !entry.is_read_only) {
            misuse = Misuse{false, entry.instruction};
        }
        entry = {.pending = own.committed + 1,
                 .instruction = instruction,
                 .is_read_only = use == Use::Multiply};
        break;
    }
    return misuse;
}

void GroupShadow::fence(std::uint32_t warp) {
    for (Register& entry : warps_[warp].registers) {
        entry.is_unfenced = false;
    }
}

void GroupShadow::commit(std::uint32_t warp) {
    ++warps_[warp].committed;
}

void GroupShadow::wait(std::uint32_t warp, std::uint32_t most_pending) {
    Warp& own = warps_[warp];
    const std::uint32_t done = own.committed - std::min(own.committed, most_pending);
    for (Register& entry : own.registers) {
        entry.pending = entry.pending <= done ? 0 : entry.pending;
    }
    Group& group = groups_[warp / warpgroup::WARPS];
    group.completed = std::max(group.completed, done);
}

std::optional<std::uint32_t> GroupShadow::find_reader(std::uint32_t offset,
                                                      std::uint32_t bytes) const {
    for (const Group& group : groups_) {
        if (group.latest <= group.completed) {
            continue;
        }
        const std::uint32_t last = std::min((offset + bytes - 1) / PIECE_BYTES + 1, piece_count_);
        for (std::uint32_t piece = offset / PIECE_BYTES; piece < last; ++piece) {
            if (group.pieces[piece].group > group.completed) {
                return group.pieces[piece].instruction;
            }
        }
    }
    return std::nullopt;
}

void GroupShadow::read_piece(std::uint32_t warp, std::uint32_t offset, std::uint32_t instruction) {
    Group& group = groups_[warp / warpgroup::WARPS];
    group.pieces.resize(piece_count_);
    const std::uint32_t piece = offset / PIECE_BYTES;
    if (piece < piece_count_) { // the instruction itself reports what is outside
        group.latest = warps_[warp].committed + 1;
        group.pieces[piece] = {group.latest, instruction};
    }
}

} // namespace cuprum::emulator::check
