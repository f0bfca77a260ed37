// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/memory/managed.hpp"

#include "objects/memory/allocations.hpp"
#include "objects/memory/host_pages.hpp"
#include "objects/process/driver.hpp"
#include "objects/process/error.hpp"

#include <algorithm>
#include <cstring>

namespace cuprum::emulator {

namespace {

constexpr CUmemLocation NOWHERE{CU_MEM_LOCATION_TYPE_INVALID, 0};

/// Returns a location in the form that queries return: without a number where numbers do not
/// matter, and with the number of the host's current node.
CUmemLocation checked(const CUmemLocation& location) {
    switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        (void)device_at(location.id);
        return location;
    case CU_MEM_LOCATION_TYPE_HOST:
        return {CU_MEM_LOCATION_TYPE_HOST, 0};
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        require(is_host_node(location.id), "the host has no NUMA node of this number");
        return location;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return {CU_MEM_LOCATION_TYPE_HOST_NUMA, current_host_node()};
    default:
        fail(CUDA_ERROR_INVALID_VALUE, "unknown type of location");
    }
}

int ordinal_of(const CUmemLocation& location) {
    return location.type == CU_MEM_LOCATION_TYPE_INVALID  ? CU_DEVICE_INVALID
           : location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id
                                                          : CU_DEVICE_CPU;
}

/// Returns the accessing location: a device, or the host as a whole.
int accessor_of(const CUmemLocation& location) {
    require(location.type == CU_MEM_LOCATION_TYPE_DEVICE ||
                location.type == CU_MEM_LOCATION_TYPE_HOST,
            "this advice takes a device or the host, not a NUMA node of the host");
    return ordinal_of(checked(location));
}

bool is_same(const CUmemLocation& first, const CUmemLocation& second) {
    return first.type == second.type && first.id == second.id;
}

std::shared_ptr<Allocation> managed_memory(std::uint64_t address, std::uint64_t bytes) {
    auto allocation = Allocations::instance().find(address);
    require(bytes != 0 && allocation != nullptr && allocation->is_managed() &&
                bytes <= allocation->bytes - (address - allocation->base),
            "the range is not managed memory");
    return allocation;
}

void write_int(void* data, std::size_t size, int value) {
    require(size == sizeof value, "the attribute takes 4 bytes");
    std::memcpy(data, &value, sizeof value);
}

std::uint64_t first_page(const Allocation& allocation, std::uint64_t address) {
    return std::max(allocation.base, address / PAGE_BYTES * PAGE_BYTES);
}

std::uint64_t end_of_pages(std::uint64_t end) {
    return (end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

} // namespace

ManagedAdvice& ManagedAdvice::instance() {
    static auto* advice = new ManagedAdvice;
    return *advice;
}

void ManagedAdvice::advise(std::uint64_t address, std::uint64_t bytes, CUmem_advise advice,
                           const CUmemLocation& location) {
    const auto allocation = managed_memory(address, bytes);
    if (allocation->kind != MemoryKind::Managed) { // as NVIDIA's driver 580 does
        fail(CUDA_ERROR_NOT_SUPPORTED,
             "memory of a managed pool takes no advice; its location is a "
             "property of the pool, and it can be prefetched");
    }
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        change(*allocation, address, bytes, [&](Advice& known) {
            known.is_read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
        });
        return;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: {
        const CUmemLocation place =
            advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ? checked(location) : NOWHERE;
        change(*allocation, address, bytes, [&](Advice& known) { known.preferred = place; });
        return;
    }
    case CU_MEM_ADVISE_SET_ACCESSED_BY: {
        const int who = accessor_of(location);
        change(*allocation, address, bytes, [&](Advice& known) { known.accessed_by.insert(who); });
        return;
    }
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY: {
        const int who = accessor_of(location);
        change(*allocation, address, bytes, [&](Advice& known) { known.accessed_by.erase(who); });
        return;
    }
    }
    fail(CUDA_ERROR_INVALID_VALUE, "unknown advice");
}

void ManagedAdvice::check_prefetch(std::uint64_t address, std::uint64_t bytes,
                                   const CUmemLocation& location) const {
    (void)checked(location);
    (void)managed_memory(address, bytes);
}

void ManagedAdvice::prefetch(std::uint64_t address, std::uint64_t bytes,
                             const CUmemLocation& location) {
    const CUmemLocation place = checked(location);
    const auto allocation = managed_memory(address, bytes);
    change(*allocation, address, bytes, [&](Advice& known) { known.prefetched = place; });
}

void ManagedAdvice::get(void* data, std::size_t size, CUmem_range_attribute attribute,
                        std::uint64_t address, std::uint64_t bytes) {
    require(data != nullptr, "data must not be NULL");
    const auto allocation = managed_memory(address, bytes);
    const std::lock_guard lock(mutex_);
    const Advice known = common_advice(*allocation, address, bytes);
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        write_int(data, size, known.is_read_mostly ? 1 : 0);
        return;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        write_int(data, size, ordinal_of(known.preferred));
        return;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        write_int(data, size, ordinal_of(known.prefetched));
        return;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        write_int(data, size, known.preferred.type);
        return;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
        write_int(data, size, known.preferred.id);
        return;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        write_int(data, size, known.prefetched.type);
        return;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
        write_int(data, size, known.prefetched.id);
        return;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: {
        require(size != 0 && size % sizeof(int) == 0,
                "the attribute takes a list of 4-byte numbers");
        auto* out = static_cast<int*>(data);
        auto next = known.accessed_by.begin();
        for (std::size_t index = 0; index < size / sizeof(int); ++index) {
            out[index] = next == known.accessed_by.end() ? CU_DEVICE_INVALID : *next++;
        }
        return;
    }
    }
    fail(CUDA_ERROR_INVALID_VALUE, "unknown attribute of a range");
}

void ManagedAdvice::forget(std::uint64_t allocation_id) noexcept {
    const std::lock_guard lock(mutex_);
    by_allocation_.erase(allocation_id);
}

/// Changes the advice for the pages of a range. Neighbours that become equal are joined.
template <typename Change>
void ManagedAdvice::change(const Allocation& allocation, std::uint64_t address, std::uint64_t bytes,
                           const Change& apply) {
    const std::lock_guard lock(mutex_);
    Pieces& pieces = by_allocation_[allocation.id];
    if (pieces.empty()) {
        pieces.emplace(allocation.base, Advice{});
    }
    const auto split_at = [&](std::uint64_t at) {
        const auto after = pieces.upper_bound(at);
        const auto& [start, advice] = *std::prev(after);
        return start == at ? std::prev(after) : pieces.emplace_hint(after, at, advice);
    };
    const std::uint64_t end = end_of_pages(address + bytes);
    const auto last = end < allocation.base + allocation.bytes ? split_at(end) : pieces.end();
    auto each = split_at(first_page(allocation, address));
    const auto before = each == pieces.begin() ? each : std::prev(each);
    for (; each != last; ++each) {
        apply(each->second);
    }
    for (each = before; each != pieces.end() && each != last;) {
        const auto next = std::next(each);
        if (next != pieces.end() && is_same(each->second, next->second)) {
            const bool was_last = next == last;
            pieces.erase(next);
            if (was_last) {
                break;
            }
        } else {
            each = next;
        }
    }
}

/// Returns the advice that applies to all pages of a range. The mutex must be held.
ManagedAdvice::Advice ManagedAdvice::common_advice(const Allocation& allocation,
                                                   std::uint64_t address,
                                                   std::uint64_t bytes) const {
    const auto found = by_allocation_.find(allocation.id);
    if (found == by_allocation_.end()) {
        return {};
    }
    const Pieces& pieces = found->second;
    auto each = std::prev(pieces.upper_bound(first_page(allocation, address)));
    Advice common = each->second;
    const std::uint64_t end = end_of_pages(address + bytes);
    for (++each; each != pieces.end() && each->first < end; ++each) {
        const Advice& other = each->second;
        common.is_read_mostly &= other.is_read_mostly;
        if (!emulator::is_same(common.preferred, other.preferred)) {
            common.preferred = NOWHERE;
        }
        if (!emulator::is_same(common.prefetched, other.prefetched)) {
            common.prefetched = NOWHERE;
        }
        std::erase_if(common.accessed_by,
                      [&](int who) { return !other.accessed_by.contains(who); });
    }
    return common;
}

bool ManagedAdvice::is_same(const Advice& first, const Advice& second) {
    return first.is_read_mostly == second.is_read_mostly &&
           emulator::is_same(first.preferred, second.preferred) &&
           emulator::is_same(first.prefetched, second.prefetched) &&
           first.accessed_by == second.accessed_by;
}

} // namespace cuprum::emulator
