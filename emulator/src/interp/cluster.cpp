// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/cluster.hpp"

#include "interp/groups.hpp"

#include <bit>
#include <string>

namespace cuprum::emulator {

using bytecode::Instruction;

namespace {

typedef std::uint32_t Lane32 __attribute__((may_alias));
typedef std::uint64_t Lane64 __attribute__((may_alias));

std::uint64_t read_address(const WarpContext& warp, const Instruction* at, std::uint32_t lane);
void complete_if_all_came(ClusterContext& all);
void release(ClusterContext& all);

} // namespace

SharedPlace place_of(const BlockContext& block, std::uint64_t address, Reach reach) {
    if (address < CLUSTER_WINDOW_BYTES) {
        return {&block, address};
    }
    const ClusterContext& cluster = *block.cluster;
    const std::uint64_t rank = address / CLUSTER_WINDOW_BYTES - 1;
    if (reach == Reach::Block || rank >= cluster.size || rank == block.cluster_rank) {
        return {};
    }
    return {cluster.blocks[rank], address % CLUSTER_WINDOW_BYTES};
}

std::uint64_t same_place_in(const BlockContext& block, std::uint32_t rank, std::uint64_t address) {
    const auto [owner, offset] = place_of(block, address, Reach::Cluster);
    if (owner == nullptr) {
        return address;
    }
    return rank == block.cluster_rank ? offset
                                      : offset + (rank + std::uint64_t{1}) * CLUSTER_WINDOW_BYTES;
}

std::byte* find_shared(const BlockContext& block, std::uint64_t address, std::uint32_t bytes,
                       Reach reach) {
    const auto [owner, offset] = place_of(block, address, reach);
    return owner != nullptr && offset <= owner->shared_bytes &&
                   bytes <= owner->shared_bytes - offset
               ? owner->shared + offset
               : nullptr;
}

namespace cluster {

const Instruction* map_address(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const BlockContext& block = *warp.block;
    const auto* const ranks = reinterpret_cast<const Lane32*>(warp.at(at->src[1]));
    std::uint64_t results[bytecode::WARP_SIZE];
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint32_t rank = ranks[lane];
        if (rank >= block.cluster->size) {
            return raise_fault(warp, at, FaultKind::IllegalInstruction, lane,
                               "there is no block of rank " + std::to_string(rank) +
                                   " in a cluster of " + std::to_string(block.cluster->size));
        }
        const std::uint64_t address = read_address(warp, at, lane);
        if (place_of(block, address, Reach::Cluster).owner == nullptr) {
            return raise_fault(warp, at, FaultKind::InvalidAddressSpace, lane,
                               "mapa needs an address in shared memory");
        }
        results[lane] = same_place_in(block, rank, address) +
                        ((at->tag & GENERIC) != 0 ? block.memory->shared_base : 0);
    }
    std::byte* const to = warp.at(at->dst[0]);
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        if ((at->tag & WIDE_ADDRESS) != 0) {
            reinterpret_cast<Lane64*>(to)[lane] = results[lane];
        } else {
            reinterpret_cast<Lane32*>(to)[lane] = static_cast<std::uint32_t>(results[lane]);
        }
    }
    return at + 1;
}

const Instruction* rank_of(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    std::uint32_t results[bytecode::WARP_SIZE];
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint64_t window = read_address(warp, at, lane) / CLUSTER_WINDOW_BYTES;
        results[lane] =
            window == 0 ? warp.block->cluster_rank : static_cast<std::uint32_t>(window - 1);
    }
    auto* const to = reinterpret_cast<Lane32*>(warp.at(at->dst[0]));
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        to[lane] = results[lane];
    }
    return at + 1;
}

const Instruction* is_own_shared(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    std::uint32_t holds = 0;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        holds |= static_cast<std::uint32_t>(read_address(warp, at, lane) < CLUSTER_WINDOW_BYTES)
                 << lane;
    }
    auto* const to = reinterpret_cast<Lane32*>(warp.at(at->dst[0]));
    *to = (*to & ~mask) | holds;
    return at + 1;
}

const Instruction* arrive(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    ClusterContext& all = *warp.block->cluster;
    warp.cluster_arrived |= mask;
    warp.cluster_parity = all.parity ? warp.cluster_parity | mask : warp.cluster_parity & ~mask;
    complete_if_all_came(all);
    if (warp.group_count > 1) {
        groups::look_ahead(warp, at + 1); // waiting lanes of this warp may have been released
    }
    return at + 1;
}

const Instruction* wait(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    ClusterContext& all = *warp.block->cluster;
    const std::uint32_t current = all.parity ? bytecode::FULL_MASK : 0;
    const std::uint32_t done = warp.cluster_parity ^ current;
    if ((mask & ~done) == 0) {
        return at + 1;
    }
    ++all.waiting;
    (void)groups::park(warp, mask & ~done, groups::index_of(warp, at) + 1, Stop::Cluster);
    return warp.active != 0 ? at + 1 : nullptr;
}

} // namespace cluster

void groups::release_cluster_after_exit(ClusterContext& cluster) {
    complete_if_all_came(cluster);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Returns a lane's address as an offset in the shared window.
std::uint64_t read_address(const WarpContext& warp, const Instruction* at, std::uint32_t lane) {
    const std::byte* const lanes = warp.at(at->src[0]);
    const std::uint64_t address = (at->tag & cluster::WIDE_ADDRESS) != 0
                                      ? reinterpret_cast<const Lane64*>(lanes)[lane]
                                      : reinterpret_cast<const Lane32*>(lanes)[lane];
    return (at->tag & cluster::GENERIC) != 0 ? address - warp.block->memory->shared_base : address;
}

/// Starts the next phase of the barrier once every thread that has not exited has arrived.
void complete_if_all_came(ClusterContext& all) {
    for (std::uint32_t rank = 0; rank < all.size; ++rank) {
        const BlockContext& block = *all.blocks[rank];
        for (std::uint32_t w = 0; w < block.warp_count; ++w) {
            if ((groups::live(block.warps[w]) & ~block.warps[w].cluster_arrived) != 0) {
                return;
            }
        }
    }
    for (std::uint32_t rank = 0; rank < all.size; ++rank) {
        const BlockContext& block = *all.blocks[rank];
        for (std::uint32_t w = 0; w < block.warp_count; ++w) {
            block.warps[w].cluster_arrived = 0;
        }
    }
    all.parity = !all.parity;
    if (Observer* const observer = all.blocks[0]->observer) {
        observer->cluster_met();
    }
    if (all.waiting != 0) {
        release(all);
    }
}

/// Releases all groups that wait for the phase that has just ended.
void release(ClusterContext& all) {
    all.waiting = 0;
    for (std::uint32_t rank = 0; rank < all.size; ++rank) {
        BlockContext& block = *all.blocks[rank];
        for (std::uint32_t w = 0; w < block.warp_count; ++w) {
            WarpContext& warp = block.warps[w];
            for (std::uint32_t i = 0; i < warp.group_count; ++i) {
                if (warp.groups[i].state == Stop::Cluster) {
                    warp.groups[i].state = Stop::Running;
                    block.runnable |= 1u << w;
                }
            }
        }
    }
}

} // namespace

} // namespace cuprum::emulator
