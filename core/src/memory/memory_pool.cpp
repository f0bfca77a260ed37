// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/memory_pool.hpp>

#include "device/device_state.hpp"
#include "driver/call.hpp"
#include "driver/handle.hpp"
#include "memory/allocation.hpp"
#include "memory/buffer_state.hpp"
#include "memory/pool_state.hpp"
#include "stream/stream_state.hpp"
#include "support/warn.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/detail/runtime.hpp>
#include <cuprum/error.hpp>
#include <cuprum/managed_buffer.hpp>
#include <cuprum/stream.hpp>

#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

static_assert(static_cast<int>(PoolAttribute::UsedMemHigh) == CU_MEMPOOL_ATTR_USED_MEM_HIGH);

constexpr auto LARGEST_SIZE = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());

/// Returns a pool as its buffers hold it.
std::shared_ptr<MemoryResource> share(MemoryPool& pool) {
    if (detail::Access::state(pool)->is_kept) [[likely]] {
        return {std::shared_ptr<void>(), &pool};
    }
    return pool.shared_from_this();
}

int checked_flag(std::uint64_t value) {
    if (value > 1) {
        throw std::invalid_argument("value is " + std::to_string(value) + ", expected 0 or 1");
    }
    return static_cast<int>(value);
}

} // namespace

MemoryPool::MemoryPool(std::unique_ptr<detail::PoolState> state) noexcept
    : state_(std::move(state)) {}

MemoryPool::~MemoryPool() = default;

[[gnu::hot]] Buffer MemoryPool::allocate(std::size_t bytes, const Stream& stream) {
    const detail::StreamState& queue = detail::open(stream);
    const detail::PoolState& pool = *state_;
    // NOTE: of 0 bytes, or of a size that make_buffer() refuses.
    if (bytes - 1 >= LARGEST_SIZE || queue.is_default || pool.kind != detail::PoolKind::Device ||
        pool.is_mapped) [[unlikely]] {
        return MemoryResource::make_buffer(bytes, stream);
    }
    // A plain buffer: the same as make_buffer() in fewer steps.
    auto state = std::make_shared<detail::BufferState>(share(*this), stream);
    state->pointer = detail::allocate_from_pool(pool, bytes, queue);
    state->size = bytes;
    return detail::Access::make<Buffer>(std::move(state));
}

Buffer MemoryPool::make_buffer(std::size_t bytes, const Stream& stream) {
    return MemoryPool::allocate(bytes, stream);
}

CUdeviceptr MemoryPool::allocate_bytes(std::size_t bytes, const Stream& stream) {
    detail::check_size(bytes);
    const detail::StreamState& queue = detail::open(stream);
    if (state_->kind != detail::PoolKind::Device || state_->is_mapped) [[unlikely]] {
        detail::check_special_pool(*state_, queue);
    }
    return detail::allocate_from_pool(*state_, bytes, queue);
}

void MemoryPool::deallocate_bytes(CUdeviceptr pointer, std::size_t /*bytes*/,
                                  const Stream& stream) {
    const CUstream queue = detail::handle_of(stream);
    if (pointer == 0) {
        return;
    }
    if (const CUresult status = detail::free_pool_memory(pointer, queue); status != CUDA_SUCCESS)
        [[unlikely]] {
        detail::raise_free_failure(status, table().cuMemFreeAsync.name, pointer);
    }
}

CUmemoryPool MemoryPool::handle() const noexcept {
    return state_->handle;
}

bool MemoryPool::is_handle_owned() const noexcept {
    return state_->is_owned;
}

int MemoryPool::device_id() const noexcept {
    return state_->device_id();
}

bool MemoryPool::is_host_accessible() const noexcept {
    return state_->kind != detail::PoolKind::Device;
}

bool MemoryPool::is_managed() const noexcept {
    return state_->kind == detail::PoolKind::Managed;
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
            throw std::invalid_argument("value is " + std::to_string(value) +
                                        ", expected 0: a high-water mark can only be reset");
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

bool MemoryPool::is_ipc_enabled() const noexcept {
    return state_->is_ipc_enabled;
}

bool MemoryPool::is_mapped() const noexcept {
    return state_->is_mapped;
}

IPCAllocationHandle MemoryPool::allocation_handle() const {
    detail::PoolState& pool = *state_;
    if (!pool.is_ipc_enabled) {
        throw std::logic_error("Memory resource is not IPC-enabled: make the pool with "
                               "ipc_enabled to share it with other processes");
    }
    return detail::exported(pool);
}

// Pools whose memory the host can reach: pinned and managed.

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

bool has_concurrent_access(const Device& device) {
    return device.properties().get("concurrent_managed_access", 0) != 0;
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

} // namespace

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

} // namespace cuprum
