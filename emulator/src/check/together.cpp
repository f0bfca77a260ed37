// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The accesses that nearly all instructions make: adjacent lanes in one allocation, or all lanes
// reading at one address. They are checked as one access. If anything about them is suspicious,
// nothing is recorded, and the lanes are checked one by one to find out what is wrong.

#include "check/access.hpp"
#include "check/block_shadow.hpp"
#include "check/written.hpp"

#include <algorithm>
#include <cstring>

namespace cuprum::emulator::check {

using bytecode::Instruction;

namespace {

/// Returns whether an access to a generic address can only be to device memory.
bool is_beyond_windows(const BlockContext& block, const Access& first, std::uint64_t bytes) {
    const MemoryMap& map = *block.memory;
    return first.address >= map.memory_base && bytes <= map.memory_bytes &&
           first.address - map.memory_base <= map.memory_bytes - bytes;
}

bool check_global_together(WarpContext& warp, const Instruction* at, const Access& first,
                           std::uint32_t lanes, const std::uint8_t* data) {
    const BlockContext& block = *warp.block;
    const MemoryMap& map = *block.memory;
    const std::uint64_t bytes = std::uint64_t{first.bytes} * lanes;
    auto& shadow = static_cast<BlockShadow&>(*block.observer);
    if ((map.checks & CHECKS_OF_ACCESSES) == 0) {
        record_access(shadow.grid(), first, bytes);
        return true;
    }
    MemoryRange range;
    if (!shadow.find(map, first.address, range) || range.is_heap ||
        range.base + range.bytes - first.address < bytes) {
        return false;
    }
    record_access(shadow.grid(), first, bytes);
    const bool is_tracked = map.initialized != nullptr && range.is_tracked;
    if (is_tracked && first.reads && !are_written(map, first.address, bytes)) {
        return false;
    }
    if (map.races != nullptr && !first.is_strong) {
        const GlobalRaces::Stamp who = global_stamp(warp, at, first.lane);
        if (!map.races->access_lanes(shadow.grid(), who, first.address, first.bytes, lanes,
                                     first.writes, data)) {
            return false;
        }
    }
    if (is_tracked && first.writes) {
        mark_written(map, first.address, bytes);
    }
    return true;
}

bool check_shared_together(WarpContext& warp, const Instruction* at, const Access& first,
                           std::uint32_t lanes, bool is_uniform, const std::uint8_t* data) {
    const BlockContext& block = *warp.block;
    const std::uint64_t bytes = std::uint64_t{first.bytes} * (is_uniform ? 1 : lanes);
    if (first.address > block.shared_bytes || bytes > block.shared_bytes - first.address) {
        return false;
    }
    const std::uint8_t checks = block.memory->checks;
    auto& shadow = static_cast<BlockShadow&>(*block.observer);
    if ((checks & CHECK_RACES) != 0 && first.writes &&
        shadow.products().find_reader(static_cast<std::uint32_t>(first.address),
                                      static_cast<std::uint32_t>(bytes))) {
        return false;
    }
    std::uint8_t* const written =
        (checks & CHECK_INITIALIZED) != 0 ? shadow.shared_written() + first.address : nullptr;
    if (written != nullptr && first.reads && !first.passes_on &&
        std::memchr(written, 0, bytes) != nullptr) {
        return false;
    }
    if ((checks & CHECK_RACES) != 0 && !first.is_strong &&
        !shadow.access_shared_lanes(warp, first.lane, lanes,
                                    static_cast<std::uint32_t>(at - warp.code),
                                    static_cast<std::uint32_t>(first.address), first.bytes,
                                    is_uniform, first.writes, data)) {
        return false;
    }
    if (written != nullptr && first.writes) {
        std::fill_n(written, bytes, std::uint8_t{1});
    }
    return true;
}

} // namespace

bool check_together(WarpContext& warp, const Instruction* at, const Access& first,
                    std::uint32_t lanes, bool is_uniform, const std::uint8_t* data) {
    // Races on device memory are between blocks, not threads, so a uniform read is one access.
    const std::uint32_t apart = is_uniform ? 1 : lanes;
    switch (first.space) {
    case AccessSpace::Shared:
    case AccessSpace::Cluster:
        return check_shared_together(warp, at, first, lanes, is_uniform, data);
    case AccessSpace::Generic:
    case AccessSpace::Global:
        return is_beyond_windows(*warp.block, first, std::uint64_t{first.bytes} * apart) &&
               check_global_together(warp, at, first, apart, data);
    default:
        return false;
    }
}

} // namespace cuprum::emulator::check
