// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

namespace cuprum::emulator {

/// Integer reductions to global memory that a worker has collected and not yet applied.
///
/// When many workers add to the same few words, such as the bins of a histogram, each addition
/// waits until the word's cache line arrives from another core. A worker therefore collects
/// reductions by address and applies their sum later: at the end of its range of blocks, and before
/// it runs anything else. Only reductions marked with bytecode::CAN_WAIT are collected (see
/// passes/find_last_reductions.cpp): nothing that their thread does later depends on them, except
/// loads of the same words. A SettleForm before such a load applies what the load would see.
///
/// It is a direct-mapped table. A reduction whose place is taken by another address is exchanged
/// with it. If that happens too often, the table does not help and stays out of use for this grid.
struct PendingReductions {
    static constexpr std::uint32_t SIZE = 512;
    static constexpr std::uint32_t WORD_BITS = 64;
    /// How many more exchanges than additions to a present word are tolerated.
    static constexpr std::int32_t PATIENCE = 1024;

    /// Applies everything and empties the table. Null if the table is empty. It also says which
    /// operation the table holds.
    void (*apply)(PendingReductions& pending) = nullptr;
    std::int32_t patience = PATIENCE;
    std::uint64_t begin = 0;                   // no collected word lies before this address,
    std::uint64_t end = 0;                     // and none ends behind this one
    std::uint64_t used[SIZE / WORD_BITS] = {}; // a bit for each entry in use
    std::byte* places[SIZE] = {};              // host addresses; null if not in use
    std::uint64_t values[SIZE] = {};
};

/// Applies what is pending, if anything.
inline void apply_reductions(PendingReductions& pending) {
    if (pending.apply != nullptr) {
        pending.apply(pending);
    }
}

/// Applies what is pending if any of it may be to the bytes from `begin` to before `end`. Call it
/// only if something is pending. Applying the words one by one takes as long as it would have taken
/// without the table, so this uses up patience.
void apply_within(PendingReductions& pending, std::uint64_t begin, std::uint64_t end);

} // namespace cuprum::emulator
