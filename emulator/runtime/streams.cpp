// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Streams, callbacks and events.

#include "forward.hpp"
#include "runtime.hpp"

#include <memory>

using namespace cuprum::runtime;

namespace {

/// A runtime callback. The driver calls it with one of its own codes.
struct Callback {
    cudaStreamCallback_t function;
    void* data;
};

void CUDA_CB call_back(CUstream stream, CUresult status, void* data) {
    const std::unique_ptr<Callback> callback(static_cast<Callback*>(data));
    callback->function(stream, as_error(status), callback->data);
}

} // namespace

cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t* pStream) {
    return in_context([&] { return cuStreamCreate(pStream, CU_STREAM_DEFAULT); });
}

FORWARD(cudaStreamCreateWithFlags, cuStreamCreate, IN_CONTEXT);
FORWARD(cudaStreamCreateWithPriority, cuStreamCreateWithPriority, IN_CONTEXT);
FORWARD(cudaStreamDestroy, cuStreamDestroy, IN_CONTEXT);
FORWARD(cudaStreamGetPriority, cuStreamGetPriority, IN_CONTEXT);
FORWARD(cudaStreamGetFlags, cuStreamGetFlags, IN_CONTEXT);
FORWARD(cudaStreamGetId, cuStreamGetId, IN_CONTEXT);
FORWARD(cudaStreamGetDevice, cuStreamGetDevice, IN_CONTEXT);
FORWARD(cudaStreamCopyAttributes, cuStreamCopyAttributes, IN_CONTEXT);
FORWARD(cudaStreamGetAttribute, cuStreamGetAttribute, IN_CONTEXT);
FORWARD(cudaStreamSetAttribute, cuStreamSetAttribute, IN_CONTEXT);
FORWARD(cudaStreamSynchronize, cuStreamSynchronize, IN_CONTEXT);
FORWARD(cudaStreamQuery, cuStreamQuery, IN_CONTEXT);
FORWARD(cudaStreamWaitEvent, cuStreamWaitEvent, IN_CONTEXT);

cudaError_t CUDARTAPI cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                            void* userData, unsigned int flags) {
    return in_context([&] {
        if (callback == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        auto* const data = new Callback{callback, userData}; // call_back deletes it
        const CUresult status = cuStreamAddCallback(stream, call_back, data, flags);
        if (status != CUDA_SUCCESS) {
            delete data;
        }
        return status;
    });
}

FORWARD(cudaStreamAttachMemAsync, cuStreamAttachMemAsync, IN_CONTEXT);

cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t* event) {
    return in_context([&] { return cuEventCreate(event, CU_EVENT_DEFAULT); });
}

FORWARD(cudaEventCreateWithFlags, cuEventCreate, IN_CONTEXT);
FORWARD(cudaEventRecord, cuEventRecord, IN_CONTEXT);
FORWARD(cudaEventRecordWithFlags, cuEventRecordWithFlags, IN_CONTEXT);
FORWARD(cudaEventQuery, cuEventQuery, IN_CONTEXT);
FORWARD(cudaEventSynchronize, cuEventSynchronize, IN_CONTEXT);
FORWARD(cudaEventDestroy, cuEventDestroy, IN_CONTEXT);
FORWARD(cudaEventElapsedTime, cuEventElapsedTime, IN_CONTEXT);
FORWARD(cudaIpcGetEventHandle, cuIpcGetEventHandle, IN_CONTEXT);
FORWARD(cudaIpcOpenEventHandle, cuIpcOpenEventHandle, IN_CONTEXT);
