// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/memory_resource.hpp>

#include "device/device_state.hpp"
#include "driver/call.hpp"
#include "driver/capture.hpp"
#include "driver/handle.hpp"
#include "memory/allocation.hpp"
#include "memory/buffer_state.hpp"
#include "memory/pool_state.hpp"
#include "stream/stream_state.hpp"
#include "support/once.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/device.hpp>
#include <cuprum/graph_memory_resource.hpp>
#include <cuprum/host_memory.hpp>
#include <cuprum/memory_pool.hpp>
#include <cuprum/stream.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

std::shared_ptr<MemoryResource> detail::share_of(MemoryResource& resource) {
    auto shared = resource.weak_from_this().lock();
    if (shared == nullptr) {
        throw std::logic_error("no std::shared_ptr holds this memory resource, and its buffers "
                               "have to; make it with std::make_shared");
    }
    return shared;
}

Buffer MemoryResource::allocate(std::size_t bytes, const Stream& stream) {
    return make_buffer(bytes, stream);
}

Buffer MemoryResource::make_buffer(std::size_t bytes, const Stream& stream) {
    [[maybe_unused]] const auto& checked = detail::open(stream);
    detail::check_size(bytes);
    auto state = std::make_shared<detail::BufferState>();
    state->resource = detail::share_of(*this);
    state->size = bytes;
    if (bytes != 0) {
        state->make_on(stream);
        state->pointer = allocate_bytes(bytes, stream);
        if (state->pointer == 0) {
            throw std::logic_error(
                "allocate_bytes of the memory resource gave a null pointer for " +
                std::to_string(bytes) + " bytes, expected memory or an exception");
        }
    }
    return detail::Access::make<Buffer>(std::move(state));
}

namespace {

using driver::call;
using driver::table;

CUmemLocation on(const Device& device) {
    return {CU_MEM_LOCATION_TYPE_DEVICE, device.ordinal()};
}

} // namespace

DeviceMemoryResource::DeviceMemoryResource(std::unique_ptr<detail::PoolState> state) noexcept
    : MemoryPool(std::move(state)) {}

std::shared_ptr<DeviceMemoryResource> DeviceMemoryResource::create(const Device& device) {
    detail::require_pools(device.ordinal());
    return std::shared_ptr<DeviceMemoryResource>(
        new DeviceMemoryResource(detail::current_pool(detail::PoolKind::Device, on(device))));
}

std::shared_ptr<DeviceMemoryResource>
DeviceMemoryResource::create(const Device& device, const DeviceMemoryResourceOptions& options) {
    detail::require_pools(device.ordinal());
    return std::shared_ptr<DeviceMemoryResource>(new DeviceMemoryResource(detail::create_pool(
        detail::PoolKind::Device, on(device), options.max_size, options.ipc_enabled)));
}

std::shared_ptr<DeviceMemoryResource>
DeviceMemoryResource::from_handle(const Device& device, CUmemoryPool handle,
                                  std::shared_ptr<void> owner) {
    if (handle == nullptr) {
        throw std::invalid_argument("handle is null, expected a memory pool");
    }
    auto state = std::make_unique<detail::PoolState>(detail::PoolKind::Device, on(device));
    state->handle = handle;
    state->owner = std::move(owner);
    return std::shared_ptr<DeviceMemoryResource>(new DeviceMemoryResource(std::move(state)));
}

std::shared_ptr<DeviceMemoryResource>
DeviceMemoryResource::from_allocation_handle(const Device& device,
                                             const IPCAllocationHandle& handle) {
    detail::require_pools(device.ordinal());
    std::shared_ptr<DeviceMemoryResource> pool(new DeviceMemoryResource(
        detail::import_pool(detail::PoolKind::Device, on(device), handle)));
    // NOTE: a driver may give an imported pool the exporter's peers. Only what is asked for here
    // counts.
    pool->set_peer_accessible_by({});
    return pool;
}

Device DeviceMemoryResource::device() const {
    return Device(device_id());
}

std::vector<Device> DeviceMemoryResource::peer_accessible_by() const {
    std::vector<Device> peers;
    for (const Device& each : Device::all()) {
        if (each.ordinal() != device_id() && is_accessible_from(each)) {
            peers.push_back(each);
        }
    }
    return peers;
}

void DeviceMemoryResource::set_peer_accessible_by(std::span<const Device> peers) const {
    const std::vector<Device> now = peer_accessible_by();
    std::vector<Device> take;
    std::ranges::copy_if(now, std::back_inserter(take), [&](const Device& each) {
        return std::ranges::find(peers, each) == peers.end();
    });
    update_peer_access(peers, take);
}

void DeviceMemoryResource::update_peer_access(std::span<const Device> give,
                                              std::span<const Device> take) const {
    const Device owner = device();
    std::string unreachable;
    std::vector<CUmemAccessDesc> changes;
    const auto add = [&](const Device& peer, CUmemAccess_flags flags) {
        const bool is_known = std::ranges::any_of(changes, [&](const CUmemAccessDesc& change) {
            return change.location.id == peer.ordinal();
        });
        if (!is_known && peer != owner &&
            is_accessible_from(peer) != (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE)) {
            changes.push_back({on(peer), flags});
        }
    };
    for (const Device& peer : give) {
        if (peer != owner && !peer.can_access_peer(owner)) {
            unreachable += (unreachable.empty() ? "" : ", ") + std::to_string(peer.ordinal());
            continue;
        }
        add(peer, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    }
    if (!unreachable.empty()) {
        throw std::invalid_argument("Device " + std::to_string(owner.ordinal()) +
                                    " cannot access peer(s): " + unreachable +
                                    "; there is no path between them");
    }
    for (const Device& peer : take) {
        add(peer, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    }
    if (!changes.empty()) {
        call(table().cuMemPoolSetAccess, handle(),
             static_cast<const CUmemAccessDesc*>(changes.data()), changes.size());
    }
}

bool DeviceMemoryResource::is_accessible_from(const Device& device) const {
    CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    CUmemLocation location = on(device);
    call(table().cuMemPoolGetAccess, &flags, handle(), &location);
    return flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

namespace {

using driver::call;
using driver::table;

static_assert(static_cast<int>(GraphMemoryAttribute::ReservedMemHigh) ==
              CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);

CUdevice handle_of(const Device& device) {
    return detail::devices()[static_cast<std::size_t>(device.ordinal())]->handle;
}

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

namespace {

/// Makes the resource that a device allocates from.
std::shared_ptr<MemoryResource> make_memory_resource(const Device& device) {
    if (device.properties().get("memory_pools_supported", 0) == 0) {
        return SynchronousMemoryResource::create(device);
    }
    auto pool = DeviceMemoryResource::create(device);
    detail::keep_for_good(pool);
    return pool;
}

} // namespace

const std::shared_ptr<MemoryResource>& Device::memory_resource() const {
    return state_->memory_resource.get([this] { return make_memory_resource(*this); });
}

Buffer Device::allocate(std::size_t bytes, const Stream& stream) const {
    return memory_resource()->allocate(bytes, stream);
}

} // namespace cuprum
