// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Pools whose memory the host can reach: pinned and managed.

#include "device/device_state.hpp"
#include "driver/call.hpp"
#include "memory/location.hpp"
#include "memory/pool_state.hpp"
#include "support/warn.hpp"

#include <cuprum/detail/runtime.hpp>
#include <cuprum/error.hpp>
#include <cuprum/managed_buffer.hpp>
#include <cuprum/memory_pool.hpp>

#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

CUmemLocation pinned_location(const PinnedMemoryResourceOptions& options);
CUmemLocation managed_location(const ManagedMemoryResourceOptions& options);
std::unique_ptr<detail::PoolState> current_managed_pool();
bool has_concurrent_access(const Device& device);

} // namespace

// ---- PinnedMemoryResource ----------------------------------------------------------------------

PinnedMemoryResource::PinnedMemoryResource(std::unique_ptr<detail::PoolState> state) noexcept
    : MemoryPool(std::move(state)) {}

std::shared_ptr<PinnedMemoryResource> PinnedMemoryResource::create() {
    return std::shared_ptr<PinnedMemoryResource>(new PinnedMemoryResource(
        detail::current_pool(detail::PoolKind::Pinned, {CU_MEM_LOCATION_TYPE_HOST, 0})));
}

std::shared_ptr<PinnedMemoryResource>
PinnedMemoryResource::create(const PinnedMemoryResourceOptions& options) {
    return std::shared_ptr<PinnedMemoryResource>(new PinnedMemoryResource(
        detail::create_pool(detail::PoolKind::Pinned, pinned_location(options), options.max_size,
                            options.ipc_enabled)));
}

std::shared_ptr<PinnedMemoryResource>
PinnedMemoryResource::from_allocation_handle(const IPCAllocationHandle& handle) {
    driver::initialise();
    return std::shared_ptr<PinnedMemoryResource>(new PinnedMemoryResource(
        detail::import_pool(detail::PoolKind::Pinned, {CU_MEM_LOCATION_TYPE_HOST, 0}, handle)));
}

int PinnedMemoryResource::numa_id() const noexcept {
    const CUmemLocation location = detail::Access::state(*this)->location;
    return location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ? location.id : -1;
}

// ---- ManagedMemoryResource ---------------------------------------------------------------------

ManagedMemoryResource::ManagedMemoryResource(std::unique_ptr<detail::PoolState> state) noexcept
    : MemoryPool(std::move(state)) {}

std::shared_ptr<ManagedMemoryResource> ManagedMemoryResource::create() {
    return std::shared_ptr<ManagedMemoryResource>(
        new ManagedMemoryResource(current_managed_pool()));
}

std::shared_ptr<ManagedMemoryResource>
ManagedMemoryResource::create(const ManagedMemoryResourceOptions& options) {
    // NOTE: drivers refuse a size limit for such a pool.
    return std::shared_ptr<ManagedMemoryResource>(new ManagedMemoryResource(
        detail::create_pool(detail::PoolKind::Managed, managed_location(options), 0, false)));
}

ManagedBuffer ManagedMemoryResource::allocate(std::size_t bytes, const Stream& stream) {
    return ManagedBuffer(MemoryPool::allocate(bytes, stream));
}

std::optional<Location> ManagedMemoryResource::preferred_location() const {
    const CUmemLocation location = detail::Access::state(*this)->location;
    return detail::location_from(location.type, location.id);
}

void detail::warn_about_managed_access(const Device& device) {
    if (has_concurrent_access(device) || managed_access_warning().exchange(true)) {
        return;
    }
    warn(WarningKind::Degraded,
         "device " + std::to_string(device.ordinal()) +
             " lacks concurrent managed memory access: a host that touches managed memory while "
             "the device works ends in a segfault; synchronise the device first");
}

std::atomic<bool>& detail::managed_access_warning() noexcept {
    static std::atomic<bool> is_said = false;
    return is_said;
}

void detail::reset_managed_access_warning() noexcept {
    managed_access_warning() = false;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

CUmemLocation pinned_location(const PinnedMemoryResourceOptions& options) {
    driver::initialise();
    if (options.numa_id) {
        if (*options.numa_id < 0) {
            throw std::invalid_argument("numa_id must be >= 0, got " +
                                        std::to_string(*options.numa_id));
        }
        return {CU_MEM_LOCATION_TYPE_HOST_NUMA, *options.numa_id};
    }
    if (!options.ipc_enabled) {
        return {CU_MEM_LOCATION_TYPE_HOST, 0};
    }
    // Only memory of one NUMA node can be shared.
    const Device device;
    const int node = device.properties().get("host_numa_id", -1);
    if (node < 0) {
        throw std::logic_error("Cannot determine host NUMA ID of device " +
                               std::to_string(device.ordinal()) +
                               ", and a pool that is shared needs a NUMA node; pass numa_id");
    }
    return {CU_MEM_LOCATION_TYPE_HOST_NUMA, node};
}

CUmemLocation managed_location(const ManagedMemoryResourceOptions& options) {
    driver::initialise();
    const auto& wanted = options.preferred_location;
    if (!wanted) {
        detail::warn_about_managed_access(Device());
        return {CU_MEM_LOCATION_TYPE_NONE, 0};
    }
    if (wanted->kind == LocationKind::HostNumaCurrent) {
        throw std::invalid_argument(
            "preferred_location is the current NUMA node, expected a device, "
            "the host or a NUMA node by number");
    }
    const bool is_device = wanted->kind == LocationKind::Device;
    detail::warn_about_managed_access(is_device ? Device(wanted->id) : Device());
    return detail::driver_location(*wanted);
}

std::unique_ptr<detail::PoolState> current_managed_pool() {
    const Device device;
    if (!has_concurrent_access(device)) {
        throw std::logic_error("the default pool of device " + std::to_string(device.ordinal()) +
                               " does not support managed allocations; pass options to make a pool "
                               "of managed memory");
    }
    return detail::current_pool(detail::PoolKind::Managed, {CU_MEM_LOCATION_TYPE_NONE, 0});
}

bool has_concurrent_access(const Device& device) {
    return device.properties().get("concurrent_managed_access", 0) != 0;
}

} // namespace

} // namespace cuprum
