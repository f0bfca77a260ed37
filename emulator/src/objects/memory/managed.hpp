// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>

namespace cuprum::emulator {

struct Allocation;

/// The advice that programs gave about managed memory. It has no effect here, but can be queried.
///
/// It is kept for each page, as CUDA does. Ranges are rounded out to whole pages. A query about
/// several pages returns what applies to all of them.
class ManagedAdvice {
public:
    /// Returns the process's advice; never destroyed.
    [[nodiscard]] static ManagedAdvice& instance();

    /// Remembers advice. Throws INVALID_VALUE if the range is not managed memory.
    void advise(std::uint64_t address, std::uint64_t bytes, CUmem_advise advice,
                const CUmemLocation& location);

    /// Throws if prefetch() would throw. Changes nothing.
    void check_prefetch(std::uint64_t address, std::uint64_t bytes,
                        const CUmemLocation& location) const;

    /// Remembers where a range was prefetched to last.
    void prefetch(std::uint64_t address, std::uint64_t bytes, const CUmemLocation& location);

    /// Writes an attribute of a range as cuMemRangeGetAttribute does.
    void get(void* data, std::size_t size, CUmem_range_attribute attribute, std::uint64_t address,
             std::uint64_t bytes);

    /// Forgets the advice about a freed allocation.
    void forget(std::uint64_t allocation_id) noexcept;

private:
    /// Orders devices by their numbers, and CU_DEVICE_CPU, which is negative, behind them.
    struct HostLast {
        bool operator()(int first, int second) const noexcept {
            return static_cast<unsigned int>(first) < static_cast<unsigned int>(second);
        }
    };

    struct Advice {
        bool is_read_mostly = false;
        CUmemLocation preferred{CU_MEM_LOCATION_TYPE_INVALID, 0};
        CUmemLocation prefetched{CU_MEM_LOCATION_TYPE_INVALID, 0};
        std::set<int, HostLast> accessed_by; // devices; CU_DEVICE_CPU for the host
    };

    /// Advice by the first address that it applies to. It applies up to the next entry.
    using Pieces = std::map<std::uint64_t, Advice>;

    template <typename Change>
    void change(const Allocation& allocation, std::uint64_t address, std::uint64_t bytes,
                const Change& apply);
    [[nodiscard]] Advice common_advice(const Allocation& allocation, std::uint64_t address,
                                       std::uint64_t bytes) const;
    static bool is_same(const Advice& first, const Advice& second);

    std::mutex mutex_;
    std::map<std::uint64_t, Pieces> by_allocation_; // by the allocation's id
};

} // namespace cuprum::emulator
