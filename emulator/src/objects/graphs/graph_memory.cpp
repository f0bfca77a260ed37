// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/graph_memory.hpp"

#include "check/written.hpp"
#include "objects/devices/device.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/memory/reach.hpp"
#include "objects/process/driver.hpp"
#include "objects/process/error.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sys/mman.h>

namespace cuprum::emulator {

namespace {

constexpr std::uint64_t LARGEST_GRAPH_BYTES = std::uint64_t{1} << 46;

/// What the memory of graphs takes on one device.
struct Usage {
    std::uint64_t used = 0;
    std::uint64_t used_high = 0;
    std::uint64_t idle = 0; // of graphs that are gone; the next ones use it first
    std::uint64_t reserved_high = 0;

    [[nodiscard]] std::uint64_t reserved() const noexcept { return used + idle; }
};

/// Everything that is known of the memory of graphs.
struct Registry {
    std::mutex mutex;
    std::map<int, Usage> usage; // by device
    std::set<GraphMemory*> all;
    // What launches have allocated and nobody has freed: it outlives its graph.
    std::set<std::shared_ptr<GraphMemory>> allocated;
};

Registry& registry() {
    static auto* const the_registry = new Registry;
    return *the_registry;
}

void check_request(const CUDA_MEM_ALLOC_NODE_PARAMS& request) {
    const CUmemPoolProps& pool = request.poolProps;
    require(request.bytesize != 0, "the size of an allocation must not be 0");
    require(pool.allocType == CU_MEM_ALLOCATION_TYPE_PINNED ||
                pool.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED,
            "an allocation node has pinned or managed memory: set poolProps.allocType to "
            "CU_MEM_ALLOCATION_TYPE_PINNED or CU_MEM_ALLOCATION_TYPE_MANAGED");
    require(pool.handleTypes == CU_MEM_HANDLE_TYPE_NONE,
            "the memory of an allocation node cannot be shared with other processes");
    require(pool.location.type == CU_MEM_LOCATION_TYPE_DEVICE ||
                pool.location.type == CU_MEM_LOCATION_TYPE_HOST ||
                pool.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
                (pool.location.type == CU_MEM_LOCATION_TYPE_NONE &&
                 pool.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED),
            "an allocation node has memory of a device or of the host");
    require(pool.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
                (pool.location.id >= 0 && pool.location.id < Driver::instance().device_count()),
            "the device of the allocation does not exist");
    require(request.accessDescs != nullptr || request.accessDescCount == 0,
            "accessDescs must not be NULL");
    require(request.accessDescCount <= static_cast<std::size_t>(Driver::instance().device_count()),
            "there are more descriptions of access than devices");
    for (std::size_t index = 0; index < request.accessDescCount; ++index) {
        const CUmemAccessDesc& access = request.accessDescs[index];
        require(access.location.type == CU_MEM_LOCATION_TYPE_DEVICE && access.location.id >= 0 &&
                    access.location.id < Driver::instance().device_count(),
                "the device of an access description does not exist");
        if (access.flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
            access.flags == CU_MEM_ACCESS_FLAGS_PROT_READ) {
            fail(CUDA_ERROR_NOT_SUPPORTED,
                 "the memory of an allocation node is open for reading and writing: set the flags "
                 "of access to CU_MEM_ACCESS_FLAGS_PROT_READWRITE");
        }
        require(access.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE, "unknown access flags");
    }
    if (request.bytesize > LARGEST_GRAPH_BYTES) {
        fail(CUDA_ERROR_OUT_OF_MEMORY, "no emulated device has so much memory");
    }
}

} // namespace

std::shared_ptr<GraphMemory> GraphMemory::create(const CUDA_MEM_ALLOC_NODE_PARAMS& request) {
    check_request(request);
    constexpr std::uint64_t granule = AddressSpace::GRANULE_BYTES;
    std::shared_ptr<GraphMemory> memory(new GraphMemory);
    memory->capacity_ = (request.bytesize + granule - 1) / granule * granule;
    memory->properties_ = request.poolProps;
    memory->access_.assign(request.accessDescs, request.accessDescs + request.accessDescCount);
    auto allocation = std::make_shared<Allocation>();
    allocation->bytes = request.bytesize;
    allocation->kind = MemoryKind::Graph;
    const bool is_on_device = request.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    allocation->device = is_on_device ? request.poolProps.location.id : 0;
    allocation->migrates = request.poolProps.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
    allocation->is_on_host = !is_on_device || allocation->migrates;
    allocation->graph = memory;
    if (is_on_device && memory->capacity_ > device_at(allocation->device).total_bytes()) {
        fail(CUDA_ERROR_OUT_OF_MEMORY, "the device does not have so much memory");
    }
    allocation->base = AddressSpace::instance().take(memory->capacity_);
    memory->allocation_ = allocation;
    Allocations::instance().add(allocation);
    AddressSpace::instance().close(allocation->base, allocation->bytes);
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.all.insert(memory.get());
    return memory;
}

GraphMemory::~GraphMemory() {
    if (allocation_ == nullptr) {
        return; // create() failed
    }
    {
        Registry& all = registry();
        const std::lock_guard lock(all.mutex);
        all.all.erase(this);
        if (is_backed_) {
            // Counts as used until the program trims, or other graphs take it over.
            all.usage[device()].used -= capacity_;
            all.usage[device()].idle += allocation_->is_on_host ? 0 : capacity_;
        }
    }
    Allocations::instance().remove(allocation_);
    AddressSpace::instance().give_back(allocation_->base, capacity_);
}

std::shared_ptr<GraphMemory> GraphMemory::find(std::uint64_t address) {
    const auto allocation = Allocations::instance().find(address);
    return allocation != nullptr && allocation->base == address ? allocation->graph.lock()
                                                                : nullptr;
}

void GraphMemory::back() {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    if (is_backed_) {
        return;
    }
    Usage& usage = all.usage[device()];
    const std::uint64_t taken_over = std::min(usage.idle, capacity_);
    if (!allocation_->is_on_host) {
        device_at(device()).charge(capacity_ - taken_over);
    }
    usage.idle -= taken_over;
    usage.used += capacity_;
    usage.used_high = std::max(usage.used_high, usage.used);
    usage.reserved_high = std::max(usage.reserved_high, usage.reserved());
    is_backed_ = true;
}

bool GraphMemory::is_allocated() const noexcept {
    const std::lock_guard lock(registry().mutex);
    return is_allocated_;
}

void GraphMemory::note_launch(bool frees_it) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    is_allocated_ = !frees_it;
    if (is_allocated_) {
        all.allocated.insert(shared_from_this());
    }
}

void GraphMemory::note_free() {
    Registry& all = registry();
    std::shared_ptr<GraphMemory> self; // the last reference must not go under the lock
    const std::lock_guard lock(all.mutex);
    require(is_allocated_, "the memory of the graph is not allocated: the graph was not launched, "
                           "or the memory was freed before");
    self = shared_from_this();
    is_allocated_ = false;
    all.allocated.erase(self);
}

void GraphMemory::begin_use() noexcept {
    const std::lock_guard lock(registry().mutex);
    ++users_;
}

void GraphMemory::end_use() noexcept {
    const std::lock_guard lock(registry().mutex);
    --users_;
}

void GraphMemory::open() {
    check::forget_written(AddressSpace::instance().map(), allocation_->base, allocation_->bytes);
    Allocations::open(*allocation_);
    for (const CUmemAccessDesc& access : access_) {
        AddressSpace::instance().set_permission(access.location.id, allocation_->base,
                                                allocation_->bytes, permission_of(access.flags));
    }
    is_open_.store(true, std::memory_order_release);
}

void GraphMemory::close() {
    is_open_.store(false, std::memory_order_release);
    AddressSpace::instance().close(allocation_->base, allocation_->bytes);
}

std::uint64_t GraphMemory::attribute(int device, CUgraphMem_attribute attribute) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const Usage& usage = all.usage[device];
    switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
        return usage.reserved(); // memory stays with graphs until it is trimmed
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
        return usage.used_high;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
        return usage.reserved();
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
        return usage.reserved_high;
    default:
        fail(CUDA_ERROR_INVALID_VALUE, "unknown attribute of graph memory");
    }
}

void GraphMemory::set_attribute(int device, CUgraphMem_attribute attribute, std::uint64_t value) {
    require(attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH ||
                attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH,
            "only the high-water marks of graph memory can be set");
    require(value == 0, "a high-water mark can only be set to 0");
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    Usage& usage = all.usage[device];
    if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) {
        usage.used_high = 0;
    } else {
        usage.reserved_high = 0;
    }
}

void GraphMemory::trim(int device) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    Usage& usage = all.usage[device];
    std::uint64_t given_back = usage.idle;
    usage.idle = 0;
    for (GraphMemory* const memory : all.all) {
        if (memory->device() != device || !memory->is_backed_ || memory->is_allocated_ ||
            memory->users_ != 0) {
            continue;
        }
        memory->is_backed_ = false;
        usage.used -= memory->capacity_;
        given_back += memory->allocation_->is_on_host ? 0 : memory->capacity_;
        // The pages are empty when they are used next; the addresses stay.
        (void)::madvise(reinterpret_cast<void*>(memory->allocation_->base), memory->capacity_,
                        MADV_DONTNEED);
    }
    device_at(device).refund(given_back);
}

} // namespace cuprum::emulator
