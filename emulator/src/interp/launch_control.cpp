// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/launch_control.hpp"

#include "interp/access_fault.hpp"
#include "interp/cluster.hpp"
#include "interp/mbarrier.hpp"
#include "interp/warp.hpp"

#include <bit>
#include <cstring>
#include <optional>

namespace cuprum::emulator {

using bytecode::Instruction;

namespace {

typedef std::uint32_t Lane32 __attribute__((may_alias));
typedef std::uint64_t Lane64 __attribute__((may_alias));

std::optional<std::uint64_t> shared_address(WarpContext& warp, const Instruction* at,
                                            std::uint32_t lane, bytecode::Operand base,
                                            std::uint32_t offset, std::uint16_t narrow);

} // namespace

namespace launch_control {

const Instruction* try_cancel(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const BlockContext& block = *warp.block;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const auto answer = shared_address(warp, at, lane, at->src[0], at->target, NARROW_ANSWER);
        const auto barrier =
            answer ? shared_address(warp, at, lane, at->src[1], at->extra, NARROW_BARRIER)
                   : std::nullopt;
        if (!barrier) {
            return nullptr;
        }
        if (*answer % ANSWER_BYTES != 0) {
            return raise_access_fault(warp, at, lane, AccessProblem::Misaligned, *answer,
                                      ANSWER_BYTES, true);
        }
        const bool is_to_all = (at->tag & TO_ALL) != 0;
        const std::uint32_t count = is_to_all ? block.cluster->size : 1;
        for (std::uint32_t rank = 0; rank < count; ++rank) {
            const auto seen = [&](std::uint64_t address) {
                return is_to_all ? same_place_in(block, rank, address) : address;
            };
            const Reach reach = is_to_all ? Reach::Cluster : Reach::Block;
            std::byte* const place = find_shared(block, seen(*answer), ANSWER_BYTES, reach);
            if (place == nullptr) {
                return raise_access_fault(warp, at, lane, AccessProblem::BeyondShared, *answer,
                                          ANSWER_BYTES, true);
            }
            std::memset(place, 0, ANSWER_BYTES);
            if (!mbarrier::deliver(warp, at, lane, seen(*barrier), ANSWER_BYTES, reach)) {
                return nullptr;
            }
        }
    }
    return at + 1;
}

} // namespace launch_control

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Returns an address as a shared-memory address; none after a fault.
std::optional<std::uint64_t> shared_address(WarpContext& warp, const Instruction* at,
                                            std::uint32_t lane, bytecode::Operand base,
                                            std::uint32_t offset, std::uint16_t narrow) {
    const std::byte* const lanes = warp.at(base);
    if ((at->tag & narrow) != 0) { // 32-bit addresses wrap at 32 bits
        return reinterpret_cast<const Lane32*>(lanes)[lane] + offset;
    }
    const auto signed_offset = static_cast<std::int32_t>(offset);
    std::uint64_t address = reinterpret_cast<const Lane64*>(lanes)[lane] +
                            static_cast<std::uint64_t>(std::int64_t{signed_offset});
    if ((at->tag & launch_control::GENERIC) != 0) {
        const MemoryMap& map = *warp.block->memory;
        address -= map.shared_base;
        if (address >= map.shared_bytes) {
            (void)raise_fault(warp, at, FaultKind::InvalidAddressSpace, lane,
                              "clusterlaunchcontrol needs addresses in shared memory");
            return std::nullopt;
        }
    }
    return address;
}

} // namespace

} // namespace cuprum::emulator
