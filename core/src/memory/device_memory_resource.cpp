// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/call.hpp"
#include "memory/pool_state.hpp"

#include <cuprum/memory_pool.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

constexpr const char* NAME = "DeviceMemoryResource";

CUmemLocation on(const Device& device);
const Device& with_pools(const Device& device);

} // namespace

DeviceMemoryResource::DeviceMemoryResource(std::shared_ptr<detail::PoolState> state) noexcept
    : MemoryPool(std::move(state), NAME) {}

DeviceMemoryResource::DeviceMemoryResource(const Device& device)
    : MemoryPool(detail::current_pool(detail::PoolKind::Device, on(with_pools(device))), NAME) {}

DeviceMemoryResource::DeviceMemoryResource(const Device& device,
                                           const DeviceMemoryResourceOptions& options)
    : MemoryPool(detail::create_pool(detail::PoolKind::Device, on(with_pools(device)),
                                     options.max_size, options.ipc_enabled),
                 NAME) {}

DeviceMemoryResource DeviceMemoryResource::from_handle(const Device& device, CUmemoryPool handle,
                                                       std::shared_ptr<void> owner) {
    if (handle == nullptr) {
        throw std::invalid_argument("handle is null, expected a memory pool");
    }
    auto state = std::make_shared<detail::PoolState>(detail::PoolKind::Device, on(device));
    state->handle = handle;
    state->owner = std::move(owner);
    return DeviceMemoryResource(std::move(state));
}

DeviceMemoryResource
DeviceMemoryResource::from_allocation_handle(const Device& device,
                                             const IPCAllocationHandle& handle) {
    auto state = detail::import_pool(detail::PoolKind::Device, on(with_pools(device)), handle);
    DeviceMemoryResource pool(std::move(state));
    // NOTE: a driver may give an imported pool the exporter's peers; what is asked for here counts.
    pool.set_peer_accessible_by({});
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

const Device& with_pools(const Device& device) {
    detail::require_pools(device.ordinal());
    return device; // NOLINT(bugprone-return-const-ref-from-parameter): it outlives the call
}

} // namespace

} // namespace cuprum
