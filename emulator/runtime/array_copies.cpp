// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies to and from arrays. cudaMemcpy3D, which can do the same, is in copies.cpp.
//
// Offsets and widths are in bytes, heights in rows. The functions that copy a count of bytes, which
// CUDA deprecates, continue in the next row of the array: they make up to three rectangles.

#include "copy_parameters.hpp"
#include "formats.hpp"
#include "runtime.hpp"

#include <algorithm>
#include <optional>

using namespace cuprum::runtime;

namespace {

using ArrayOrder = std::optional<cudaStream_t>; // none for a blocking copy

/// One end of a copy: an array, or plain memory.
struct Place {
    cudaArray_const_t array = nullptr;
    const void* memory = nullptr;
    std::size_t pitch = 0;
    std::size_t x = 0; // bytes
    std::size_t y = 0;
};

/// Copies a rectangle. The memory's kind is found by its address, and not trusted from `kind`.
CUresult copy_rectangle(const Place& to, const Place& from, std::size_t width, std::size_t height,
                        ArrayOrder order) {
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = from.array != nullptr ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
    copy.srcArray = as_driver(from.array);
    copy.srcDevice = address(from.memory);
    copy.srcPitch = from.pitch;
    copy.srcXInBytes = from.x;
    copy.srcY = from.y;
    copy.dstMemoryType = to.array != nullptr ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
    copy.dstArray = as_driver(to.array);
    copy.dstDevice = address(to.memory);
    copy.dstPitch = to.pitch;
    copy.dstXInBytes = to.x;
    copy.dstY = to.y;
    copy.WidthInBytes = width;
    copy.Height = height;
    return order ? cuMemcpy2DAsync(&copy, *order) : cuMemcpy2DUnaligned(&copy);
}

cudaError_t copy_2d_of_array(const Place& to, const Place& from, std::size_t width,
                             std::size_t height, cudaMemcpyKind kind, ArrayOrder order) {
    if (!is_direction(kind)) {
        return cudaErrorInvalidMemcpyDirection;
    }
    if (width == 0 || height == 0) {
        return cudaSuccess;
    }
    const std::size_t pitch = to.array == nullptr ? to.pitch : from.pitch;
    if ((to.array == nullptr || from.array == nullptr) && pitch < width) {
        return cudaErrorInvalidPitchValue;
    }
    return as_error(copy_rectangle(to, from, width, height, order));
}

/// Returns the bytes of a row of an array, 0 if it is none.
std::size_t row_bytes(cudaArray_const_t array) {
    CUDA_ARRAY3D_DESCRIPTOR found{};
    return describe(array, found) == CUDA_SUCCESS
               ? found.Width * texel_bytes({found.Format, found.NumChannels})
               : 0;
}

/// Copies `count` bytes, row by row of the array or arrays. Plain memory is without gaps.
cudaError_t copy_bytes(Place to, Place from, std::size_t count, cudaMemcpyKind kind,
                       ArrayOrder order) {
    if (!is_direction(kind)) {
        return cudaErrorInvalidMemcpyDirection;
    }
    const std::size_t to_row = to.array != nullptr ? row_bytes(to.array) : 0;
    const std::size_t from_row = from.array != nullptr ? row_bytes(from.array) : 0;
    if ((to.array != nullptr && to.x >= std::max<std::size_t>(to_row, 1)) ||
        (from.array != nullptr && from.x >= std::max<std::size_t>(from_row, 1))) {
        return count == 0 ? cudaSuccess : cudaErrorInvalidValue;
    }
    while (count != 0) {
        // As many bytes as both rows have left; whole rows in one rectangle.
        std::size_t width = count;
        width = to.array != nullptr ? std::min(width, to_row - to.x) : width;
        width = from.array != nullptr ? std::min(width, from_row - from.x) : width;
        const bool is_whole = (to.array == nullptr || (to.x == 0 && width == to_row)) &&
                              (from.array == nullptr || (from.x == 0 && width == from_row));
        const std::size_t height = is_whole ? count / width : 1;
        to.pitch = width;
        from.pitch = width;
        if (const CUresult status = copy_rectangle(to, from, width, height, order);
            status != CUDA_SUCCESS) {
            return as_error(status);
        }
        const auto advance = [&](Place& place, std::size_t row) {
            if (place.array == nullptr) {
                place.memory = static_cast<const char*>(place.memory) + width * height;
                return;
            }
            place.x += width;
            place.y += is_whole ? height : place.x / row;
            place.x = is_whole ? 0 : place.x % row;
        };
        advance(to, to_row);
        advance(from, from_row);
        count -= width * height;
    }
    return cudaSuccess;
}

/// Replaces the NULL stream by the thread's own stream.
cudaStream_t own_stream(cudaStream_t stream) {
    return stream == nullptr ? cudaStreamPerThread : stream;
}

/// Waits for the copy just enqueued on the thread's stream, unless that failed.
cudaError_t wait_for_own(cudaError_t status) {
    return status != cudaSuccess ? status : cudaStreamSynchronize(cudaStreamPerThread);
}

} // namespace

extern "C" {

cudaError_t CUDARTAPI cudaMemcpy2DToArray(cudaArray_t dst, std::size_t wOffset, std::size_t hOffset,
                                          const void* src, std::size_t spitch, std::size_t width,
                                          std::size_t height, cudaMemcpyKind kind) {
    return in_context([&] {
        return copy_2d_of_array({dst, nullptr, 0, wOffset, hOffset}, {nullptr, src, spitch}, width,
                                height, kind, std::nullopt);
    });
}

cudaError_t CUDARTAPI cudaMemcpy2DToArrayAsync(cudaArray_t dst, std::size_t wOffset,
                                               std::size_t hOffset, const void* src,
                                               std::size_t spitch, std::size_t width,
                                               std::size_t height, cudaMemcpyKind kind,
                                               cudaStream_t stream) {
    return in_context([&] {
        return copy_2d_of_array({dst, nullptr, 0, wOffset, hOffset}, {nullptr, src, spitch}, width,
                                height, kind, stream);
    });
}

cudaError_t CUDARTAPI cudaMemcpy2DFromArray(void* dst, std::size_t dpitch, cudaArray_const_t src,
                                            std::size_t wOffset, std::size_t hOffset,
                                            std::size_t width, std::size_t height,
                                            cudaMemcpyKind kind) {
    return in_context([&] {
        return copy_2d_of_array({nullptr, dst, dpitch}, {src, nullptr, 0, wOffset, hOffset}, width,
                                height, kind, std::nullopt);
    });
}

cudaError_t CUDARTAPI cudaMemcpy2DFromArrayAsync(void* dst, std::size_t dpitch,
                                                 cudaArray_const_t src, std::size_t wOffset,
                                                 std::size_t hOffset, std::size_t width,
                                                 std::size_t height, cudaMemcpyKind kind,
                                                 cudaStream_t stream) {
    return in_context([&] {
        return copy_2d_of_array({nullptr, dst, dpitch}, {src, nullptr, 0, wOffset, hOffset}, width,
                                height, kind, stream);
    });
}

cudaError_t CUDARTAPI cudaMemcpy2DArrayToArray(cudaArray_t dst, std::size_t wOffsetDst,
                                               std::size_t hOffsetDst, cudaArray_const_t src,
                                               std::size_t wOffsetSrc, std::size_t hOffsetSrc,
                                               std::size_t width, std::size_t height,
                                               cudaMemcpyKind kind) {
    return in_context([&] {
        return copy_2d_of_array({dst, nullptr, 0, wOffsetDst, hOffsetDst},
                                {src, nullptr, 0, wOffsetSrc, hOffsetSrc}, width, height, kind,
                                std::nullopt);
    });
}

// ---- counts of bytes ---------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaMemcpyToArray(cudaArray_t dst, std::size_t wOffset, std::size_t hOffset,
                                        const void* src, std::size_t count, cudaMemcpyKind kind) {
    return in_context([&] {
        return copy_bytes({dst, nullptr, 0, wOffset, hOffset}, {nullptr, src}, count, kind,
                          std::nullopt);
    });
}

cudaError_t CUDARTAPI cudaMemcpyToArrayAsync(cudaArray_t dst, std::size_t wOffset,
                                             std::size_t hOffset, const void* src,
                                             std::size_t count, cudaMemcpyKind kind,
                                             cudaStream_t stream) {
    return in_context([&] {
        return copy_bytes({dst, nullptr, 0, wOffset, hOffset}, {nullptr, src}, count, kind, stream);
    });
}

cudaError_t CUDARTAPI cudaMemcpyFromArray(void* dst, cudaArray_const_t src, std::size_t wOffset,
                                          std::size_t hOffset, std::size_t count,
                                          cudaMemcpyKind kind) {
    return in_context([&] {
        return copy_bytes({nullptr, dst}, {src, nullptr, 0, wOffset, hOffset}, count, kind,
                          std::nullopt);
    });
}

cudaError_t CUDARTAPI cudaMemcpyFromArrayAsync(void* dst, cudaArray_const_t src,
                                               std::size_t wOffset, std::size_t hOffset,
                                               std::size_t count, cudaMemcpyKind kind,
                                               cudaStream_t stream) {
    return in_context([&] {
        return copy_bytes({nullptr, dst}, {src, nullptr, 0, wOffset, hOffset}, count, kind, stream);
    });
}

cudaError_t CUDARTAPI cudaMemcpyArrayToArray(cudaArray_t dst, std::size_t wOffsetDst,
                                             std::size_t hOffsetDst, cudaArray_const_t src,
                                             std::size_t wOffsetSrc, std::size_t hOffsetSrc,
                                             std::size_t count, cudaMemcpyKind kind) {
    return in_context([&] {
        return copy_bytes({dst, nullptr, 0, wOffsetDst, hOffsetDst},
                          {src, nullptr, 0, wOffsetSrc, hOffsetSrc}, count, kind, std::nullopt);
    });
}

// ---- programs compiled with --default-stream per-thread -----------------------------------------

cudaError_t CUDARTAPI cudaMemcpy2DToArray_ptds(cudaArray_t dst, std::size_t wOffset,
                                               std::size_t hOffset, const void* src,
                                               std::size_t spitch, std::size_t width,
                                               std::size_t height, cudaMemcpyKind kind) {
    return wait_for_own(cudaMemcpy2DToArrayAsync(dst, wOffset, hOffset, src, spitch, width, height,
                                                 kind, cudaStreamPerThread));
}

cudaError_t CUDARTAPI cudaMemcpy2DToArrayAsync_ptsz(cudaArray_t dst, std::size_t wOffset,
                                                    std::size_t hOffset, const void* src,
                                                    std::size_t spitch, std::size_t width,
                                                    std::size_t height, cudaMemcpyKind kind,
                                                    cudaStream_t stream) {
    return cudaMemcpy2DToArrayAsync(dst, wOffset, hOffset, src, spitch, width, height, kind,
                                    own_stream(stream));
}

cudaError_t CUDARTAPI cudaMemcpy2DFromArray_ptds(void* dst, std::size_t dpitch,
                                                 cudaArray_const_t src, std::size_t wOffset,
                                                 std::size_t hOffset, std::size_t width,
                                                 std::size_t height, cudaMemcpyKind kind) {
    return wait_for_own(cudaMemcpy2DFromArrayAsync(dst, dpitch, src, wOffset, hOffset, width,
                                                   height, kind, cudaStreamPerThread));
}

cudaError_t CUDARTAPI cudaMemcpy2DFromArrayAsync_ptsz(void* dst, std::size_t dpitch,
                                                      cudaArray_const_t src, std::size_t wOffset,
                                                      std::size_t hOffset, std::size_t width,
                                                      std::size_t height, cudaMemcpyKind kind,
                                                      cudaStream_t stream) {
    return cudaMemcpy2DFromArrayAsync(dst, dpitch, src, wOffset, hOffset, width, height, kind,
                                      own_stream(stream));
}

cudaError_t CUDARTAPI cudaMemcpy2DArrayToArray_ptds(cudaArray_t dst, std::size_t wOffsetDst,
                                                    std::size_t hOffsetDst, cudaArray_const_t src,
                                                    std::size_t wOffsetSrc, std::size_t hOffsetSrc,
                                                    std::size_t width, std::size_t height,
                                                    cudaMemcpyKind kind) {
    return wait_for_own(in_context([&] {
        return copy_2d_of_array({dst, nullptr, 0, wOffsetDst, hOffsetDst},
                                {src, nullptr, 0, wOffsetSrc, hOffsetSrc}, width, height, kind,
                                cudaStreamPerThread);
    }));
}

cudaError_t CUDARTAPI cudaMemcpyToArray_ptds(cudaArray_t dst, std::size_t wOffset,
                                             std::size_t hOffset, const void* src,
                                             std::size_t count, cudaMemcpyKind kind) {
    return wait_for_own(
        cudaMemcpyToArrayAsync(dst, wOffset, hOffset, src, count, kind, cudaStreamPerThread));
}

cudaError_t CUDARTAPI cudaMemcpyToArrayAsync_ptsz(cudaArray_t dst, std::size_t wOffset,
                                                  std::size_t hOffset, const void* src,
                                                  std::size_t count, cudaMemcpyKind kind,
                                                  cudaStream_t stream) {
    return cudaMemcpyToArrayAsync(dst, wOffset, hOffset, src, count, kind, own_stream(stream));
}

cudaError_t CUDARTAPI cudaMemcpyFromArray_ptds(void* dst, cudaArray_const_t src,
                                               std::size_t wOffset, std::size_t hOffset,
                                               std::size_t count, cudaMemcpyKind kind) {
    return wait_for_own(
        cudaMemcpyFromArrayAsync(dst, src, wOffset, hOffset, count, kind, cudaStreamPerThread));
}

cudaError_t CUDARTAPI cudaMemcpyFromArrayAsync_ptsz(void* dst, cudaArray_const_t src,
                                                    std::size_t wOffset, std::size_t hOffset,
                                                    std::size_t count, cudaMemcpyKind kind,
                                                    cudaStream_t stream) {
    return cudaMemcpyFromArrayAsync(dst, src, wOffset, hOffset, count, kind, own_stream(stream));
}

cudaError_t CUDARTAPI cudaMemcpyArrayToArray_ptds(cudaArray_t dst, std::size_t wOffsetDst,
                                                  std::size_t hOffsetDst, cudaArray_const_t src,
                                                  std::size_t wOffsetSrc, std::size_t hOffsetSrc,
                                                  std::size_t count, cudaMemcpyKind kind) {
    return wait_for_own(in_context([&] {
        return copy_bytes({dst, nullptr, 0, wOffsetDst, hOffsetDst},
                          {src, nullptr, 0, wOffsetSrc, hOffsetSrc}, count, kind,
                          cudaStreamPerThread);
    }));
}

} // extern "C"
