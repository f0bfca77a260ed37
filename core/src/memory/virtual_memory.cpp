// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/virtual_memory.hpp"

#include "driver/deferred_release.hpp"
#include "memory/allocation.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum::detail {

namespace {

using driver::call;
using driver::table;

using Options = VirtualMemoryResourceOptions;

/// Returns where the memory lies. A NUMA node is the one that the device is nearest to.
CUmemLocation home(const Device& device, const Options& options) {
    switch (options.location_type) {
    case LocationKind::Device:
        return driver_location(Location::device(device));
    case LocationKind::HostNuma: {
        const int node = device.properties().get("host_numa_id", -1);
        if (node < 0) {
            throw std::logic_error("location_type is host_numa, but device " +
                                   std::to_string(device.ordinal()) +
                                   " is near no NUMA node; use host or host_numa_current");
        }
        return driver_location(Location::host_numa(node));
    }
    default:
        return driver_location({options.location_type, 0});
    }
}

CUmemAllocationProp properties(const Device& device, const Options& options) {
    CUmemAllocationProp wanted{};
    wanted.type = options.allocation_type == VirtualMemoryAllocation::Managed
                      ? CU_MEM_ALLOCATION_TYPE_MANAGED
                      : CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location = home(device, options);
    wanted.allocFlags.gpuDirectRDMACapable = options.gpu_direct_rdma ? 1 : 0;
    switch (options.handle_type) {
    case VirtualMemoryHandle::None:
        wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
        break;
    case VirtualMemoryHandle::PosixFileDescriptor:
        wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        break;
    case VirtualMemoryHandle::Win32Kmt:
        wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32_KMT;
        break;
    case VirtualMemoryHandle::Fabric:
        wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
        break;
    }
    return wanted;
}

std::size_t round_up(std::size_t bytes, std::size_t granularity) {
    check_size(bytes);
    if (bytes > std::numeric_limits<std::size_t>::max() - granularity) {
        throw std::invalid_argument("size is " + std::to_string(bytes) +
                                    ", more than addresses can be reserved for");
    }
    return (bytes + granularity - 1) / granularity * granularity;
}

/// Returns the device whose memory it is, -1 for host memory.
int holder_of(const Device& device, const Options& options) {
    return options.location_type == LocationKind::Device ? device.ordinal() : -1;
}

std::unique_ptr<Reservation> reserve(std::size_t bytes, std::size_t granularity,
                                     const Device& device, const Options& options,
                                     CUdeviceptr address) {
    CUdeviceptr base = 0;
    // NOTE: the alignment is of the whole allocation's start; what is put behind it has its own.
    const bool is_behind = address != options.addr_hint;
    const auto& entry = table().cuMemAddressReserve;
    const CUresult status =
        entry(&base, bytes, is_behind ? granularity : options.addr_align.value_or(granularity),
              address, 0ULL);
    if (status == CUDA_ERROR_OUT_OF_MEMORY) {
        raise_out_of_memory(entry.name, bytes, holder_of(device, options),
                            "there is no free address range of this size; ask for less");
    }
    if (status != CUDA_SUCCESS) {
        driver::raise(status, entry.name);
    }
    return std::make_unique<Reservation>(base, bytes);
}

std::shared_ptr<PhysicalChunk> create(const Device& device, std::size_t bytes,
                                      const Options& options) {
    const CUmemAllocationProp wanted = properties(device, options);
    CUmemGenericAllocationHandle handle = 0;
    allocate(bytes, holder_of(device, options), table().cuMemCreate, &handle, bytes, &wanted, 0ULL);
    return std::make_shared<PhysicalChunk>(handle, bytes);
}

void open(const Mapping& mapping, const std::vector<CUmemAccessDesc>& access) {
    if (!access.empty()) {
        call(table().cuMemSetAccess, mapping.base(), mapping.chunk()->bytes(), access.data(),
             access.size());
    }
}

std::vector<CUmemAccessDesc> access_of(const Device& device, const Options& options) {
    const auto flags = [](VirtualMemoryAccess access) {
        switch (access) {
        case VirtualMemoryAccess::Read:
            return CU_MEM_ACCESS_FLAGS_PROT_READ;
        case VirtualMemoryAccess::ReadWrite:
            return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        default:
            return CU_MEM_ACCESS_FLAGS_PROT_NONE;
        }
    };
    std::vector<CUmemAccessDesc> access;
    access.push_back({home(device, options), flags(options.self_access)});
    for (const Device& peer : options.peers) {
        if (options.location_type != LocationKind::Device || peer != device) {
            access.push_back({driver_location(Location::device(peer)), flags(options.peer_access)});
        }
    }
    return access;
}

/// Returns an access list that also removes the access of locations that are not listed any more.
std::vector<CUmemAccessDesc> with_others_removed(const std::vector<CUmemAccessDesc>& access,
                                                 const std::vector<CUmemAccessDesc>& before) {
    std::vector<CUmemAccessDesc> all = access;
    for (const CUmemAccessDesc& had : before) {
        const auto is_same_place = [&](const CUmemAccessDesc& has) {
            return has.location.type == had.location.type && has.location.id == had.location.id;
        };
        if (std::ranges::none_of(access, is_same_place)) {
            all.push_back({had.location, CU_MEM_ACCESS_FLAGS_PROT_NONE});
        }
    }
    return all;
}

} // namespace

PhysicalChunk::~PhysicalChunk() {
    release_or_defer("piece of physical memory", table().cuMemRelease, handle_);
}

Reservation::~Reservation() {
    release_or_defer("address range", table().cuMemAddressFree, base_, bytes_);
}

Mapping::Mapping(CUdeviceptr base, std::shared_ptr<PhysicalChunk> chunk)
    : base_(base), chunk_(std::move(chunk)) {
    call(table().cuMemMap, base_, chunk_->bytes(), std::size_t{0}, chunk_->handle(), 0ULL);
}

Mapping::~Mapping() {
    release_or_defer("memory mapping", table().cuMemUnmap, base_, chunk_->bytes());
}

std::size_t VirtualAllocation::size() const noexcept {
    const Mapping& last = *mappings_.back();
    return last.base() + last.chunk()->bytes() - base();
}

void VirtualAllocation::set_access(const Device& device, const Options& options) {
    auto access = access_of(device, options);
    const auto change = with_others_removed(access, access_);
    const auto way_back = with_others_removed(access_, access);
    std::size_t changed = 0;
    try {
        for (; changed < mappings_.size(); ++changed) {
            open(*mappings_[changed], change);
        }
    } catch (...) {
        for (std::size_t i = 0; i < changed && !access_.empty(); ++i) {
            const Mapping& mapping = *mappings_[i];
            driver::release_now("change of access to memory", table().cuMemSetAccess,
                                mapping.base(), mapping.chunk()->bytes(), way_back.data(),
                                way_back.size());
        }
        throw;
    }
    access_ = std::move(access);
}

bool VirtualAllocation::extend(const Device& device, std::size_t bytes, const Options& options) {
    const std::size_t granularity = virtual_granularity(device, options);
    const std::size_t more = round_up(bytes - size(), granularity);
    const CUdeviceptr end = base() + size();
    // All that can fail comes first.
    make_room_for_one(reservations_);
    make_room_for_one(mappings_);
    auto piece = reserve(more, granularity, device, options, end);
    if (piece->base() != end) {
        return false;
    }
    auto mapping = std::make_unique<Mapping>(end, create(device, more, options));
    open(*mapping, access_of(device, options));
    set_access(device, options);
    reservations_.push_back(std::move(piece));
    mappings_.push_back(std::move(mapping));
    return true;
}

std::shared_ptr<VirtualAllocation>
VirtualAllocation::relocate(const Device& device, std::size_t bytes, const Options& options) const {
    const std::size_t granularity = virtual_granularity(device, options);
    const std::size_t more = round_up(bytes - size(), granularity);
    auto longer = std::make_shared<VirtualAllocation>();
    longer->reservations_.push_back(
        reserve(size() + more, granularity, device, options, options.addr_hint));
    CUdeviceptr next = longer->base();
    for (const auto& mapping : mappings_) {
        longer->mappings_.push_back(std::make_unique<Mapping>(next, mapping->chunk()));
        next += mapping->chunk()->bytes();
    }
    longer->mappings_.push_back(std::make_unique<Mapping>(next, create(device, more, options)));
    longer->set_access(device, options);
    return longer;
}

std::shared_ptr<VirtualAllocation> allocate_virtual(const Device& device, std::size_t bytes,
                                                    const Options& options) {
    const std::size_t granularity = virtual_granularity(device, options);
    const std::size_t rounded = round_up(bytes, granularity);
    auto allocation = std::make_shared<VirtualAllocation>();
    // Memory first: it is what there may be too little of.
    auto chunk = create(device, rounded, options);
    allocation->reservations_.push_back(
        reserve(rounded, granularity, device, options, options.addr_hint));
    allocation->mappings_.push_back(
        std::make_unique<Mapping>(allocation->base(), std::move(chunk)));
    allocation->set_access(device, options);
    return allocation;
}

std::size_t virtual_granularity(const Device& device, const Options& options) {
    const CUmemAllocationProp wanted = properties(device, options);
    std::size_t granularity = 0;
    call(table().cuMemGetAllocationGranularity, &granularity, &wanted,
         options.granularity == VirtualMemoryGranularity::Minimum
             ? CU_MEM_ALLOC_GRANULARITY_MINIMUM
             : CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    return granularity;
}

} // namespace cuprum::detail
