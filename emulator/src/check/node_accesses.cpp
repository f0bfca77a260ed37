// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "check/node_accesses.hpp"

#include <algorithm>
#include <iterator>

namespace cuprum::emulator::check {

void NodeAccesses::add(std::uint64_t address, std::uint64_t bytes, bool is_write) noexcept {
    const std::lock_guard lock(mutex_);
    Ranges& ranges = is_write ? writes_ : reads_;
    const auto after = ranges.upper_bound(address);
    if (after != ranges.begin() && std::prev(after)->second >= address + bytes) {
        return; // known already
    }
    if (ranges.size() < MAX_RANGES) {
        try {
            unite(ranges, address, address + bytes);
        } catch (...) {
            // Out of memory: the access stays unseen.
        }
    }
}

void NodeAccesses::clear() noexcept {
    const std::lock_guard lock(mutex_);
    reads_.clear();
    writes_.clear();
}

std::vector<NodeRange> NodeAccesses::ranges() const {
    const std::lock_guard lock(mutex_);
    std::vector<NodeRange> all;
    all.reserve(reads_.size() + writes_.size());
    for (const auto& [begin, end] : reads_) {
        all.push_back({begin, end, false});
    }
    for (const auto& [begin, end] : writes_) {
        all.push_back({begin, end, true});
    }
    return all;
}

void NodeAccesses::unite(Ranges& ranges, std::uint64_t begin, std::uint64_t end) {
    auto first = ranges.lower_bound(begin);
    if (first != ranges.begin() && std::prev(first)->second >= begin) {
        --first;
        begin = first->first;
    }
    auto last = first;
    for (; last != ranges.end() && last->first <= end; ++last) {
        end = std::max(end, last->second);
    }
    ranges.insert_or_assign(ranges.erase(first, last), begin, end);
}

} // namespace cuprum::emulator::check
