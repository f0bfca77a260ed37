// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Execution contexts and the resources of devices, which CUDA 13.1 added to the runtime API.
//
// An execution context is a context of the driver: a primary context, or what cuCtxFromGreenCtx
// returns for a green context.

#include "newer.hpp"

#ifndef CUPRUM_RUNTIME_12

#include <map>
#include <mutex>

using namespace cuprum::runtime;

namespace {

constexpr int CUDA_13_1 = 13010;

/// The green contexts that this library created, by their execution contexts.
class GreenContexts {
public:
    static GreenContexts& instance() {
        static auto* const contexts = new GreenContexts; // outlives the functions that run at exit
        return *contexts;
    }

    void add(CUcontext context, CUgreenCtx green) {
        const std::lock_guard lock(mutex_);
        greens_[context] = green;
    }

    /// Returns the green context, or nullptr if `context` is a primary context or unknown.
    CUgreenCtx find(CUcontext context) {
        const std::lock_guard lock(mutex_);
        const auto found = greens_.find(context);
        return found != greens_.end() ? found->second : nullptr;
    }

    void remove(CUcontext context) {
        const std::lock_guard lock(mutex_);
        greens_.erase(context);
    }

private:
    std::mutex mutex_;
    std::map<CUcontext, CUgreenCtx> greens_;
};

CUcontext as_driver(cudaExecutionContext_t context) {
    return reinterpret_cast<CUcontext>(context);
}

CUdevResource* as_driver(cudaDevResource* resource) {
    return same<CUdevResource>(resource);
}

/// Runs `body` for an execution context, which is a required parameter.
template <typename Body>
cudaError_t in_execution_context(cudaExecutionContext_t context, Body&& body) {
    return without_context([&] {
        return context == nullptr ? cudaErrorInvalidValue : as_error(body(as_driver(context)));
    });
}

CUresult create_green(CUcontext* result, CUdevResourceDesc description, int device) {
    CUgreenCtx green = nullptr;
    if (const CUresult status =
            cuGreenCtxCreate(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM);
        status != CUDA_SUCCESS) {
        return status;
    }
    const CUresult status = cuCtxFromGreenCtx(result, green);
    if (status != CUDA_SUCCESS) {
        cuGreenCtxDestroy(green);
        return status;
    }
    try {
        GreenContexts::instance().add(*result, green);
    } catch (...) {
        cuGreenCtxDestroy(green);
        throw;
    }
    return CUDA_SUCCESS;
}

CUresult create_stream_in(CUcontext context, CUstream* stream, unsigned int flags, int priority) {
    if (const CUgreenCtx green = GreenContexts::instance().find(context); green != nullptr) {
        // The streams of green contexts never wait for stream 0; the driver wants that said.
        return cuGreenCtxStreamCreate(stream, green, flags | CU_STREAM_NON_BLOCKING, priority);
    }
    if (const CUresult status = cuCtxPushCurrent(context); status != CUDA_SUCCESS) {
        return status;
    }
    const CUresult status = cuStreamCreateWithPriority(stream, flags, priority);
    CUcontext popped = nullptr;
    const CUresult restored = cuCtxPopCurrent(&popped);
    return status != CUDA_SUCCESS ? status : restored;
}

} // namespace

// ---- resources ---------------------------------------------------------------------------------

FORWARD(cudaDeviceGetDevResource, cuDeviceGetDevResource, WITHOUT_CONTEXT);

NEWER(cudaStreamGetDevResource, cuStreamGetDevResource, 13010);

FORWARD(cudaDevSmResourceSplitByCount, cuDevSmResourceSplitByCount, WITHOUT_CONTEXT);

cudaError_t CUDARTAPI cudaDevSmResourceSplit(cudaDevResource* result, unsigned int nbGroups,
                                             const cudaDevResource* input,
                                             cudaDevResource* remainder, unsigned int flags,
                                             cudaDevSmResourceGroupParams* groupParams) {
    return without_context([&] {
        return call_newer("cuDevSmResourceSplit", CUDA_13_1, as_driver(result), nbGroups,
                          same<const CUdevResource>(input), as_driver(remainder), flags,
                          static_cast<void*>(groupParams));
    });
}

FORWARD(cudaDevResourceGenerateDesc, cuDevResourceGenerateDesc, WITHOUT_CONTEXT);

// ---- contexts ----------------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaGreenCtxCreate(cudaExecutionContext_t* phCtx, cudaDevResourceDesc_t desc,
                                         int device, unsigned int flags) {
    return without_context([&] {
        if (phCtx == nullptr || flags != 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        CUcontext context = nullptr;
        const CUresult status = create_green(&context, desc, device);
        if (status == CUDA_SUCCESS) {
            *phCtx = reinterpret_cast<cudaExecutionContext_t>(context);
        }
        return status;
    });
}

cudaError_t CUDARTAPI cudaDeviceGetExecutionCtx(cudaExecutionContext_t* ctx, int device) {
    return without_context([&] {
        if (ctx == nullptr) {
            return cudaErrorInvalidValue;
        }
        CUcontext context = nullptr;
        const CUresult status = primary_context(device, &context);
        if (status == CUDA_SUCCESS) {
            *ctx = reinterpret_cast<cudaExecutionContext_t>(context);
        }
        return as_error(status);
    });
}

cudaError_t CUDARTAPI cudaExecutionCtxDestroy(cudaExecutionContext_t ctx) {
    return in_execution_context(ctx, [](CUcontext context) {
        const CUgreenCtx green = GreenContexts::instance().find(context);
        if (green == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const CUresult status = cuGreenCtxDestroy(green);
        if (status == CUDA_SUCCESS) {
            GreenContexts::instance().remove(context);
        }
        return status;
    });
}

cudaError_t CUDARTAPI cudaExecutionCtxGetDevResource(cudaExecutionContext_t ctx,
                                                     cudaDevResource* resource,
                                                     cudaDevResourceType type) {
    return in_execution_context(ctx, [&](CUcontext context) {
        return cuCtxGetDevResource(context, as_driver(resource),
                                   static_cast<CUdevResourceType>(type));
    });
}

cudaError_t CUDARTAPI cudaExecutionCtxGetDevice(int* device, cudaExecutionContext_t ctx) {
    return in_execution_context(
        ctx, [&](CUcontext context) { return cuCtxGetDevice_v2(device, context); });
}

cudaError_t CUDARTAPI cudaExecutionCtxGetId(cudaExecutionContext_t ctx, unsigned long long* ctxId) {
    return in_execution_context(ctx, [&](CUcontext context) { return cuCtxGetId(context, ctxId); });
}

cudaError_t CUDARTAPI cudaExecutionCtxStreamCreate(cudaStream_t* phStream,
                                                   cudaExecutionContext_t ctx, unsigned int flags,
                                                   int priority) {
    return in_execution_context(ctx, [&](CUcontext context) {
        return create_stream_in(context, phStream, flags, priority);
    });
}

cudaError_t CUDARTAPI cudaExecutionCtxSynchronize(cudaExecutionContext_t ctx) {
    return in_execution_context(ctx,
                                [](CUcontext context) { return cuCtxSynchronize_v2(context); });
}

cudaError_t CUDARTAPI cudaExecutionCtxRecordEvent(cudaExecutionContext_t ctx, cudaEvent_t event) {
    return in_execution_context(
        ctx, [&](CUcontext context) { return cuCtxRecordEvent(context, event); });
}

cudaError_t CUDARTAPI cudaExecutionCtxWaitEvent(cudaExecutionContext_t ctx, cudaEvent_t event) {
    return in_execution_context(ctx,
                                [&](CUcontext context) { return cuCtxWaitEvent(context, event); });
}

#endif
