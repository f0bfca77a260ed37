// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The unused ranges of something that is handed out in pieces: device addresses, a kernel's heap.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace cuprum::emulator {

/// Free ranges, by address and by size. Neighbours are joined. Not safe to use from several
/// threads.
class FreeRanges {
public:
    /// Adds a range that overlaps none of the others.
    void put(std::uint64_t base, std::uint64_t bytes);

    /// Removes a piece and returns its base, a multiple of `alignment`: the lowest of those that
    /// fit best. Returns 0 if there is none, or none that is found quickly; `looks_everywhere`
    /// finds it.
    [[nodiscard]] std::uint64_t take(std::uint64_t bytes, std::uint64_t alignment,
                                     bool looks_everywhere = false);

    /// Removes the beginning of the range that starts at `base`. Returns false if it is too short.
    [[nodiscard]] bool take_at(std::uint64_t base, std::uint64_t bytes);

private:
    using ByBase = std::map<std::uint64_t, std::uint64_t>; // base to bytes

    ByBase::iterator erase(ByBase::iterator range);
    void insert(std::uint64_t base, std::uint64_t bytes);

    ByBase by_base_;
    std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_; // bytes and base
};

} // namespace cuprum::emulator
