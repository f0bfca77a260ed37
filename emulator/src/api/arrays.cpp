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

ROW(cuArrayCreate_v2, 3020, UnsafeCall, CUarray& pHandle,
    const CUDA_ARRAY_DESCRIPTOR& pAllocateArray) {
    pHandle = create_array(deep_descriptor(pAllocateArray));
}

ROW(cuArray3DCreate_v2, 3020, UnsafeCall, CUarray& pHandle,
    const CUDA_ARRAY3D_DESCRIPTOR& pAllocateArray) {
    pHandle = create_array(pAllocateArray);
}

ROW(cuArrayDestroy, 2000, UnsafeCall, Array& array) {
    if (array.role() == Array::Role::Whole) { // levels and planes go with the whole
        wait_for_users(array.context());
        array.destroy();
    }
}

ROW(cuArrayGetDescriptor_v2, 3020, CUDA_ARRAY_DESCRIPTOR& pArrayDescriptor, Array& array) {
    const auto& deep = array.descriptor();
    pArrayDescriptor = {deep.Width, deep.Height, deep.Format, deep.NumChannels};
}

ROW(cuArray3DGetDescriptor_v2, 3020, CUDA_ARRAY3D_DESCRIPTOR* pArrayDescriptor, Array& array) {
    put(pArrayDescriptor, array.descriptor());
}

ROW(cuArrayGetPlane, 11020, CUarray* pPlaneArray, Array& array, unsigned int planeIdx) {
    require(pPlaneArray != nullptr, "pPlaneArray must not be NULL");
    *pPlaneArray = array.plane(planeIdx)->handle<CUarray>();
}

ROW(cuArrayGetSparseProperties, 11010, CUDA_ARRAY_SPARSE_PROPERTIES& /*sparseProperties*/,
    CUarray array) {
    require(is_live(array), NOT_AN_ARRAY);
    fail(CUDA_ERROR_INVALID_VALUE, "the array was not created with CUDA_ARRAY3D_SPARSE");
}

ROW(cuArrayGetMemoryRequirements, 11060, CUDA_ARRAY_MEMORY_REQUIREMENTS& memoryRequirements,
    CUarray array, CUdevice /*device*/) {
    require(is_live(array), NOT_AN_ARRAY);
    memoryRequirements = memory_requirements(*object_of(array));
}

// ---- mipmaps -----------------------------------------------------------------------------------

ROW(cuMipmappedArrayCreate, 5000, UnsafeCall, CUmipmappedArray& pHandle,
    const CUDA_ARRAY3D_DESCRIPTOR& pMipmappedArrayDesc, unsigned int numMipmapLevels) {
    pHandle = MipmappedArray::create(current_context(), pMipmappedArrayDesc, numMipmapLevels)
                  ->handle<CUmipmappedArray>();
}

ROW(cuMipmappedArrayGetLevel, 5000, CUarray& pLevelArray, MipmappedArray& mipmap,
    unsigned int level) {
    pLevelArray = mipmap.level(level)->handle<CUarray>();
}

ROW(cuMipmappedArrayDestroy, 5000, UnsafeCall, MipmappedArray& mipmap) {
    if (mipmap.is_mapped()) {
        fail(CUDA_ERROR_ARRAY_IS_MAPPED,
             "the mipmap belongs to a mapped graphics resource; unmap that instead");
    }
    wait_for_users(mipmap.context());
    mipmap.destroy();
}

ROW(cuMipmappedArrayGetSparseProperties, 11010, CUDA_ARRAY_SPARSE_PROPERTIES& /*sparseProperties*/,
    CUmipmappedArray mipmap) {
    require(is_live(mipmap), NOT_A_MIPMAP);
    fail(CUDA_ERROR_INVALID_VALUE, "the mipmap was not created with CUDA_ARRAY3D_SPARSE");
}

ROW(cuMipmappedArrayGetMemoryRequirements, 11060,
    CUDA_ARRAY_MEMORY_REQUIREMENTS& memoryRequirements, CUmipmappedArray mipmap,
    CUdevice /*device*/) {
    require(is_live(mipmap), NOT_A_MIPMAP);
    memoryRequirements = memory_requirements(*object_of(mipmap));
}
