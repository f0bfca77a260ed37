// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/memory/default_pools.hpp"

#include "objects/devices/device.hpp"
#include "objects/process/driver.hpp"
#include "objects/process/error.hpp"

namespace cuprum::emulator {

namespace {

bool is_kept_by_device(const CUmemLocation& location, CUmemAllocationType type) {
    return location.type == CU_MEM_LOCATION_TYPE_DEVICE && type == CU_MEM_ALLOCATION_TYPE_PINNED;
}

} // namespace

DefaultPools& DefaultPools::instance() {
    static auto* pools = new DefaultPools;
    return *pools;
}

std::shared_ptr<Pool> DefaultPools::default_pool(const CUmemLocation& location,
                                                 CUmemAllocationType type) {
    if (is_kept_by_device(location, type)) {
        return device_at(location.id).default_pool();
    }
    const std::lock_guard lock(mutex_);
    const Key key = key_of(location, type);
    if (const auto found = defaults_.find(key); found != defaults_.end()) {
        return found->second;
    }
    // Create the pool before adding it, because the constructor may throw.
    return defaults_.emplace(key, Pool::create_default(type, location)).first->second;
}

std::shared_ptr<Pool> DefaultPools::current(const CUmemLocation& location,
                                            CUmemAllocationType type) {
    if (is_kept_by_device(location, type)) {
        return device_at(location.id).current_pool();
    }
    {
        const std::lock_guard lock(mutex_);
        const auto found = current_.find(key_of(location, type));
        if (found != current_.end()) {
            return found->second;
        }
    }
    return default_pool(location, type);
}

void DefaultPools::set_current(const CUmemLocation& location, CUmemAllocationType type,
                               std::shared_ptr<Pool> pool) {
    const auto& properties = pool->properties();
    require(key_of(properties.location, properties.allocType) == key_of(location, type),
            "the pool is not of this location's memory");
    require(!pool->is_imported(), "an imported pool cannot be the current one");
    if (is_kept_by_device(location, type)) {
        device_at(location.id).set_current_pool(std::move(pool));
        return;
    }
    const std::lock_guard lock(mutex_);
    current_[key_of(location, type)] = std::move(pool);
}

void DefaultPools::forget(const Pool& pool) {
    const std::lock_guard lock(mutex_);
    std::erase_if(current_, [&](const auto& entry) { return entry.second.get() == &pool; });
}

DefaultPools::Key DefaultPools::key_of(const CUmemLocation& location, CUmemAllocationType type) {
    const bool has_id = location.type == CU_MEM_LOCATION_TYPE_DEVICE ||
                        location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
    return {location.type, has_id ? location.id : 0, type};
}

} // namespace cuprum::emulator
