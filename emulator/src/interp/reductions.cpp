// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/reductions.hpp"

#include <bit>

namespace cuprum::emulator {

namespace {

/// How much patience it takes to look through the table: about as many reductions could be applied
/// meanwhile, if no other worker uses their words.
constexpr std::int32_t COST_OF_LOOKING = 16;

} // namespace

void apply_within(PendingReductions& pending, std::uint64_t begin, std::uint64_t end) {
    // Words have up to eight bytes. A shorter one that ends right before `begin` counts too.
    constexpr std::uint64_t most_bytes_before = sizeof(std::uint64_t) - 1;
    const std::uint64_t first = begin > most_bytes_before ? begin - most_bytes_before : 1;
    std::uint32_t within = 0;
    for (const std::byte* const place : pending.places) { // no branches, and no place is at 0
        within |= static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(place) - first <
                                             end - first);
    }
    pending.patience -= COST_OF_LOOKING;
    if (within == 0 && pending.patience > 0) {
        return;
    }
    for (const std::uint64_t word : pending.used) {
        pending.patience -= std::popcount(word);
    }
    pending.apply(pending);
}

} // namespace cuprum::emulator
