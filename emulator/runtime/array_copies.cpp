// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies to and from arrays. cudaMemcpy3D, which can do the same, is in copies.cpp.
//
// Offsets and widths are in bytes, heights in rows. The functions that copy a count of bytes, which
// CUDA deprecates, continue in the next row of the array: they make up to three rectangles.

#include "copy_parameters.hpp"
#include "formats.hpp"
#include "forward.hpp"
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

// One body serves the blocking function and the one on a stream.

cudaError_t copy_2d_to_array(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                             std::size_t pitch, std::size_t width, std::size_t height,
                             cudaMemcpyKind kind, ArrayOrder order) {
    return copy_2d_of_array({to, nullptr, 0, x, y}, {nullptr, from, pitch}, width, height, kind,
                            order);
}

cudaError_t copy_2d_from_array(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                               std::size_t y, std::size_t width, std::size_t height,
                               cudaMemcpyKind kind, ArrayOrder order) {
    return copy_2d_of_array({nullptr, to, pitch}, {from, nullptr, 0, x, y}, width, height, kind,
                            order);
}

cudaError_t copy_2d_between_arrays(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                   cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                   std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                   ArrayOrder order) {
    return copy_2d_of_array({to, nullptr, 0, to_x, to_y}, {from, nullptr, 0, from_x, from_y}, width,
                            height, kind, order);
}

cudaError_t copy_to_array(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                          std::size_t count, cudaMemcpyKind kind, ArrayOrder order) {
    return copy_bytes({to, nullptr, 0, x, y}, {nullptr, from}, count, kind, order);
}

cudaError_t copy_from_array(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                            std::size_t count, cudaMemcpyKind kind, ArrayOrder order) {
    return copy_bytes({nullptr, to}, {from, nullptr, 0, x, y}, count, kind, order);
}

cudaError_t copy_between_arrays(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                std::size_t count, cudaMemcpyKind kind, ArrayOrder order) {
    return copy_bytes({to, nullptr, 0, to_x, to_y}, {from, nullptr, 0, from_x, from_y}, count, kind,
                      order);
}

/// Runs the body of a copy between arrays on the thread's own stream, and waits for it.
template <auto Body, typename... Arguments>
cudaError_t copy_on_own_stream(Arguments... arguments) {
    return wait_after(in_context([&] { return Body(arguments..., cudaStreamPerThread); }));
}

} // namespace

CALL(cudaMemcpy2DToArray, copy_2d_to_array, IN_CONTEXT, std::nullopt);
CALL(cudaMemcpy2DToArrayAsync, copy_2d_to_array, IN_CONTEXT);
CALL(cudaMemcpy2DFromArray, copy_2d_from_array, IN_CONTEXT, std::nullopt);
CALL(cudaMemcpy2DFromArrayAsync, copy_2d_from_array, IN_CONTEXT);
CALL(cudaMemcpy2DArrayToArray, copy_2d_between_arrays, IN_CONTEXT, std::nullopt);

// ---- counts of bytes ---------------------------------------------------------------------------

CALL(cudaMemcpyToArray, copy_to_array, IN_CONTEXT, std::nullopt);
CALL(cudaMemcpyToArrayAsync, copy_to_array, IN_CONTEXT);
CALL(cudaMemcpyFromArray, copy_from_array, IN_CONTEXT, std::nullopt);
CALL(cudaMemcpyFromArrayAsync, copy_from_array, IN_CONTEXT);
CALL(cudaMemcpyArrayToArray, copy_between_arrays, IN_CONTEXT, std::nullopt);

// ---- programs compiled with --default-stream per-thread -----------------------------------------

PTDS(cudaMemcpy2DToArray);
PTSZ(cudaMemcpy2DToArrayAsync);
PTDS(cudaMemcpy2DFromArray);
PTSZ(cudaMemcpy2DFromArrayAsync);
PTDS(cudaMemcpyToArray);
PTSZ(cudaMemcpyToArrayAsync);
PTDS(cudaMemcpyFromArray);
PTSZ(cudaMemcpyFromArrayAsync);

extern "C" decltype(cudaMemcpy2DArrayToArray) cudaMemcpy2DArrayToArray_ptds;
extern "C" decltype(cudaMemcpyArrayToArray) cudaMemcpyArrayToArray_ptds;
ALIAS(cudaMemcpy2DArrayToArray_ptds, copy_on_own_stream<copy_2d_between_arrays>);
ALIAS(cudaMemcpyArrayToArray_ptds, copy_on_own_stream<copy_between_arrays>);
