// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Texture and surface objects. The enumerations of both APIs have the same values.

#include "formats.hpp"
#include "forward.hpp"
#include "runtime.hpp"

#include <algorithm>

using namespace cuprum::runtime;

namespace {

cudaError_t to_driver(const cudaResourceDesc& from, CUDA_RESOURCE_DESC& to) {
    to.resType = static_cast<CUresourcetype>(from.resType);
    to.flags = from.flags;
    TexelFormat format;
    cudaError_t status = cudaSuccess;
    switch (from.resType) {
    case cudaResourceTypeArray:
        to.res.array.hArray = as_driver(from.res.array.array);
        break;
    case cudaResourceTypeMipmappedArray:
        to.res.mipmap.hMipmappedArray = as_driver(from.res.mipmap.mipmap);
        break;
    case cudaResourceTypeLinear:
        status = to_driver(from.res.linear.desc, format);
        to.res.linear = {address(from.res.linear.devPtr), format.format, format.channels,
                         from.res.linear.sizeInBytes};
        break;
    case cudaResourceTypePitch2D:
        status = to_driver(from.res.pitch2D.desc, format);
        to.res.pitch2D = {address(from.res.pitch2D.devPtr),
                          format.format,
                          format.channels,
                          from.res.pitch2D.width,
                          from.res.pitch2D.height,
                          from.res.pitch2D.pitchInBytes};
        break;
    default:
        status = cudaErrorInvalidValue;
    }
    return status;
}

cudaResourceDesc from_driver(const CUDA_RESOURCE_DESC& from) {
    cudaResourceDesc to{};
    to.resType = static_cast<cudaResourceType>(from.resType);
    to.flags = from.flags;
    switch (from.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        to.res.array.array = reinterpret_cast<cudaArray_t>(from.res.array.hArray);
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        to.res.mipmap.mipmap =
            reinterpret_cast<cudaMipmappedArray_t>(from.res.mipmap.hMipmappedArray);
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        to.res.linear.devPtr = pointer(from.res.linear.devPtr);
        to.res.linear.desc =
            from_driver(TexelFormat{from.res.linear.format, from.res.linear.numChannels});
        to.res.linear.sizeInBytes = from.res.linear.sizeInBytes;
        break;
    case CU_RESOURCE_TYPE_PITCH2D:
        to.res.pitch2D.devPtr = pointer(from.res.pitch2D.devPtr);
        to.res.pitch2D.desc =
            from_driver(TexelFormat{from.res.pitch2D.format, from.res.pitch2D.numChannels});
        to.res.pitch2D.width = from.res.pitch2D.width;
        to.res.pitch2D.height = from.res.pitch2D.height;
        to.res.pitch2D.pitchInBytes = from.res.pitch2D.pitchInBytes;
        break;
    }
    return to;
}

/// A flag of the driver for a member of cudaTextureDesc.
struct TextureFlag {
    int cudaTextureDesc::* member;
    unsigned flag;
};

constexpr TextureFlag TEXTURE_FLAGS[] = {
    {&cudaTextureDesc::sRGB, CU_TRSF_SRGB},
    {&cudaTextureDesc::normalizedCoords, CU_TRSF_NORMALIZED_COORDINATES},
    {&cudaTextureDesc::disableTrilinearOptimization, CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION},
    {&cudaTextureDesc::seamlessCubemap, CU_TRSF_SEAMLESS_CUBEMAP},
};

CUDA_TEXTURE_DESC to_driver(const cudaTextureDesc& from) {
    CUDA_TEXTURE_DESC to{};
    for (int dimension = 0; dimension < 3; ++dimension) {
        to.addressMode[dimension] = static_cast<CUaddress_mode>(from.addressMode[dimension]);
    }
    to.filterMode = static_cast<CUfilter_mode>(from.filterMode);
    to.flags = from.readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0;
    for (const TextureFlag& each : TEXTURE_FLAGS) {
        to.flags |= from.*each.member != 0 ? each.flag : 0;
    }
    to.maxAnisotropy = from.maxAnisotropy;
    to.mipmapFilterMode = static_cast<CUfilter_mode>(from.mipmapFilterMode);
    to.mipmapLevelBias = from.mipmapLevelBias;
    to.minMipmapLevelClamp = from.minMipmapLevelClamp;
    to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
    std::ranges::copy(from.borderColor, to.borderColor);
    return to;
}

cudaTextureDesc from_driver(const CUDA_TEXTURE_DESC& from) {
    cudaTextureDesc to{};
    for (int dimension = 0; dimension < 3; ++dimension) {
        to.addressMode[dimension] =
            static_cast<cudaTextureAddressMode>(from.addressMode[dimension]);
    }
    to.filterMode = static_cast<cudaTextureFilterMode>(from.filterMode);
    to.readMode = (from.flags & CU_TRSF_READ_AS_INTEGER) != 0 ? cudaReadModeElementType
                                                              : cudaReadModeNormalizedFloat;
    for (const TextureFlag& each : TEXTURE_FLAGS) {
        to.*each.member = (from.flags & each.flag) != 0 ? 1 : 0;
    }
    to.maxAnisotropy = from.maxAnisotropy;
    to.mipmapFilterMode = static_cast<cudaTextureFilterMode>(from.mipmapFilterMode);
    to.mipmapLevelBias = from.mipmapLevelBias;
    to.minMipmapLevelClamp = from.minMipmapLevelClamp;
    to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
    std::ranges::copy(from.borderColor, to.borderColor);
    return to;
}

/// Reads a description of an object.
template <auto Read, typename Result, typename Object>
CUresult read_description(Result* result, Object object) {
    using Found = std::conditional_t<std::is_same_v<Result, cudaTextureDesc>, CUDA_TEXTURE_DESC,
                                     CUDA_RESOURCE_DESC>;
    Found found{};
    const CUresult status = result == nullptr ? CUDA_ERROR_INVALID_VALUE : Read(&found, object);
    if (status == CUDA_SUCCESS) {
        *result = from_driver(found);
    }
    return status;
}

} // namespace

cudaError_t CUDARTAPI cudaCreateTextureObject(cudaTextureObject_t* pTexObject,
                                              const cudaResourceDesc* pResDesc,
                                              const cudaTextureDesc* pTexDesc,
                                              const cudaResourceViewDesc* pResViewDesc) {
    return in_context([&] {
        if (pTexObject == nullptr || pResDesc == nullptr || pTexDesc == nullptr) {
            return cudaErrorInvalidValue;
        }
        CUDA_RESOURCE_DESC resource{};
        if (const cudaError_t status = to_driver(*pResDesc, resource); status != cudaSuccess) {
            return status;
        }
        const CUDA_TEXTURE_DESC texture = to_driver(*pTexDesc);
        return as_error(cuTexObjectCreate(pTexObject, &resource, &texture,
                                          same<const CUDA_RESOURCE_VIEW_DESC>(pResViewDesc)));
    });
}

FORWARD(cudaDestroyTextureObject, cuTexObjectDestroy, IN_CONTEXT);

CALL(cudaGetTextureObjectResourceDesc, read_description<cuTexObjectGetResourceDesc>, IN_CONTEXT);

CALL(cudaGetTextureObjectTextureDesc, read_description<cuTexObjectGetTextureDesc>, IN_CONTEXT);

FORWARD(cudaGetTextureObjectResourceViewDesc, cuTexObjectGetResourceViewDesc, IN_CONTEXT);

cudaError_t CUDARTAPI cudaCreateSurfaceObject(cudaSurfaceObject_t* pSurfObject,
                                              const cudaResourceDesc* pResDesc) {
    return in_context([&] {
        if (pSurfObject == nullptr || pResDesc == nullptr) {
            return cudaErrorInvalidValue;
        }
        CUDA_RESOURCE_DESC resource{};
        const cudaError_t status = to_driver(*pResDesc, resource);
        return status != cudaSuccess ? status
                                     : as_error(cuSurfObjectCreate(pSurfObject, &resource));
    });
}

FORWARD(cudaDestroySurfaceObject, cuSurfObjectDestroy, IN_CONTEXT);

CALL(cudaGetSurfaceObjectResourceDesc, read_description<cuSurfObjectGetResourceDesc>, IN_CONTEXT);
