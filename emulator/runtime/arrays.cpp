// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Arrays and mipmapped arrays.

#include "formats.hpp"
#include "forward.hpp"
#include "runtime.hpp"

using namespace cuprum::runtime;

namespace {

/// Fills in a descriptor of the driver. The flags of both APIs have the same values.
cudaError_t describe_new(const cudaChannelFormatDesc* description, const cudaExtent& extent,
                         unsigned flags, CUDA_ARRAY3D_DESCRIPTOR& result) {
    if (description == nullptr) {
        return cudaErrorInvalidValue;
    }
    TexelFormat format;
    if (const cudaError_t status = to_driver(*description, format); status != cudaSuccess) {
        return status;
    }
    result.Width = extent.width;
    result.Height = extent.height;
    result.Depth = extent.depth;
    result.Format = format.format;
    result.NumChannels = format.channels;
    result.Flags = flags;
    return cudaSuccess;
}

cudaError_t allocate(cudaArray_t* array, const cudaChannelFormatDesc* description,
                     const cudaExtent& extent, unsigned flags) {
    if (array == nullptr) {
        return cudaErrorInvalidValue;
    }
    CUDA_ARRAY3D_DESCRIPTOR wanted{};
    if (const cudaError_t status = describe_new(description, extent, flags, wanted);
        status != cudaSuccess) {
        return status;
    }
    return as_error(cuArray3DCreate(reinterpret_cast<CUarray*>(array), &wanted));
}

} // namespace

cudaError_t CUDARTAPI cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc,
                                      std::size_t width, std::size_t height, unsigned int flags) {
    return in_context([&] { return allocate(array, desc, {width, height, 0}, flags); });
}

cudaError_t CUDARTAPI cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc,
                                        cudaExtent extent, unsigned int flags) {
    return in_context([&] { return allocate(array, desc, extent, flags); });
}

cudaError_t CUDARTAPI cudaMallocMipmappedArray(cudaMipmappedArray_t* mipmappedArray,
                                               const cudaChannelFormatDesc* desc, cudaExtent extent,
                                               unsigned int numLevels, unsigned int flags) {
    return in_context([&] {
        CUDA_ARRAY3D_DESCRIPTOR wanted{};
        const cudaError_t status = mipmappedArray == nullptr
                                       ? cudaErrorInvalidValue
                                       : describe_new(desc, extent, flags, wanted);
        return status != cudaSuccess
                   ? status
                   : as_error(cuMipmappedArrayCreate(
                         reinterpret_cast<CUmipmappedArray*>(mipmappedArray), &wanted, numLevels));
    });
}

cudaError_t CUDARTAPI cudaFreeArray(cudaArray_t array) {
    return in_context(
        [&] { return array == nullptr ? CUDA_SUCCESS : cuArrayDestroy(as_driver(array)); });
}

cudaError_t CUDARTAPI cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray) {
    return in_context([&] {
        return mipmappedArray == nullptr ? CUDA_SUCCESS
                                         : cuMipmappedArrayDestroy(as_driver(mipmappedArray));
    });
}

FORWARD(cudaGetMipmappedArrayLevel, cuMipmappedArrayGetLevel, IN_CONTEXT);

cudaError_t CUDARTAPI cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
    return in_context([&] {
        CUDA_ARRAY3D_DESCRIPTOR found{};
        const CUresult status = desc == nullptr ? CUDA_ERROR_INVALID_VALUE : describe(array, found);
        if (status == CUDA_SUCCESS) {
            *desc = from_driver({found.Format, found.NumChannels});
        }
        return status;
    });
}

cudaError_t CUDARTAPI cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent,
                                       unsigned int* flags, cudaArray_t array) {
    return in_context([&] {
        CUDA_ARRAY3D_DESCRIPTOR found{};
        const CUresult status = describe(array, found);
        if (status == CUDA_SUCCESS) {
            if (desc != nullptr) {
                *desc = from_driver({found.Format, found.NumChannels});
            }
            if (extent != nullptr) {
                *extent = {found.Width, found.Height, found.Depth};
            }
            if (flags != nullptr) {
                *flags = found.Flags;
            }
        }
        return status;
    });
}

FORWARD(cudaArrayGetPlane, cuArrayGetPlane, IN_CONTEXT);
FORWARD(cudaArrayGetMemoryRequirements, cuArrayGetMemoryRequirements, IN_CONTEXT);
FORWARD(cudaMipmappedArrayGetMemoryRequirements, cuMipmappedArrayGetMemoryRequirements, IN_CONTEXT);
FORWARD(cudaArrayGetSparseProperties, cuArrayGetSparseProperties, IN_CONTEXT);
FORWARD(cudaMipmappedArrayGetSparseProperties, cuMipmappedArrayGetSparseProperties, IN_CONTEXT);

cudaError_t CUDARTAPI cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* maxWidthInElements,
                                                           const cudaChannelFormatDesc* fmtDesc,
                                                           int device) {
    return without_context([&] {
        TexelFormat format;
        const cudaError_t status =
            fmtDesc == nullptr ? cudaErrorInvalidValue : to_driver(*fmtDesc, format);
        return status != cudaSuccess
                   ? status
                   : as_error(cuDeviceGetTexture1DLinearMaxWidth(maxWidthInElements, format.format,
                                                                 format.channels, device));
    });
}
