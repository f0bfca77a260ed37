// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Many copies in one call.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/memory/copy.hpp"
#include "objects/memory/copy_request.hpp"
#include "objects/process/error.hpp"
#include "objects/textures/array.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

using namespace cuprum::emulator;

namespace {

/// The index if no copy failed.
constexpr std::size_t NO_INDEX = std::numeric_limits<std::size_t>::max();

CopyMode mode_of(CUmemcpySrcAccessOrder order) {
    switch (order) {
    case CU_MEMCPY_SRC_ACCESS_ORDER_STREAM:
    case CU_MEMCPY_SRC_ACCESS_ORDER_ANY:
        return CopyMode::Async;
    case CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL:
        return CopyMode::Staged;
    default:
        fail(CUDA_ERROR_INVALID_VALUE, "unknown order of access to the source");
    }
}

void check_flags(unsigned flags) {
    require((flags & ~static_cast<unsigned>(CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE)) == 0,
            "unknown flags of a copy");
}

void check_attributes(const CUmemcpyAttributes& attributes) {
    check_flags(attributes.flags);
    for (const CUmemLocation& hint : {attributes.srcLocHint, attributes.dstLocHint}) {
        require(hint.type >= CU_MEM_LOCATION_TYPE_INVALID &&
                    hint.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT,
                "unknown type of location");
    }
}

/// Returns the stream of a batch, which cannot be captured. The capture stays valid.
std::shared_ptr<Stream> stream_outside_captures(CUstream handle) {
    auto stream = stream_of_batch(handle);
    if (Capture::info(*stream).status != CU_STREAM_CAPTURE_STATUS_NONE) {
        fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
             "a batch of copies cannot be captured; copy one by one");
    }
    return stream;
}

/// Copies a batch. If a copy fails, sets `failed` to its index.
void copy_batch(std::span<const CUdeviceptr> destinations, const CUdeviceptr* sources,
                const std::size_t* sizes, std::span<const CUmemcpyAttributes> attributes,
                const std::size_t* starts, CUstream handle, std::size_t& failed) {
    require(destinations.data() != nullptr && sources != nullptr && sizes != nullptr &&
                !destinations.empty(),
            "the batch is empty");
    require(attributes.data() != nullptr && starts != nullptr && !attributes.empty() &&
                attributes.size() <= destinations.size() && starts[0] == 0,
            "the attributes do not cover the batch");
    for (std::size_t index = 1; index < attributes.size(); ++index) {
        require(starts[index] > starts[index - 1] && starts[index] < destinations.size(),
                "the attributes are not in the order of the copies");
    }
    const auto stream = stream_outside_captures(handle);
    std::size_t which = 0;
    for (std::size_t index = 0; index < destinations.size(); ++index) {
        failed = index;
        while (which + 1 < attributes.size() && starts[which + 1] <= index) {
            ++which;
        }
        check_attributes(attributes[which]);
        enqueue_copy(*stream,
                     linear_copy(destinations[index], CopyEnd::Any, sources[index], CopyEnd::Any,
                                 sizes[index]),
                     mode_of(attributes[which].srcAccessOrder));
    }
    failed = NO_INDEX;
}

/// Returns the bytes of an element: a texel of the array, or a byte if no array takes part.
std::uint64_t element_bytes_of(const CUDA_MEMCPY3D_BATCH_OP& operation) {
    const auto bytes_of = [](const CUmemcpy3DOperand& operand) -> std::uint64_t {
        if (operand.type != CU_MEMCPY_OPERAND_TYPE_ARRAY) {
            return 0;
        }
        require(is_live(operand.op.array.array), "not an array, or it has been destroyed");
        const auto array = object_of(operand.op.array.array);
        return array->format().texel_bytes(array->descriptor().NumChannels);
    };
    const std::uint64_t source = bytes_of(operation.src);
    const std::uint64_t destination = bytes_of(operation.dst);
    require(source == 0 || destination == 0 || source == destination,
            "the arrays have texels of different sizes");
    return source != 0 ? source : destination != 0 ? destination : 1;
}

/// Returns one end of a copy. The shape of `copy` is known already.
CopySide side_of(const CUmemcpy3DOperand& operand, const CUextent3D& extent, const Copy& copy,
                 std::uint64_t element_bytes) {
    constexpr std::uint64_t largest = std::uint64_t{1} << 46; // no memory is larger
    if (operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        const auto& begin = operand.op.array.offset;
        require(begin.x <= largest / element_bytes, "an offset is out of range");
        return array_side(operand.op.array.array, {begin.x * element_bytes, begin.y, begin.z},
                          copy);
    }
    require(operand.type == CU_MEMCPY_OPERAND_TYPE_POINTER, "unknown type of operand");
    const auto& pointer = operand.op.ptr;
    // A length of 0 means that rows or layers are contiguous.
    const std::uint64_t length = pointer.rowLength != 0 ? pointer.rowLength : extent.width;
    const std::uint64_t rows = pointer.layerHeight != 0 ? pointer.layerHeight : extent.height;
    require(length >= extent.width && rows >= extent.height,
            "a row or a layer is shorter than what is copied");
    require(length <= largest / element_bytes && rows <= largest / (length * element_bytes),
            "a row or a layer is out of range");
    const std::uint64_t pitch = length * element_bytes;
    return {pointer.ptr, pitch, pitch * rows, CopyEnd::Any};
}

void copy_3d_batch(std::span<const CUDA_MEMCPY3D_BATCH_OP> operations, unsigned long long flags,
                   CUstream handle, std::size_t& failed) {
    require(operations.data() != nullptr && !operations.empty(), "the batch is empty");
    require(flags == 0, "the flags must be 0");
    const auto stream = stream_outside_captures(handle);
    for (std::size_t index = 0; index < operations.size(); ++index) {
        failed = index;
        const CUDA_MEMCPY3D_BATCH_OP& operation = operations[index];
        check_flags(operation.flags);
        require(operation.extent.width != 0 && operation.extent.height != 0 &&
                    operation.extent.depth != 0,
                "a side of a copy is 0");
        const std::uint64_t element_bytes = element_bytes_of(operation);
        require(operation.extent.width <= (std::uint64_t{1} << 46) / element_bytes,
                "a side of a copy is out of range");
        Copy copy;
        copy.width_bytes = operation.extent.width * element_bytes;
        copy.height = operation.extent.height;
        copy.depth = operation.extent.depth;
        copy.source = side_of(operation.src, operation.extent, copy, element_bytes);
        copy.destination = side_of(operation.dst, operation.extent, copy, element_bytes);
        enqueue_copy(*stream, copy, mode_of(operation.srcAccessOrder));
    }
    failed = NO_INDEX;
}

} // namespace

ROW_PTSZ(cuMemcpyBatchAsync_v2, 13000, CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes,
         size_t count, CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs,
         CUstream hStream) {
    std::size_t failed = NO_INDEX;
    copy_batch({dsts, count}, srcs, sizes, {attrs, numAttrs}, attrsIdxs, hStream, failed);
}

ROW_PTSZ(cuMemcpyBatchAsync, 12080, CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes,
         size_t count, CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs,
         size_t* failIdx, CUstream hStream) {
    std::size_t unused = NO_INDEX;
    std::size_t& failed = failIdx != nullptr ? *failIdx : unused;
    failed = NO_INDEX;
    copy_batch({dsts, count}, srcs, sizes, {attrs, numAttrs}, attrsIdxs, hStream, failed);
}

ROW_PTSZ(cuMemcpy3DBatchAsync_v2, 13000, size_t numOps, CUDA_MEMCPY3D_BATCH_OP* opList,
         unsigned long long flags, CUstream hStream) {
    std::size_t failed = NO_INDEX;
    copy_3d_batch({opList, numOps}, flags, hStream, failed);
}

ROW_PTSZ(cuMemcpy3DBatchAsync, 12080, size_t numOps, CUDA_MEMCPY3D_BATCH_OP* opList,
         size_t* failIdx, unsigned long long flags, CUstream hStream) {
    std::size_t unused = NO_INDEX;
    std::size_t& failed = failIdx != nullptr ? *failIdx : unused;
    failed = NO_INDEX;
    copy_3d_batch({opList, numOps}, flags, hStream, failed);
}
