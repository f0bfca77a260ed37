// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Direct access to the driver, so that no cost of Cuprum is measured.

#pragma once

#include <cuda.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace bare {

/// Ends the benchmark if a driver call failed.
inline void check(CUresult status, const char* call) {
    if (status != CUDA_SUCCESS) {
        std::fprintf(stderr, "%s failed: %d\n", call, static_cast<int>(status));
        std::exit(1);
    }
}

/// Returns a function of the driver that CUPRUM_DRIVER names. Ends the benchmark if it is missing.
template <typename Function>
[[nodiscard]] Function find(const char* name) {
    static void* const library = [] {
        const char* const chosen = std::getenv("CUPRUM_DRIVER");
        const bool is_path = chosen != nullptr && chosen[0] == '/';
        return ::dlopen(is_path ? chosen : "libcuda.so.1", RTLD_NOW);
    }();
    void* const address = library == nullptr ? nullptr : ::dlsym(library, name);
    if (address == nullptr) {
        std::fprintf(stderr, "%s\n", ::dlerror());
        std::exit(1);
    }
    return reinterpret_cast<Function>(address);
}

/// The functions of the driver that Cuprum's hot calls use.
struct Driver {
#define FUNCTION(name, symbol) decltype(&::name) name##_ = find<decltype(&::name)>(symbol)
    FUNCTION(cuLaunchKernelEx, "cuLaunchKernelEx");
    FUNCTION(cuStreamSynchronize, "cuStreamSynchronize");
    FUNCTION(cuMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync");
    FUNCTION(cuMemFreeAsync, "cuMemFreeAsync");
    FUNCTION(cuMemcpyAsync, "cuMemcpyAsync");
    FUNCTION(cuMemsetD8Async, "cuMemsetD8Async");
    FUNCTION(cuEventCreate, "cuEventCreate");
    FUNCTION(cuEventDestroy, "cuEventDestroy_v2");
    FUNCTION(cuEventRecord, "cuEventRecord");
    FUNCTION(cuEventQuery, "cuEventQuery");
    FUNCTION(cuStreamCreateWithPriority, "cuStreamCreateWithPriority");
    FUNCTION(cuStreamDestroy, "cuStreamDestroy_v2");
    FUNCTION(cuStreamWaitEvent, "cuStreamWaitEvent");
    FUNCTION(cuCtxSetCurrent, "cuCtxSetCurrent");
    FUNCTION(cuArray3DCreate, "cuArray3DCreate_v2");
    FUNCTION(cuTexObjectCreate, "cuTexObjectCreate");
    FUNCTION(cuTexObjectDestroy, "cuTexObjectDestroy");
    FUNCTION(cuSurfObjectCreate, "cuSurfObjectCreate");
    FUNCTION(cuSurfObjectDestroy, "cuSurfObjectDestroy");
    FUNCTION(cuGraphCreate, "cuGraphCreate");
    FUNCTION(cuGraphDestroy, "cuGraphDestroy");
    FUNCTION(cuGraphAddKernelNode, "cuGraphAddKernelNode_v2");
    FUNCTION(cuGraphInstantiateWithParams, "cuGraphInstantiateWithParams");
    FUNCTION(cuGraphExecDestroy, "cuGraphExecDestroy");
    FUNCTION(cuGraphExecKernelNodeSetParams, "cuGraphExecKernelNodeSetParams_v2");
    FUNCTION(cuGraphExecUpdate, "cuGraphExecUpdate_v2");
    FUNCTION(cuGraphLaunch, "cuGraphLaunch");
    FUNCTION(cuStreamBeginCapture, "cuStreamBeginCapture_v2");
    FUNCTION(cuStreamEndCapture, "cuStreamEndCapture");
    FUNCTION(cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled");
#undef FUNCTION
};

} // namespace bare
