// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/memory/reach.hpp"

#include "objects/memory/allocations.hpp"
#include "objects/memory/pool.hpp"
#include "objects/memory/virtual_memory.hpp"
#include "objects/process/error.hpp"

#include <sstream>
#include <string>

namespace cuprum::emulator {

namespace {

constexpr int NO_DEVICE = -2; // -1 is the host

bool allows(Permission permission, bool is_write) {
    return permission == Permission::ReadWrite || (permission == Permission::Read && !is_write);
}

void check_mapped(const Use& use, int device) {
    const Permission permission = VirtualMemory::instance().permission_to_copy(
        use.address, use.bytes, use.is_between_contexts ? NO_DEVICE : device);
    if (allows(permission, use.is_write)) {
        return;
    }
    fail(CUDA_ERROR_INVALID_VALUE,
         std::string(use.what) + (permission == Permission::None
                                      ? " is mapped, but nothing has access; call cuMemSetAccess"
                                      : " is mapped as read-only by cuMemSetAccess; writing needs "
                                        "CU_MEM_ACCESS_FLAGS_PROT_READWRITE"));
}

/// Returns what a device may do with memory of a pool, which has its own access rights.
Permission permission_in_pool(const Allocation& allocation, int device) {
    if (allocation.is_host_accessible() || allocation.is_managed() || allocation.device == device) {
        return Permission::ReadWrite;
    }
    return permission_of(allocation.pool->access({CU_MEM_LOCATION_TYPE_DEVICE, device}));
}

void check_pooled(const Use& use, const Allocation& allocation, int device) {
    if (use.is_between_contexts) {
        return;
    }
    const Permission permission = permission_in_pool(allocation, device);
    if (allows(permission, use.is_write)) {
        return;
    }
    fail(CUDA_ERROR_INVALID_VALUE,
         std::string(use.what) + " is in a pool of device " + std::to_string(allocation.device) +
             ", which gives device " + std::to_string(device) +
             (permission == Permission::None ? " no access; grant it with cuMemPoolSetAccess (with "
                                               "Cuprum, memory_resource.peer_accessible_by); "
                                               "cuCtxEnablePeerAccess does not cover pools"
                                             : " read-only access; grant write access with "
                                               "cuMemPoolSetAccess"));
}

} // namespace

Permission permission_of(CUmemAccess_flags flags) noexcept {
    switch (flags) {
    case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
        return Permission::ReadWrite;
    case CU_MEM_ACCESS_FLAGS_PROT_READ:
        return Permission::Read;
    default:
        return Permission::None;
    }
}

bool is_open_to(int device, const Allocation& allocation, bool is_write) {
    return allocation.kind != MemoryKind::Pooled ||
           allows(permission_in_pool(allocation, device), is_write);
}

void check_reach(const Use& use, const Allocation& allocation, int device) {
    switch (allocation.kind) {
    case MemoryKind::Mapped:
        check_mapped(use, device);
        break;
    case MemoryKind::Pooled:
        check_pooled(use, allocation, device);
        break;
    case MemoryKind::Registered:
        if (use.is_write && allocation.is_read_only()) {
            fail(CUDA_ERROR_INVALID_VALUE,
                 std::string(use.what) + " was registered with CU_MEMHOSTREGISTER_READ_ONLY, so "
                                         "that devices cannot write it");
        }
        break;
    case MemoryKind::Device: // the driver copies between any two devices
    case MemoryKind::Pinned:
    case MemoryKind::Managed:
    case MemoryKind::Imported:
    case MemoryKind::Heap:
    case MemoryKind::Graph:
    case MemoryKind::Array:
    case MemoryKind::Graphics:
    case MemoryKind::External:
        break;
    }
}

namespace {

std::string describe_lost(const std::string& what, std::uint64_t address, const std::string& by,
                          const char* why) {
    std::ostringstream text;
    text << what << " 0x" << std::hex << address << ", which " << why
         << Allocations::instance().describe(address) << (by.empty() ? "" : "\n  enqueued by ")
         << by;
    return text.str();
}

} // namespace

std::string describe_unmapped(const std::string& what, std::uint64_t address,
                              const std::string& by) {
    return describe_lost(what, address, by,
                         "the program has freed or unmapped before the work was done") +
           "\n  wait for the stream, then call cuMemHostUnregister, before you free the memory";
}

std::string describe_freed(const std::string& what, std::uint64_t address, const std::string& by) {
    return describe_lost(what, address, by, "was freed or is not allocated");
}

} // namespace cuprum::emulator
