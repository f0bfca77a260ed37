// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies of every kind.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/memory/copy.hpp"
#include "objects/process/error.hpp"

#include <algorithm>
#include <cstdint>

using namespace cuprum::emulator;

namespace {

std::uint64_t number(const void* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

CopySide side(CUmemorytype type, const void* host, CUdeviceptr device, CUarray array,
              std::size_t pitch, std::size_t height, std::size_t x, std::size_t y, std::size_t z,
              std::uint64_t width_bytes);
Copy copy_of(const CUDA_MEMCPY2D& request);
Copy copy_of(const CUDA_MEMCPY3D& request);
Copy copy_of(const CUDA_MEMCPY3D_PEER& request);

template <typename Request>
Copy checked_copy_of(const Request* request) {
    require(request != nullptr, "pCopy must not be NULL");
    return copy_of(*request);
}

void copy_linear(CUstream stream, std::uint64_t to, CopyEnd to_end, std::uint64_t from,
                 CopyEnd from_end, std::size_t bytes, CopyMode mode) {
    enqueue_copy(*stream_from(stream), linear_copy(to, to_end, from, from_end, bytes), mode);
}

/// Copies between two contexts, which the driver does whether or not their devices are peers.
void copy_between(CUstream stream, CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                  CUcontext from_context, std::size_t bytes, CopyMode mode) {
    (void)context_or_current(to_context);
    (void)context_or_current(from_context);
    Copy copy = linear_copy(to, CopyEnd::Device, from, CopyEnd::Device, bytes);
    copy.is_between_contexts = true;
    enqueue_copy(*stream_from(stream), copy, mode);
}

} // namespace

extern "C" {

CUresult CUDAAPI cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount) {
    return entry("cuMemcpy", [&] {
        copy_linear(nullptr, dst, CopyEnd::Any, src, CopyEnd::Any, ByteCount, CopyMode::Blocking);
    });
}

CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount,
                               CUstream hStream) {
    return entry("cuMemcpyAsync", [&] {
        copy_linear(hStream, dst, CopyEnd::Any, src, CopyEnd::Any, ByteCount, CopyMode::Async);
    });
}

CUresult CUDAAPI cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount) {
    return entry("cuMemcpyHtoD", [&] {
        copy_linear(nullptr, dstDevice, CopyEnd::Device, number(srcHost), CopyEnd::Host, ByteCount,
                    CopyMode::Blocking);
    });
}

CUresult CUDAAPI cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount,
                                      CUstream hStream) {
    return entry("cuMemcpyHtoDAsync", [&] {
        copy_linear(hStream, dstDevice, CopyEnd::Device, number(srcHost), CopyEnd::Host, ByteCount,
                    CopyMode::Async);
    });
}

CUresult CUDAAPI cuMemcpyDtoH_v2(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    return entry("cuMemcpyDtoH", [&] {
        copy_linear(nullptr, number(dstHost), CopyEnd::Host, srcDevice, CopyEnd::Device, ByteCount,
                    CopyMode::Blocking);
    });
}

CUresult CUDAAPI cuMemcpyDtoHAsync_v2(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                                      CUstream hStream) {
    return entry("cuMemcpyDtoHAsync", [&] {
        copy_linear(hStream, number(dstHost), CopyEnd::Host, srcDevice, CopyEnd::Device, ByteCount,
                    CopyMode::Async);
    });
}

CUresult CUDAAPI cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) {
    return entry("cuMemcpyDtoD", [&] {
        // Within device memory even the plain call does not wait, unless it is asked to.
        copy_linear(nullptr, dstDevice, CopyEnd::Device, srcDevice, CopyEnd::Device, ByteCount,
                    CopyMode::Plain);
    });
}

CUresult CUDAAPI cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice,
                                      size_t ByteCount, CUstream hStream) {
    return entry("cuMemcpyDtoDAsync", [&] {
        copy_linear(hStream, dstDevice, CopyEnd::Device, srcDevice, CopyEnd::Device, ByteCount,
                    CopyMode::Async);
    });
}

CUresult CUDAAPI cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                              CUcontext srcContext, size_t ByteCount) {
    return entry("cuMemcpyPeer", [&] {
        copy_between(nullptr, dstDevice, dstContext, srcDevice, srcContext, ByteCount,
                     CopyMode::Plain);
    });
}

CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext,
                                   CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount,
                                   CUstream hStream) {
    return entry("cuMemcpyPeerAsync", [&] {
        copy_between(hStream, dstDevice, dstContext, srcDevice, srcContext, ByteCount,
                     CopyMode::Async);
    });
}

// ---- two and three dimensions ------------------------------------------------------------------

CUresult CUDAAPI cuMemcpy2D_v2(const CUDA_MEMCPY2D* pCopy) {
    return entry("cuMemcpy2D", [&] {
        enqueue_copy(*default_stream(), checked_copy_of(pCopy), CopyMode::Blocking);
    });
}

CUresult CUDAAPI cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* pCopy) {
    return entry("cuMemcpy2DUnaligned", [&] {
        enqueue_copy(*default_stream(), checked_copy_of(pCopy), CopyMode::Blocking);
    });
}

CUresult CUDAAPI cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* pCopy, CUstream hStream) {
    return entry("cuMemcpy2DAsync", [&] {
        enqueue_copy(*stream_from(hStream), checked_copy_of(pCopy), CopyMode::Async);
    });
}

CUresult CUDAAPI cuMemcpy3D_v2(const CUDA_MEMCPY3D* pCopy) {
    return entry("cuMemcpy3D", [&] {
        enqueue_copy(*default_stream(), checked_copy_of(pCopy), CopyMode::Blocking);
    });
}

CUresult CUDAAPI cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* pCopy, CUstream hStream) {
    return entry("cuMemcpy3DAsync", [&] {
        enqueue_copy(*stream_from(hStream), checked_copy_of(pCopy), CopyMode::Async);
    });
}

CUresult CUDAAPI cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* pCopy) {
    return entry("cuMemcpy3DPeer", [&] {
        enqueue_copy(*default_stream(), checked_copy_of(pCopy), CopyMode::Blocking);
    });
}

CUresult CUDAAPI cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* pCopy, CUstream hStream) {
    return entry("cuMemcpy3DPeerAsync", [&] {
        enqueue_copy(*stream_from(hStream), checked_copy_of(pCopy), CopyMode::Async);
    });
}

} // extern "C"

// ---- helpers -----------------------------------------------------------------------------------

namespace {

CopySide side(CUmemorytype type, const void* host, CUdeviceptr device, CUarray /*array*/,
              std::size_t pitch, std::size_t height, std::size_t x, std::size_t y, std::size_t z,
              std::uint64_t width_bytes) {
    CopySide result;
    switch (type) {
    case CU_MEMORYTYPE_HOST:
        result = {number(host), 0, 0, CopyEnd::Host};
        break;
    case CU_MEMORYTYPE_DEVICE:
        result = {device, 0, 0, CopyEnd::Device};
        break;
    case CU_MEMORYTYPE_UNIFIED:
        result = {device, 0, 0, CopyEnd::Any};
        break;
    case CU_MEMORYTYPE_ARRAY:
        fail(CUDA_ERROR_NOT_SUPPORTED, "CUDA arrays are not supported by the emulated device");
    default:
        fail(CUDA_ERROR_INVALID_VALUE, "unknown type of memory");
    }
    require(result.address != 0, "an address is NULL");
    // No memory is larger, and no sum of two such products wraps.
    constexpr std::uint64_t largest = std::uint64_t{1} << 46;
    require(x <= largest && width_bytes <= largest && pitch <= largest,
            "an offset, a width or a pitch is out of range");
    // A pitch of 0 means that rows follow each other.
    result.pitch_bytes = pitch != 0 ? pitch : x + width_bytes;
    require(result.pitch_bytes >= x + width_bytes, "a row is longer than the pitch");
    const std::uint64_t row_bytes = std::max<std::uint64_t>(result.pitch_bytes, 1);
    require(y <= largest / row_bytes && height <= largest / row_bytes,
            "an offset or a height is out of range");
    result.slice_bytes = result.pitch_bytes * height;
    require(z <= largest / std::max<std::uint64_t>(result.slice_bytes, 1),
            "an offset is out of range");
    result.address += x + y * result.pitch_bytes + z * result.slice_bytes;
    return result;
}

Copy copy_of(const CUDA_MEMCPY2D& request) {
    Copy copy;
    copy.width_bytes = request.WidthInBytes;
    copy.height = request.Height;
    copy.source =
        side(request.srcMemoryType, request.srcHost, request.srcDevice, request.srcArray,
             request.srcPitch, 0, request.srcXInBytes, request.srcY, 0, request.WidthInBytes);
    copy.destination =
        side(request.dstMemoryType, request.dstHost, request.dstDevice, request.dstArray,
             request.dstPitch, 0, request.dstXInBytes, request.dstY, 0, request.WidthInBytes);
    return copy;
}

template <typename Request>
Copy copy_of_3d(const Request& request) {
    require(request.srcLOD == 0 && request.dstLOD == 0, "the level of detail must be 0");
    Copy copy;
    copy.width_bytes = request.WidthInBytes;
    copy.height = request.Height;
    copy.depth = request.Depth;
    const auto rows = [&](std::size_t given, std::size_t first) {
        require(given == 0 || (given >= request.Height && given - request.Height >= first),
                "a slice is lower than what is copied of it");
        return given != 0 ? given : request.Height;
    };
    copy.source = side(request.srcMemoryType, request.srcHost, request.srcDevice, request.srcArray,
                       request.srcPitch, rows(request.srcHeight, request.srcY), request.srcXInBytes,
                       request.srcY, request.srcZ, request.WidthInBytes);
    copy.destination =
        side(request.dstMemoryType, request.dstHost, request.dstDevice, request.dstArray,
             request.dstPitch, rows(request.dstHeight, request.dstY), request.dstXInBytes,
             request.dstY, request.dstZ, request.WidthInBytes);
    return copy;
}

Copy copy_of(const CUDA_MEMCPY3D& request) {
    require(request.reserved0 == nullptr && request.reserved1 == nullptr,
            "the reserved fields must be NULL");
    return copy_of_3d(request);
}

Copy copy_of(const CUDA_MEMCPY3D_PEER& request) {
    // Host memory belongs to no context.
    if (request.srcMemoryType != CU_MEMORYTYPE_HOST) {
        (void)context_or_current(request.srcContext);
    }
    if (request.dstMemoryType != CU_MEMORYTYPE_HOST) {
        (void)context_or_current(request.dstContext);
    }
    Copy copy = copy_of_3d(request);
    copy.is_between_contexts = true;
    return copy;
}

} // namespace
