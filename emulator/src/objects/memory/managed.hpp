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

/// What programs have advised about managed memory. It changes nothing here, but can be asked.
///
/// Kept by page, as CUDA does: a range that is advised about is rounded out to whole pages, and
/// what is asked about several pages is what holds for all of them.
class ManagedAdvice {
public:
    /// Returns the process's advice; never destroyed.
    [[nodiscard]] static ManagedAdvice& instance();

    /// Remembers advice; throws INVALID_VALUE if the range is not managed memory.
    void advise(std::uint64_t address, std::uint64_t bytes, CUmem_advise advice,
                const CUmemLocation& location);

    /// Throws what prefetch() would, and does nothing.
    void check_prefetch(std::uint64_t address, std::uint64_t bytes,
                        const CUmemLocation& location) const;

    /// Remembers where a range was prefetched to last.
    void prefetch(std::uint64_t address, std::uint64_t bytes, const CUmemLocation& location);

    /// Writes an attribute of a range as cuMemRangeGetAttribute does.
    void get(void* data, std::size_t size, CUmem_range_attribute attribute, std::uint64_t address,
             std::uint64_t bytes);

    /// Drops what is known of an allocation that is gone.
    void forget(std::uint64_t allocation_id) noexcept;

private:
    struct Advice {
        bool is_read_mostly = false;
        CUmemLocation preferred{CU_MEM_LOCATION_TYPE_INVALID, 0};
        CUmemLocation prefetched{CU_MEM_LOCATION_TYPE_INVALID, 0};
        std::set<int> accessed_by; // devices; CU_DEVICE_CPU for the host
    };

    /// Advice by the address where it begins to hold; it does up to the next.
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
