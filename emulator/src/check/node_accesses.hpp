// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which device memory one node of a graph reads and writes (CUPRUM_EMULATOR_CHECK=graphs).

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace cuprum::emulator::check {

/// A range of addresses that a node uses in one way.
struct NodeRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool is_write = false;
};

/// The plain accesses of one node. Safe to use from several workers.
///
/// Atomic and volatile accesses do not count: nodes may use them to agree with each other. The
/// number of ranges is limited; accesses beyond the limit are not recorded.
class NodeAccesses {
public:
    void add(std::uint64_t address, std::uint64_t bytes, bool is_write) noexcept;

    /// Forgets everything, for the next launch.
    void clear() noexcept;

    /// Returns all ranges, the reads and then the writes.
    [[nodiscard]] std::vector<NodeRange> ranges() const;

private:
    static constexpr std::size_t MAX_RANGES = 8192;

    using Ranges = std::map<std::uint64_t, std::uint64_t>; // begin to end, never touching

    static void unite(Ranges& ranges, std::uint64_t begin, std::uint64_t end);

    mutable std::mutex mutex_;
    Ranges reads_;
    Ranges writes_;
};

} // namespace cuprum::emulator::check
