// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Sharing pools, memory and events with other processes.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "api/shareable.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/memory/ipc_memory.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"

#include <bit>

using namespace cuprum::emulator;

namespace {

template <typename Handle>
void write_address(Handle* out, const SharedAddress& address) {
    *out = std::bit_cast<Handle>(address);
}

template <typename Handle>
SharedAddress address_of(const Handle& handle) {
    return std::bit_cast<SharedAddress>(handle);
}

} // namespace

extern "C" {

// ---- pools -------------------------------------------------------------------------------------

CUresult CUDAAPI cuMemPoolExportToShareableHandle(void* handle_out, CUmemoryPool pool,
                                                  CUmemAllocationHandleType handleType,
                                                  unsigned long long flags) {
    return entry("cuMemPoolExportToShareableHandle", [&] {
        require(handle_out != nullptr, "handle_out must not be NULL");
        require(flags == 0, "the flags must be 0");
        const auto exported = pool_from(pool);
        require(handleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                "the pool was not made for handles of this type");
        *static_cast<int*>(handle_out) = exported->export_descriptor();
    });
}

CUresult CUDAAPI cuMemPoolImportFromShareableHandle(CUmemoryPool* pool_out, void* handle,
                                                    CUmemAllocationHandleType handleType,
                                                    unsigned long long flags) {
    return entry("cuMemPoolImportFromShareableHandle", [&] {
        require(pool_out != nullptr, "pool_out must not be NULL");
        require(flags == 0, "the flags must be 0");
        require_descriptor_type(handleType);
        *pool_out = Pool::import(descriptor_of(handle))->handle<CUmemoryPool>();
    });
}

CUresult CUDAAPI cuMemPoolExportPointer(CUmemPoolPtrExportData* shareData_out, CUdeviceptr ptr) {
    return entry("cuMemPoolExportPointer", [&] {
        require(shareData_out != nullptr, "shareData_out must not be NULL");
        const auto allocation = Allocations::instance().find(ptr);
        require(allocation != nullptr && allocation->base == ptr && allocation->pool != nullptr,
                "ptr is not the start of an allocation of a pool");
        *shareData_out = allocation->pool->export_pointer(*allocation);
    });
}

CUresult CUDAAPI cuMemPoolImportPointer(CUdeviceptr* ptr_out, CUmemoryPool pool,
                                        CUmemPoolPtrExportData* shareData) {
    return entry("cuMemPoolImportPointer", [&] {
        require(ptr_out != nullptr && shareData != nullptr, "an argument is NULL");
        *ptr_out = pool_from(pool)->import_pointer(*shareData)->base;
    });
}

// ---- memory of cuMemAlloc ----------------------------------------------------------------------

CUresult CUDAAPI cuIpcGetMemHandle(CUipcMemHandle* pHandle, CUdeviceptr dptr) {
    return entry("cuIpcGetMemHandle", [&] {
        require(pHandle != nullptr, "pHandle must not be NULL");
        (void)current_context();
        const auto allocation = Allocations::instance().find(dptr);
        require(allocation != nullptr && allocation->kind == MemoryKind::Device,
                "dptr is not memory of cuMemAlloc");
        write_address(pHandle, export_memory(allocation));
    });
}

CUresult CUDAAPI cuIpcOpenMemHandle_v2(CUdeviceptr* pdptr, CUipcMemHandle handle,
                                       unsigned int Flags) {
    return entry("cuIpcOpenMemHandle", [&] {
        require(pdptr != nullptr, "pdptr must not be NULL");
        require(Flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, "unknown flags");
        *pdptr = open_memory(address_of(handle), current_context())->base;
    });
}

CUresult CUDAAPI cuIpcOpenMemHandle(CUdeviceptr* pdptr, CUipcMemHandle handle, unsigned int Flags) {
    return cuIpcOpenMemHandle_v2(pdptr, handle, Flags);
}

CUresult CUDAAPI cuIpcCloseMemHandle(CUdeviceptr dptr) {
    return entry("cuIpcCloseMemHandle", [&] {
        current_context()->synchronize(); // enqueued work may use it
        close_memory(dptr);
    });
}

// ---- events ------------------------------------------------------------------------------------

CUresult CUDAAPI cuIpcGetEventHandle(CUipcEventHandle* pHandle, CUevent event) {
    return entry("cuIpcGetEventHandle", [&] {
        const auto exported = event_from(event);
        require(pHandle != nullptr, "pHandle must not be NULL");
        if (exported->shared() == nullptr) {
            fail(CUDA_ERROR_INVALID_HANDLE,
                 "the event was not made with CU_EVENT_INTERPROCESS, so that it cannot be shared");
        }
        write_address(pHandle, exported->shared()->address());
    });
}

CUresult CUDAAPI cuIpcOpenEventHandle(CUevent* phEvent, CUipcEventHandle handle) {
    return entry("cuIpcOpenEventHandle", [&] {
        require(phEvent != nullptr, "phEvent must not be NULL");
        const auto event =
            std::make_shared<Event>(current_context(), SharedEvent::open(address_of(handle)));
        HandleTable::instance().insert(HandleKind::Event, event);
        *phEvent = event->handle<CUevent>();
    });
}

} // extern "C"
