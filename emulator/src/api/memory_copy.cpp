// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies of every kind.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/memory/copy.hpp"
#include "objects/memory/copy_request.hpp"
#include "objects/process/error.hpp"

#include <cstdint>
#include <type_traits>

using namespace cuprum::emulator;

namespace {

std::uint64_t number(const void* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

/// Checks that the contexts of both ends exist. Host memory belongs to no context.
void check_contexts(const CUDA_MEMCPY3D_PEER& request) {
    if (request.srcMemoryType != CU_MEMORYTYPE_HOST) {
        (void)context_or_current(request.srcContext);
    }
    if (request.dstMemoryType != CU_MEMORYTYPE_HOST) {
        (void)context_or_current(request.dstContext);
    }
}

template <typename Request>
Copy checked_copy_of(const Request* request) {
    require(request != nullptr, "pCopy must not be NULL");
    if constexpr (std::is_same_v<Request, CUDA_MEMCPY3D_PEER>) {
        check_contexts(*request);
    }
    return copy_of(*request);
}

void copy_linear(CUstream stream, std::uint64_t to, CopyEnd to_end, std::uint64_t from,
                 CopyEnd from_end, std::size_t bytes, CopyMode mode) {
    enqueue_copy(*object_of(stream), linear_copy(to, to_end, from, from_end, bytes), mode);
}

/// Copies between two contexts. The driver does this even if their devices are not peers.
void copy_between(CUstream stream, CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                  CUcontext from_context, std::size_t bytes, CopyMode mode) {
    (void)context_or_current(to_context);
    (void)context_or_current(from_context);
    Copy copy = linear_copy(to, CopyEnd::Device, from, CopyEnd::Device, bytes);
    copy.is_between_contexts = true;
    enqueue_copy(*object_of(stream), copy, mode);
}

} // namespace

ROW_PTDS(cuMemcpy, 4000, CUdeviceptr dst, CUdeviceptr src, size_t ByteCount) {
    copy_linear(nullptr, dst, CopyEnd::Any, src, CopyEnd::Any, ByteCount, CopyMode::Sync);
}

ROW_PTSZ(cuMemcpyAsync, 4000, CUdeviceptr dst, CUdeviceptr src, size_t ByteCount,
         CUstream hStream) {
    copy_linear(hStream, dst, CopyEnd::Any, src, CopyEnd::Any, ByteCount, CopyMode::Async);
}

ROW_PTDS(cuMemcpyHtoD_v2, 3020, CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount) {
    copy_linear(nullptr, dstDevice, CopyEnd::Device, number(srcHost), CopyEnd::Host, ByteCount,
                CopyMode::Sync);
}

ROW_PTSZ(cuMemcpyHtoDAsync_v2, 3020, CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount,
         CUstream hStream) {
    copy_linear(hStream, dstDevice, CopyEnd::Device, number(srcHost), CopyEnd::Host, ByteCount,
                CopyMode::Async);
}

ROW_PTDS(cuMemcpyDtoH_v2, 3020, void* dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    copy_linear(nullptr, number(dstHost), CopyEnd::Host, srcDevice, CopyEnd::Device, ByteCount,
                CopyMode::Sync);
}

ROW_PTSZ(cuMemcpyDtoHAsync_v2, 3020, void* dstHost, CUdeviceptr srcDevice, size_t ByteCount,
         CUstream hStream) {
    copy_linear(hStream, number(dstHost), CopyEnd::Host, srcDevice, CopyEnd::Device, ByteCount,
                CopyMode::Async);
}

ROW_PTDS(cuMemcpyDtoD_v2, 3020, CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) {
    copy_linear(nullptr, dstDevice, CopyEnd::Device, srcDevice, CopyEnd::Device, ByteCount,
                CopyMode::Sync);
}

ROW_PTSZ(cuMemcpyDtoDAsync_v2, 3020, CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
         CUstream hStream) {
    copy_linear(hStream, dstDevice, CopyEnd::Device, srcDevice, CopyEnd::Device, ByteCount,
                CopyMode::Async);
}

ROW_PTDS(cuMemcpyPeer, 4000, CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
         CUcontext srcContext, size_t ByteCount) {
    copy_between(nullptr, dstDevice, dstContext, srcDevice, srcContext, ByteCount, CopyMode::Sync);
}

ROW_PTSZ(cuMemcpyPeerAsync, 4000, CUdeviceptr dstDevice, CUcontext dstContext,
         CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount, CUstream hStream) {
    copy_between(hStream, dstDevice, dstContext, srcDevice, srcContext, ByteCount, CopyMode::Async);
}

// ---- two and three dimensions ------------------------------------------------------------------

ROW_PTDS(cuMemcpy2D_v2, 3020, const CUDA_MEMCPY2D* pCopy) {
    enqueue_copy(*default_stream(), checked_copy_of(pCopy), CopyMode::Sync);
}

ROW_PTDS(cuMemcpy2DUnaligned_v2, 3020, const CUDA_MEMCPY2D* pCopy) {
    enqueue_copy(*default_stream(), checked_copy_of(pCopy), CopyMode::Sync);
}

ROW_PTSZ(cuMemcpy2DAsync_v2, 3020, const CUDA_MEMCPY2D* pCopy, Stream& stream) {
    enqueue_copy(stream, checked_copy_of(pCopy), CopyMode::Async);
}

ROW_PTDS(cuMemcpy3D_v2, 3020, const CUDA_MEMCPY3D* pCopy) {
    enqueue_copy(*default_stream(), checked_copy_of(pCopy), CopyMode::Sync);
}

ROW_PTSZ(cuMemcpy3DAsync_v2, 3020, const CUDA_MEMCPY3D* pCopy, Stream& stream) {
    enqueue_copy(stream, checked_copy_of(pCopy), CopyMode::Async);
}

ROW_PTDS(cuMemcpy3DPeer, 4000, const CUDA_MEMCPY3D_PEER* pCopy) {
    enqueue_copy(*default_stream(), checked_copy_of(pCopy), CopyMode::Sync);
}

ROW_PTSZ(cuMemcpy3DPeerAsync, 4000, const CUDA_MEMCPY3D_PEER* pCopy, Stream& stream) {
    enqueue_copy(stream, checked_copy_of(pCopy), CopyMode::Async);
}
