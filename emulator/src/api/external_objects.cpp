// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// External resource interoperability: memory and semaphores of other programs and interfaces.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "api/semaphores.hpp"
#include "objects/graphics/external_memory.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"
#include "objects/textures/array.hpp"

using namespace cuprum::emulator;

namespace {

std::shared_ptr<ExternalMemory> external_memory_from(CUexternalMemory handle) {
    require(handle != nullptr, "extMem must not be NULL");
    auto object = HandleTable::instance().find(HandleKind::ExternalMemory,
                                               reinterpret_cast<std::uint64_t>(handle));
    if (object == nullptr) {
        fail(CUDA_ERROR_INVALID_HANDLE, "not external memory, or it has been destroyed");
    }
    return std::static_pointer_cast<ExternalMemory>(std::move(object));
}

} // namespace

extern "C" {

CUresult CUDAAPI cuImportExternalMemory(CUexternalMemory* extMem_out,
                                        const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* memHandleDesc) {
    return entry("cuImportExternalMemory", [&] {
        require(extMem_out != nullptr && memHandleDesc != nullptr, "an argument is NULL");
        const auto& context = current_context();
        *extMem_out = reinterpret_cast<CUexternalMemory>(HandleTable::instance().insert(
            HandleKind::ExternalMemory, std::make_shared<ExternalMemory>(context, *memHandleDesc)));
    });
}

CUresult CUDAAPI
cuExternalMemoryGetMappedBuffer(CUdeviceptr* devPtr, CUexternalMemory extMem,
                                const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* bufferDesc) {
    return entry("cuExternalMemoryGetMappedBuffer", [&] {
        require(devPtr != nullptr && bufferDesc != nullptr, "an argument is NULL");
        require(bufferDesc->flags == 0, "the flags must be 0");
        (void)current_context();
        *devPtr = external_memory_from(extMem)->map(bufferDesc->offset, bufferDesc->size)->base;
    });
}

CUresult CUDAAPI cuExternalMemoryGetMappedMipmappedArray(
    CUmipmappedArray* mipmap, CUexternalMemory extMem,
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* mipmapDesc) {
    return entry("cuExternalMemoryGetMappedMipmappedArray", [&] {
        require(mipmap != nullptr && mipmapDesc != nullptr, "an argument is NULL");
        require(mipmapDesc->numLevels != 0, "numLevels must not be 0");
        require((mipmapDesc->arrayDesc.Flags &
                 (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) == 0,
                "arrays of external memory have their memory from the beginning");
        const auto memory = external_memory_from(extMem);
        *mipmap =
            MipmappedArray::create(current_context(), mipmapDesc->arrayDesc, mipmapDesc->numLevels,
                                   [&](std::uint64_t bytes, const std::string& /*name*/) {
                                       return std::make_shared<ArrayMemory>(
                                           memory->map(mipmapDesc->offset, bytes));
                                   })
                ->handle<CUmipmappedArray>();
    });
}

CUresult CUDAAPI cuDestroyExternalMemory(CUexternalMemory extMem) {
    return entry("cuDestroyExternalMemory", [&] {
        (void)external_memory_from(extMem);
        HandleTable::instance().erase(HandleKind::ExternalMemory,
                                      reinterpret_cast<std::uint64_t>(extMem));
    });
}

CUresult CUDAAPI cuImportExternalSemaphore(
    CUexternalSemaphore* extSem_out, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC* semHandleDesc) {
    return entry("cuImportExternalSemaphore", [&] {
        require(extSem_out != nullptr && semHandleDesc != nullptr, "an argument is NULL");
        (void)current_context();
        *extSem_out = reinterpret_cast<CUexternalSemaphore>(HandleTable::instance().insert(
            HandleKind::ExternalSemaphore, ExternalSemaphore::import(*semHandleDesc)));
    });
}

CUresult CUDAAPI
cuSignalExternalSemaphoresAsync(const CUexternalSemaphore* extSemArray,
                                const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* paramsArray,
                                unsigned int numExtSems, CUstream stream) {
    return entry("cuSignalExternalSemaphoresAsync", [&] {
        require(numExtSems != 0, "there is no semaphore to signal");
        auto batch = semaphores_from<SemaphoreSignals>(extSemArray, paramsArray, numExtSems);
        const auto queue = stream_from(stream);
        if (queue->may_be_capturing() && Capture::take(*queue, batch)) {
            return;
        }
        queue->enqueue(std::make_shared<Task>(
            queue->context().errors(), [batch = std::move(batch)] { perform(batch); },
            Task::Size::Quick));
    });
}

CUresult CUDAAPI cuWaitExternalSemaphoresAsync(
    const CUexternalSemaphore* extSemArray, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* paramsArray,
    unsigned int numExtSems, CUstream stream) {
    return entry("cuWaitExternalSemaphoresAsync", [&] {
        require(numExtSems != 0, "there is no semaphore to wait for");
        auto batch = semaphores_from<SemaphoreWaits>(extSemArray, paramsArray, numExtSems);
        const auto queue = stream_from(stream);
        if (queue->may_be_capturing() && Capture::take(*queue, batch)) {
            return;
        }
        queue->enqueue(std::make_shared<WaitUntil>(
            queue->context().errors(), [batch = std::move(batch), next = std::size_t{0}]() mutable {
                return try_waits(batch, next);
            }));
    });
}

CUresult CUDAAPI cuDestroyExternalSemaphore(CUexternalSemaphore extSem) {
    return entry("cuDestroyExternalSemaphore", [&] {
        (void)semaphore_from(extSem);
        // Enqueued work and graphs keep the semaphore until they are done with it.
        HandleTable::instance().erase(HandleKind::ExternalSemaphore,
                                      reinterpret_cast<std::uint64_t>(extSem));
    });
}

} // extern "C"
