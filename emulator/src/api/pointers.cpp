// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the driver knows about an address.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/devices/device.hpp"
#include "objects/devices/peer_access.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/memory/pool.hpp"
#include "objects/memory/virtual_memory.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"

#include <cstring>

using namespace cuprum::emulator;

namespace {

CUmemorytype memory_type(const Allocation& allocation) {
    const bool is_host = allocation.kind == MemoryKind::Pinned ||
                         allocation.kind == MemoryKind::Registered ||
                         (allocation.kind != MemoryKind::Managed && allocation.is_on_host);
    return is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

/// Returns the kinds of handles that can share the memory with other processes.
std::uint64_t handle_types(const Allocation& allocation) {
    if (allocation.pool != nullptr) {
        return allocation.pool->is_imported() ? 0 : allocation.pool->properties().handleTypes;
    }
    if (allocation.kind == MemoryKind::Mapped) {
        return VirtualMemory::instance()
            .memory_at(allocation.base)
            ->properties()
            .requestedHandleTypes;
    }
    return 0;
}

/// Returns what the device of the current context may do with memory.
int access_flags(CUdeviceptr address, const Allocation& memory) {
    const int device = current_context()->device().ordinal();
    const CUmemLocation place{CU_MEM_LOCATION_TYPE_DEVICE, device};
    // Both types use the same numbers for their flags.
    if (memory.kind == MemoryKind::Mapped) {
        return VirtualMemory::instance().access(address, place);
    }
    if (memory.is_read_only()) {
        return CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ;
    }
    if (device == memory.device || memory.is_host_accessible() ||
        memory.kind == MemoryKind::Imported) {
        return CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
    }
    if (memory.pool != nullptr) {
        return memory.pool->access(place);
    }
    return PeerAccess::instance().is_enabled(device, memory.device)
               ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE
               : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE;
}

template <typename T>
void write(void* data, T value) {
    std::memcpy(data, &value, sizeof value);
}

/// Writes one attribute of known memory. Throws INVALID_VALUE if the memory does not have it.
void write_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr address,
                     const Allocation& memory) {
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        write(data,
              memory.context == nullptr ? CUcontext{nullptr} : memory.context->handle<CUcontext>());
        return;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        write(data, memory_type(memory));
        return;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        write(data, address);
        return;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        require(memory.is_host_accessible(), "the memory cannot be reached from the host");
        write(data, reinterpret_cast<void*>(address));
        return;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        write(data, memory.sync_memops.load() ? 1U : 0U);
        return;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        write(data, static_cast<unsigned long long>(memory.id));
        return;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        write(data, memory.is_managed() ? 1U : 0U);
        return;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        write(data, memory.device);
        return;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        write(data, memory.kind == MemoryKind::Device ? 1U : 0U);
        return;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        write(data, memory.base);
        return;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        write(data, static_cast<std::size_t>(memory.bytes));
        return;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        write(data, 1U);
        return;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        write(data, handle_types(memory));
        return;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        write(data, 0U);
        return;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        write(data, access_flags(address, memory));
        return;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        write(data,
              memory.pool == nullptr ? CUmemoryPool{nullptr} : memory.pool->handle<CUmemoryPool>());
        return;
    default:
        fail(CUDA_ERROR_INVALID_VALUE, "unknown pointer attribute");
    }
}

/// Writes what cuPointerGetAttributes returns for an attribute that the memory does not have.
void write_nothing(void* data, CUpointer_attribute attribute) {
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        write(data, 0U);
        return;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        write(data, CU_DEVICE_INVALID);
        return;
    default:
        write(data, std::uint64_t{0});
        return;
    }
}

void check_attribute(CUpointer_attribute attribute) {
    require(attribute >= CU_POINTER_ATTRIBUTE_CONTEXT &&
                attribute <= CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE,
            "unknown pointer attribute");
}

} // namespace

ROW(cuPointerGetAttribute, 4000, void* data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    require(data != nullptr, "data must not be NULL");
    check_attribute(attribute);
    const auto allocation = Allocations::instance().find(ptr);
    require(allocation != nullptr, "the driver does not know this address");
    write_attribute(data, attribute, ptr, *allocation);
}

ROW(cuPointerGetAttributes, 7000, unsigned int numAttributes, CUpointer_attribute* attributes,
    void** data, CUdeviceptr ptr) {
    require(numAttributes == 0 || (attributes != nullptr && data != nullptr),
            "an argument is NULL");
    const auto allocation = Allocations::instance().find(ptr);
    for (unsigned index = 0; index < numAttributes; ++index) {
        check_attribute(attributes[index]);
        require(data[index] != nullptr, "an output argument is NULL");
        write_nothing(data[index], attributes[index]);
        if (allocation != nullptr) {
            try {
                write_attribute(data[index], attributes[index], ptr, *allocation);
            } catch (const DriverError&) {
                // A missing attribute is an answer here. Its value has been written already.
            }
        }
    }
}

ROW(cuPointerSetAttribute, 6000, const void* value, CUpointer_attribute attribute,
    CUdeviceptr ptr) {
    require(value != nullptr, "value must not be NULL");
    require(attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
            "only CU_POINTER_ATTRIBUTE_SYNC_MEMOPS can be set");
    const auto allocation = Allocations::instance().find(ptr);
    require(allocation != nullptr, "the driver does not know this address");
    allocation->sync_memops = *static_cast<const unsigned*>(value) != 0;
}
