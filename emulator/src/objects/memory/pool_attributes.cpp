// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The attributes of a pool that programs can read and set.

#include "objects/memory/pool.hpp"
#include "objects/memory/reach.hpp"
#include "objects/process/driver.hpp"
#include "objects/process/error.hpp"

#include <string>

namespace cuprum::emulator {

void Pool::get_attribute(CUmemPool_attribute attribute, void* value) const {
    require(value != nullptr, "value must not be NULL");
    const std::lock_guard lock(mutex_);
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        *static_cast<int*>(value) = reuse_[attribute];
        return;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        *static_cast<cuuint64_t*>(value) = release_threshold_.load();
        return;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        *static_cast<cuuint64_t*>(value) = reserved_bytes_.load();
        return;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        *static_cast<cuuint64_t*>(value) = reserved_high_bytes_;
        return;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        *static_cast<cuuint64_t*>(value) = used_bytes_;
        return;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        *static_cast<cuuint64_t*>(value) = used_high_bytes_;
        return;
    }
    fail(CUDA_ERROR_INVALID_VALUE, "unknown pool attribute " + std::to_string(attribute));
}

void Pool::set_attribute(CUmemPool_attribute attribute, const void* value) {
    require(value != nullptr, "value must not be NULL");
    const std::lock_guard lock(mutex_);
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        reuse_[attribute] = *static_cast<const int*>(value) != 0 ? 1 : 0;
        return;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        release_threshold_ = *static_cast<const cuuint64_t*>(value);
        return;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        require(*static_cast<const cuuint64_t*>(value) == 0, "a high mark can only be set to 0");
        reserved_high_bytes_ = reserved_bytes_.load();
        return;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        require(*static_cast<const cuuint64_t*>(value) == 0, "a high mark can only be set to 0");
        used_high_bytes_ = used_bytes_;
        return;
    default:
        fail(CUDA_ERROR_INVALID_VALUE,
             "pool attribute " + std::to_string(attribute) + " cannot be set");
    }
}

CUmemAccess_flags Pool::access(const CUmemLocation& location) const {
    if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        require(location.type == CU_MEM_LOCATION_TYPE_HOST ||
                    location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
                    location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT,
                "unknown type of location");
        return device() < 0 ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    }
    const std::lock_guard lock(mutex_);
    const auto found = access_.find(location.id);
    return found == access_.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : found->second;
}

void Pool::check_access(const CUmemAccessDesc& description) const {
    require(description.flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
                description.flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
                description.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            "unknown access flags");
    require(description.location.type == CU_MEM_LOCATION_TYPE_DEVICE,
            "access is granted to devices only");
    (void)device_at(description.location.id);
    if (description.location.id == device() &&
        description.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
        fail(CUDA_ERROR_INVALID_DEVICE, "a pool's own device cannot lose access");
    }
}

void Pool::set_access(const CUmemAccessDesc& description) {
    {
        const std::lock_guard lock(mutex_);
        access_[description.location.id] = description.flags;
    }
    Allocations::instance().set_access(
        description.location.id, permission_of(description.flags),
        [this](const Allocation& allocation) { return allocation.pool.get() == this; });
}

} // namespace cuprum::emulator
