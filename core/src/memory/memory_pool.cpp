// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/memory_pool.hpp>

#include "driver/call.hpp"
#include "driver/handle.hpp"
#include "memory/pool_state.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>

#include <stdexcept>
#include <string>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

static_assert(static_cast<int>(PoolAttribute::UsedMemHigh) == CU_MEMPOOL_ATTR_USED_MEM_HIGH);

int checked_flag(std::uint64_t value);

} // namespace

[[gnu::hot]] Buffer MemoryPool::allocate(std::size_t bytes, const Stream& stream) const {
    static_cast<void>(detail::open(state_, class_name_));
    return detail::PoolState::allocate_from(state_, bytes, stream);
}

void MemoryPool::deallocate(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) const {
    open().deallocate_bytes(pointer, bytes, stream);
}

CUmemoryPool MemoryPool::handle() const {
    return open().handle;
}

bool MemoryPool::is_handle_owned() const {
    return open().is_owned;
}

int MemoryPool::device_id() const {
    return open().device_id();
}

bool MemoryPool::is_device_accessible() const {
    return open().is_device_accessible();
}

bool MemoryPool::is_host_accessible() const {
    return open().is_host_accessible();
}

bool MemoryPool::is_managed() const {
    return open().is_managed();
}

PoolAttributes MemoryPool::attributes() const {
    const auto flag = [this](PoolAttribute name) { return attribute(name) != 0; };
    return {
        .reuse_follow_event_dependencies = flag(PoolAttribute::ReuseFollowEventDependencies),
        .reuse_allow_opportunistic = flag(PoolAttribute::ReuseAllowOpportunistic),
        .reuse_allow_internal_dependencies = flag(PoolAttribute::ReuseAllowInternalDependencies),
        .release_threshold = attribute(PoolAttribute::ReleaseThreshold),
        .reserved_mem_current = attribute(PoolAttribute::ReservedMemCurrent),
        .reserved_mem_high = attribute(PoolAttribute::ReservedMemHigh),
        .used_mem_current = attribute(PoolAttribute::UsedMemCurrent),
        .used_mem_high = attribute(PoolAttribute::UsedMemHigh),
    };
}

std::uint64_t MemoryPool::attribute(PoolAttribute name) const {
    return detail::pool_attribute(handle(), name);
}

void MemoryPool::set_attribute(PoolAttribute name, std::uint64_t value) const {
    const CUmemoryPool pool = handle();
    const auto number = static_cast<CUmemPool_attribute>(name);
    switch (name) {
    case PoolAttribute::ReuseFollowEventDependencies:
    case PoolAttribute::ReuseAllowOpportunistic:
    case PoolAttribute::ReuseAllowInternalDependencies: {
        int flag = checked_flag(value);
        call(table().cuMemPoolSetAttribute, pool, number, static_cast<void*>(&flag));
        return;
    }
    case PoolAttribute::ReservedMemHigh:
    case PoolAttribute::UsedMemHigh:
        if (value != 0) {
            throw std::invalid_argument(
                "value is " + std::to_string(value) +
                ", expected 0: a high-water mark can only be started again");
        }
        [[fallthrough]];
    case PoolAttribute::ReleaseThreshold: {
        cuuint64_t bytes = value;
        call(table().cuMemPoolSetAttribute, pool, number, static_cast<void*>(&bytes));
        return;
    }
    case PoolAttribute::ReservedMemCurrent:
    case PoolAttribute::UsedMemCurrent:
        break;
    }
    throw std::invalid_argument("name is an attribute that cannot be set; the reuse flags, the "
                                "release threshold and the high-water marks can");
}

void MemoryPool::trim(std::size_t keep_bytes) const {
    call(table().cuMemPoolTrimTo, handle(), keep_bytes);
}

bool MemoryPool::is_ipc_enabled() const {
    return open().is_ipc_enabled;
}

bool MemoryPool::is_mapped() const {
    return open().is_mapped;
}

IPCAllocationHandle MemoryPool::allocation_handle() const {
    detail::PoolState& pool = open();
    if (!pool.is_ipc_enabled) {
        throw std::logic_error("Memory resource is not IPC-enabled: make the pool with "
                               "ipc_enabled to share it with other processes");
    }
    return detail::exported(pool);
}

std::shared_ptr<MemoryResource> MemoryPool::resource() const {
    return open().shared_from_this();
}

detail::PoolState& MemoryPool::open() const {
    return detail::open(state_, class_name_);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

int checked_flag(std::uint64_t value) {
    if (value > 1) {
        throw std::invalid_argument("value is " + std::to_string(value) + ", expected 0 or 1");
    }
    return static_cast<int>(value);
}

} // namespace

} // namespace cuprum
