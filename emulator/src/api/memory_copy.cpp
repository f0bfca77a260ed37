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

/// Copies on a stream, or on the default stream and waits.
template <typename... At>
void enqueue(const Copy& copy, At&... stream) {
    if constexpr (sizeof...(stream) == 0) {
        enqueue_copy(*default_stream(), copy, CopyMode::Sync);
    } else {
        enqueue_copy(stream..., copy, CopyMode::Async);
    }
}

template <CopyEnd To, CopyEnd From, typename... At>
void copy_linear(std::conditional_t<To == CopyEnd::Host, void*, CUdeviceptr> to,
                 std::conditional_t<From == CopyEnd::Host, const void*, CUdeviceptr> from,
                 std::size_t bytes, At&... stream) {
    enqueue(linear_copy((std::uint64_t)to, To, (std::uint64_t)from, From, bytes), stream...);
}

/// Copies in two or three dimensions.
template <typename Request, typename... At>
void copy_shape(const Request* request, At&... stream) {
    enqueue(checked_copy_of(request), stream...);
}

/// Copies between two contexts. The driver does this even if their devices are not peers.
template <typename... At>
void copy_between(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                  std::size_t bytes, At&... stream) {
    (void)context_or_current(to_context);
    (void)context_or_current(from_context);
    Copy copy = linear_copy(to, CopyEnd::Device, from, CopyEnd::Device, bytes);
    copy.is_between_contexts = true;
    enqueue(copy, stream...);
}

} // namespace

USE_PTDS(cuMemcpy, 4000, copy_linear<CopyEnd::Any, CopyEnd::Any>);
USE_PTSZ(cuMemcpyAsync, 4000, copy_linear<CopyEnd::Any, CopyEnd::Any, Stream>);
USE_PTDS(cuMemcpyHtoD_v2, 3020, copy_linear<CopyEnd::Device, CopyEnd::Host>);
USE_PTSZ(cuMemcpyHtoDAsync_v2, 3020, copy_linear<CopyEnd::Device, CopyEnd::Host, Stream>);
USE_PTDS(cuMemcpyDtoH_v2, 3020, copy_linear<CopyEnd::Host, CopyEnd::Device>);
USE_PTSZ(cuMemcpyDtoHAsync_v2, 3020, copy_linear<CopyEnd::Host, CopyEnd::Device, Stream>);
USE_PTDS(cuMemcpyDtoD_v2, 3020, copy_linear<CopyEnd::Device, CopyEnd::Device>);
USE_PTSZ(cuMemcpyDtoDAsync_v2, 3020, copy_linear<CopyEnd::Device, CopyEnd::Device, Stream>);
USE_PTDS(cuMemcpyPeer, 4000, copy_between<>);
USE_PTSZ(cuMemcpyPeerAsync, 4000, copy_between<Stream>);

// ---- two and three dimensions ------------------------------------------------------------------

USE_PTDS(cuMemcpy2D_v2, 3020, copy_shape<CUDA_MEMCPY2D>);
USE_PTDS(cuMemcpy2DUnaligned_v2, 3020, copy_shape<CUDA_MEMCPY2D>);
USE_PTSZ(cuMemcpy2DAsync_v2, 3020, copy_shape<CUDA_MEMCPY2D, Stream>);
USE_PTDS(cuMemcpy3D_v2, 3020, copy_shape<CUDA_MEMCPY3D>);
USE_PTSZ(cuMemcpy3DAsync_v2, 3020, copy_shape<CUDA_MEMCPY3D, Stream>);
USE_PTDS(cuMemcpy3DPeer, 4000, copy_shape<CUDA_MEMCPY3D_PEER>);
USE_PTSZ(cuMemcpy3DPeerAsync, 4000, copy_shape<CUDA_MEMCPY3D_PEER, Stream>);
