// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Device, pinned, registered and managed memory.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/devices/device.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/graphs/graph_memory.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/memory/host_pages.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"

using namespace cuprum::emulator;

namespace {

constexpr std::size_t PITCH_BYTES = 512;

CUdeviceptr allocate(MemoryKind kind, std::size_t bytes, unsigned flags) {
    return Allocations::instance().allocate(kind, current_context(), bytes, flags)->base;
}

/// Allocates pinned memory. Returns 0 for 0 bytes.
void* allocate_pinned(std::size_t bytes, unsigned flags) {
    if (bytes == 0) {
        (void)current_context();
        return nullptr;
    }
    return reinterpret_cast<void*>(allocate(MemoryKind::Pinned, bytes, flags));
}

/// Before memory is freed, waits for work that may use it, as the driver does.
void synchronize_users_of(const Allocation& allocation) {
    const auto synchronize = [](Context& context) {
        if (context.is_active()) {
            // Not synchronize(): freeing is allowed during a relaxed capture.
            context.drain();
            context.device().release_unused_pool_memory();
            context.check_usable();
        }
    };
    if (allocation.context != nullptr) {
        synchronize(*allocation.context);
        return;
    }
    for (const auto& object : HandleTable::instance().all(HandleKind::Context)) {
        auto& context = static_cast<Context&>(*object);
        if (context.device().ordinal() == allocation.device) {
            synchronize(context);
        }
    }
}

void free_device_memory(CUdeviceptr address) {
    if (address == 0) {
        return;
    }
    auto& allocations = Allocations::instance();
    const auto allocation = allocations.find(address);
    const bool is_ours =
        allocation != nullptr && allocation->base == address &&
        (allocation->kind == MemoryKind::Device || allocation->kind == MemoryKind::Managed ||
         allocation->kind == MemoryKind::Pooled || allocation->kind == MemoryKind::Graph ||
         allocation->kind == MemoryKind::External);
    require(is_ours, "dptr is not the start of device memory, or it was freed before");
    if (const auto memory = allocation->graph.lock()) {
        memory->note_free();
        synchronize_users_of(*allocation);
        memory->close();
        return;
    }
    synchronize_users_of(*allocation);
    require(allocations.remove(allocation), "dptr was freed by another thread");
    if (allocation->kind == MemoryKind::Pooled) {
        allocation->pool->free_now(allocation);
    }
}

void free_host_memory(void* pointer) {
    const auto address = reinterpret_cast<CUdeviceptr>(pointer);
    if (address == 0) {
        return;
    }
    const auto allocation = Allocations::instance().find(address);
    require(allocation != nullptr && allocation->base == address &&
                allocation->kind == MemoryKind::Pinned,
            "p is not the start of pinned memory, or it was freed before");
    synchronize_users_of(*allocation);
    require(Allocations::instance().remove(allocation), "p was freed by another thread");
}

void register_host_memory(void* pointer, std::size_t bytes, unsigned flags) {
    constexpr unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                               CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    require(pointer != nullptr && bytes != 0, "the memory is NULL or empty");
    require((flags & ~known) == 0, "unknown flags");
    const auto address = reinterpret_cast<CUdeviceptr>(pointer);
    require(address + bytes > address && !AddressSpace::instance().contains(address),
            "the memory is not ordinary host memory");
    const Permission permission = permission_of_process(address, bytes);
    require(permission != Permission::None,
            "not all of the memory is mapped in this process, or it cannot be read");
    require(permission == Permission::ReadWrite || (flags & CU_MEMHOSTREGISTER_READ_ONLY) != 0,
            "this process may only read the memory: register it with "
            "CU_MEMHOSTREGISTER_READ_ONLY");
    auto allocation = std::make_shared<Allocation>();
    allocation->context = current_context();
    allocation->base = address;
    allocation->bytes = bytes;
    allocation->kind = MemoryKind::Registered;
    allocation->device = allocation->context->device().ordinal();
    allocation->flags = flags;
    Allocations::instance().add(allocation);
}

} // namespace

ROW(cuMemGetInfo_v2, 3020, size_t* free, size_t* total) {
    const Device& device = current_context()->device();
    put_optional(free, device.available_bytes());
    put_optional(total, device.total_bytes());
}

ROW(cuMemAlloc_v2, 3020, UnsafeCall, CUdeviceptr& dptr, size_t bytesize) {
    dptr = allocate(MemoryKind::Device, bytesize, 0);
}

ROW(cuMemAllocPitch_v2, 3020, UnsafeCall, CUdeviceptr& dptr, size_t& pPitch, size_t WidthInBytes,
    size_t Height, unsigned int ElementSizeBytes) {
    require(ElementSizeBytes == 4 || ElementSizeBytes == 8 || ElementSizeBytes == 16,
            "the element size must be 4, 8 or 16");
    require(WidthInBytes != 0 && Height != 0, "width and height must not be zero");
    require(WidthInBytes < std::size_t{1} << 40 && Height < std::size_t{1} << 40,
            "the memory is too large");
    const std::size_t pitch = (WidthInBytes + PITCH_BYTES - 1) / PITCH_BYTES * PITCH_BYTES;
    if (pitch > ~std::size_t{0} / Height) {
        fail(CUDA_ERROR_OUT_OF_MEMORY, "the memory is too large");
    }
    dptr = allocate(MemoryKind::Device, pitch * Height, 0);
    pPitch = pitch;
}

ROW(cuMemFree_v2, 3020, UnsafeCall, CUdeviceptr dptr) {
    free_device_memory(dptr);
}

ROW(cuMemGetAddressRange_v2, 3020, InContext, CUdeviceptr* pbase, size_t* psize, CUdeviceptr dptr) {
    const auto allocation = Allocations::instance().find(dptr);
    if (allocation == nullptr) {
        fail(CUDA_ERROR_NOT_FOUND, "the address is not in any allocation");
    }
    put_optional(pbase, allocation->base);
    put_optional(psize, allocation->bytes);
}

ROW(cuMemAllocHost_v2, 3020, UnsafeCall, void*& pp, size_t bytesize) {
    pp = allocate_pinned(bytesize, 0);
}

ROW(cuMemHostAlloc, 2020, UnsafeCall, void*& pp, size_t bytesize,
    Flags<CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTALLOC_WRITECOMBINED>
        flags) {
    pp = allocate_pinned(bytesize, flags);
}

ROW(cuMemFreeHost, 2000, UnsafeCall, void* p) {
    free_host_memory(p);
}

ROW(cuMemHostGetDevicePointer_v2, 3020, InContext, CUdeviceptr& pdptr, void* p, Flags<> /*flags*/) {
    const auto address = reinterpret_cast<CUdeviceptr>(p);
    const auto allocation = Allocations::instance().find(address);
    require(allocation != nullptr && allocation->is_host_accessible(),
            "p is not pinned or registered memory");
    pdptr = address;
}

ROW(cuMemHostGetFlags, 2030, InContext, unsigned int* pFlags, void* p) {
    const auto allocation = Allocations::instance().find(reinterpret_cast<CUdeviceptr>(p));
    require(allocation != nullptr && allocation->kind == MemoryKind::Pinned,
            "p is not memory of cuMemHostAlloc");
    // With unified addressing, all pinned memory is mapped.
    put(pFlags, allocation->flags | CU_MEMHOSTALLOC_DEVICEMAP);
}

ROW(cuMemHostRegister_v2, 6050, UnsafeCall, void* p, size_t bytesize, unsigned int flags) {
    register_host_memory(p, bytesize, flags);
}

ALIAS(cuMemHostRegister, 4000, cuMemHostRegister_v2);

ROW(cuMemHostUnregister, 4000, UnsafeCall, InContext, void* p) {
    const auto address = reinterpret_cast<CUdeviceptr>(p);
    const auto allocation = Allocations::instance().find(address);
    if (allocation == nullptr || allocation->kind != MemoryKind::Registered) {
        fail(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "p is not registered memory");
    }
    require(allocation->base == address, "p is inside registered memory, not its start");
    synchronize_users_of(*allocation);
    if (!Allocations::instance().remove(allocation)) {
        fail(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "p was unregistered by another thread");
    }
}

ROW(cuMemAllocManaged, 6000, UnsafeCall, CUdeviceptr& dptr, size_t bytesize, unsigned int flags) {
    require(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST,
            "flags must be CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST");
    dptr = allocate(MemoryKind::Managed, bytesize, flags);
}
