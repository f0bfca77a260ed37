// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cuprum::detail {

/// What the number of blocks that fit on a multiprocessor depends on, for one kernel.
struct OccupancyQuestion {
    int device = 0;
    int block_size = 0;
    std::size_t bytes = 0;
    unsigned changes = 0; // how often attributes were set before
};

/// Remembers one answer. Threads may ask and keep at the same time: nobody waits, and who comes
/// while another writes finds nothing. A copy remembers nothing.
// NOLINTNEXTLINE(*-special-member-functions): to move it is to copy it.
class LastOccupancy {
public:
    LastOccupancy() = default;

    LastOccupancy(const LastOccupancy& /*other*/) noexcept {}

    LastOccupancy& operator=(const LastOccupancy& /*other*/) noexcept {
        keep({}, -1);
        return *this;
    }

    ~LastOccupancy() = default;

    /// Returns the answer, -1 if it is not known.
    [[nodiscard]] int find(const OccupancyQuestion& asked) const noexcept {
        // NOTE: orders on the values instead of fences, which the thread sanitizer does not know.
        const unsigned before = version_.load(std::memory_order_acquire);
        const bool is_same = sizes_.load(std::memory_order_acquire) == pack(asked) &&
                             bytes_.load(std::memory_order_acquire) == asked.bytes &&
                             changes_.load(std::memory_order_acquire) == asked.changes;
        const int blocks = blocks_.load(std::memory_order_acquire);
        const bool is_whole = before % 2 == 0 && version_.load(std::memory_order_relaxed) == before;
        return is_same && is_whole ? blocks : -1;
    }

    void keep(const OccupancyQuestion& asked, int blocks) noexcept {
        unsigned before = version_.load(std::memory_order_relaxed);
        if (before % 2 != 0 ||
            !version_.compare_exchange_strong(before, before + 1, std::memory_order_acquire)) {
            return; // another thread is writing
        }
        sizes_.store(pack(asked), std::memory_order_release);
        bytes_.store(asked.bytes, std::memory_order_release);
        changes_.store(asked.changes, std::memory_order_release);
        blocks_.store(blocks, std::memory_order_release);
        version_.store(before + 2, std::memory_order_release);
    }

private:
    [[nodiscard]] static std::uint64_t pack(const OccupancyQuestion& asked) noexcept {
        return std::uint64_t{static_cast<std::uint32_t>(asked.device)} << 32U |
               static_cast<std::uint32_t>(asked.block_size);
    }

    std::atomic<unsigned> version_{0}; // odd while it is written
    std::atomic<unsigned> changes_{0};
    std::atomic<std::uint64_t> sizes_{0}; // no block has size 0: this asks for nothing
    std::atomic<std::size_t> bytes_{0};
    std::atomic<int> blocks_{-1};
};

} // namespace cuprum::detail
