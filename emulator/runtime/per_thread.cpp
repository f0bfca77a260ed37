// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The functions of programs compiled with --default-stream per-thread. Each name has a suffix, and
// stream 0 is the calling thread's own stream. Functions that block (_ptds) wait only for that
// stream.

#include "forward.hpp"
#include "runtime.hpp"

#include <cstddef>

using namespace cuprum::runtime;

// cuda.h declares these under other names, unless all of a source uses them.
extern "C" CUresult CUDAAPI cuMemsetD8_v2_ptds(CUdeviceptr, unsigned char, std::size_t);
extern "C" CUresult CUDAAPI cuMemsetD2D8_v2_ptds(CUdeviceptr, std::size_t, unsigned char,
                                                 std::size_t, std::size_t);

// ---- launches ----------------------------------------------------------------------------------

PTSZ(cudaLaunchKernel);

extern "C" cudaError_t CUDARTAPI __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 gridDim,
                                                         dim3 blockDim, void** args,
                                                         std::size_t sharedMem,
                                                         cudaStream_t stream) {
    return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), gridDim, blockDim, args,
                            sharedMem, with_own_stream(stream));
}

extern "C" cudaError_t CUDARTAPI cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config,
                                                          const void* func, void** args) {
    if (config == nullptr) {
        return cudaLaunchKernelExC(config, func, args);
    }
    cudaLaunchConfig_t changed = *config;
    changed.stream = with_own_stream(config->stream);
    return cudaLaunchKernelExC(&changed, func, args);
}

PTSZ(cudaLaunchCooperativeKernel);
PTSZ(cudaLaunchHostFunc);

// ---- streams and events ------------------------------------------------------------------------

PTSZ(cudaStreamGetPriority);
PTSZ(cudaStreamGetFlags);
PTSZ(cudaStreamGetId);
PTSZ(cudaStreamGetDevice);
PTSZ(cudaStreamCopyAttributes);
PTSZ(cudaStreamGetAttribute);
PTSZ(cudaStreamSetAttribute);
PTSZ(cudaStreamSynchronize);
PTSZ(cudaStreamQuery);
PTSZ(cudaStreamWaitEvent);
PTSZ(cudaStreamAddCallback);
PTSZ(cudaStreamAttachMemAsync);
PTSZ(cudaEventRecord);
PTSZ(cudaEventRecordWithFlags);
PTSZ(cudaStreamBeginCapture);
PTSZ(cudaStreamEndCapture);
PTSZ(cudaStreamIsCapturing);
PTSZ(cudaStreamGetCaptureInfo);
PTSZ(cudaGraphLaunch);
PTSZ(cudaGraphUpload);

// ---- memory in stream order --------------------------------------------------------------------

PTSZ(cudaMallocAsync);
PTSZ(cudaMallocFromPoolAsync);
PTSZ(cudaFreeAsync);
PTSZ(cudaMemPrefetchAsync);
PTSZ(cudaMemPrefetchBatchAsync);
PTSZ(cudaMemDiscardBatchAsync);
PTSZ(cudaMemDiscardAndPrefetchBatchAsync);

// ---- copies and fills --------------------------------------------------------------------------

PTSZ(cudaMemcpyAsync);
PTDS(cudaMemcpy);
PTSZ(cudaMemcpy2DAsync);
PTDS(cudaMemcpy2D);
PTSZ(cudaMemcpy3DAsync);
PTDS(cudaMemcpy3D);
PTSZ(cudaMemcpy3DPeerAsync);
PTDS(cudaMemcpy3DPeer);
PTSZ(cudaMemcpyBatchAsync);
PTSZ(cudaMemcpy3DBatchAsync);
PTSZ(cudaMemcpyToSymbolAsync);
PTDS(cudaMemcpyToSymbol);
PTSZ(cudaMemcpyFromSymbolAsync);
PTDS(cudaMemcpyFromSymbol);
PTSZ(cudaMemsetAsync);
extern "C" decltype(cudaMemset) cudaMemset_ptds;
FORWARD(cudaMemset_ptds, cuMemsetD8_v2_ptds, IN_CONTEXT);
PTSZ(cudaMemset2DAsync);
extern "C" decltype(cudaMemset2D) cudaMemset2D_ptds;
FORWARD(cudaMemset2D_ptds, cuMemsetD2D8_v2_ptds, IN_CONTEXT);
PTSZ(cudaMemset3DAsync);
PTDS(cudaMemset3D);

// ---- entry points of the driver ----------------------------------------------------------------

extern "C" cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion_ptsz(
    const char* symbol, void** funcPtr, unsigned int cudaVersion, unsigned long long flags,
    cudaDriverEntryPointQueryResult* driverStatus) {
    const unsigned long long wanted =
        flags == cudaEnableDefault ? +cudaEnablePerThreadDefaultStream : flags;
    return cudaGetDriverEntryPointByVersion(symbol, funcPtr, cudaVersion, wanted, driverStatus);
}

extern "C" cudaError_t CUDARTAPI
cudaGetDriverEntryPoint_ptsz(const char* symbol, void** funcPtr, unsigned long long flags,
                             cudaDriverEntryPointQueryResult* driverStatus) {
    return cudaGetDriverEntryPointByVersion_ptsz(symbol, funcPtr, VERSION, flags, driverStatus);
}
