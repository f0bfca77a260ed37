// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/call.hpp"
#include "memory/pool_state.hpp"

#include <cuprum/memory_pool.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

CUmemLocation on(const Device& device);

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

// ---- helpers -----------------------------------------------------------------------------------

namespace {

CUmemLocation on(const Device& device) {
    return {CU_MEM_LOCATION_TYPE_DEVICE, device.ordinal()};
}

} // namespace

} // namespace cuprum
