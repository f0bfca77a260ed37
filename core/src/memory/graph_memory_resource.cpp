// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/graph_memory_resource.hpp>

#include "device/device_state.hpp"
#include "driver/call.hpp"
#include "driver/capture.hpp"
#include "driver/handle.hpp"
#include "memory/out_of_memory.hpp"
#include "stream/stream_state.hpp"
#include "support/never_destroyed.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/stream.hpp>

#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

static_assert(static_cast<int>(GraphMemoryAttribute::ReservedMemHigh) ==
              CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);

CUdevice handle_of(const Device& device);

} // namespace

std::shared_ptr<GraphMemoryResource> GraphMemoryResource::of(const Device& device) {
    static std::mutex mutex;
    static detail::NeverDestroyed<std::map<int, std::weak_ptr<GraphMemoryResource>>> all;
    const std::lock_guard lock(mutex);
    auto& slot = (*all)[device.ordinal()];
    auto resource = slot.lock();
    if (resource == nullptr) {
        resource.reset(new GraphMemoryResource(device));
        slot = resource;
    }
    return resource;
}

CUdeviceptr GraphMemoryResource::allocate_bytes(std::size_t bytes, const Stream& stream) {
    const detail::StreamState& queue = detail::open(stream);
    if (driver::capture_status(queue.handle) != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        throw std::logic_error("GraphMemoryResource cannot perform memory operations on a "
                               "non-capturing stream. Its memory belongs to the graph being "
                               "captured: capture first, or use a DeviceMemoryResource");
    }
    const int owner = detail::context_state_of(queue)->device->ordinal;
    if (owner != device_.ordinal()) {
        throw std::invalid_argument(
            "stream belongs to device " + std::to_string(owner) + ", expected one of device " +
            std::to_string(device_.ordinal()) + ", whose graph memory this is");
    }
    CUdeviceptr pointer = 0;
    detail::allocate(bytes, device_.ordinal(), table().cuMemAllocAsync, &pointer, bytes,
                     queue.handle);
    return pointer;
}

void GraphMemoryResource::deallocate_bytes(CUdeviceptr pointer, std::size_t /*bytes*/,
                                           const Stream& stream) {
    const CUstream queue = detail::handle_of(stream);
    if (pointer == 0) {
        return;
    }
    const driver::RelaxedCapture relaxed;
    const auto& free = table().cuMemFreeAsync;
    if (const CUresult status = free(pointer, queue); status != CUDA_SUCCESS) {
        detail::raise_free_failure(status, free.name, pointer);
    }
}

std::uint64_t GraphMemoryResource::attribute(GraphMemoryAttribute name) const {
    cuuint64_t value = 0;
    call(table().cuDeviceGetGraphMemAttribute, handle_of(device_),
         static_cast<CUgraphMem_attribute>(name), static_cast<void*>(&value));
    return value;
}

void GraphMemoryResource::set_attribute(GraphMemoryAttribute name, std::uint64_t value) const {
    if (name != GraphMemoryAttribute::UsedMemHigh &&
        name != GraphMemoryAttribute::ReservedMemHigh) {
        throw std::invalid_argument("name is an attribute that cannot be set; the high-water marks "
                                    "can");
    }
    if (value != 0) {
        throw std::invalid_argument("value is " + std::to_string(value) +
                                    ", expected 0: a high-water mark can only be reset");
    }
    cuuint64_t zero = 0;
    call(table().cuDeviceSetGraphMemAttribute, handle_of(device_),
         static_cast<CUgraphMem_attribute>(name), static_cast<void*>(&zero));
}

void GraphMemoryResource::trim() const {
    call(table().cuDeviceGraphMemTrim, handle_of(device_));
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

CUdevice handle_of(const Device& device) {
    return detail::devices()[static_cast<std::size_t>(device.ordinal())]->handle;
}

} // namespace

} // namespace cuprum
