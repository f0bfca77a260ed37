// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/memory_resource.hpp>

#include "driver/call.hpp"
#include "state/buffer_state.hpp"
#include "state/device_state.hpp"
#include "state/handle.hpp"
#include "state/pool_state.hpp"
#include "state/stream_state.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>

#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

std::shared_ptr<detail::PoolState> make_pool_state(const Device& device);
void keep_freed_memory(CUmemoryPool pool);
[[noreturn]] void raise_out_of_memory(const char* call, std::size_t bytes,
                                      const detail::PoolState& pool);

template <typename Value>
Value pool_attribute(CUmemoryPool pool, CUmemPool_attribute attribute);

} // namespace

// ---- MemoryResource ----------------------------------------------------------------------------

Buffer MemoryResource::allocate(std::size_t bytes, const Stream& stream) {
    [[maybe_unused]] const auto& checked = detail::open(stream.state(), "Stream");
    auto state = std::make_shared<detail::BufferState>();
    state->resource = shared_from_this();
    state->size = bytes;
    if (bytes != 0) {
        state->free_on(stream);
        state->pointer = allocate_bytes(bytes, stream);
    }
    return Buffer(std::move(state));
}

// ---- DeviceMemoryResource ----------------------------------------------------------------------

DeviceMemoryResource::DeviceMemoryResource(const Device& device) : state_(make_pool_state(device)) {
    call(table().cuDeviceGetMemPool, &state_->handle, state_->device->handle);
    keep_freed_memory(state_->handle);
}

DeviceMemoryResource::DeviceMemoryResource(const Device& device,
                                           const DeviceMemoryResourceOptions& options)
    : state_(make_pool_state(device)) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device.ordinal();
    properties.maxSize = options.max_size;
    call(table().cuMemPoolCreate, &state_->handle, &properties);
    state_->is_owned = true;
    state_->max_size = options.max_size;
}

Buffer DeviceMemoryResource::allocate(std::size_t bytes, const Stream& stream) const {
    return detail::open(state_, "DeviceMemoryResource").allocate(bytes, stream);
}

void DeviceMemoryResource::deallocate(CUdeviceptr pointer, std::size_t bytes,
                                      const Stream& stream) const {
    detail::open(state_, "DeviceMemoryResource").deallocate_bytes(pointer, bytes, stream);
}

CUmemoryPool DeviceMemoryResource::handle() const {
    return detail::open(state_, "DeviceMemoryResource").handle;
}

bool DeviceMemoryResource::is_handle_owned() const {
    return detail::open(state_, "DeviceMemoryResource").is_owned;
}

Device DeviceMemoryResource::device() const {
    return Device(device_id());
}

int DeviceMemoryResource::device_id() const {
    return detail::open(state_, "DeviceMemoryResource").device->ordinal;
}

PoolAttributes DeviceMemoryResource::attributes() const {
    const CUmemoryPool pool = handle();
    const auto flag = [&](CUmemPool_attribute name) {
        return pool_attribute<int>(pool, name) != 0;
    };
    const auto size = [&](CUmemPool_attribute name) {
        return std::uint64_t{pool_attribute<cuuint64_t>(pool, name)};
    };
    return {
        .reuse_follow_event_dependencies = flag(CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES),
        .reuse_allow_opportunistic = flag(CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC),
        .reuse_allow_internal_dependencies =
            flag(CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES),
        .release_threshold = size(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD),
        .reserved_mem_current = size(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT),
        .reserved_mem_high = size(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH),
        .used_mem_current = size(CU_MEMPOOL_ATTR_USED_MEM_CURRENT),
        .used_mem_high = size(CU_MEMPOOL_ATTR_USED_MEM_HIGH),
    };
}

void DeviceMemoryResource::trim(std::size_t keep_bytes) const {
    call(table().cuMemPoolTrimTo, handle(), keep_bytes);
}

std::shared_ptr<MemoryResource> DeviceMemoryResource::resource() const {
    return detail::open(state_, "DeviceMemoryResource").shared_from_this();
}

// ---- PoolState ---------------------------------------------------------------------------------

detail::PoolState::~PoolState() {
    if (is_owned) {
        driver::release("memory pool", driver::table().cuMemPoolDestroy, handle);
    }
}

CUdeviceptr detail::PoolState::allocate_bytes(std::size_t bytes, const Stream& stream) {
    const CUstream queue = stream.handle();
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    call(table().cuStreamIsCapturing, queue, &capture);
    if (capture != CU_STREAM_CAPTURE_STATUS_NONE) {
        throw std::logic_error("cannot allocate from a memory pool on a stream that is capturing: "
                               "the memory would belong to the graph; allocate before the capture "
                               "begins");
    }
    CUdeviceptr pointer = 0;
    const auto& allocate = table().cuMemAllocFromPoolAsync;
    const CUresult status = allocate(&pointer, bytes, handle, queue);
    if (status == CUDA_ERROR_OUT_OF_MEMORY) {
        raise_out_of_memory(allocate.name, bytes, *this);
    }
    if (status != CUDA_SUCCESS) {
        driver::raise(status, allocate.name);
    }
    return pointer;
}

void detail::PoolState::deallocate_bytes(CUdeviceptr pointer, std::size_t /*bytes*/,
                                         const Stream& stream) {
    const CUstream queue = stream.handle();
    if (pointer != 0) {
        call(table().cuMemFreeAsync, pointer, queue);
    }
}

int detail::PoolState::device_id() const noexcept {
    return device->ordinal;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// @throws CUDAError if the device has no memory pools.
std::shared_ptr<detail::PoolState> make_pool_state(const Device& device) {
    detail::DeviceState& state = *detail::devices()[static_cast<std::size_t>(device.ordinal())];
    if (detail::attribute(state, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) == 0) {
        throw CUDAError(CUDA_ERROR_NOT_SUPPORTED, table().cuDeviceGetMemPool.name,
                        "device " + std::to_string(device.ordinal()) +
                            " has no memory pools, so no stream-ordered memory");
    }
    return std::make_shared<detail::PoolState>(state);
}

/// Makes a pool keep what is freed into it, if it would give all back at every synchronisation.
void keep_freed_memory(CUmemoryPool pool) {
    if (pool_attribute<cuuint64_t>(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) == 0) {
        cuuint64_t everything = std::numeric_limits<cuuint64_t>::max();
        call(table().cuMemPoolSetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
             static_cast<void*>(&everything));
    }
}

void raise_out_of_memory(const char* call, std::size_t bytes, const detail::PoolState& pool) {
    MemoryInfo info;
    try {
        info = Device(pool.device->ordinal).memory_info();
    } catch (const CUDAError&) { // what failed first is what the caller must hear
        driver::raise(CUDA_ERROR_OUT_OF_MEMORY, call);
    }
    std::string hint;
    if (pool.max_size != 0) {
        hint = "the pool may hold at most " + std::to_string(pool.max_size) +
               " bytes; free buffers, or make it with a larger max_size";
    }
    throw OutOfMemoryError(call, bytes, info.free_bytes, info.total_bytes, hint);
}

template <typename Value>
Value pool_attribute(CUmemoryPool pool, CUmemPool_attribute attribute) {
    Value value{};
    call(table().cuMemPoolGetAttribute, pool, attribute, static_cast<void*>(&value));
    return value;
}

} // namespace

} // namespace cuprum
