// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies and fills.
//
// A blocking copy on the NULL stream is the driver's own blocking copy. The given direction is not
// trusted: each direction has its own driver function, which rejects memory of the other kind.

#include "copy_parameters.hpp"
#include "forward.hpp"
#include "registry.hpp"
#include "runtime.hpp"

#include <optional>
#include <string>

using namespace cuprum::runtime;

namespace {

/// The stream to copy on; none for a blocking copy.
using Order = std::optional<cudaStream_t>;

cudaError_t copy(void* to, const void* from, std::size_t count, cudaMemcpyKind kind, Order order) {
    if (count == 0) {
        return cudaSuccess;
    }
    if (!is_direction(kind)) {
        return cudaErrorInvalidMemcpyDirection;
    }
    if (to == nullptr || from == nullptr) {
        return cudaErrorInvalidValue;
    }
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return as_error(order ? cuMemcpyHtoDAsync(address(to), from, count, *order)
                              : cuMemcpyHtoD(address(to), from, count));
    case cudaMemcpyDeviceToHost:
        return as_error(order ? cuMemcpyDtoHAsync(to, address(from), count, *order)
                              : cuMemcpyDtoH(to, address(from), count));
    case cudaMemcpyDeviceToDevice:
        return as_error(order ? cuMemcpyDtoDAsync(address(to), address(from), count, *order)
                              : cuMemcpyDtoD(address(to), address(from), count));
    default:
        return as_error(order ? cuMemcpyAsync(address(to), address(from), count, *order)
                              : cuMemcpy(address(to), address(from), count));
    }
}

cudaError_t copy_between_devices(void* to, int to_device, const void* from, int from_device,
                                 std::size_t count, Order order) {
    if (count == 0) {
        return cudaSuccess;
    }
    CUcontext to_context = nullptr;
    CUcontext from_context = nullptr;
    CUresult status = primary_context(to_device, &to_context);
    if (status == CUDA_SUCCESS) {
        status = primary_context(from_device, &from_context);
    }
    if (status != CUDA_SUCCESS) {
        return as_error(status);
    }
    return as_error(
        order
            ? cuMemcpyPeerAsync(address(to), to_context, address(from), from_context, count, *order)
            : cuMemcpyPeer(address(to), to_context, address(from), from_context, count));
}

cudaError_t copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                    std::size_t width, std::size_t height, cudaMemcpyKind kind, Order order) {
    if (width == 0 || height == 0) {
        return cudaSuccess;
    }
    if (!is_direction(kind)) {
        return cudaErrorInvalidMemcpyDirection;
    }
    if (width > to_pitch || width > from_pitch) {
        return cudaErrorInvalidPitchValue;
    }
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = type_of_source(kind);
    copy.srcHost = from;
    copy.srcDevice = address(from);
    copy.srcPitch = from_pitch;
    copy.dstMemoryType = type_of_destination(kind);
    copy.dstHost = to;
    copy.dstDevice = address(to);
    copy.dstPitch = to_pitch;
    copy.WidthInBytes = width;
    copy.Height = height;
    return as_error(order ? cuMemcpy2DAsync(&copy, *order) : cuMemcpy2DUnaligned(&copy));
}

cudaError_t copy_3d(const cudaMemcpy3DParms* parameters, Order order) {
    if (parameters == nullptr) {
        return cudaErrorInvalidValue;
    }
    CUDA_MEMCPY3D copy{};
    if (const cudaError_t status = to_driver(*parameters, copy); status != cudaSuccess) {
        return status;
    }
    return as_error(order ? cuMemcpy3DAsync(&copy, *order) : cuMemcpy3D(&copy));
}

cudaError_t copy_3d_between_devices(const cudaMemcpy3DPeerParms* parameters, Order order) {
    if (parameters == nullptr) {
        return cudaErrorInvalidValue;
    }
    CUDA_MEMCPY3D_PEER copy{};
    CUresult found = primary_context(parameters->srcDevice, &copy.srcContext);
    if (found == CUDA_SUCCESS) {
        found = primary_context(parameters->dstDevice, &copy.dstContext);
    }
    if (found != CUDA_SUCCESS) {
        return as_error(found);
    }
    if (const cudaError_t status = to_driver(*parameters, copy); status != cudaSuccess) {
        return status;
    }
    return as_error(order ? cuMemcpy3DPeerAsync(&copy, *order) : cuMemcpy3DPeer(&copy));
}

/// Returns how far apart slices are, or nothing if the last slice lies outside every memory.
std::optional<std::size_t> slice_bytes(const cudaPitchedPtr& memory, const cudaExtent& extent) {
    std::size_t bytes = 0;
    std::size_t all = 0;
    const bool overflows = __builtin_mul_overflow(memory.pitch, memory.ysize, &bytes) ||
                           __builtin_mul_overflow(bytes, extent.depth, &all) ||
                           __builtin_mul_overflow(extent.height, extent.depth, &all);
    return overflows ? std::nullopt : std::optional(bytes);
}

cudaError_t fill_3d(cudaPitchedPtr memory, int value, cudaExtent extent, Order order) {
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) {
        return cudaSuccess;
    }
    const std::optional<std::size_t> stride = slice_bytes(memory, extent);
    if (!stride || extent.height > memory.ysize ||
        (extent.depth > 1 && extent.width > memory.pitch)) {
        return fail(cudaErrorInvalidValue, std::to_string(extent.depth) + " slices of " +
                                               std::to_string(extent.height) + " rows of " +
                                               std::to_string(extent.width) +
                                               " bytes do not fit into memory with a pitch of " +
                                               std::to_string(memory.pitch) + " and " +
                                               std::to_string(memory.ysize) + " rows a slice");
    }
    const auto byte = static_cast<unsigned char>(value);
    // Slices are contiguous, so one fill is enough if every slice is filled completely.
    const bool is_dense = extent.height == memory.ysize;
    const std::size_t height = is_dense ? extent.height * extent.depth : extent.height;
    CUresult status = CUDA_SUCCESS;
    for (std::size_t slice = 0; slice < (is_dense ? 1 : extent.depth); ++slice) {
        const CUdeviceptr start = address(memory.ptr) + slice * *stride;
        status = order ? cuMemsetD2D8Async(start, memory.pitch, byte, extent.width, height, *order)
                       : cuMemsetD2D8(start, memory.pitch, byte, extent.width, height);
        if (status != CUDA_SUCCESS) {
            break;
        }
    }
    return as_error(status);
}

cudaError_t copy_to_symbol(const void* symbol, const void* from, std::size_t count,
                           std::size_t offset, cudaMemcpyKind kind, Order order) {
    CUdeviceptr to = 0;
    const cudaError_t status = find_part(symbol, offset, count, &to);
    if (status != cudaSuccess || count == 0) {
        return status;
    }
    if (type_of_destination(kind) == CU_MEMORYTYPE_HOST) {
        return cudaErrorInvalidMemcpyDirection;
    }
    return copy(pointer(to), from, count, kind, order);
}

cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t count, std::size_t offset,
                             cudaMemcpyKind kind, Order order) {
    CUdeviceptr from = 0;
    const cudaError_t status = find_part(symbol, offset, count, &from);
    if (status != cudaSuccess || count == 0) {
        return status;
    }
    if (type_of_source(kind) == CU_MEMORYTYPE_HOST) {
        return cudaErrorInvalidMemcpyDirection;
    }
    return copy(to, pointer(from), count, kind, order);
}

} // namespace

CALL(cudaMemcpy, copy, IN_CONTEXT, std::nullopt);
CALL(cudaMemcpyAsync, copy, IN_CONTEXT);
CALL(cudaMemcpy2D, copy_2d, IN_CONTEXT, std::nullopt);
CALL(cudaMemcpy2DAsync, copy_2d, IN_CONTEXT);
CALL(cudaMemcpy3D, copy_3d, IN_CONTEXT, std::nullopt);
CALL(cudaMemcpy3DAsync, copy_3d, IN_CONTEXT);
CALL(cudaMemcpy3DPeer, copy_3d_between_devices, IN_CONTEXT, std::nullopt);
CALL(cudaMemcpy3DPeerAsync, copy_3d_between_devices, IN_CONTEXT);
CALL(cudaMemcpyPeer, copy_between_devices, IN_CONTEXT, std::nullopt);
CALL(cudaMemcpyPeerAsync, copy_between_devices, IN_CONTEXT);

cudaError_t CUDARTAPI cudaMemcpyBatchAsync(void* const* dsts, const void* const* srcs,
                                           const std::size_t* sizes, std::size_t count,
                                           cudaMemcpyAttributes* attrs, std::size_t* attrsIdxs,
                                           std::size_t numAttrs, cudaStream_t stream) {
    return in_context([&] {
        // The driver only reads the lists, although its parameters are not const.
        return cuMemcpyBatchAsync(const_cast<CUdeviceptr*>(same<const CUdeviceptr>(dsts)),
                                  const_cast<CUdeviceptr*>(same<const CUdeviceptr>(srcs)),
                                  const_cast<std::size_t*>(sizes), count,
                                  same<CUmemcpyAttributes>(attrs), attrsIdxs, numAttrs, stream);
    });
}

FORWARD(cudaMemcpy3DBatchAsync, cuMemcpy3DBatchAsync, IN_CONTEXT);
FORWARD(cudaMemset, cuMemsetD8, IN_CONTEXT);
FORWARD(cudaMemsetAsync, cuMemsetD8Async, IN_CONTEXT);
FORWARD(cudaMemset2D, cuMemsetD2D8, IN_CONTEXT);
FORWARD(cudaMemset2DAsync, cuMemsetD2D8Async, IN_CONTEXT);
CALL(cudaMemset3D, fill_3d, IN_CONTEXT, std::nullopt);
CALL(cudaMemset3DAsync, fill_3d, IN_CONTEXT);

cudaError_t CUDARTAPI cudaGetSymbolAddress(void** devPtr, const void* symbol) {
    return in_context([&] {
        CUdeviceptr where = 0;
        std::size_t size = 0;
        const cudaError_t status = Registry::instance().variable(symbol, &where, &size);
        *devPtr = pointer(where);
        return status;
    });
}

cudaError_t CUDARTAPI cudaGetSymbolSize(std::size_t* size, const void* symbol) {
    return in_context([&] {
        CUdeviceptr where = 0;
        return Registry::instance().variable(symbol, &where, size);
    });
}

CALL(cudaMemcpyToSymbol, copy_to_symbol, IN_CONTEXT, std::nullopt);
CALL(cudaMemcpyToSymbolAsync, copy_to_symbol, IN_CONTEXT);
CALL(cudaMemcpyFromSymbol, copy_from_symbol, IN_CONTEXT, std::nullopt);
CALL(cudaMemcpyFromSymbolAsync, copy_from_symbol, IN_CONTEXT);
