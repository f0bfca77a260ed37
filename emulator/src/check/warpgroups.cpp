// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The checks of wgmma: registers without a wgmma.fence, results that nobody has waited for, and
// factors in shared memory that no proxy fence has published.

#include "bytecode/matrix_forms.hpp"
#include "check/access.hpp"
#include "check/block_shadow.hpp"
#include "check/handlers.hpp"
#include "interp/warpgroup.hpp"

#include <string>

namespace cuprum::emulator::check {

using bytecode::Instruction;
using Use = GroupShadow::Use;

namespace {

GroupShadow& groups_of(const WarpContext& warp) {
    return static_cast<BlockShadow&>(*warp.block->observer).products();
}

/// Describes the place of another instruction, one level deeper.
std::string place_of(const WarpContext& warp, std::uint32_t instruction) {
    std::string place = describe_place(*warp.block->kernel, warp.block->kernel->code[instruction]);
    for (std::size_t at = place.find('\n'); at != std::string::npos;
         at = place.find('\n', at + 1)) {
        place.insert(at + 1, "  ");
    }
    return place;
}

std::string describe(const WarpContext& warp, Use use, const std::string& name,
                     const GroupShadow::Misuse& misuse) {
    const std::string place = place_of(warp, misuse.instruction);
    if (misuse.needs_fence) {
        return "wgmma uses register " + name +
               " without a wgmma.fence after it was written; execute wgmma.fence.sync.aligned "
               "between the write and the first wgmma.mma_async\n  the write is" +
               place;
    }
    const char* const what = use == Use::Write ? " is written while a wgmma may still use it"
                                               : " is read before the wgmma that writes it is "
                                                 "known to be complete";
    return "register " + name + what +
           "; execute wgmma.commit_group and wgmma.wait_group first\n  the wgmma is" + place;
}

} // namespace

const Instruction* use_registers(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto use = static_cast<Use>(at->tag);
    const std::vector<std::string>& names = warp.block->kernel->group_registers;
    const auto instruction = static_cast<std::uint32_t>(at - warp.code);
    std::optional<std::uint32_t> other;
    if (use == Use::Copy && at->extra != NO_REGISTER) {
        other = at->extra;
    }
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(at->immediate); ++i) {
        const std::uint32_t index = at->target + i;
        const auto misuse = groups_of(warp).use(warp.index, index, use, instruction, other);
        if (misuse &&
            !report_finding(warp, at, static_cast<std::uint32_t>(__builtin_ctz(mask)),
                            FaultKind::Race, describe(warp, use, names[index], *misuse))) {
            return nullptr;
        }
    }
    return at + 1;
}

const Instruction* order_products(WarpContext& warp, const Instruction* at,
                                  std::uint32_t /*mask*/) {
    GroupShadow& groups = groups_of(warp);
    switch (static_cast<ProductOrder>(at->tag)) {
    case ProductOrder::Fence:
        groups.fence(warp.index);
        break;
    case ProductOrder::Commit:
        groups.commit(warp.index);
        break;
    case ProductOrder::Wait:
        groups.wait(warp.index, static_cast<std::uint32_t>(at->immediate));
        break;
    }
    return at + 1;
}

bool BlockShadow::multiplies(WarpContext& warp, const Instruction* at, std::uint64_t a,
                             std::uint64_t b) {
    if ((block_->memory->checks & CHECK_RACES) == 0) {
        return true;
    }
    const auto instruction = static_cast<std::uint32_t>(at - warp.code);
    bool is_sound = true;
    const auto read = [&](std::uint32_t offset) {
        products_.read_piece(warp.index, offset, instruction);
        if (!is_sound || std::size_t{offset} + GroupShadow::PIECE_BYTES > block_->shared_bytes) {
            return;
        }
        // The write is visible if it is visible to one of the four warps.
        std::optional<Stamp> write;
        const std::uint32_t first = warp.index / warpgroup::WARPS * warpgroup::WARPS;
        for (std::uint32_t i = 0; i < warpgroup::WARPS; ++i) {
            write = find_unfenced(block_->warps[first + i], 0, offset, GroupShadow::PIECE_BYTES);
            if (!write) {
                return;
            }
        }
        const std::uint32_t thread = write->thread % Stamp::THREADS;
        const std::uint32_t width = block_->dimensions[0];
        const std::uint32_t height = block_->dimensions[1];
        is_sound = report_finding(
            warp, at, 0, FaultKind::Race,
            "wgmma reads 16 bytes at offset " + std::to_string(offset) +
                " of shared memory, and no fence.proxy.async follows the write by thread (" +
                std::to_string(thread % width) + ", " + std::to_string(thread / width % height) +
                ", " + std::to_string(thread / width / height) +
                "); execute fence.proxy.async after the writes and before the barrier" +
                place_of(warp, write->instruction));
    };
    warpgroup::for_each_piece(*at, b, true, read);
    if ((at->tag & WARPGROUP_A_REGISTERS) == 0) {
        warpgroup::for_each_piece(*at, a, false, read);
    }
    return is_sound;
}

} // namespace cuprum::emulator::check
