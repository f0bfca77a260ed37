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

ROW(cuImportExternalMemory, 10000, CUexternalMemory& extMem_out,
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC& memHandleDesc) {
    const auto& context = current_context();
    extMem_out =
        new_handle<CUexternalMemory>(std::make_shared<ExternalMemory>(context, memHandleDesc));
}

ROW(cuExternalMemoryGetMappedBuffer, 10000, CUdeviceptr& devPtr, CUexternalMemory extMem,
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC& bufferDesc) {
    require(bufferDesc.flags == 0, "the flags must be 0");
    require_zero(bufferDesc.reserved);
    (void)current_context();
    devPtr = object_of(extMem)->map(bufferDesc.offset, bufferDesc.size)->base;
}

ROW(cuExternalMemoryGetMappedMipmappedArray, 10000, CUmipmappedArray& mipmap,
    CUexternalMemory extMem, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC& mipmapDesc) {
    require(mipmapDesc.numLevels != 0, "numLevels must not be 0");
    require_zero(mipmapDesc.reserved);
    require((mipmapDesc.arrayDesc.Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) ==
                0,
            "arrays of external memory have their memory from the beginning");
    const auto memory = object_of(extMem);
    mipmap = MipmappedArray::create(current_context(), mipmapDesc.arrayDesc, mipmapDesc.numLevels,
                                    [&](std::uint64_t bytes, const std::string& /*name*/) {
                                        return std::make_shared<ArrayMemory>(
                                            memory->map(mipmapDesc.offset, bytes));
                                    })
                 ->handle<CUmipmappedArray>();
}

ROW(cuDestroyExternalMemory, 10000, CUexternalMemory extMem) {
    (void)object_of(extMem);
    close_handle(extMem);
}

ROW(cuImportExternalSemaphore, 10000, InContext, CUexternalSemaphore& extSem_out,
    const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC& semHandleDesc) {
    extSem_out = new_handle<CUexternalSemaphore>(ExternalSemaphore::import(semHandleDesc));
}

ROW_PTSZ(cuSignalExternalSemaphoresAsync, 10000, const CUexternalSemaphore* extSemArray,
         const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* paramsArray, unsigned int numExtSems,
         CUstream stream) {
    require(numExtSems != 0, "there is no semaphore to signal");
    auto batch = semaphores_from<SemaphoreSignals>(extSemArray, paramsArray, numExtSems);
    const auto queue = object_of(stream);
    if (queue->may_be_capturing() && Capture::take(*queue, batch)) {
        return;
    }
    queue->enqueue(std::make_shared<Task>(
        queue->context().errors(), [batch = std::move(batch)] { perform(batch); },
        Task::Size::Quick));
}

ROW_PTSZ(cuWaitExternalSemaphoresAsync, 10000, const CUexternalSemaphore* extSemArray,
         const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* paramsArray, unsigned int numExtSems,
         CUstream stream) {
    require(numExtSems != 0, "there is no semaphore to wait for");
    auto batch = semaphores_from<SemaphoreWaits>(extSemArray, paramsArray, numExtSems);
    const auto queue = object_of(stream);
    if (queue->may_be_capturing() && Capture::take(*queue, batch)) {
        return;
    }
    queue->enqueue(std::make_shared<WaitUntil>(
        queue->context().errors(), [batch = std::move(batch), next = std::size_t{0}]() mutable {
            return try_waits(batch, next);
        }));
}

ROW(cuDestroyExternalSemaphore, 10000, CUexternalSemaphore extSem) {
    (void)object_of(extSem);
    // Enqueued work and graphs keep the semaphore until they are done with it.
    close_handle(extSem);
}
