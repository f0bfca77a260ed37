// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cp.async: copies from global to shared memory, which complete at once.

#include "interp/bulk_copy.hpp"
#include "interp/handlers/access.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

Addresses lane_addresses(const WarpContext& warp, Operand base, std::int64_t offset,
                         bool is_narrow) {
    Addresses result;
    auto* const to = reinterpret_cast<Aliased<std::uint64_t>::Value*>(result.chunks);
    if (is_narrow) {
        const auto* const lanes = lanes_of<std::uint32_t>(warp, base);
        for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
            to[lane] = lanes[lane] + static_cast<std::uint32_t>(offset);
        }
    } else {
        const auto* const lanes = lanes_of<std::uint64_t>(warp, base);
        for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
            to[lane] = lanes[lane] + static_cast<std::uint64_t>(offset);
        }
    }
    return result;
}

template <bool IS_WRITE>
bool resolve(WarpContext& warp, const Instruction* at, std::uint32_t mask, Space space,
             const Addresses& addresses, std::uint32_t bytes, std::byte** host) {
    return resolve_together<IS_WRITE>(warp, mask, space, addresses, bytes, host) ||
           resolve_lanes(warp, at, mask, space, addresses, bytes, IS_WRITE, false, host);
}

/// Finds the host addresses of lanes that read fewer bytes than they write. Returns false after a
/// fault.
bool resolve_short(WarpContext& warp, const Instruction* at, std::uint32_t mask,
                   const Addresses& addresses, const std::uint32_t* sizes, std::uint32_t bytes,
                   std::byte** host) {
    Addresses last = addresses;
    auto* const ends = reinterpret_cast<Aliased<std::uint64_t>::Value*>(last.chunks);
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(left));
        if ((addresses[lane] & (bytes - 1)) != 0) {
            (void)raise_access_fault(warp, at, lane, AccessProblem::Misaligned, addresses[lane],
                                     bytes, false);
            return false;
        }
        ends[lane] += sizes[lane] - 1;
    }
    // Checking both ends is enough: the range between them is smaller than any granule.
    return resolve_lanes(warp, at, mask, Space::Global, last, 1, false, false, host) &&
           resolve_lanes(warp, at, mask, Space::Global, addresses, 1, false, false, host);
}

/// Copies for all lanes at once if both their sources and their destinations are adjacent. Returns
/// false if they are not, or if something needs a closer look.
template <unsigned BYTES>
[[gnu::always_inline]] inline bool copy_all(const WarpContext& warp, const Addresses& into,
                                            const Addresses& out_of) {
    const std::uint64_t to = into[0];
    const std::uint64_t from = out_of[0];
    constexpr unsigned all = BYTES * WARP_SIZE;
    if (((to | from) & (BYTES - 1)) != 0 || !are_in_sequence(into, to, BYTES) ||
        !are_in_sequence(out_of, from, BYTES)) {
        return false;
    }
    std::byte* const host = resolve_range<Space::Shared>(warp, to, all, true);
    const std::byte* const source = resolve_range<Space::Global>(warp, from, all, false);
    if (host == nullptr || source == nullptr) {
        return false;
    }
    for (unsigned chunk = 0; chunk < all / VECTOR_BYTES; ++chunk) {
        store<std::uint64_t>(host, chunk, load<std::uint64_t>(source, chunk));
    }
    return true;
}

template <unsigned BYTES, CopyLimit LIMIT>
const Instruction* copy(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    std::uint32_t whole = mask; // lanes that read as much as they write
    std::uint32_t part = 0;     // lanes that read less, but not nothing
    std::uint32_t sizes[WARP_SIZE];
    if constexpr (LIMIT == CopyLimit::Ignored) {
        const std::uint32_t holds = predicate_of(warp, at->src[2]);
        whole = mask & ((at->tag & CopyForm::IS_NEGATED) != 0 ? holds : ~holds);
    } else if constexpr (LIMIT == CopyLimit::Bytes) {
        const auto* const lanes = lanes_of<std::uint32_t>(warp, at->src[2]);
        whole = 0;
        for (std::uint32_t left = mask; left != 0; left &= left - 1) {
            const auto lane = static_cast<unsigned>(__builtin_ctz(left));
            sizes[lane] = lanes[lane];
            if (sizes[lane] > BYTES) {
                return raise_copy_size_fault(warp, at, lane, sizes[lane], BYTES);
            }
            whole |= static_cast<std::uint32_t>(sizes[lane] == BYTES) << lane;
            part |= static_cast<std::uint32_t>(sizes[lane] != 0 && sizes[lane] != BYTES) << lane;
        }
    }
    const Addresses into = lane_addresses(warp, at->src[0], static_cast<std::int32_t>(at->target),
                                          (at->tag & CopyForm::NARROW_TO) != 0);
    const Addresses out_of =
        lane_addresses(warp, at->src[1], at->immediate, (at->tag & CopyForm::NARROW_FROM) != 0);
    if (whole == FULL_MASK && copy_all<BYTES>(warp, into, out_of)) {
        return at + 1;
    }
    alignas(VECTOR_BYTES) std::byte* to[WARP_SIZE];
    alignas(VECTOR_BYTES) std::byte* from[WARP_SIZE];
    if (!resolve<true>(warp, at, mask, Space::Shared, into, BYTES, to) ||
        (whole != 0 && !resolve<false>(warp, at, whole, Space::Global, out_of, BYTES, from)) ||
        (part != 0 && !resolve_short(warp, at, part, out_of, sizes, BYTES, from))) {
        return nullptr;
    }
    for_each_lane(whole, [&](unsigned lane) { __builtin_memcpy(to[lane], from[lane], BYTES); });
    for_each_lane(mask & ~whole, [&](unsigned lane) {
        __builtin_memset(to[lane], 0, BYTES);
        if ((part >> lane & 1) != 0) {
            for (unsigned i = 0; i < sizes[lane]; ++i) {
                to[lane][i] = from[lane][i];
            }
        }
    });
    return at + 1;
}

template <unsigned BYTES>
Handler select_limit(CopyLimit limit) {
    switch (limit) {
    case CopyLimit::None:
        return copy<BYTES, CopyLimit::None>;
    case CopyLimit::Bytes:
        return copy<BYTES, CopyLimit::Bytes>;
    case CopyLimit::Ignored:
        return copy<BYTES, CopyLimit::Ignored>;
    }
    return nullptr;
}

} // namespace

Handler select_copy(const CopyForm& form) {
    switch (form.bytes) {
    case 4:
        return select_limit<4>(form.limit);
    case 8:
        return select_limit<8>(form.limit);
    case 16:
        return select_limit<16>(form.limit);
    default:
        return nullptr;
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
