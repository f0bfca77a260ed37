// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Checks of bulk and tensor copies, which access shared memory in the background.

#include "check/access.hpp"
#include "check/block_shadow.hpp"
#include "check/handlers.hpp"
#include "interp/bulk_common.hpp"
#include "interp/cluster.hpp"
#include "interp/mbarrier.hpp"
#include "interp/tensor_copy.hpp"

#include <bit>

namespace cuprum::emulator::check {

using bulk_copy::address_of;
using bulk_copy::lane_of;
using bytecode::Instruction;

namespace {

/// What a copy writes to shared memory is complete in units of this size.
constexpr std::uint32_t UNIT_BYTES = 16;

BlockShadow& own_shadow(const WarpContext& warp) {
    return static_cast<BlockShadow&>(*warp.block->observer);
}

/// Checks a write to the box at `address`, in the block itself or, for each bit of `blocks`, in
/// another block of the cluster.
bool check_box_write(WarpContext& warp, const Instruction* at, Access access,
                     std::uint32_t blocks) {
    if (blocks == 0) {
        return check_access(warp, at, access);
    }
    const std::uint64_t address = access.address;
    access.space = AccessSpace::Cluster;
    for (; blocks != 0; blocks &= blocks - 1) {
        const auto rank = static_cast<std::uint32_t>(std::countr_zero(blocks));
        access.address = same_place_in(*warp.block, rank, address);
        if (!check_access(warp, at, access)) {
            return false;
        }
    }
    return true;
}

/// Checks the writes of a load to shared memory: as one range, or row by row if there are gaps.
bool check_box(WarpContext& warp, const Instruction* at, const tensor_copy::Request& request,
               Access shared, std::uint32_t blocks) {
    const TensorBox box(request.map, request.place, request.access);
    if (box.pitch() == box.row_bytes()) {
        shared.bytes = box.bytes();
        return check_box_write(warp, at, shared, blocks);
    }
    const SharedSwizzle swizzle = SharedSwizzle::of(request.map);
    const std::uint64_t window = shared.address / CLUSTER_WINDOW_BYTES * CLUSTER_WINDOW_BYTES;
    shared.bytes = UNIT_BYTES;
    return box.for_each_row([&](const TensorRow& row) {
        for (std::uint32_t i = 0; i < box.row_bytes(); i += UNIT_BYTES) {
            Access piece = shared;
            piece.address = window + swizzle.apply(static_cast<std::uint32_t>(
                                         shared.address % CLUSTER_WINDOW_BYTES + row.begin + i));
            if (!check_box_write(warp, at, piece, blocks)) {
                return false;
            }
        }
        return true;
    });
}

/// Checks the rows of a tensor that a copy accesses. `from_shared`, unless nullptr, is what it
/// reads in shared memory for them.
bool check_rows(WarpContext& warp, const Instruction* at, const tensor_copy::Request& request,
                Access row_access, const Access* from_shared) {
    const TensorBox box(request.map, request.place, request.access);
    const bool is_plain = SharedSwizzle::of(request.map).is_none();
    return box.for_each_row([&](const TensorRow& row) {
        if (row.bytes == 0) {
            return true;
        }
        row_access.address = row.address;
        row_access.bytes = from_shared != nullptr ? box.stored_bytes(row) : row.bytes;
        if (!check_access(warp, at, row_access)) {
            return false;
        }
        if (from_shared == nullptr) {
            return true;
        }
        Access part = *from_shared;
        if (is_plain) {
            part.address += row.begin + row.skipped;
            part.bytes = row.bytes;
            return check_access(warp, at, part);
        }
        // A swizzle moves pieces of 16 bytes.
        const SharedSwizzle swizzle = SharedSwizzle::of(request.map);
        const std::uint32_t end = row.begin + row.skipped + row.bytes;
        for (std::uint32_t i = row.begin + row.skipped / UNIT_BYTES * UNIT_BYTES; i < end;
             i += UNIT_BYTES) {
            part.address = swizzle.apply(static_cast<std::uint32_t>(from_shared->address) + i);
            part.bytes = UNIT_BYTES;
            if (!check_access(warp, at, part)) {
                return false;
            }
        }
        return true;
    });
}

const Instruction* check_tensor(WarpContext& warp, const Instruction* at, std::uint32_t mask,
                                bool is_load, bool is_reduction) {
    for (; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        const auto request = tensor_copy::request_of(warp, at, lane);
        if (!request) {
            return at + 1; // the copy itself will fail
        }
        const std::uint32_t element_bytes =
            std::max(element_bits(request->map.element) / 8, std::uint32_t{1});
        Access shared;
        shared.space =
            is_load && reach_of(*at) == Reach::Cluster ? AccessSpace::Cluster : AccessSpace::Shared;
        shared.is_async = true;
        shared.lane = lane;
        shared.address = request->shared;
        shared.element_bytes = UNIT_BYTES;
        Access global;
        global.space = AccessSpace::Global;
        global.lane = lane;
        global.element_bytes = element_bytes;
        if (is_load) {
            shared.writes = true;
            shared.barrier = static_cast<std::uint32_t>(request->barrier % CLUSTER_WINDOW_BYTES);
            global.reads = true;
        } else {
            shared.reads = true;
            shared.element_bytes = element_bytes;
            global.writes = true;
            global.reads = is_reduction;
            global.is_strong = is_reduction;
        }
        const std::uint32_t blocks = at->access_bytes != 0 ? request->blocks : 0;
        if ((is_load && !check_box(warp, at, *request, shared, blocks)) ||
            !check_rows(warp, at, *request, global, is_load ? nullptr : &shared)) {
            return nullptr;
        }
    }
    return at + 1;
}

} // namespace

const Instruction* access_async(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    for (; mask != 0; mask &= mask - 1) {
        Access each;
        each.lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        each.space = static_cast<AccessSpace>(at->tag >> ACCESS_SPACE_SHIFT & 7);
        each.reads = (at->tag & ACCESS_READS) != 0;
        each.writes = (at->tag & ACCESS_WRITES) != 0;
        each.is_strong = (at->tag & ACCESS_STRONG) != 0;
        each.is_async = true;
        each.element_bytes = at->access_bytes;
        each.address =
            address_of(warp, at->src[0], at->immediate, (at->tag & ACCESS_NARROW) != 0, each.lane);
        each.bytes = lane_of<std::uint32_t>(warp, at->src[1], each.lane);
        if ((at->tag & ASYNC_BARRIER) != 0) {
            const std::uint64_t barrier =
                address_of(warp, at->src[2], static_cast<std::int32_t>(at->extra),
                           (at->tag & ASYNC_NARROW) != 0, each.lane);
            each.barrier = static_cast<std::uint32_t>(barrier % CLUSTER_WINDOW_BYTES);
        }
        const std::uint32_t blocks =
            (at->tag & ASYNC_BLOCKS) != 0
                ? lane_of<std::uint32_t>(warp, at->src[3], each.lane) & 0xffff
                : 0;
        if (!check_box_write(warp, at, each, blocks)) {
            return nullptr;
        }
    }
    return at + 1;
}

const Instruction* tensor_load(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return check_tensor(warp, at, mask, true, false);
}

const Instruction* tensor_store(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return check_tensor(warp, at, mask, false, false);
}

const Instruction* tensor_reduction(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return check_tensor(warp, at, mask, false, true);
}

const Instruction* waited(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const MemoryMap& map = *warp.block->memory;
    for (mask &= warp.predicate(at->src[2]); mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        std::uint64_t offset = address_of(warp, at->src[0], at->immediate,
                                          (at->tag & mbarrier_tag::NARROW_ADDRESS) != 0, lane);
        offset -= (at->tag & mbarrier_tag::GENERIC) != 0 ? map.shared_base : 0;
        const bool parity = (at->tag & mbarrier_tag::PARITY) != 0
                                ? (lane_of<std::uint32_t>(warp, at->src[1], lane) & 1) != 0
                                : lane_of<std::uint64_t>(warp, at->src[1], lane) >> 63 != 0;
        own_shadow(warp).waited(static_cast<std::uint32_t>(offset % CLUSTER_WINDOW_BYTES), parity);
    }
    return at + 1;
}

const Instruction* fence_proxy(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    own_shadow(warp).fence_proxy(warp, mask);
    return at + 1;
}

const Instruction* commit_group(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    own_shadow(warp).commit_group(warp, mask);
    return at + 1;
}

const Instruction* wait_group(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    own_shadow(warp).wait_group(warp, mask, at->target);
    return at + 1;
}

} // namespace cuprum::emulator::check
