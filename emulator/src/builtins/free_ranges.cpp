// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "builtins/free_ranges.hpp"

#include <iterator>

namespace cuprum::emulator {

namespace {

/// How many ranges that may be misaligned are tried before a larger one is split.
constexpr int FEW = 8;

std::uint64_t aligned(std::uint64_t base, std::uint64_t alignment) {
    return (base + alignment - 1) / alignment * alignment;
}

} // namespace

void FreeRanges::put(std::uint64_t base, std::uint64_t bytes) {
    auto after = by_base_.lower_bound(base);
    if (after != by_base_.end() && base + bytes == after->first) {
        bytes += after->second;
        after = erase(after);
    }
    if (after != by_base_.begin()) {
        const auto before = std::prev(after);
        if (before->first + before->second == base) {
            base = before->first;
            bytes += before->second;
            erase(before);
        }
    }
    insert(base, bytes);
}

std::uint64_t FreeRanges::take(std::uint64_t bytes, std::uint64_t alignment,
                               bool looks_everywhere) {
    auto found = by_size_.lower_bound({bytes, 0});
    const auto fits = [&](const auto& range) {
        const std::uint64_t lost = aligned(range.second, alignment) - range.second;
        return lost < range.first && range.first - lost >= bytes;
    };
    for (int tried = 0; found != by_size_.end() && !fits(*found); ++found, ++tried) {
        if (tried == FEW && !looks_everywhere) {
            found = by_size_.lower_bound({bytes + alignment, 0}); // fits wherever it starts
            break;
        }
    }
    if (found == by_size_.end()) {
        return 0;
    }
    const auto [length, start] = *found;
    const std::uint64_t base = aligned(start, alignment);
    erase(by_base_.find(start));
    if (base != start) {
        insert(start, base - start);
    }
    if (start + length != base + bytes) {
        insert(base + bytes, start + length - base - bytes);
    }
    return base;
}

bool FreeRanges::take_at(std::uint64_t base, std::uint64_t bytes) {
    const auto found = by_base_.find(base);
    if (found == by_base_.end() || found->second < bytes) {
        return false;
    }
    const std::uint64_t rest = found->second - bytes;
    erase(found);
    if (rest != 0) {
        insert(base + bytes, rest);
    }
    return true;
}

FreeRanges::ByBase::iterator FreeRanges::erase(ByBase::iterator range) {
    by_size_.erase({range->second, range->first});
    return by_base_.erase(range);
}

void FreeRanges::insert(std::uint64_t base, std::uint64_t bytes) {
    by_base_.emplace(base, bytes);
    by_size_.emplace(bytes, base);
}

} // namespace cuprum::emulator
