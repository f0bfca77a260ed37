// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// An allocation is a range of addresses, reserved in one or more pieces, with physical memory
// mapped in chunks: one for each time that it grew. After a relocation a chunk is mapped twice, at
// its new address and at the old one, until the old buffer is closed. The last mapping releases the
// chunk.

#include <cuprum/virtual_memory_resource.hpp>

#include "device/device_state.hpp"
#include "driver/current.hpp"
#include "driver/handle.hpp"
#include "memory/allocation.hpp"
#include "memory/buffer_state.hpp"
#include "memory/virtual_memory.hpp"
#include "memory/waiting_free.hpp"
#include "stream/stream_state.hpp"
#include "support/locks.hpp"

#include <cuprum/error.hpp>

#include <limits>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

using detail::VirtualAllocation;

struct VirtualMemoryResource::Allocations {
    std::mutex growing;       // held while an allocation grows; taken before `mutex`
    mutable std::mutex mutex; // guards what follows
    VirtualMemoryResourceOptions options;
    std::map<CUdeviceptr, std::shared_ptr<VirtualAllocation>> by_address;

    /// Removes the allocation at an address and returns it.
    /// @throws std::invalid_argument if there is none.
    std::shared_ptr<VirtualAllocation> take(CUdeviceptr pointer);
    /// Returns the allocation that a buffer is the whole of. Hold `growing`.
    std::shared_ptr<VirtualAllocation> of(const detail::BufferState& buffer) const;
};

namespace {

void check_options(const Device& device, const VirtualMemoryResourceOptions& options) {
    const std::size_t alignment = options.addr_align.value_or(1);
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
        throw std::invalid_argument("addr_align is " + std::to_string(alignment) +
                                    ", expected a power of two");
    }
    for (const Device& peer : options.peers) {
        if (peer != device && !peer.can_access_peer(device)) {
            throw std::invalid_argument("peers has device " + std::to_string(peer.ordinal()) +
                                        ", which cannot access the memory of device " +
                                        std::to_string(device.ordinal()));
        }
    }
}

bool is_on_device(const VirtualMemoryResourceOptions& options) {
    return options.location_type == LocationKind::Device;
}

void check_device(const Device& device, const VirtualMemoryResourceOptions& options) {
    const auto has = [&](const char* name) { return device.properties().get(name, 0) != 0; };
    if (!has("virtual_memory_management_supported")) {
        throw std::logic_error(
            "VirtualMemoryResource requires CUDA VMM API support, which device " +
            std::to_string(device.ordinal()) + " does not have");
    }
    if (options.gpu_direct_rdma && is_on_device(options) &&
        !has("gpu_direct_rdma_with_cuda_vmm_supported")) {
        throw std::logic_error("GPU Direct RDMA is not supported on this device (" +
                               std::to_string(device.ordinal()) +
                               ") for virtual memory; leave gpu_direct_rdma out");
    }
}

std::shared_ptr<detail::ContextState> context_on(const Device& device) {
    return detail::context_for(*detail::devices()[static_cast<std::size_t>(device.ordinal())]);
}

} // namespace

std::shared_ptr<VirtualMemoryResource>
VirtualMemoryResource::create(const Device& device, const VirtualMemoryResourceOptions& options) {
    return std::shared_ptr<VirtualMemoryResource>(new VirtualMemoryResource(device, options));
}

VirtualMemoryResource::VirtualMemoryResource(const Device& device,
                                             const VirtualMemoryResourceOptions& options)
    : device_(device), allocations_(std::make_unique<Allocations>()) {
    check_options(device, options);
    check_device(device, options);
    allocations_->options = options;
}

VirtualMemoryResource::~VirtualMemoryResource() =
    default; // buffers hold the resource: none is left

Buffer VirtualMemoryResource::allocate(std::size_t bytes) {
    const VirtualMemoryResourceOptions how = options();
    auto context = context_on(device_);
    if (bytes == 0) {
        return detail::adopt(0, 0, detail::share_of(*this), std::move(context));
    }
    auto state = std::make_shared<detail::BufferState>();
    state->resource = detail::share_of(*this);
    const driver::Current current(context->handle);
    state->make_in(std::move(context));
    auto allocation = detail::allocate_virtual(device_, bytes, how);
    state->size = allocation->size();
    const CUdeviceptr pointer = allocation->base();
    {
        const std::lock_guard lock(allocations_->mutex);
        allocations_->by_address.emplace(pointer, std::move(allocation));
    }
    state->pointer = pointer; // from here on the buffer frees it
    return detail::Access::make<Buffer>(std::move(state));
}

Buffer VirtualMemoryResource::make_buffer(std::size_t bytes, const Stream& stream) {
    static_cast<void>(detail::handle_of(stream)); // a closed stream is an error here as everywhere
    Buffer buffer = allocate(bytes);
    if (bytes != 0) {
        buffer.set_deallocation_stream(stream);
    }
    return buffer;
}

Buffer VirtualMemoryResource::modify_allocation(const Buffer& buffer, std::size_t bytes) {
    return modify_allocation(buffer, bytes, options());
}

Buffer VirtualMemoryResource::modify_allocation(const Buffer& buffer, std::size_t bytes,
                                                const VirtualMemoryResourceOptions& options) {
    detail::BufferState& old = detail::open(buffer);
    if (old.resource.get() != this) {
        throw std::invalid_argument("buffer does not come from this VirtualMemoryResource; only "
                                    "what it allocated can grow");
    }
    detail::check_size(bytes);
    check_options(device_, options);
    check_device(device_, options);
    if (is_on_device(options) != is_on_device(this->options())) {
        throw std::invalid_argument("location_type cannot change between device and host while an "
                                    "allocation grows: one buffer lies in one place");
    }
    if (old.size == 0) {
        throw std::invalid_argument("buffer has 0 bytes and no addresses that could grow; allocate "
                                    "one instead");
    }
    // Two threads may grow one buffer, or set the resource's options: one after the other.
    const detail::QuietLock one_at_a_time(allocations_->growing);
    const auto allocation = allocations_->of(old);
    const detail::FreeOrder order = old.free_order();
    const driver::Current current(order.context->handle);
    std::shared_ptr<detail::BufferState> moved;
    if (bytes <= old.size) {
        allocation->set_access(device_, options);
    } else if (allocation->extend(device_, bytes, options)) {
        old.size = allocation->size();
    } else {
        auto longer = allocation->relocate(device_, bytes, options);
        moved = std::make_shared<detail::BufferState>();
        moved->resource = old.resource;
        moved->stream = order.stream;
        moved->extras.get().context = order.context;
        moved->extras.get().thread = order.thread;
        moved->size = longer->size();
        const CUdeviceptr pointer = longer->base();
        {
            const std::lock_guard lock(allocations_->mutex);
            allocations_->by_address.emplace(pointer, std::move(longer));
        }
        moved->pointer = pointer;
    }
    const std::lock_guard lock(allocations_->mutex);
    allocations_->options = options;
    return moved != nullptr ? detail::Access::make<Buffer>(std::move(moved)) : buffer;
}

VirtualMemoryResourceOptions VirtualMemoryResource::options() const {
    const std::lock_guard lock(allocations_->mutex);
    return allocations_->options;
}

std::optional<Device> VirtualMemoryResource::device() const {
    return is_on_device(options()) ? std::optional(device_) : std::nullopt;
}

std::size_t VirtualMemoryResource::granularity() const {
    return detail::virtual_granularity(device_, options());
}

CUdeviceptr VirtualMemoryResource::allocate_bytes(std::size_t bytes, const Stream& stream) {
    static_cast<void>(detail::handle_of(stream));
    const driver::Current current(context_on(device_)->handle);
    auto allocation = detail::allocate_virtual(device_, bytes, options());
    const CUdeviceptr pointer = allocation->base();
    const std::lock_guard lock(allocations_->mutex);
    allocations_->by_address.emplace(pointer, std::move(allocation));
    return pointer;
}

void VirtualMemoryResource::deallocate_bytes(CUdeviceptr pointer, std::size_t /*bytes*/,
                                             const Stream& stream) {
    if (pointer == 0) {
        return;
    }
    const auto take = [&] {
        // Unmapped and released here, unless it is growing at this moment.
        const auto allocation = allocations_->take(pointer);
    };
    if (!stream.is_closed()) {
        detail::free_after(stream, take);
        return;
    }
    // The streams that use the memory are unknown: wait for all.
    std::exception_ptr failure;
    try {
        detail::Access::make<Context>(context_on(device_)).sync();
    } catch (const CUDAError&) {
        failure = std::current_exception();
    }
    take();
    if (failure != nullptr) {
        std::rethrow_exception(failure);
    }
}

bool VirtualMemoryResource::is_device_accessible() const noexcept {
    const std::lock_guard lock(allocations_->mutex);
    const auto& how = allocations_->options;
    return is_on_device(how) ? how.self_access != VirtualMemoryAccess::None
                             : !how.peers.empty() && how.peer_access != VirtualMemoryAccess::None;
}

bool VirtualMemoryResource::is_host_accessible() const noexcept {
    const std::lock_guard lock(allocations_->mutex);
    return !is_on_device(allocations_->options) ||
           allocations_->options.allocation_type == VirtualMemoryAllocation::Managed;
}

int VirtualMemoryResource::device_id() const noexcept {
    const std::lock_guard lock(allocations_->mutex);
    return is_on_device(allocations_->options) ? device_.ordinal() : -1;
}

std::shared_ptr<VirtualAllocation> VirtualMemoryResource::Allocations::take(CUdeviceptr pointer) {
    const std::lock_guard lock(mutex);
    auto node = by_address.extract(pointer);
    if (node.empty()) {
        throw std::invalid_argument("pointer " + std::to_string(pointer) +
                                    " is not the address of an allocation of this "
                                    "VirtualMemoryResource: it was freed already, or is another's");
    }
    return std::move(node.mapped());
}

std::shared_ptr<VirtualAllocation>
VirtualMemoryResource::Allocations::of(const detail::BufferState& buffer) const {
    const std::lock_guard lock(mutex);
    const auto found = by_address.find(buffer.pointer);
    if (buffer.is_slice() || found == by_address.end() || found->second->size() != buffer.size) {
        throw std::invalid_argument("buffer is a part of an allocation, expected the whole: only "
                                    "that can grow");
    }
    return found->second;
}

} // namespace cuprum
