// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Arrays and mipmapped arrays.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/devices/all_contexts.hpp"
#include "objects/devices/device.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/process/error.hpp"
#include "objects/textures/array.hpp"

using namespace cuprum::emulator;

namespace {

// NVIDIA's driver returns INVALID_VALUE where these are used, and INVALID_HANDLE elsewhere.
constexpr const char* NOT_AN_ARRAY = "not an array, or it has been destroyed";
constexpr const char* NOT_A_MIPMAP = "not a mipmapped array, or it has been destroyed";

CUDA_ARRAY3D_DESCRIPTOR deep_descriptor(const CUDA_ARRAY_DESCRIPTOR& flat) {
    CUDA_ARRAY3D_DESCRIPTOR deep{};
    deep.Width = flat.Width;
    deep.Height = flat.Height;
    deep.Format = flat.Format;
    deep.NumChannels = flat.NumChannels;
    return deep;
}

CUarray create_array(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    return Array::create(current_context(), descriptor)->handle<CUarray>();
}

/// Waits for work that may use an array before its memory is freed. Throws what work of its own
/// context failed with.
void wait_for_users(const Context& owner) {
    drain_contexts();
    owner.check_usable();
}

} // namespace

extern "C" {

CUresult CUDAAPI cuArrayCreate_v2(CUarray* pHandle, const CUDA_ARRAY_DESCRIPTOR* pAllocateArray) {
    return entry("cuArrayCreate", [&] {
        Capture::refuse_unsafe_call();
        require(pHandle != nullptr, "pHandle must not be NULL");
        require(pAllocateArray != nullptr, "pAllocateArray must not be NULL");
        *pHandle = create_array(deep_descriptor(*pAllocateArray));
    });
}

CUresult CUDAAPI cuArray3DCreate_v2(CUarray* pHandle,
                                    const CUDA_ARRAY3D_DESCRIPTOR* pAllocateArray) {
    return entry("cuArray3DCreate", [&] {
        Capture::refuse_unsafe_call();
        require(pHandle != nullptr, "pHandle must not be NULL");
        require(pAllocateArray != nullptr, "pAllocateArray must not be NULL");
        *pHandle = create_array(*pAllocateArray);
    });
}

CUresult CUDAAPI cuArrayDestroy(CUarray hArray) {
    return entry("cuArrayDestroy", [&] {
        Capture::refuse_unsafe_call();
        const auto array = array_from(hArray);
        if (array->role() == Array::Role::Whole) { // levels and planes go with the whole
            wait_for_users(array->context());
            array->destroy();
        }
    });
}

CUresult CUDAAPI cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* pArrayDescriptor, CUarray hArray) {
    return entry("cuArrayGetDescriptor", [&] {
        require(pArrayDescriptor != nullptr, "pArrayDescriptor must not be NULL");
        const auto& deep = array_from(hArray)->descriptor();
        *pArrayDescriptor = {deep.Width, deep.Height, deep.Format, deep.NumChannels};
    });
}

CUresult CUDAAPI cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* pArrayDescriptor,
                                           CUarray hArray) {
    return entry("cuArray3DGetDescriptor",
                 [&] { put(pArrayDescriptor, array_from(hArray)->descriptor()); });
}

CUresult CUDAAPI cuArrayGetPlane(CUarray* pPlaneArray, CUarray hArray, unsigned int planeIdx) {
    return entry("cuArrayGetPlane", [&] {
        const auto array = array_from(hArray);
        require(pPlaneArray != nullptr, "pPlaneArray must not be NULL");
        *pPlaneArray = array->plane(planeIdx)->handle<CUarray>();
    });
}

CUresult CUDAAPI cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* sparseProperties,
                                            CUarray array) {
    return entry("cuArrayGetSparseProperties", [&] {
        require(sparseProperties != nullptr, "sparseProperties must not be NULL");
        require(is_array(array), NOT_AN_ARRAY);
        fail(CUDA_ERROR_INVALID_VALUE, "the array was not created with CUDA_ARRAY3D_SPARSE");
    });
}

CUresult CUDAAPI cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* memoryRequirements,
                                              CUarray array, CUdevice /*device*/) {
    return entry("cuArrayGetMemoryRequirements", [&] {
        require(memoryRequirements != nullptr, "memoryRequirements must not be NULL");
        require(is_array(array), NOT_AN_ARRAY);
        *memoryRequirements = memory_requirements(*array_from(array));
    });
}

// ---- mipmaps -----------------------------------------------------------------------------------

CUresult CUDAAPI cuMipmappedArrayCreate(CUmipmappedArray* pHandle,
                                        const CUDA_ARRAY3D_DESCRIPTOR* pMipmappedArrayDesc,
                                        unsigned int numMipmapLevels) {
    return entry("cuMipmappedArrayCreate", [&] {
        Capture::refuse_unsafe_call();
        require(pHandle != nullptr, "pHandle must not be NULL");
        require(pMipmappedArrayDesc != nullptr, "pMipmappedArrayDesc must not be NULL");
        *pHandle = MipmappedArray::create(current_context(), *pMipmappedArrayDesc, numMipmapLevels)
                       ->handle<CUmipmappedArray>();
    });
}

CUresult CUDAAPI cuMipmappedArrayGetLevel(CUarray* pLevelArray, CUmipmappedArray hMipmappedArray,
                                          unsigned int level) {
    return entry("cuMipmappedArrayGetLevel", [&] {
        require(pLevelArray != nullptr, "pLevelArray must not be NULL");
        *pLevelArray = mipmapped_array_from(hMipmappedArray)->level(level)->handle<CUarray>();
    });
}

CUresult CUDAAPI cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray) {
    return entry("cuMipmappedArrayDestroy", [&] {
        Capture::refuse_unsafe_call();
        const auto mipmap = mipmapped_array_from(hMipmappedArray);
        if (mipmap->is_mapped()) {
            fail(CUDA_ERROR_ARRAY_IS_MAPPED,
                 "the mipmap belongs to a mapped graphics resource; unmap that instead");
        }
        wait_for_users(mipmap->context());
        mipmap->destroy();
    });
}

CUresult CUDAAPI cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* sparseProperties,
                                                     CUmipmappedArray mipmap) {
    return entry("cuMipmappedArrayGetSparseProperties", [&] {
        require(sparseProperties != nullptr, "sparseProperties must not be NULL");
        require(is_mipmapped_array(mipmap), NOT_A_MIPMAP);
        fail(CUDA_ERROR_INVALID_VALUE, "the mipmap was not created with CUDA_ARRAY3D_SPARSE");
    });
}

CUresult CUDAAPI
cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* memoryRequirements,
                                      CUmipmappedArray mipmap, CUdevice /*device*/) {
    return entry("cuMipmappedArrayGetMemoryRequirements", [&] {
        require(memoryRequirements != nullptr, "memoryRequirements must not be NULL");
        require(is_mipmapped_array(mipmap), NOT_A_MIPMAP);
        *memoryRequirements = memory_requirements(*mipmapped_array_from(mipmap));
    });
}

} // extern "C"
