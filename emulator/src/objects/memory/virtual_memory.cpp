// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/memory/virtual_memory.hpp"

#include "objects/devices/device.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/memory/host_pages.hpp"
#include "objects/memory/reach.hpp"
#include "objects/memory/shared_location.hpp"
#include "objects/process/driver.hpp"
#include "objects/process/error.hpp"

#include <algorithm>
#include <bit>

namespace cuprum::emulator {

namespace {

void check_granularity(std::uint64_t value, const char* complaint) {
    require(value != 0 && value % VirtualMemory::GRANULARITY_BYTES == 0, complaint);
}

int key_of(const CUmemLocation& location) {
    return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : -1;
}

void check_location(const CUmemLocation& location) {
    switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        (void)device_at(location.id);
        return;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return;
    default:
        fail(CUDA_ERROR_INVALID_VALUE, "unknown type of location");
    }
}

} // namespace

PhysicalMemory::PhysicalMemory(std::uint64_t bytes, const CUmemAllocationProp& properties)
    : bytes_(bytes), properties_(properties) {
    if (device() >= 0) {
        device_at(device()).charge(bytes);
    } else {
        check_host_holds(bytes);
    }
    try {
        SharedHeader about;
        about.kind = SharedKind::Physical;
        about.bytes = bytes;
        put_location(about, properties.location);
        about.allocation_type = properties.type;
        about.handle_types = properties.requestedHandleTypes;
        file_ = SharedFile::create(about);
    } catch (...) {
        if (device() >= 0) {
            device_at(device()).refund(bytes);
        }
        throw;
    }
}

PhysicalMemory::PhysicalMemory(std::shared_ptr<SharedFile> file,
                               const CUmemAllocationProp& properties)
    : bytes_(file->header().bytes), properties_(properties), file_(std::move(file)),
      is_imported_(true) {}

PhysicalMemory::~PhysicalMemory() {
    if (device() >= 0 && !is_imported_) {
        device_at(device()).refund(bytes_);
    }
}

int PhysicalMemory::device() const noexcept {
    return key_of(properties_.location);
}

VirtualMemory& VirtualMemory::instance() {
    static auto* memory = new VirtualMemory;
    return *memory;
}

std::uint64_t VirtualMemory::reserve(std::uint64_t bytes, std::uint64_t alignment,
                                     std::uint64_t hint) {
    check_granularity(bytes, "the size is not a multiple of the granularity");
    require(alignment == 0 || std::has_single_bit(alignment),
            "the alignment is not a power of two");
    require(hint % PAGE_BYTES == 0, "the hinted address is not a multiple of the page size");
    alignment = std::max(alignment, GRANULARITY_BYTES);
    const std::lock_guard lock(mutex_);
    if (hint % alignment == 0 && reserve_behind(hint, bytes)) {
        return hint;
    }
    const std::uint64_t base = AddressSpace::instance().take(bytes, alignment);
    taken_.emplace(base, Taken{bytes, 1});
    reservations_.emplace(base, Reservation{bytes, base});
    return base;
}

/// Reserves the addresses behind a reservation, if they are free. The mutex must be held.
bool VirtualMemory::reserve_behind(std::uint64_t address, std::uint64_t bytes) {
    const auto after = reservations_.lower_bound(address);
    if (after == reservations_.begin() ||
        std::prev(after)->first + std::prev(after)->second.bytes != address) {
        return false;
    }
    const std::uint64_t base = std::prev(after)->second.taken;
    Taken& taken = taken_.at(base);
    if (after != reservations_.end() && after->second.taken == base) {
        return false; // another reservation is there
    }
    // A freed reservation may have left addresses there.
    const std::uint64_t left = base + taken.bytes - address;
    if (bytes > left) {
        if (!AddressSpace::instance().extend(base, taken.bytes, bytes - left)) {
            return false;
        }
        taken.bytes += bytes - left;
    }
    ++taken.reservations;
    reservations_.emplace(address, Reservation{bytes, base});
    return true;
}

void VirtualMemory::free(std::uint64_t base, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = reservations_.find(base);
    require(found != reservations_.end() && found->second.bytes == bytes,
            "the range is not a whole reservation");
    const auto mapped = mappings_.lower_bound(base);
    require(mapped == mappings_.end() || mapped->first >= base + bytes,
            "memory is still mapped in the reservation");
    const auto taken = taken_.find(found->second.taken);
    reservations_.erase(found);
    if (--taken->second.reservations == 0) {
        AddressSpace::instance().give_back(taken->first, taken->second.bytes);
        taken_.erase(taken);
    }
}

void VirtualMemory::map(std::uint64_t base, std::uint64_t bytes, std::uint64_t offset,
                        const std::shared_ptr<PhysicalMemory>& memory) {
    check_granularity(bytes, "the size is not a multiple of the granularity");
    require(base % GRANULARITY_BYTES == 0 && offset % GRANULARITY_BYTES == 0,
            "address and offset must be multiples of the granularity");
    require(offset <= memory->bytes() && bytes <= memory->bytes() - offset,
            "the range does not lie in the memory");
    auto allocation = std::make_shared<Allocation>();
    allocation->base = base;
    allocation->bytes = bytes;
    allocation->kind = MemoryKind::Mapped;
    allocation->device = std::max(memory->device(), 0);
    allocation->is_on_host = memory->device() < 0;
    const std::lock_guard lock(mutex_);
    require(memory->shares.load() != 0, "the memory has been released");
    const auto after = reservations_.upper_bound(base);
    // Not base + bytes, which may overflow.
    require(after != reservations_.begin(), "the range is not reserved");
    const auto& [reserved, reservation] = *std::prev(after);
    require(base - reserved <= reservation.bytes && bytes <= reservation.bytes - (base - reserved),
            "the range is not reserved");
    const auto next = mappings_.lower_bound(base);
    const bool is_free = (next == mappings_.end() || next->first >= base + bytes) &&
                         (next == mappings_.begin() ||
                          std::prev(next)->first + std::prev(next)->second.bytes <= base);
    require(is_free, "memory is mapped there already");
    AddressSpace::map_file(base, bytes, memory->file().descriptor(),
                           SharedFile::DATA_OFFSET + offset);
    Allocations::instance().add(allocation);
    mappings_.emplace(base, Mapping{bytes, memory, std::move(allocation), {}});
    ++memory->mappings;
}

void VirtualMemory::unmap(std::uint64_t base, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    std::uint64_t end = base;
    for (auto each = mappings_.find(base); each != mappings_.end() && each->first == end; ++each) {
        end += each->second.bytes;
        if (end >= base + bytes) {
            break;
        }
    }
    require(end == base + bytes && bytes != 0, "the range is not made of whole mappings");
    AddressSpace::instance().close(base, bytes);
    for (auto each = mappings_.find(base); each != mappings_.end() && each->first < end;) {
        Allocations::instance().remove(each->first, {MemoryKind::Mapped});
        const auto memory = std::move(each->second.memory);
        each = mappings_.erase(each);
        --memory->mappings;
        forget_if_unused(*memory);
    }
    AddressSpace::unmap_file(base, bytes);
}

void VirtualMemory::set_access(std::uint64_t base, std::uint64_t bytes,
                               std::span<const CUmemAccessDesc> descriptions) {
    for (const CUmemAccessDesc& description : descriptions) {
        require(description.flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
                    description.flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
                    description.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                "unknown access flags");
        check_location(description.location);
    }
    const std::lock_guard lock(mutex_);
    std::uint64_t end = base;
    for (auto each = mappings_.find(base);
         each != mappings_.end() && each->first == end && end < base + bytes; ++each) {
        end += each->second.bytes;
    }
    require(end == base + bytes && bytes != 0, "the range is not made of whole mappings");
    // All or nothing: check everything before anything changes.
    for (auto each = mappings_.find(base); each != mappings_.end() && each->first < end; ++each) {
        const CUmemLocation& place = each->second.memory->properties().location;
        for (const CUmemAccessDesc& description : descriptions) {
            require(description.location.type != CU_MEM_LOCATION_TYPE_HOST_NUMA ||
                        place.type == CU_MEM_LOCATION_TYPE_HOST_NUMA,
                    "access of a NUMA node can be set only for memory of a NUMA node");
        }
    }
    for (auto each = mappings_.find(base); each != mappings_.end() && each->first < end; ++each) {
        for (const CUmemAccessDesc& description : descriptions) {
            each->second.access[key_of(description.location)] = description.flags;
            if (description.location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
                AddressSpace::instance().set_permission(description.location.id, each->first,
                                                        each->second.bytes,
                                                        permission_of(description.flags));
            }
        }
    }
}

CUmemAccess_flags VirtualMemory::access(std::uint64_t address,
                                        const CUmemLocation& location) const {
    check_location(location);
    const std::lock_guard lock(mutex_);
    const auto mapping = find(address);
    require(mapping != mappings_.end(), "nothing is mapped at the address");
    const auto found = mapping->second.access.find(key_of(location));
    return found == mapping->second.access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : found->second;
}

Permission VirtualMemory::permission_to_copy(std::uint64_t address, std::uint64_t bytes,
                                             int device) const {
    const std::lock_guard lock(mutex_);
    Permission weakest = Permission::ReadWrite;
    for (auto each = find(address); each != mappings_.end() && each->first < address + bytes;
         ++each) {
        const auto& access = each->second.access;
        const auto own = access.find(device);
        CUmemAccess_flags flags = own == access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : own->second;
        if (flags == CU_MEM_ACCESS_FLAGS_PROT_NONE) {
            for (const auto& [location, others] : access) {
                flags = std::max(flags, others);
            }
        }
        weakest = std::min(weakest, permission_of(flags));
    }
    return weakest;
}

std::shared_ptr<PhysicalMemory> VirtualMemory::memory_at(std::uint64_t address) const {
    const std::lock_guard lock(mutex_);
    const auto mapping = find(address);
    require(mapping != mappings_.end(), "nothing is mapped at the address");
    return mapping->second.memory;
}

std::uint64_t VirtualMemory::retain(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    const auto mapping = find(address);
    require(mapping != mappings_.end(), "nothing is mapped at the address");
    ++mapping->second.memory->shares;
    return mapping->second.memory->handle_value();
}

void VirtualMemory::release(PhysicalMemory& memory) {
    const std::lock_guard lock(mutex_);
    require(memory.shares.load() != 0, "the memory has been released");
    --memory.shares;
    forget_if_unused(memory);
}

/// Invalidates the handle when there is no share left and it cannot be retained again. The mutex
/// must be held.
void VirtualMemory::forget_if_unused(PhysicalMemory& memory) {
    if (memory.shares.load() == 0 && memory.mappings == 0) {
        HandleTable::instance().erase(HandleKind::Physical, memory.handle_value());
    }
}

VirtualMemory::Mappings::const_iterator VirtualMemory::find(std::uint64_t address) const {
    const auto after = mappings_.upper_bound(address);
    if (after == mappings_.begin()) {
        return mappings_.end();
    }
    const auto candidate = std::prev(after);
    return address - candidate->first < candidate->second.bytes ? candidate : mappings_.end();
}

} // namespace cuprum::emulator
