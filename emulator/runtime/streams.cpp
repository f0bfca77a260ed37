// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Streams, callbacks and events.

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

extern "C" {

cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t* pStream) {
    return in_context([&] { return cuStreamCreate(pStream, CU_STREAM_DEFAULT); });
}

cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t* pStream, unsigned int flags) {
    return in_context([&] { return cuStreamCreate(pStream, flags); });
}

cudaError_t CUDARTAPI cudaStreamCreateWithPriority(cudaStream_t* pStream, unsigned int flags,
                                                   int priority) {
    return in_context([&] { return cuStreamCreateWithPriority(pStream, flags, priority); });
}

cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t stream) {
    return in_context([&] { return cuStreamDestroy(stream); });
}

cudaError_t CUDARTAPI cudaStreamGetPriority(cudaStream_t hStream, int* priority) {
    return in_context([&] { return cuStreamGetPriority(hStream, priority); });
}

cudaError_t CUDARTAPI cudaStreamGetFlags(cudaStream_t hStream, unsigned int* flags) {
    return in_context([&] { return cuStreamGetFlags(hStream, flags); });
}

cudaError_t CUDARTAPI cudaStreamGetId(cudaStream_t hStream, unsigned long long* streamId) {
    return in_context([&] { return cuStreamGetId(hStream, streamId); });
}

cudaError_t CUDARTAPI cudaStreamGetDevice(cudaStream_t hStream, int* device) {
    return in_context([&] { return cuStreamGetDevice(hStream, device); });
}

cudaError_t CUDARTAPI cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src) {
    return in_context([&] { return cuStreamCopyAttributes(dst, src); });
}

cudaError_t CUDARTAPI cudaStreamGetAttribute(cudaStream_t hStream, cudaStreamAttrID attr,
                                             cudaStreamAttrValue* value_out) {
    return in_context([&] {
        return cuStreamGetAttribute(hStream, static_cast<CUstreamAttrID>(attr),
                                    same<CUstreamAttrValue>(value_out));
    });
}

cudaError_t CUDARTAPI cudaStreamSetAttribute(cudaStream_t hStream, cudaStreamAttrID attr,
                                             const cudaStreamAttrValue* value) {
    return in_context([&] {
        return cuStreamSetAttribute(hStream, static_cast<CUstreamAttrID>(attr),
                                    same<const CUstreamAttrValue>(value));
    });
}

cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t stream) {
    return in_context([&] { return cuStreamSynchronize(stream); });
}

cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t stream) {
    return in_context([&] { return cuStreamQuery(stream); });
}

cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                          unsigned int flags) {
    return in_context([&] { return cuStreamWaitEvent(stream, event, flags); });
}

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

cudaError_t CUDARTAPI cudaStreamAttachMemAsync(cudaStream_t stream, void* devPtr,
                                               std::size_t length, unsigned int flags) {
    return in_context(
        [&] { return cuStreamAttachMemAsync(stream, address(devPtr), length, flags); });
}

cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t* event) {
    return in_context([&] { return cuEventCreate(event, CU_EVENT_DEFAULT); });
}

cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
    return in_context([&] { return cuEventCreate(event, flags); });
}

cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return in_context([&] { return cuEventRecord(event, stream); });
}

cudaError_t CUDARTAPI cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                               unsigned int flags) {
    return in_context([&] { return cuEventRecordWithFlags(event, stream, flags); });
}

cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t event) {
    return in_context([&] { return cuEventQuery(event); });
}

cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event) {
    return in_context([&] { return cuEventSynchronize(event); });
}

cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event) {
    return in_context([&] { return cuEventDestroy(event); });
}

cudaError_t CUDARTAPI cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
    return in_context([&] { return cuEventElapsedTime(ms, start, end); });
}

cudaError_t CUDARTAPI cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
    return in_context([&] { return cuIpcGetEventHandle(same<CUipcEventHandle>(handle), event); });
}

cudaError_t CUDARTAPI cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
    return in_context(
        [&] { return cuIpcOpenEventHandle(event, *same<CUipcEventHandle>(&handle)); });
}

} // extern "C"
