// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/managed.hpp"

#include "objects/allocations.hpp"
#include "objects/driver.hpp"
#include "objects/error.hpp"

#include <cstring>

namespace cuprum::emulator {

namespace {

/// Checks that a location exists and returns it as the older calls number it.
int ordinal_of(const CUmemLocation& location) {
    switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return device_at(location.id).ordinal();
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return CU_DEVICE_CPU;
    default:
        fail(CUDA_ERROR_INVALID_VALUE, "unknown type of location");
    }
}

int known_ordinal_of(const CUmemLocation& location) {
    return location.type == CU_MEM_LOCATION_TYPE_INVALID ? CU_DEVICE_INVALID : ordinal_of(location);
}

void write_int(void* data, std::size_t size, int value) {
    require(size == sizeof value, "the attribute takes 4 bytes");
    std::memcpy(data, &value, sizeof value);
}

} // namespace

ManagedAdvice& ManagedAdvice::instance() {
    static auto* advice = new ManagedAdvice;
    return *advice;
}

void ManagedAdvice::advise(std::uint64_t address, std::uint64_t bytes, CUmem_advise advice,
                           const CUmemLocation& location) {
    const std::lock_guard lock(mutex_);
    Advice& known = of(address, bytes, true);
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
        known.is_read_mostly = true;
        return;
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        known.is_read_mostly = false;
        return;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        (void)ordinal_of(location);
        known.preferred = location;
        return;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        known.preferred = {CU_MEM_LOCATION_TYPE_INVALID, 0};
        return;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
        known.accessed_by.insert(ordinal_of(location));
        return;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        known.accessed_by.erase(ordinal_of(location));
        return;
    }
    fail(CUDA_ERROR_INVALID_VALUE, "unknown advice");
}

void ManagedAdvice::prefetch(std::uint64_t address, std::uint64_t bytes,
                             const CUmemLocation& location) {
    (void)ordinal_of(location);
    const std::lock_guard lock(mutex_);
    of(address, bytes).prefetched = location;
}

void ManagedAdvice::get(void* data, std::size_t size, CUmem_range_attribute attribute,
                        std::uint64_t address, std::uint64_t bytes) {
    require(data != nullptr, "data must not be NULL");
    const std::lock_guard lock(mutex_);
    const Advice& known = of(address, bytes);
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        write_int(data, size, known.is_read_mostly ? 1 : 0);
        return;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        write_int(data, size, known_ordinal_of(known.preferred));
        return;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        write_int(data, size, known_ordinal_of(known.prefetched));
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

/// Returns what is known of the allocation of a range; the mutex is held.
ManagedAdvice::Advice& ManagedAdvice::of(std::uint64_t address, std::uint64_t bytes,
                                         bool is_advised) {
    const auto allocation = Allocations::instance().find(address);
    require(bytes != 0 && allocation != nullptr && allocation->is_managed() &&
                bytes <= allocation->bytes - (address - allocation->base),
            "the range is not managed memory");
    if (is_advised && allocation->kind != MemoryKind::Managed) { // as NVIDIA's driver 580 does
        fail(CUDA_ERROR_NOT_SUPPORTED,
             "memory of a managed pool takes no advice; its location is a "
             "property of the pool, and it can be prefetched");
    }
    return by_allocation_[allocation->id];
}

} // namespace cuprum::emulator
