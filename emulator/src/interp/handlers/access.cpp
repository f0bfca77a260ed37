// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/handlers/access.hpp"

#include "interp/cluster.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

/// The host address of one lane's bytes, or the problem with its address.
struct Place {
    std::byte* host = nullptr;
    AccessProblem problem = AccessProblem::Unmapped;
};

Place in_shared(const BlockContext& block, std::uint64_t address, std::uint32_t bytes,
                Reach reach) {
    return {find_shared(block, address, bytes, reach), AccessProblem::BeyondShared};
}

Place in_local(const WarpContext& warp, unsigned lane, std::uint64_t offset, std::uint32_t bytes) {
    const BlockContext& block = *warp.block;
    const std::uint64_t stride = block.local_stride_bytes;
    if (offset > stride || bytes > stride - offset) {
        return {nullptr, AccessProblem::BeyondLocal};
    }
    return {block.local + (std::uint64_t{warp.index} * WARP_SIZE + lane) * stride + offset};
}

Place in_param(const BlockContext& block, std::uint64_t offset, std::uint32_t bytes) {
    if (offset > block.parameter_bytes || bytes > block.parameter_bytes - offset) {
        return {nullptr, AccessProblem::BeyondParam};
    }
    return {const_cast<std::byte*>(block.parameters) + offset};
}

Place in_global(const MemoryMap& map, std::uint64_t address, std::uint32_t bytes, bool is_write) {
    if (is_mapped(map, address, address + bytes - 1, is_write)) {
        return {reinterpret_cast<std::byte*>(address)};
    }
    if (map.is_accessible != nullptr && map.is_accessible(map, address, bytes, is_write)) {
        return {reinterpret_cast<std::byte*>(address)};
    }
    return {};
}

Place in_generic(const WarpContext& warp, unsigned lane, std::uint64_t address, std::uint32_t bytes,
                 bool is_write, bool is_atomic) {
    const BlockContext& block = *warp.block;
    const MemoryMap& map = *block.memory;
    if (const std::uint64_t offset = address - map.shared_base; offset < map.shared_bytes) {
        return in_shared(block, offset, bytes, Reach::Cluster);
    }
    if (const std::uint64_t offset = address - map.local_base; offset < map.local_bytes) {
        // PTX does not define atomic operations on local memory, but ptxas makes them work where it
        // sees the variable. libcu++ relies on that; the check "memory" reports them.
        return is_atomic && (map.checks & CHECK_MEMORY) != 0
                   ? Place{nullptr, AccessProblem::NotAtomic}
                   : in_local(warp, lane, offset, bytes);
    }
    const std::uint64_t offset = address - reinterpret_cast<std::uint64_t>(block.parameters);
    if (offset < block.parameter_bytes && !is_write) {
        return in_param(block, offset, bytes);
    }
    return in_global(map, address, bytes, is_write);
}

/// Tries to resolve all lanes in the local memory of their own threads. Lanes that are not in
/// `mask` get the address of the first that is.
bool resolve_local(const WarpContext& warp, std::uint32_t mask, const Addresses& addresses,
                   std::uint64_t origin, std::uint32_t bytes, std::byte** host) {
    using U = std::uint64_t;
    const BlockContext& block = *warp.block;
    const U stride = block.local_stride_bytes;
    if (bytes > stride || (block.memory->checks & CHECK_MEMORY) != 0) {
        return false;
    }
    const auto first = static_cast<unsigned>(__builtin_ctz(mask));
    const U offset = addresses[first] - origin;
    const U base = reinterpret_cast<U>(block.local) + U{warp.index} * WARP_SIZE * stride;
    Vector<U> lane_base = broadcast<U>(base) + iota<U>() * stride;
    Vector<U> wrong{};
    auto* const to = reinterpret_cast<std::byte*>(host);
    for (unsigned chunk = 0; chunk < CHUNKS<U>; ++chunk) {
        Vector<U> value = addresses.chunks[chunk] - origin;
        Vector<U> place = lane_base + value;
        if (mask != FULL_MASK) {
            const auto is_active = expand<U>(mask, chunk);
            value = is_active ? value : broadcast<U>(offset);
            place = is_active ? place : broadcast<U>(base + first * stride + offset);
        }
        wrong |= (value & (bytes - 1)) | reinterpret_cast<Vector<U>>(value > stride - bytes);
        store<U>(to, chunk, place);
        lane_base += LANES<U> * stride;
    }
    return is_zero(wrong);
}

} // namespace

template <bool IS_WRITE>
bool resolve_together(const WarpContext& warp, std::uint32_t mask, Space space,
                      const Addresses& addresses, std::uint32_t bytes, std::byte** host) {
    using U = std::uint64_t;
    const BlockContext& block = *warp.block;
    const MemoryMap& map = *block.memory;
    if (space == Space::Param) {
        return false;
    }
    // The first lane decides which memory it is. Lanes in other memory then turn out to be too far
    // away.
    const U any = addresses[static_cast<unsigned>(__builtin_ctz(mask))];
    if (space == Space::Local) {
        return resolve_local(warp, mask, addresses, 0, bytes, host);
    }
    if (space == Space::None && any - map.local_base < map.local_bytes) {
        return resolve_local(warp, mask, addresses, map.local_base, bytes, host);
    }
    const bool is_window = space == Space::None && any - map.shared_base < map.shared_bytes;
    const bool is_shared = space == Space::Shared || is_window;
    const U origin = !is_shared ? map.memory_base : is_window ? map.shared_base : 0;
    const U offset = any - origin;
    Addresses offsets;
    Vector<U> seen{};
    Vector<U> differing{};
    for (unsigned chunk = 0; chunk < CHUNKS<U>; ++chunk) {
        Vector<U> value = addresses.chunks[chunk] - origin;
        if (mask != FULL_MASK) {
            // Inactive lanes must not matter, so they repeat the first lane's address.
            value = expand<U>(mask, chunk) ? value : broadcast<U>(offset);
        }
        offsets.chunks[chunk] = value;
        seen |= value;
        differing |= value ^ offset;
    }
    U all_bits = origin;
    U differing_bits = 0;
    for (unsigned i = 0; i < LANES<U>; ++i) {
        all_bits |= seen[i];
        differing_bits |= differing[i];
    }
    if ((all_bits & (bytes - 1)) != 0) {
        return false;
    }
    if (is_shared) {
        // These bits together are at least as large as every offset. Usually that settles it.
        const U reach = offset | differing_bits;
        bool fits = reach < block.shared_bytes && bytes <= block.shared_bytes - reach;
        if (!fits) {
            fits = true;
            for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
                const U value = offsets[lane];
                fits &= value < block.shared_bytes && bytes <= block.shared_bytes - value;
            }
        }
        if (!fits) {
            return false;
        }
    } else {
        const auto* const granules = reinterpret_cast<const std::uint8_t*>(map.granules);
        constexpr std::uint8_t wanted = IS_WRITE ? WRITE_BIT : READ_BIT;
        if (differing_bits >> map.granule_shift == 0) {
            if (!is_mapped(map, any, any, IS_WRITE)) {
                return false;
            }
        } else {
            for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
                const U value = offsets[lane];
                if (value >= map.memory_bytes ||
                    (__atomic_load_n(granules + (value >> map.granule_shift), __ATOMIC_RELAXED) &
                     wanted) == 0) {
                    return false;
                }
            }
        }
    }
    const U place = is_shared ? reinterpret_cast<U>(block.shared) : origin;
    auto* const to = reinterpret_cast<std::byte*>(host);
    for (unsigned chunk = 0; chunk < CHUNKS<U>; ++chunk) {
        store<U>(to, chunk, offsets.chunks[chunk] + place);
    }
    return true;
}

template bool resolve_together<false>(const WarpContext&, std::uint32_t, Space, const Addresses&,
                                      std::uint32_t, std::byte**);
template bool resolve_together<true>(const WarpContext&, std::uint32_t, Space, const Addresses&,
                                     std::uint32_t, std::byte**);

bool resolve_lanes(WarpContext& warp, const Instruction* at, std::uint32_t mask, Space space,
                   const Addresses& addresses, std::uint32_t bytes, bool is_write, bool is_atomic,
                   std::byte** host) {
    while (mask != 0) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(mask));
        mask &= mask - 1;
        const std::uint64_t address = addresses[lane];
        Place place;
        if ((address & (bytes - 1)) != 0) {
            place.problem = AccessProblem::Misaligned;
        } else {
            switch (space) {
            case Space::Shared:
                place = in_shared(*warp.block, address, bytes,
                                  (at->tag & REACHES_CLUSTER) != 0 ? Reach::Cluster : Reach::Block);
                break;
            case Space::Local:
                place = in_local(warp, lane, address, bytes);
                break;
            case Space::Param:
                place = in_param(*warp.block, address, bytes);
                break;
            case Space::None:
                place = in_generic(warp, lane, address, bytes, is_write, is_atomic);
                break;
            default:
                place = in_global(*warp.block->memory, address, bytes, is_write);
                break;
            }
        }
        if (place.host == nullptr) {
            (void)raise_access_fault(warp, at, lane, place.problem, address, bytes, is_write);
            return false;
        }
        host[lane] = place.host;
    }
    return true;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
