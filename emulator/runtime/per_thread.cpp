// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The functions of programs compiled with --default-stream per-thread. Each name has a suffix, and
// stream 0 is the calling thread's own stream. Functions that block (_ptds) wait only for that
// stream.

#include "runtime.hpp"

#include <cstddef>

using namespace cuprum::runtime;

// cuda.h declares these under other names, unless all of a source uses them.
extern "C" CUresult CUDAAPI cuMemsetD8_v2_ptds(CUdeviceptr, unsigned char, std::size_t);
extern "C" CUresult CUDAAPI cuMemsetD2D8_v2_ptds(CUdeviceptr, std::size_t, unsigned char,
                                                 std::size_t, std::size_t);

namespace {

/// Replaces the NULL stream by the thread's own stream.
cudaStream_t own(cudaStream_t stream) {
    return stream == nullptr ? cudaStreamPerThread : stream;
}

/// Waits for the work just enqueued on the thread's stream, unless enqueueing failed.
cudaError_t wait_after(cudaError_t status) {
    return status != cudaSuccess ? status : cudaStreamSynchronize(cudaStreamPerThread);
}

} // namespace

extern "C" {

// ---- launches ----------------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaLaunchKernel_ptsz(const void* func, dim3 gridDim, dim3 blockDim,
                                            void** args, std::size_t sharedMem,
                                            cudaStream_t stream) {
    return cudaLaunchKernel(func, gridDim, blockDim, args, sharedMem, own(stream));
}

cudaError_t CUDARTAPI __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim,
                                              void** args, std::size_t sharedMem,
                                              cudaStream_t stream) {
    return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), gridDim, blockDim, args,
                            sharedMem, own(stream));
}

cudaError_t CUDARTAPI cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* func,
                                               void** args) {
    if (config == nullptr) {
        return cudaLaunchKernelExC(config, func, args);
    }
    cudaLaunchConfig_t changed = *config;
    changed.stream = own(config->stream);
    return cudaLaunchKernelExC(&changed, func, args);
}

cudaError_t CUDARTAPI cudaLaunchCooperativeKernel_ptsz(const void* func, dim3 gridDim,
                                                       dim3 blockDim, void** args,
                                                       std::size_t sharedMem, cudaStream_t stream) {
    return cudaLaunchCooperativeKernel(func, gridDim, blockDim, args, sharedMem, own(stream));
}

cudaError_t CUDARTAPI cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t fn,
                                              void* userData) {
    return cudaLaunchHostFunc(own(stream), fn, userData);
}

// ---- streams and events ------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaStreamGetPriority_ptsz(cudaStream_t hStream, int* priority) {
    return cudaStreamGetPriority(own(hStream), priority);
}

cudaError_t CUDARTAPI cudaStreamGetFlags_ptsz(cudaStream_t hStream, unsigned int* flags) {
    return cudaStreamGetFlags(own(hStream), flags);
}

cudaError_t CUDARTAPI cudaStreamGetId_ptsz(cudaStream_t hStream, unsigned long long* streamId) {
    return cudaStreamGetId(own(hStream), streamId);
}

cudaError_t CUDARTAPI cudaStreamGetDevice_ptsz(cudaStream_t hStream, int* device) {
    return cudaStreamGetDevice(own(hStream), device);
}

cudaError_t CUDARTAPI cudaStreamCopyAttributes_ptsz(cudaStream_t dst, cudaStream_t src) {
    return cudaStreamCopyAttributes(own(dst), own(src));
}

cudaError_t CUDARTAPI cudaStreamGetAttribute_ptsz(cudaStream_t hStream, cudaStreamAttrID attr,
                                                  cudaStreamAttrValue* value) {
    return cudaStreamGetAttribute(own(hStream), attr, value);
}

cudaError_t CUDARTAPI cudaStreamSetAttribute_ptsz(cudaStream_t hStream, cudaStreamAttrID attr,
                                                  const cudaStreamAttrValue* value) {
    return cudaStreamSetAttribute(own(hStream), attr, value);
}

cudaError_t CUDARTAPI cudaStreamSynchronize_ptsz(cudaStream_t stream) {
    return cudaStreamSynchronize(own(stream));
}

cudaError_t CUDARTAPI cudaStreamQuery_ptsz(cudaStream_t stream) {
    return cudaStreamQuery(own(stream));
}

cudaError_t CUDARTAPI cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event,
                                               unsigned int flags) {
    return cudaStreamWaitEvent(own(stream), event, flags);
}

cudaError_t CUDARTAPI cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t callback,
                                                 void* userData, unsigned int flags) {
    return cudaStreamAddCallback(own(stream), callback, userData, flags);
}

cudaError_t CUDARTAPI cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void* devPtr,
                                                    std::size_t length, unsigned int flags) {
    return cudaStreamAttachMemAsync(own(stream), devPtr, length, flags);
}

cudaError_t CUDARTAPI cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) {
    return cudaEventRecord(event, own(stream));
}

cudaError_t CUDARTAPI cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream,
                                                    unsigned int flags) {
    return cudaEventRecordWithFlags(event, own(stream), flags);
}

cudaError_t CUDARTAPI cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode) {
    return cudaStreamBeginCapture(own(stream), mode);
}

cudaError_t CUDARTAPI cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* pGraph) {
    return cudaStreamEndCapture(own(stream), pGraph);
}

cudaError_t CUDARTAPI cudaStreamIsCapturing_ptsz(cudaStream_t stream,
                                                 cudaStreamCaptureStatus* pCaptureStatus) {
    return cudaStreamIsCapturing(own(stream), pCaptureStatus);
}

cudaError_t CUDARTAPI cudaStreamGetCaptureInfo_ptsz(
    cudaStream_t stream, cudaStreamCaptureStatus* captureStatus_out, unsigned long long* id_out,
    cudaGraph_t* graph_out, const cudaGraphNode_t** dependencies_out,
    const cudaGraphEdgeData** edgeData_out, std::size_t* numDependencies_out) {
    return cudaStreamGetCaptureInfo(own(stream), captureStatus_out, id_out, graph_out,
                                    dependencies_out, edgeData_out, numDependencies_out);
}

cudaError_t CUDARTAPI cudaGraphLaunch_ptsz(cudaGraphExec_t graphExec, cudaStream_t stream) {
    return cudaGraphLaunch(graphExec, own(stream));
}

cudaError_t CUDARTAPI cudaGraphUpload_ptsz(cudaGraphExec_t graphExec, cudaStream_t stream) {
    return cudaGraphUpload(graphExec, own(stream));
}

// ---- memory in stream order --------------------------------------------------------------------

cudaError_t CUDARTAPI cudaMallocAsync_ptsz(void** devPtr, std::size_t size, cudaStream_t hStream) {
    return cudaMallocAsync(devPtr, size, own(hStream));
}

cudaError_t CUDARTAPI cudaMallocFromPoolAsync_ptsz(void** ptr, std::size_t size,
                                                   cudaMemPool_t memPool, cudaStream_t stream) {
    return cudaMallocFromPoolAsync(ptr, size, memPool, own(stream));
}

cudaError_t CUDARTAPI cudaFreeAsync_ptsz(void* devPtr, cudaStream_t hStream) {
    return cudaFreeAsync(devPtr, own(hStream));
}

cudaError_t CUDARTAPI cudaMemPrefetchAsync_ptsz(const void* devPtr, std::size_t count,
                                                cudaMemLocation location, unsigned int flags,
                                                cudaStream_t stream) {
    return cudaMemPrefetchAsync(devPtr, count, location, flags, own(stream));
}

cudaError_t CUDARTAPI cudaMemPrefetchBatchAsync_ptsz(void** dptrs, std::size_t* sizes,
                                                     std::size_t count, cudaMemLocation* locations,
                                                     std::size_t* indices, std::size_t numLocations,
                                                     unsigned long long flags,
                                                     cudaStream_t stream) {
    return cudaMemPrefetchBatchAsync(dptrs, sizes, count, locations, indices, numLocations, flags,
                                     own(stream));
}

cudaError_t CUDARTAPI cudaMemDiscardBatchAsync_ptsz(void** dptrs, std::size_t* sizes,
                                                    std::size_t count, unsigned long long flags,
                                                    cudaStream_t stream) {
    return cudaMemDiscardBatchAsync(dptrs, sizes, count, flags, own(stream));
}

cudaError_t CUDARTAPI cudaMemDiscardAndPrefetchBatchAsync_ptsz(
    void** dptrs, std::size_t* sizes, std::size_t count, cudaMemLocation* locations,
    std::size_t* indices, std::size_t numLocations, unsigned long long flags, cudaStream_t stream) {
    return cudaMemDiscardAndPrefetchBatchAsync(dptrs, sizes, count, locations, indices,
                                               numLocations, flags, own(stream));
}

// ---- copies and fills --------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaMemcpyAsync_ptsz(void* dst, const void* src, std::size_t count,
                                           cudaMemcpyKind kind, cudaStream_t stream) {
    return cudaMemcpyAsync(dst, src, count, kind, own(stream));
}

cudaError_t CUDARTAPI cudaMemcpy_ptds(void* dst, const void* src, std::size_t count,
                                      cudaMemcpyKind kind) {
    return wait_after(cudaMemcpyAsync(dst, src, count, kind, cudaStreamPerThread));
}

cudaError_t CUDARTAPI cudaMemcpy2DAsync_ptsz(void* dst, std::size_t dpitch, const void* src,
                                             std::size_t spitch, std::size_t width,
                                             std::size_t height, cudaMemcpyKind kind,
                                             cudaStream_t stream) {
    return cudaMemcpy2DAsync(dst, dpitch, src, spitch, width, height, kind, own(stream));
}

cudaError_t CUDARTAPI cudaMemcpy2D_ptds(void* dst, std::size_t dpitch, const void* src,
                                        std::size_t spitch, std::size_t width, std::size_t height,
                                        cudaMemcpyKind kind) {
    return wait_after(
        cudaMemcpy2DAsync(dst, dpitch, src, spitch, width, height, kind, cudaStreamPerThread));
}

cudaError_t CUDARTAPI cudaMemcpy3DAsync_ptsz(const cudaMemcpy3DParms* p, cudaStream_t stream) {
    return cudaMemcpy3DAsync(p, own(stream));
}

cudaError_t CUDARTAPI cudaMemcpy3D_ptds(const cudaMemcpy3DParms* p) {
    return wait_after(cudaMemcpy3DAsync(p, cudaStreamPerThread));
}

cudaError_t CUDARTAPI cudaMemcpy3DPeerAsync_ptsz(const cudaMemcpy3DPeerParms* p,
                                                 cudaStream_t stream) {
    return cudaMemcpy3DPeerAsync(p, own(stream));
}

cudaError_t CUDARTAPI cudaMemcpy3DPeer_ptds(const cudaMemcpy3DPeerParms* p) {
    return wait_after(cudaMemcpy3DPeerAsync(p, cudaStreamPerThread));
}

cudaError_t CUDARTAPI cudaMemcpyBatchAsync_ptsz(void* const* dsts, const void* const* srcs,
                                                const std::size_t* sizes, std::size_t count,
                                                cudaMemcpyAttributes* attrs, std::size_t* attrsIdxs,
                                                std::size_t numAttrs, cudaStream_t stream) {
    return cudaMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, own(stream));
}

cudaError_t CUDARTAPI cudaMemcpy3DBatchAsync_ptsz(std::size_t numOps, cudaMemcpy3DBatchOp* opList,
                                                  unsigned long long flags, cudaStream_t stream) {
    return cudaMemcpy3DBatchAsync(numOps, opList, flags, own(stream));
}

cudaError_t CUDARTAPI cudaMemcpyToSymbolAsync_ptsz(const void* symbol, const void* src,
                                                   std::size_t count, std::size_t offset,
                                                   cudaMemcpyKind kind, cudaStream_t stream) {
    return cudaMemcpyToSymbolAsync(symbol, src, count, offset, kind, own(stream));
}

cudaError_t CUDARTAPI cudaMemcpyToSymbol_ptds(const void* symbol, const void* src,
                                              std::size_t count, std::size_t offset,
                                              cudaMemcpyKind kind) {
    return wait_after(
        cudaMemcpyToSymbolAsync(symbol, src, count, offset, kind, cudaStreamPerThread));
}

cudaError_t CUDARTAPI cudaMemcpyFromSymbolAsync_ptsz(void* dst, const void* symbol,
                                                     std::size_t count, std::size_t offset,
                                                     cudaMemcpyKind kind, cudaStream_t stream) {
    return cudaMemcpyFromSymbolAsync(dst, symbol, count, offset, kind, own(stream));
}

cudaError_t CUDARTAPI cudaMemcpyFromSymbol_ptds(void* dst, const void* symbol, std::size_t count,
                                                std::size_t offset, cudaMemcpyKind kind) {
    return wait_after(
        cudaMemcpyFromSymbolAsync(dst, symbol, count, offset, kind, cudaStreamPerThread));
}

cudaError_t CUDARTAPI cudaMemsetAsync_ptsz(void* devPtr, int value, std::size_t count,
                                           cudaStream_t stream) {
    return cudaMemsetAsync(devPtr, value, count, own(stream));
}

cudaError_t CUDARTAPI cudaMemset_ptds(void* devPtr, int value, std::size_t count) {
    return in_context([&] {
        return cuMemsetD8_v2_ptds(address(devPtr), static_cast<unsigned char>(value), count);
    });
}

cudaError_t CUDARTAPI cudaMemset2DAsync_ptsz(void* devPtr, std::size_t pitch, int value,
                                             std::size_t width, std::size_t height,
                                             cudaStream_t stream) {
    return cudaMemset2DAsync(devPtr, pitch, value, width, height, own(stream));
}

cudaError_t CUDARTAPI cudaMemset2D_ptds(void* devPtr, std::size_t pitch, int value,
                                        std::size_t width, std::size_t height) {
    return in_context([&] {
        return cuMemsetD2D8_v2_ptds(address(devPtr), pitch, static_cast<unsigned char>(value),
                                    width, height);
    });
}

cudaError_t CUDARTAPI cudaMemset3DAsync_ptsz(cudaPitchedPtr pitchedDevPtr, int value,
                                             cudaExtent extent, cudaStream_t stream) {
    return cudaMemset3DAsync(pitchedDevPtr, value, extent, own(stream));
}

cudaError_t CUDARTAPI cudaMemset3D_ptds(cudaPitchedPtr pitchedDevPtr, int value,
                                        cudaExtent extent) {
    return wait_after(cudaMemset3DAsync(pitchedDevPtr, value, extent, cudaStreamPerThread));
}

// ---- entry points of the driver ----------------------------------------------------------------

cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion_ptsz(
    const char* symbol, void** funcPtr, unsigned int cudaVersion, unsigned long long flags,
    cudaDriverEntryPointQueryResult* driverStatus) {
    const unsigned long long wanted =
        flags == cudaEnableDefault ? +cudaEnablePerThreadDefaultStream : flags;
    return cudaGetDriverEntryPointByVersion(symbol, funcPtr, cudaVersion, wanted, driverStatus);
}

cudaError_t CUDARTAPI cudaGetDriverEntryPoint_ptsz(const char* symbol, void** funcPtr,
                                                   unsigned long long flags,
                                                   cudaDriverEntryPointQueryResult* driverStatus) {
    return cudaGetDriverEntryPointByVersion_ptsz(symbol, funcPtr, VERSION, flags, driverStatus);
}

} // extern "C"
