// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/bulk_copy.hpp"

#include "interp/access_fault.hpp"
#include "interp/bulk_common.hpp"
#include "interp/bulk_reduce.hpp"
#include "interp/cluster.hpp"
#include "interp/mbarrier.hpp"
#include "interp/warp.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace cuprum::emulator {

using bulk_copy::address_of;
using bulk_copy::is_device_memory;
using bytecode::Instruction;

namespace {

typedef std::uint32_t Lane32 __attribute__((may_alias));
typedef std::uint64_t Lane64 __attribute__((may_alias));

/// Addresses and sizes of bulk copies are multiples of this.
constexpr std::uint32_t UNIT_BYTES = 16;

/// The two ends of one lane's copy, null after a fault.
struct Ends {
    std::byte* shared = nullptr;
    std::byte* global = nullptr;
    std::uint32_t bytes = 0;
};

std::uint64_t shared_address(const WarpContext& warp, const Instruction* at, std::uint32_t lane);
std::uint64_t barrier_address(const WarpContext& warp, const Instruction* at, std::uint32_t lane);
std::uint32_t size_of_copy(const WarpContext& warp, const Instruction* at, std::uint32_t lane);
bool is_whole(WarpContext& warp, const Instruction* at, std::uint32_t lane, std::uint32_t bytes,
              std::uint64_t to, std::uint64_t from);
Ends find_ends(WarpContext& warp, const Instruction* at, std::uint32_t lane, bool is_to_global,
               std::uint32_t bytes);
Ends find_shared_ends(WarpContext& warp, const Instruction* at, std::uint32_t lane);
bool deliver(WarpContext& warp, const Instruction* at, std::uint32_t lane, std::uint32_t bytes);

/// Returns which memory the target and the mbarrier of a copy to shared memory may be in.
Reach target_reach(const Instruction* at) {
    return (at->tag & bulk_copy::IN_CLUSTER) != 0 ? Reach::Cluster : Reach::Block;
}

} // namespace

namespace bulk_copy {

const Instruction* to_shared(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const Ends ends = find_ends(warp, at, lane, false, size_of_copy(warp, at, lane));
        if (ends.shared == nullptr) {
            return nullptr;
        }
        std::memcpy(ends.shared, ends.global, ends.bytes);
        if (!deliver(warp, at, lane, ends.bytes)) {
            return nullptr;
        }
    }
    return at + 1;
}

const Instruction* to_shared_trimmed(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    for (std::uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
        const std::uint64_t packed = reinterpret_cast<const Lane64*>(warp.at(at->src[2]))[lane];
        const auto bytes = static_cast<std::uint32_t>(packed);
        const auto left = static_cast<std::uint32_t>(packed >> 32 & 0xffff);
        const auto right = static_cast<std::uint32_t>(packed >> 48);
        if (left >= UNIT_BYTES || right >= UNIT_BYTES || left + right > bytes) {
            return raise_fault(warp, at, FaultKind::IllegalInstruction, lane,
                               "a bulk copy of " + std::to_string(bytes) + " bytes ignores " +
                                   std::to_string(left) + " and " + std::to_string(right) +
                                   " of them; expected 0 to 15 each, together at most the size");
        }
        const std::uint64_t to = shared_address(warp, at, lane);
        const std::uint64_t from =
            address_of(warp, at->src[1], at->immediate, (at->tag & NARROW_GLOBAL) != 0, lane);
        if (!is_whole(warp, at, lane, bytes, to, from)) {
            return nullptr;
        }
        std::byte* const place = find_shared(*warp.block, to, bytes, target_reach(at));
        if (place == nullptr) {
            return raise_access_fault(warp, at, lane, AccessProblem::BeyondShared, to, bytes, true);
        }
        const std::uint32_t read = bytes - left - right;
        if (read != 0 && !is_device_memory(*warp.block->memory, from + left, read, false)) {
            return raise_access_fault(warp, at, lane, AccessProblem::Unmapped, from + left, read,
                                      false);
        }
        std::memcpy(place + left, reinterpret_cast<const std::byte*>(from + left), read);
        if (!deliver(warp, at, lane, bytes)) {
            return nullptr;
        }
    }
    return at + 1;
}

const Instruction* to_global(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const Ends ends = find_ends(warp, at, lane, true, size_of_copy(warp, at, lane));
        if (ends.shared == nullptr) {
            return nullptr;
        }
        std::memcpy(ends.global, ends.shared, ends.bytes);
    }
    return at + 1;
}

const Instruction* to_many(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const BlockContext& block = *warp.block;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint64_t packed = reinterpret_cast<const Lane64*>(warp.at(at->src[2]))[lane];
        const auto bytes = static_cast<std::uint32_t>(packed);
        const Ends ends = find_ends(warp, at, lane, false, bytes);
        if (ends.shared == nullptr) {
            return nullptr;
        }
        const std::uint64_t shared = shared_address(warp, at, lane);
        const std::uint64_t barrier = barrier_address(warp, at, lane);
        for (std::uint32_t ranks = packed >> 32 & 0xffff; ranks != 0; ranks &= ranks - 1) {
            const auto rank = static_cast<std::uint32_t>(std::countr_zero(ranks));
            const std::uint64_t there = same_place_in(block, rank, shared);
            std::byte* const to = find_shared(block, there, bytes, Reach::Cluster);
            if (to == nullptr) {
                return raise_access_fault(warp, at, lane, AccessProblem::BeyondShared, there, bytes,
                                          true);
            }
            std::memcpy(to, ends.global, bytes);
            if (!mbarrier::deliver(warp, at, lane, same_place_in(block, rank, barrier), bytes,
                                   Reach::Cluster)) {
                return nullptr;
            }
        }
    }
    return at + 1;
}

const Instruction* between_shared(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const Ends ends = find_shared_ends(warp, at, lane);
        if (ends.shared == nullptr) {
            return nullptr;
        }
        std::memmove(ends.shared, ends.global, ends.bytes);
        if (!deliver(warp, at, lane, ends.bytes)) {
            return nullptr;
        }
    }
    return at + 1;
}

const Instruction* reduce(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const bool is_to_global = (at->tag & TO_GLOBAL) != 0;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const Ends ends = is_to_global
                              ? find_ends(warp, at, lane, true, size_of_copy(warp, at, lane))
                              : find_shared_ends(warp, at, lane);
        if (ends.shared == nullptr) {
            return nullptr;
        }
        const auto operation = static_cast<Operation>(at->tag >> OPERATION_SHIFT & 7);
        const auto type = static_cast<ptx::Type>(at->tag >> TYPE_SHIFT);
        if (is_to_global) {
            combine_elements(operation, type, ends.global, ends.shared, ends.bytes);
        } else {
            combine_elements(operation, type, ends.shared, ends.global, ends.bytes);
            if (!deliver(warp, at, lane, ends.bytes)) {
                return nullptr;
            }
        }
    }
    return at + 1;
}

const Instruction* to_global_masked(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint64_t packed = reinterpret_cast<const Lane64*>(warp.at(at->src[2]))[lane];
        const Ends ends = find_ends(warp, at, lane, true, static_cast<std::uint32_t>(packed));
        if (ends.shared == nullptr) {
            return nullptr;
        }
        for (std::uint32_t i = 0; i < ends.bytes; ++i) {
            if ((packed >> (32 + i % UNIT_BYTES) & 1) != 0) {
                ends.global[i] = ends.shared[i];
            }
        }
    }
    return at + 1;
}

const Instruction* masked_extent(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto* const sizes = reinterpret_cast<const Lane32*>(warp.at(at->src[0]));
    const auto* const masks = reinterpret_cast<const Lane32*>(warp.at(at->src[1]));
    auto* const extents = reinterpret_cast<Lane32*>(warp.at(at->dst[0]));
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const auto spared =
            static_cast<std::uint32_t>(std::countl_zero(static_cast<std::uint16_t>(masks[lane])));
        extents[lane] = spared == UNIT_BYTES || sizes[lane] == 0 ? 0 : sizes[lane] - spared;
    }
    return at + 1;
}

const Instruction* clear(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    constexpr std::uint64_t unit_bytes = 8;
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 24;
    const BlockContext& block = *warp.block;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint64_t bytes = reinterpret_cast<const Lane64*>(warp.at(at->src[1]))[lane];
        std::uint64_t address = shared_address(warp, at, lane);
        if ((at->tag & GENERIC) != 0) {
            address -= block.memory->shared_base;
            if (address >= block.memory->shared_bytes) {
                return raise_fault(warp, at, FaultKind::InvalidAddressSpace, lane,
                                   "st.bulk must go to shared memory");
            }
        }
        if (bytes % unit_bytes != 0 || bytes > most_bytes) {
            return raise_fault(warp, at, FaultKind::IllegalInstruction, lane,
                               "st.bulk of " + std::to_string(bytes) +
                                   " bytes; expected a multiple of 8, at most 16777216");
        }
        if (address % unit_bytes != 0) {
            return raise_access_fault(warp, at, lane, AccessProblem::Misaligned, address,
                                      unit_bytes, true);
        }
        const auto size = static_cast<std::uint32_t>(bytes);
        std::byte* const place = find_shared(block, address, size, Reach::Block);
        if (place == nullptr) {
            return raise_access_fault(warp, at, lane, AccessProblem::BeyondShared, address, size,
                                      true);
        }
        std::memset(place, 0, size);
    }
    return at + 1;
}

} // namespace bulk_copy

const Instruction* raise_copy_size_fault(WarpContext& warp, const Instruction* at,
                                         std::uint32_t lane, std::uint32_t source_bytes,
                                         std::uint32_t bytes) {
    return raise_fault(warp, at, FaultKind::IllegalInstruction, lane,
                       "cp.async with a source size of " + std::to_string(source_bytes) +
                           " bytes copies only " + std::to_string(bytes));
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::uint64_t shared_address(const WarpContext& warp, const Instruction* at, std::uint32_t lane) {
    return address_of(warp, at->src[0], static_cast<std::int32_t>(at->target),
                      (at->tag & bulk_copy::NARROW_SHARED) != 0, lane);
}

std::uint64_t barrier_address(const WarpContext& warp, const Instruction* at, std::uint32_t lane) {
    return address_of(warp, at->src[3], static_cast<std::int32_t>(at->extra),
                      (at->tag & bulk_copy::NARROW_BARRIER) != 0, lane);
}

/// Tells the mbarrier of a copy to shared memory that its bytes have arrived.
bool deliver(WarpContext& warp, const Instruction* at, std::uint32_t lane, std::uint32_t bytes) {
    return mbarrier::deliver(warp, at, lane, barrier_address(warp, at, lane), bytes,
                             target_reach(at));
}

std::uint32_t size_of_copy(const WarpContext& warp, const Instruction* at, std::uint32_t lane) {
    return reinterpret_cast<const Lane32*>(warp.at(at->src[2]))[lane];
}

/// Returns whether size and addresses are multiples of 16. Raises a fault if not.
bool is_whole(WarpContext& warp, const Instruction* at, std::uint32_t lane, std::uint32_t bytes,
              std::uint64_t to, std::uint64_t from) {
    if (bytes % UNIT_BYTES != 0) {
        (void)raise_fault(warp, at, FaultKind::IllegalInstruction, lane,
                          "a bulk copy of " + std::to_string(bytes) +
                              " bytes; expected a multiple of 16");
        return false;
    }
    for (const std::uint64_t address : {to, from}) {
        if (address % UNIT_BYTES != 0) {
            (void)raise_access_fault(warp, at, lane, AccessProblem::Misaligned, address, UNIT_BYTES,
                                     address == to);
            return false;
        }
    }
    return true;
}

Ends find_ends(WarpContext& warp, const Instruction* at, std::uint32_t lane, bool is_to_global,
               std::uint32_t bytes) {
    const BlockContext& block = *warp.block;
    const std::uint64_t shared = shared_address(warp, at, lane);
    const std::uint64_t global = address_of(warp, at->src[1], at->immediate,
                                            (at->tag & bulk_copy::NARROW_GLOBAL) != 0, lane);
    if (!is_whole(warp, at, lane, bytes, is_to_global ? global : shared,
                  is_to_global ? shared : global)) {
        return {};
    }
    std::byte* const place =
        find_shared(block, shared, bytes, is_to_global ? Reach::Block : target_reach(at));
    if (place == nullptr) {
        (void)raise_access_fault(warp, at, lane, AccessProblem::BeyondShared, shared, bytes,
                                 !is_to_global);
        return {};
    }
    if (bytes != 0 && !is_device_memory(*block.memory, global, bytes, is_to_global)) {
        (void)raise_access_fault(warp, at, lane, AccessProblem::Unmapped, global, bytes,
                                 is_to_global);
        return {};
    }
    return {place, reinterpret_cast<std::byte*>(global), bytes};
}

/// Finds both ends in the shared memory of a cluster; `global` is the source, which is in the
/// block's own.
Ends find_shared_ends(WarpContext& warp, const Instruction* at, std::uint32_t lane) {
    const BlockContext& block = *warp.block;
    const std::uint32_t bytes = size_of_copy(warp, at, lane);
    const std::uint64_t to = shared_address(warp, at, lane);
    const std::uint64_t from = address_of(warp, at->src[1], at->immediate,
                                          (at->tag & bulk_copy::NARROW_GLOBAL) != 0, lane);
    if (!is_whole(warp, at, lane, bytes, to, from)) {
        return {};
    }
    std::byte* const target = find_shared(block, to, bytes, target_reach(at));
    std::byte* const source = find_shared(block, from, bytes, Reach::Block);
    if (target == nullptr || source == nullptr) {
        (void)raise_access_fault(warp, at, lane, AccessProblem::BeyondShared,
                                 target == nullptr ? to : from, bytes, target == nullptr);
        return {};
    }
    return {target, source, bytes};
}

} // namespace

} // namespace cuprum::emulator
