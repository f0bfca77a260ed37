// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/pool_state.hpp"

#include "device/device_state.hpp"
#include "driver/call.hpp"
#include "driver/deferred_release.hpp"
#include "driver/handle.hpp"
#include "memory/allocation.hpp"
#include "stream/stream_state.hpp"
#include "support/once.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>

#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::detail {

namespace {

using driver::call;
using driver::table;

/// Makes a pool keep freed memory, unless somebody already chose how much it keeps.
void keep_freed_memory(CUmemoryPool pool) {
    if (pool_attribute(pool, PoolAttribute::ReleaseThreshold) == 0) {
        cuuint64_t everything = std::numeric_limits<cuuint64_t>::max();
        call(table().cuMemPoolSetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
             static_cast<void*>(&everything));
    }
}

/// Gives every device that has pools access to a pool of host memory. None has it at first.
void let_devices_in(CUmemoryPool pool) {
    std::vector<CUmemAccessDesc> access;
    for (const auto& device : devices()) {
        CUmemLocation location{};
        location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        location.id = device->ordinal;
        if (find_attribute(*device, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED).value_or(0) == 0) {
            continue;
        }
        CUmemAccess_flags present = CU_MEM_ACCESS_FLAGS_PROT_NONE;
        call(table().cuMemPoolGetAccess, &present, pool, &location);
        if (present == CU_MEM_ACCESS_FLAGS_PROT_NONE) {
            access.push_back({location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
        }
    }
    if (!access.empty()) {
        call(table().cuMemPoolSetAccess, pool, access.data(), access.size());
    }
}

[[noreturn, gnu::cold]] void refuse_capture() {
    throw std::logic_error("a memory pool cannot perform memory operations on a capturing "
                           "stream (consider using GraphMemoryResource). The memory would "
                           "belong to the graph; you can also allocate before the capture");
}

std::string limit_hint(const PoolState& pool) {
    if (pool.max_size != 0) {
        return "the pool may hold at most " + std::to_string(pool.max_size) +
               " bytes; free buffers, or make it with a larger max_size";
    }
    return pool.kind == PoolKind::Managed
               ? "this is managed memory, which host and devices share: free buffers, trim the "
                 "memory pool or ask for less"
               : "";
}

[[noreturn, gnu::cold]] void raise_allocation_failure(CUresult status, const PoolState& pool,
                                                      std::size_t bytes) {
    const char* const name = table().cuMemAllocFromPoolAsync.name;
    if (status == CUDA_ERROR_OUT_OF_MEMORY) {
        raise_out_of_memory(name, bytes, pool.device_id(), limit_hint(pool));
    }
    driver::raise(status, name);
}

bool is_flag(PoolAttribute name) {
    return name == PoolAttribute::ReuseFollowEventDependencies ||
           name == PoolAttribute::ReuseAllowOpportunistic ||
           name == PoolAttribute::ReuseAllowInternalDependencies;
}

} // namespace

PoolState::~PoolState() {
    if (is_owned) {
        release_or_defer("memory pool", table().cuMemPoolDestroy, handle);
    }
}

CUdeviceptr allocate_from_pool(const PoolState& pool, std::size_t bytes, const StreamState& queue) {
    if (is_capturing(queue)) [[unlikely]] {
        refuse_capture();
    }
    CUdeviceptr pointer = 0;
    const auto& entry = table().cuMemAllocFromPoolAsync;
    CUresult status = entry(&pointer, bytes, pool.handle, queue.handle);
    if (status != CUDA_SUCCESS) [[unlikely]] {
        // Free what was deferred before reporting that there is no memory.
        if (status == CUDA_ERROR_OUT_OF_MEMORY && release_deferred()) {
            status = entry(&pointer, bytes, pool.handle, queue.handle);
        }
        if (status != CUDA_SUCCESS) {
            raise_allocation_failure(status, pool, bytes);
        }
    }
    return pointer;
}

void check_special_pool(const PoolState& pool, const StreamState& queue) {
    if (pool.is_mapped) {
        throw std::invalid_argument("cannot allocate from a mapped IPC-enabled memory resource: "
                                    "only the process that made the pool can");
    }
    if (pool.kind != PoolKind::Pinned) {
        return;
    }
    DeviceState& device = *context_state_of(queue)->device;
    const bool is_numa = pool.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
    const auto supported =
        find_attribute(device, is_numa ? CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED
                                       : CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED);
    if (supported.value_or(0) == 0) {
        throw std::logic_error(
            "device " + std::to_string(device.ordinal) + " does not support pools of " +
            (is_numa ? "NUMA-bound host" : "host") + " memory; use LegacyPinnedMemoryResource");
    }
}

std::unique_ptr<PoolState> create_pool(PoolKind kind, CUmemLocation location, std::size_t max_size,
                                       bool ipc_enabled) {
    auto state = std::make_unique<PoolState>(kind, location);
    CUmemPoolProps properties{};
    properties.allocType =
        kind == PoolKind::Managed ? CU_MEM_ALLOCATION_TYPE_MANAGED : CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleTypes =
        ipc_enabled ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE;
    properties.location = location;
    properties.maxSize = max_size;
    call(table().cuMemPoolCreate, &state->handle, &properties);
    state->is_owned = true;
    state->is_ipc_enabled = ipc_enabled;
    state->max_size = max_size;
    if (kind == PoolKind::Pinned) {
        let_devices_in(state->handle);
    }
    return state;
}

std::unique_ptr<PoolState> import_pool(PoolKind kind, CUmemLocation location,
                                       const IPCAllocationHandle& handle) {
    const int descriptor = handle.descriptor();
    auto state = std::make_unique<PoolState>(kind, location);
    call(table().cuMemPoolImportFromShareableHandle, &state->handle,
         reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)),
         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0ULL);
    state->is_owned = true;
    state->is_mapped = true;
    state->is_ipc_enabled = true;
    (void)state->ipc.get([&] { return handle; });
    if (kind == PoolKind::Pinned) {
        let_devices_in(state->handle);
    }
    return state;
}

IPCAllocationHandle exported(PoolState& pool) {
    return pool.ipc.get([&] {
        int descriptor = -1;
        call(table().cuMemPoolExportToShareableHandle, static_cast<void*>(&descriptor), pool.handle,
             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0ULL);
        return IPCAllocationHandle::from_descriptor(descriptor);
    });
}

std::unique_ptr<PoolState> current_pool(PoolKind kind, CUmemLocation location) {
    driver::initialise();
    auto state = std::make_unique<PoolState>(kind, location);
    if (kind == PoolKind::Device) {
        call(table().cuDeviceGetMemPool, &state->handle,
             devices()[static_cast<std::size_t>(location.id)]->handle);
    } else {
        call(table().cuMemGetMemPool, &state->handle, &state->location,
             kind == PoolKind::Managed ? CU_MEM_ALLOCATION_TYPE_MANAGED
                                       : CU_MEM_ALLOCATION_TYPE_PINNED);
        if (kind == PoolKind::Pinned) {
            let_devices_in(state->handle);
        }
    }
    keep_freed_memory(state->handle);
    return state;
}

void keep_for_good(std::shared_ptr<MemoryPool> pool) {
    static constinit std::mutex keeping;
    static NeverDestroyed<std::vector<std::shared_ptr<MemoryPool>>> kept;
    const std::lock_guard lock(keeping);
    Access::state(*pool)->is_kept = true;
    kept->push_back(std::move(pool));
}

void require_pools(int device) {
    DeviceState& state = *devices()[static_cast<std::size_t>(device)];
    if (attribute(state, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) == 0) {
        throw CUDAError(CUDA_ERROR_NOT_SUPPORTED, table().cuDeviceGetMemPool.name,
                        "device " + std::to_string(device) +
                            " has no memory pools, so no stream-ordered memory; use "
                            "SynchronousMemoryResource");
    }
}

std::uint64_t pool_attribute(CUmemoryPool pool, PoolAttribute name) {
    const auto attribute = static_cast<CUmemPool_attribute>(name);
    if (is_flag(name)) {
        int value = 0;
        call(table().cuMemPoolGetAttribute, pool, attribute, static_cast<void*>(&value));
        return value != 0 ? 1 : 0;
    }
    cuuint64_t value = 0;
    call(table().cuMemPoolGetAttribute, pool, attribute, static_cast<void*>(&value));
    return value;
}

} // namespace cuprum::detail
