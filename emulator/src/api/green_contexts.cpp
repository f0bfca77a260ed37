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

// ---- resources ---------------------------------------------------------------------------------

ROW(cuDeviceGetDevResource, 12040, Device& device, CUdevResource& resource,
    CUdevResourceType type) {
    resource = resource_of(device, nullptr, type);
}

ROW(cuCtxGetDevResource, 12040, CUcontext hCtx, CUdevResource& resource, CUdevResourceType type) {
    const auto [context, green] = usable_context(hCtx);
    resource = resource_of(context->device(), green.get(), type);
}

ROW(cuGreenCtxGetDevResource, 12040, std::shared_ptr<GreenContext> green, CUdevResource& resource,
    CUdevResourceType type) {
    resource = resource_of(green->primary().device(), green.get(), type);
}

ROW(cuDevSmResourceSplitByCount, 12040, CUdevResource* result, unsigned int& nbGroups,
    const CUdevResource& input, CUdevResource* remaining, unsigned int useFlags,
    unsigned int minCount) {
    require(result == nullptr || nbGroups != 0, "nbGroups is 0");
    const CUdevResource whole = input; // the results may overwrite the input
    nbGroups = split_resource(result, nbGroups, whole, remaining, useFlags, minCount);
}

ROW(cuDevResourceGenerateDesc, 12040, CUdevResourceDesc& phDesc, CUdevResource* resources,
    unsigned int nbResources) {
    require(resources != nullptr, "resources must not be NULL");
    phDesc = describe_resources({resources, nbResources});
}

// ---- green contexts ----------------------------------------------------------------------------

ROW(cuGreenCtxCreate, 12040, CUgreenCtx& phCtx, CUdevResourceDesc desc, CUdevice dev,
    unsigned int flags) {
    (void)device_at(dev);
    require(flags == CU_GREEN_CTX_DEFAULT_STREAM, "the flags must be CU_GREEN_CTX_DEFAULT_STREAM");
    const auto description = object_of(desc);
    require(description->device() == dev, "the resources belong to another device");
    phCtx = GreenContext::create(*description)->handle<CUgreenCtx>();
}

ROW(cuGreenCtxDestroy, 12040, GreenContext& green) {
    green.destroy();
}

ROW(cuCtxFromGreenCtx, 12040, CUcontext& pContext, GreenContext& green) {
    pContext = green.as_context();
}

ROW(cuGreenCtxGetId, 12090, CUgreenCtx greenCtx, unsigned long long* greenCtxId) {
    const auto green = greenCtx != nullptr ? object_of(greenCtx) : current_green();
    if (green == nullptr) {
        fail(CUDA_ERROR_INVALID_CONTEXT, "no green context is current");
    }
    put(greenCtxId, green->id());
}

ROW(cuGreenCtxRecordEvent, 12040, GreenContext& green, CUevent hEvent) {
    green.check_usable();
    green.record(*object_of(hEvent));
}

ROW(cuGreenCtxWaitEvent, 12040, GreenContext& green, CUevent hEvent) {
    green.check_usable();
    green.wait_for(*object_of(hEvent));
}

ROW(cuGreenCtxStreamCreate, 12050, CUstream& phStream, std::shared_ptr<GreenContext> green,
    unsigned int flags, int priority) {
    green->check_usable();
    require(flags == CU_STREAM_NON_BLOCKING, "the flags must be CU_STREAM_NON_BLOCKING");
    phStream = green->primary().create_stream(flags, priority, green)->handle<CUstream>();
}
