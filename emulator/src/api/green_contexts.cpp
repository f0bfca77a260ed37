// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Green contexts, and the device resources that they use.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/devices/device.hpp"
#include "objects/devices/device_resources.hpp"
#include "objects/devices/green_context.hpp"
#include "objects/process/error.hpp"

using namespace cuprum::emulator;

extern "C" {

// ---- resources ---------------------------------------------------------------------------------

CUresult CUDAAPI cuDeviceGetDevResource(CUdevice device, CUdevResource* resource,
                                        CUdevResourceType type) {
    return entry("cuDeviceGetDevResource", [&] {
        require(resource != nullptr, "resource must not be NULL");
        *resource = resource_of(device_at(device), nullptr, type);
    });
}

CUresult CUDAAPI cuCtxGetDevResource(CUcontext hCtx, CUdevResource* resource,
                                     CUdevResourceType type) {
    return entry("cuCtxGetDevResource", [&] {
        require(resource != nullptr, "resource must not be NULL");
        const auto [context, green] = usable_context(hCtx);
        *resource = resource_of(context->device(), green.get(), type);
    });
}

CUresult CUDAAPI cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource* resource,
                                          CUdevResourceType type) {
    return entry("cuGreenCtxGetDevResource", [&] {
        require(resource != nullptr, "resource must not be NULL");
        const auto green = green_context_from(hCtx);
        *resource = resource_of(green->primary().device(), green.get(), type);
    });
}

CUresult CUDAAPI cuDevSmResourceSplitByCount(CUdevResource* result, unsigned int* nbGroups,
                                             const CUdevResource* input, CUdevResource* remaining,
                                             unsigned int useFlags, unsigned int minCount) {
    return entry("cuDevSmResourceSplitByCount", [&] {
        require(nbGroups != nullptr && input != nullptr, "an argument is NULL");
        require(result == nullptr || *nbGroups != 0, "nbGroups is 0");
        const CUdevResource whole = *input; // the results may overwrite the input
        *nbGroups = split_resource(result, *nbGroups, whole, remaining, useFlags, minCount);
    });
}

CUresult CUDAAPI cuDevResourceGenerateDesc(CUdevResourceDesc* phDesc, CUdevResource* resources,
                                           unsigned int nbResources) {
    return entry("cuDevResourceGenerateDesc", [&] {
        require(phDesc != nullptr && resources != nullptr, "an argument is NULL");
        *phDesc = describe_resources({resources, nbResources});
    });
}

// ---- green contexts ----------------------------------------------------------------------------

CUresult CUDAAPI cuGreenCtxCreate(CUgreenCtx* phCtx, CUdevResourceDesc desc, CUdevice dev,
                                  unsigned int flags) {
    return entry("cuGreenCtxCreate", [&] {
        require(phCtx != nullptr, "phCtx must not be NULL");
        (void)device_at(dev);
        require(flags == CU_GREEN_CTX_DEFAULT_STREAM,
                "the flags must be CU_GREEN_CTX_DEFAULT_STREAM");
        const auto object = HandleTable::instance().find(HandleKind::ResourceDescription,
                                                         reinterpret_cast<std::uint64_t>(desc));
        require(object != nullptr, "desc is not a description of resources");
        const auto& description = static_cast<const ResourceDescription&>(*object);
        require(description.device() == dev, "the resources belong to another device");
        *phCtx = GreenContext::create(description)->handle<CUgreenCtx>();
    });
}

CUresult CUDAAPI cuGreenCtxDestroy(CUgreenCtx hCtx) {
    return entry("cuGreenCtxDestroy", [&] { green_context_from(hCtx)->destroy(); });
}

CUresult CUDAAPI cuCtxFromGreenCtx(CUcontext* pContext, CUgreenCtx hCtx) {
    return entry("cuCtxFromGreenCtx", [&] {
        require(pContext != nullptr, "pContext must not be NULL");
        *pContext = green_context_from(hCtx)->as_context();
    });
}

CUresult CUDAAPI cuGreenCtxGetId(CUgreenCtx greenCtx, unsigned long long* greenCtxId) {
    return entry("cuGreenCtxGetId", [&] {
        const auto green = greenCtx != nullptr ? green_context_from(greenCtx) : current_green();
        if (green == nullptr) {
            fail(CUDA_ERROR_INVALID_CONTEXT, "no green context is current");
        }
        put(greenCtxId, green->id());
    });
}

CUresult CUDAAPI cuGreenCtxRecordEvent(CUgreenCtx hCtx, CUevent hEvent) {
    return entry("cuGreenCtxRecordEvent", [&] {
        const auto green = green_context_from(hCtx);
        green->check_usable();
        green->record(*event_from(hEvent));
    });
}

CUresult CUDAAPI cuGreenCtxWaitEvent(CUgreenCtx hCtx, CUevent hEvent) {
    return entry("cuGreenCtxWaitEvent", [&] {
        const auto green = green_context_from(hCtx);
        green->check_usable();
        green->wait_for(*event_from(hEvent));
    });
}

CUresult CUDAAPI cuGreenCtxStreamCreate(CUstream* phStream, CUgreenCtx greenCtx, unsigned int flags,
                                        int priority) {
    return entry("cuGreenCtxStreamCreate", [&] {
        require(phStream != nullptr, "phStream must not be NULL");
        const auto green = green_context_from(greenCtx);
        green->check_usable();
        require(flags == CU_STREAM_NON_BLOCKING, "the flags must be CU_STREAM_NON_BLOCKING");
        *phStream = green->primary().create_stream(flags, priority, green)->handle<CUstream>();
    });
}

} // extern "C"
