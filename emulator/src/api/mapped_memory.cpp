// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Virtual memory management: addresses and physical memory are created separately.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "api/shareable.hpp"
#include "objects/devices/all_contexts.hpp"
#include "objects/devices/device.hpp"
#include "objects/memory/host_pages.hpp"
#include "objects/memory/shared_location.hpp"
#include "objects/memory/virtual_memory.hpp"
#include "objects/process/error.hpp"

using namespace cuprum::emulator;

namespace {

std::shared_ptr<PhysicalMemory> physical_from(CUmemGenericAllocationHandle handle) {
    auto object = HandleTable::instance().find(HandleKind::Physical, handle);
    auto memory = std::static_pointer_cast<PhysicalMemory>(std::move(object));
    require(memory != nullptr && memory->shares.load() != 0,
            "not memory of cuMemCreate, or it has been released");
    return memory;
}

void check_properties(const CUmemAllocationProp* properties) {
    require(properties != nullptr, "prop must not be NULL");
    require(properties->type == CU_MEM_ALLOCATION_TYPE_PINNED,
            "the type must be CU_MEM_ALLOCATION_TYPE_PINNED");
    check_handle_types(properties->requestedHandleTypes);
    require(properties->allocFlags.compressionType <= CU_MEM_ALLOCATION_COMP_GENERIC,
            "unknown type of compression");
    require_zero(properties->allocFlags.reserved);
    require((properties->allocFlags.usage & ~unsigned{CU_MEM_CREATE_USAGE_TILE_POOL}) == 0,
            "unknown usage of memory");
    require(properties->allocFlags.usage == 0 ||
                properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE,
            "a tile pool is memory of a device");
    switch (properties->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        (void)device_at(properties->location.id);
        return;
    case CU_MEM_LOCATION_TYPE_HOST:
        require(properties->requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE,
                "host memory can be shared only if it names a NUMA node");
        return;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        require(is_host_node(properties->location.id), "the host has no NUMA node of this number");
        return;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        fail(CUDA_ERROR_INVALID_VALUE, "the location must name its NUMA node by number");
    default:
        fail(CUDA_ERROR_INVALID_VALUE, "unknown type of location");
    }
}

} // namespace

ROW(cuMemGetAllocationGranularity, 10020, size_t* granularity, const CUmemAllocationProp& prop,
    CUmemAllocationGranularity_flags option) {
    require(option == CU_MEM_ALLOC_GRANULARITY_MINIMUM ||
                option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,
            "unknown option");
    require(prop.type == CU_MEM_ALLOCATION_TYPE_PINNED ||
                prop.type == CU_MEM_ALLOCATION_TYPE_MANAGED,
            "unknown type of allocation");
    if (prop.location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        (void)device_at(prop.location.id);
    } else {
        require(prop.location.type == CU_MEM_LOCATION_TYPE_HOST ||
                    prop.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
                    prop.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT,
                "unknown type of location");
    }
    put(granularity, VirtualMemory::GRANULARITY_BYTES);
}

ROW(cuMemAddressReserve, 10020, CUdeviceptr& ptr, size_t size, size_t alignment, CUdeviceptr addr,
    Flags<> /*flags*/) {
    ptr = VirtualMemory::instance().reserve(size, alignment, addr);
}

ROW(cuMemAddressFree, 10020, CUdeviceptr ptr, size_t size) {
    VirtualMemory::instance().free(ptr, size);
}

ROW(cuMemCreate, 10020, CUmemGenericAllocationHandle& handle, size_t size,
    const CUmemAllocationProp* prop, Flags<> /*flags*/) {
    require(size != 0 && size % VirtualMemory::GRANULARITY_BYTES == 0,
            "the size is not a multiple of the granularity");
    check_properties(prop);
    handle = HandleTable::instance().insert(HandleKind::Physical,
                                            std::make_shared<PhysicalMemory>(size, *prop));
}

ROW(cuMemRelease, 10020, CUmemGenericAllocationHandle handle) {
    VirtualMemory::instance().release(*physical_from(handle));
}

ROW(cuMemMap, 10020, CUdeviceptr ptr, size_t size, size_t offset,
    CUmemGenericAllocationHandle handle, Flags<> /*flags*/) {
    VirtualMemory::instance().map(ptr, size, offset, physical_from(handle));
}

ROW(cuMemUnmap, 10020, CUdeviceptr ptr, size_t size) {
    drain_contexts(); // enqueued work may still use the memory
    VirtualMemory::instance().unmap(ptr, size);
}

ROW(cuMemSetAccess, 10020, CUdeviceptr ptr, size_t size, const CUmemAccessDesc* desc,
    size_t count) {
    require(desc != nullptr && count != 0, "desc is NULL or empty");
    VirtualMemory::instance().set_access(ptr, size, {desc, count});
}

ROW(cuMemGetAccess, 10020, unsigned long long* flags, const CUmemLocation& location,
    CUdeviceptr ptr) {
    put(flags, VirtualMemory::instance().access(ptr, location));
}

ROW(cuMemGetAllocationPropertiesFromHandle, 10020, CUmemAllocationProp* prop,
    CUmemGenericAllocationHandle handle) {
    put(prop, physical_from(handle)->properties());
}

ROW(cuMemRetainAllocationHandle, 11000, CUmemGenericAllocationHandle& handle, void* addr) {
    handle = VirtualMemory::instance().retain(reinterpret_cast<std::uint64_t>(addr));
}

// ---- other processes ---------------------------------------------------------------------------

ROW(cuMemExportToShareableHandle, 10020, void* shareableHandle, CUmemGenericAllocationHandle handle,
    CUmemAllocationHandleType handleType, unsigned long long flags) {
    require(shareableHandle != nullptr, "shareableHandle must not be NULL");
    require(flags == 0, "the flags must be 0");
    const auto memory = physical_from(handle);
    require(handleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR &&
                memory->properties().requestedHandleTypes == handleType,
            "the memory was not made for handles of this type");
    *static_cast<int*>(shareableHandle) = memory->file().duplicate();
}

ROW(cuMemImportFromShareableHandle, 10020, CUmemGenericAllocationHandle& handle, void* osHandle,
    CUmemAllocationHandleType shHandleType) {
    require_descriptor_type(shHandleType);
    auto file = SharedFile::adopt(descriptor_of(osHandle), SharedKind::Physical);
    const SharedHeader& about = file->header();
    CUmemAllocationProp properties{};
    properties.type = static_cast<CUmemAllocationType>(about.allocation_type);
    properties.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(about.handle_types);
    properties.location = location_of(about);
    check_properties(&properties);
    require(about.bytes != 0 && about.bytes % VirtualMemory::GRANULARITY_BYTES == 0 &&
                properties.requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
            "the memory was not made to be shared");
    handle = HandleTable::instance().insert(
        HandleKind::Physical, std::make_shared<PhysicalMemory>(std::move(file), properties));
}
