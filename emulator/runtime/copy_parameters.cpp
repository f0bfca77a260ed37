// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "copy_parameters.hpp"

#include "formats.hpp"
#include "registry.hpp"

#include <string>

namespace cuprum::runtime {

namespace {

/// Converts texels to bytes.
cudaError_t to_bytes(std::size_t& texels, std::size_t texel_bytes) {
    const std::size_t count = texels;
    return __builtin_mul_overflow(count, texel_bytes, &texels)
               ? fail(cudaErrorInvalidValue,
                      std::to_string(count) + " texels of " + std::to_string(texel_bytes) +
                          " bytes: a position or a width of the copy is outside every array")
               : cudaSuccess;
}

/// Fills in the common part of the driver's two structures for three-dimensional copies.
///
/// Extents and positions along x are in bytes here; see describe_arrays() for arrays.
template <typename Copy, typename Parameters>
void describe_3d(Copy& copy, const Parameters& from) {
    copy.srcXInBytes = from.srcPos.x;
    copy.srcY = from.srcPos.y;
    copy.srcZ = from.srcPos.z;
    copy.srcHost = from.srcPtr.ptr;
    copy.srcDevice = address(from.srcPtr.ptr);
    copy.srcPitch = from.srcPtr.pitch;
    copy.srcHeight = from.srcPtr.ysize;
    copy.dstXInBytes = from.dstPos.x;
    copy.dstY = from.dstPos.y;
    copy.dstZ = from.dstPos.z;
    copy.dstHost = from.dstPtr.ptr;
    copy.dstDevice = address(from.dstPtr.ptr);
    copy.dstPitch = from.dstPtr.pitch;
    copy.dstHeight = from.dstPtr.ysize;
    copy.WidthInBytes = from.extent.width;
    copy.Height = from.extent.height;
    copy.Depth = from.extent.depth;
}

/// Describes the arrays of a copy. Positions in arrays, and the extent, are then in texels.
template <typename Copy, typename Parameters>
cudaError_t describe_arrays(Copy& copy, const Parameters& from) {
    std::size_t element = 0;
    const auto use = [&](cudaArray_const_t array, CUmemorytype& type, CUarray& driver,
                         std::size_t& x) {
        if (array == nullptr) {
            return cudaSuccess;
        }
        CUDA_ARRAY3D_DESCRIPTOR found{};
        if (const CUresult status = describe(array, found); status != CUDA_SUCCESS) {
            return as_error(status);
        }
        const std::size_t bytes = texel_bytes({found.Format, found.NumChannels});
        if (element != 0 && element != bytes) {
            return cudaErrorInvalidValue; // two arrays of different texels
        }
        element = bytes;
        type = CU_MEMORYTYPE_ARRAY;
        driver = as_driver(array);
        return to_bytes(x, bytes);
    };
    cudaError_t status = use(from.srcArray, copy.srcMemoryType, copy.srcArray, copy.srcXInBytes);
    if (status == cudaSuccess) {
        status = use(from.dstArray, copy.dstMemoryType, copy.dstArray, copy.dstXInBytes);
    }
    return status == cudaSuccess && element != 0 ? to_bytes(copy.WidthInBytes, element) : status;
}

/// Returns the bytes of a texel of an array, 0 if it is none.
std::size_t texel_bytes_of(CUarray array) {
    CUDA_ARRAY3D_DESCRIPTOR found{};
    return cuArray3DGetDescriptor(&found, array) == CUDA_SUCCESS
               ? texel_bytes({found.Format, found.NumChannels})
               : 0;
}

bool is_on_host(CUmemorytype type) {
    return type == CU_MEMORYTYPE_HOST;
}

} // namespace

bool is_direction(cudaMemcpyKind kind) noexcept {
    return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

CUmemorytype type_of_source(cudaMemcpyKind kind) noexcept {
    switch (kind) {
    case cudaMemcpyHostToHost:
    case cudaMemcpyHostToDevice:
        return CU_MEMORYTYPE_HOST;
    case cudaMemcpyDeviceToHost:
    case cudaMemcpyDeviceToDevice:
        return CU_MEMORYTYPE_DEVICE;
    default:
        return CU_MEMORYTYPE_UNIFIED;
    }
}

CUmemorytype type_of_destination(cudaMemcpyKind kind) noexcept {
    switch (kind) {
    case cudaMemcpyHostToHost:
    case cudaMemcpyDeviceToHost:
        return CU_MEMORYTYPE_HOST;
    case cudaMemcpyHostToDevice:
    case cudaMemcpyDeviceToDevice:
        return CU_MEMORYTYPE_DEVICE;
    default:
        return CU_MEMORYTYPE_UNIFIED;
    }
}

cudaError_t to_driver(const cudaMemcpy3DParms& from, CUDA_MEMCPY3D& to) noexcept {
    if (!is_direction(from.kind)) {
        return cudaErrorInvalidMemcpyDirection;
    }
    to = {};
    describe_3d(to, from);
    to.srcMemoryType = type_of_source(from.kind);
    to.dstMemoryType = type_of_destination(from.kind);
    return describe_arrays(to, from);
}

cudaError_t to_driver(const cudaMemcpy3DPeerParms& from, CUDA_MEMCPY3D_PEER& to) noexcept {
    describe_3d(to, from);
    to.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    to.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    return describe_arrays(to, from);
}

cudaError_t from_driver(const CUDA_MEMCPY3D& from, cudaMemcpy3DParms& to) noexcept {
    to = {};
    std::size_t element = 1;
    const auto read = [&](CUmemorytype type, CUarray array, std::size_t x, cudaArray_t& to_array,
                          cudaPos& position) {
        position.x = x;
        if (type != CU_MEMORYTYPE_ARRAY) {
            return true;
        }
        element = texel_bytes_of(array);
        to_array = reinterpret_cast<cudaArray_t>(array);
        if (element != 0) {
            position.x = x / element;
        }
        return element != 0;
    };
    if (!read(from.srcMemoryType, from.srcArray, from.srcXInBytes, to.srcArray, to.srcPos) ||
        !read(from.dstMemoryType, from.dstArray, from.dstXInBytes, to.dstArray, to.dstPos)) {
        return cudaErrorInvalidValue;
    }
    const auto memory = [](CUmemorytype type, const void* host, CUdeviceptr device) {
        return is_on_host(type)              ? const_cast<void*>(host)
               : type == CU_MEMORYTYPE_ARRAY ? nullptr
                                             : pointer(device);
    };
    to.srcPos.y = from.srcY;
    to.srcPos.z = from.srcZ;
    to.dstPos.y = from.dstY;
    to.dstPos.z = from.dstZ;
    to.srcPtr = {memory(from.srcMemoryType, from.srcHost, from.srcDevice), from.srcPitch,
                 from.srcPitch, from.srcHeight};
    to.dstPtr = {memory(from.dstMemoryType, from.dstHost, from.dstDevice), from.dstPitch,
                 from.dstPitch, from.dstHeight};
    to.extent = {from.WidthInBytes / element, from.Height, from.Depth};
    const bool from_host = is_on_host(from.srcMemoryType);
    const bool to_host = is_on_host(from.dstMemoryType);
    to.kind =
        from.srcMemoryType == CU_MEMORYTYPE_UNIFIED || from.dstMemoryType == CU_MEMORYTYPE_UNIFIED
            ? cudaMemcpyDefault
        : from_host ? (to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice)
        : to_host   ? cudaMemcpyDeviceToHost
                    : cudaMemcpyDeviceToDevice;
    return cudaSuccess;
}

cudaError_t linear_copy(void* to, const void* from, std::size_t count, cudaMemcpyKind kind,
                        CUDA_MEMCPY3D& result) noexcept {
    if (!is_direction(kind)) {
        return cudaErrorInvalidMemcpyDirection;
    }
    result = {};
    result.srcMemoryType = type_of_source(kind);
    result.srcHost = from;
    result.srcDevice = address(from);
    result.dstMemoryType = type_of_destination(kind);
    result.dstHost = to;
    result.dstDevice = address(to);
    result.WidthInBytes = count;
    result.Height = 1;
    result.Depth = 1;
    return cudaSuccess;
}

cudaError_t find_part(const void* symbol, std::size_t offset, std::size_t count,
                      CUdeviceptr* result) {
    std::size_t size = 0;
    const cudaError_t status = Registry::instance().variable(symbol, result, &size);
    if (status != cudaSuccess) {
        return status;
    }
    *result += offset;
    return offset <= size && count <= size - offset ? cudaSuccess : cudaErrorInvalidValue;
}

} // namespace cuprum::runtime
