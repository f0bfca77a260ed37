// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Stream-ordered memory pools.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/devices/device.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/graphs/graph_memory.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/memory/default_pools.hpp"
#include "objects/process/error.hpp"

#include <algorithm>

using namespace cuprum::emulator;

namespace {

/// Returns what an allocation node gets that stands for an allocation from a pool.
CUDA_MEM_ALLOC_NODE_PARAMS request_of(std::size_t bytes, const Pool& pool) {
    CUDA_MEM_ALLOC_NODE_PARAMS request{};
    request.poolProps = pool.properties();
    request.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
    request.bytesize = bytes;
    return request;
}

void allocate(CUdeviceptr* out, std::size_t bytes, Pool& pool, Stream& stream) {
    require(out != nullptr, "dptr must not be NULL");
    stream.check_open();
    if (bytes != 0 && stream.may_be_capturing()) {
        if (const CUdeviceptr taken = Capture::take_allocation(stream, request_of(bytes, pool))) {
            *out = taken;
            return;
        }
    }
    if (bytes == 0) {
        *out = 0; // 0 bytes have no address and need no node
        return;
    }
    Capture::refuse_unsafe_call();
    *out = pool.allocate(bytes, stream)->base;
}

/// Frees the memory of an allocation node that its graph leaves allocated.
void free_graph_memory(const Allocation& allocation, Stream& stream) {
    const auto memory = allocation.graph.lock();
    require(memory != nullptr, "dptr was freed by another thread");
    memory->note_free();
    memory->begin_use();
    stream.enqueue(std::make_shared<Task>(
        stream.context().errors(),
        [memory] {
            memory->close();
            memory->end_use();
        },
        Task::Size::Bookkeeping));
}

void free_async(CUdeviceptr address, Stream& stream) {
    auto& allocations = Allocations::instance();
    const auto found = allocations.find(address);
    require(found != nullptr && found->base == address,
            "dptr is not the start of device memory, or it was freed before");
    if (found->kind == MemoryKind::Pooled) {
        require(allocations.remove(found), "dptr was freed by another thread");
        found->pool->free(found, stream);
        return;
    }
    if (found->kind == MemoryKind::Graph) {
        free_graph_memory(*found, stream);
        return;
    }
    require(found->kind == MemoryKind::Device || found->kind == MemoryKind::Managed,
            "dptr is not device memory");
    require(!found->is_being_freed.exchange(true), "dptr was freed before");
    stream.enqueue(std::make_shared<Task>(
        stream.context().errors(), [found] { Allocations::instance().remove(found); },
        Task::Size::Bookkeeping));
}

} // namespace

ROW_PTSZ(cuMemAllocAsync, 11020, CUdeviceptr* dptr, size_t bytesize, Stream& stream) {
    allocate(dptr, bytesize, *stream.context().device().current_pool(), stream);
}

ROW_PTSZ(cuMemAllocFromPoolAsync, 11020, CUdeviceptr* dptr, size_t bytesize, Pool& pool,
         Stream& stream) {
    allocate(dptr, bytesize, pool, stream);
}

ROW_PTSZ(cuMemFreeAsync, 11020, CUdeviceptr dptr, Stream& stream) {
    stream.check_open();
    if (dptr != 0 && stream.may_be_capturing() && Capture::take_free(stream, dptr)) {
        return;
    }
    Capture::refuse_unsafe_call();
    if (dptr != 0) {
        free_async(dptr, stream);
    }
}

ROW(cuMemPoolCreate, 11020, CUmemoryPool& pool, const CUmemPoolProps& poolProps, UnsafeCall) {
    pool = Pool::create(poolProps)->handle<CUmemoryPool>();
}

ROW(cuMemPoolDestroy, 11020, std::shared_ptr<Pool> doomed) {
    require(!doomed->is_default(), "a default pool cannot be destroyed");
    Capture::refuse_unsafe_call();
    close_handle(doomed->handle<CUmemoryPool>());
    // If it was the current pool, the default pool replaces it. Its memory is freed with its
    // last allocation.
    for (int ordinal = 0; ordinal < Driver::instance().device_count(); ++ordinal) {
        Device& device = device_at(ordinal);
        if (device.current_pool() == doomed) {
            device.set_current_pool(device.default_pool());
        }
    }
    DefaultPools::instance().forget(*doomed);
}

ROW(cuMemPoolTrimTo, 11020, Pool& trimmed, size_t minBytesToKeep) {
    Capture::refuse_unsafe_call();
    trimmed.trim_to(minBytesToKeep);
}

ROW(cuMemPoolGetAttribute, 11020, Pool& pool, CUmemPool_attribute attr, void* value) {
    pool.get_attribute(attr, value);
}

ROW(cuMemPoolSetAttribute, 11020, Pool& pool, CUmemPool_attribute attr, void* value) {
    pool.set_attribute(attr, value);
}

ROW(cuMemPoolSetAccess, 11020, Pool& target, const CUmemAccessDesc* map, size_t count) {
    require(map != nullptr || count == 0, "map must not be NULL");
    // All or nothing.
    std::for_each_n(map, count, [&](const auto& each) { target.check_access(each); });
    std::for_each_n(map, count, [&](const auto& each) { target.set_access(each); });
}

ROW(cuMemPoolGetAccess, 11020, CUmemAccess_flags* flags, CUmemoryPool memPool,
    CUmemLocation& location) {
    if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        (void)device_at(location.id);
    }
    put(flags, object_of(memPool)->access(location));
}

// ---- the pools that there are without asking ---------------------------------------------------

ROW(cuDeviceGetDefaultMemPool, 11020, CUmemoryPool* pool_out, Device& device) {
    const auto& pool = device.default_pool();
    require(pool_out != nullptr, "pool_out must not be NULL");
    *pool_out = pool->handle<CUmemoryPool>();
}

ROW(cuDeviceGetMemPool, 11020, CUmemoryPool* pool, Device& device) {
    const auto current = device.current_pool();
    require(pool != nullptr, "pool must not be NULL");
    *pool = current->handle<CUmemoryPool>();
}

ROW(cuDeviceSetMemPool, 11020, Device& device, std::shared_ptr<Pool> current) {
    require(current->device() == device.ordinal() &&
                current->properties().allocType == CU_MEM_ALLOCATION_TYPE_PINNED,
            "the pool is not of this device's memory");
    require(!current->is_imported(), "an imported pool cannot be the current one");
    device.set_current_pool(std::move(current));
}

ROW(cuMemGetDefaultMemPool, 13000, CUmemoryPool& pool_out, CUmemLocation& location,
    CUmemAllocationType type) {
    pool_out = DefaultPools::instance().default_pool(location, type)->handle<CUmemoryPool>();
}

ROW(cuMemGetMemPool, 13000, CUmemoryPool& pool, CUmemLocation& location, CUmemAllocationType type) {
    pool = DefaultPools::instance().current(location, type)->handle<CUmemoryPool>();
}

ROW(cuMemSetMemPool, 13000, CUmemLocation& location, CUmemAllocationType type,
    std::shared_ptr<Pool> pool) {
    DefaultPools::instance().set_current(location, type, pool);
}
