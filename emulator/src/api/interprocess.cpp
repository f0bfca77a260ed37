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
void write_address(Handle& out, const SharedAddress& address) {
    out = std::bit_cast<Handle>(address);
}

template <typename Handle>
SharedAddress address_of(const Handle& handle) {
    return std::bit_cast<SharedAddress>(handle);
}

} // namespace

// ---- pools -------------------------------------------------------------------------------------

ROW(cuMemPoolExportToShareableHandle, 11020, void* handle_out, CUmemoryPool pool,
    CUmemAllocationHandleType handleType, unsigned long long flags) {
    require(handle_out != nullptr, "handle_out must not be NULL");
    require(flags == 0, "the flags must be 0");
    const auto exported = object_of(pool);
    require(handleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
            "the pool was not made for handles of this type");
    *static_cast<int*>(handle_out) = exported->export_descriptor();
}

ROW(cuMemPoolImportFromShareableHandle, 11020, CUmemoryPool& pool_out, void* handle,
    CUmemAllocationHandleType handleType, Flags<> /*flags*/) {
    require_descriptor_type(handleType);
    pool_out = Pool::import(descriptor_of(handle))->handle<CUmemoryPool>();
}

ROW(cuMemPoolExportPointer, 11020, CUmemPoolPtrExportData& shareData_out, CUdeviceptr ptr) {
    const auto allocation = Allocations::instance().find(ptr);
    require(allocation != nullptr && allocation->base == ptr && allocation->pool != nullptr,
            "ptr is not the start of an allocation of a pool");
    shareData_out = allocation->pool->export_pointer(*allocation);
}

ROW(cuMemPoolImportPointer, 11020, CUdeviceptr& ptr_out, Pool& pool,
    CUmemPoolPtrExportData& shareData) {
    ptr_out = pool.import_pointer(shareData)->base;
}

// ---- memory of cuMemAlloc ----------------------------------------------------------------------

ROW(cuIpcGetMemHandle, 4010, InContext, CUipcMemHandle& pHandle, CUdeviceptr dptr) {
    const auto allocation = Allocations::instance().find(dptr);
    require(allocation != nullptr && allocation->kind == MemoryKind::Device,
            "dptr is not memory of cuMemAlloc");
    write_address(pHandle, export_memory(allocation));
}

ROW(cuIpcOpenMemHandle_v2, 11000, CUdeviceptr& pdptr, CUipcMemHandle handle, unsigned int flags) {
    require(flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, "unknown flags");
    pdptr = open_memory(address_of(handle), current_context())->base;
}

ALIAS(cuIpcOpenMemHandle, 4010, cuIpcOpenMemHandle_v2);

ROW(cuIpcCloseMemHandle, 4010, CUdeviceptr dptr) {
    current_context()->synchronize(); // enqueued work may use it
    close_memory(dptr);
}

// ---- events ------------------------------------------------------------------------------------

ROW(cuIpcGetEventHandle, 4010, CUipcEventHandle* pHandle, Event& exported) {
    require(pHandle != nullptr, "pHandle must not be NULL");
    if (exported.shared() == nullptr) {
        fail(CUDA_ERROR_INVALID_HANDLE,
             "the event was not made with CU_EVENT_INTERPROCESS, so that it cannot be shared");
    }
    write_address(*pHandle, exported.shared()->address());
}

ROW(cuIpcOpenEventHandle, 4010, CUevent& phEvent, CUipcEventHandle handle) {
    phEvent = new_handle<CUevent>(
        std::make_shared<Event>(current_context(), SharedEvent::open(address_of(handle))));
}
