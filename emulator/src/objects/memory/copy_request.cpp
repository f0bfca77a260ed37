// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/memory/copy_request.hpp"

#include "objects/memory/allocations.hpp"
#include "objects/process/error.hpp"
#include "objects/textures/array.hpp"

#include <algorithm>
#include <string>

namespace cuprum::emulator {

namespace {

CopySide side(CUmemorytype type, const void* host, CUdeviceptr device, std::size_t pitch,
              std::size_t height, std::size_t x, std::size_t y, std::size_t z,
              std::uint64_t width_bytes) {
    CopySide result;
    switch (type) {
    case CU_MEMORYTYPE_HOST:
        result = {reinterpret_cast<std::uint64_t>(host), 0, 0, CopyEnd::Host};
        break;
    case CU_MEMORYTYPE_DEVICE:
        result = {device, 0, 0, CopyEnd::Device};
        break;
    case CU_MEMORYTYPE_UNIFIED:
        result = {device, 0, 0, CopyEnd::Any};
        break;
    default:
        fail(CUDA_ERROR_INVALID_VALUE, "unknown type of memory");
    }
    require(result.address != 0, "an address is NULL");
    // No memory is larger, and the sum of two such products cannot overflow.
    constexpr std::uint64_t largest = std::uint64_t{1} << 46;
    require(x <= largest && width_bytes <= largest && pitch <= largest,
            "an offset, a width or a pitch is out of range");
    // A pitch of 0 means that rows are contiguous.
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

template <typename Request>
Copy copy_of_3d(const Request& request) {
    require((request.srcLOD == 0 || request.srcMemoryType != CU_MEMORYTYPE_ARRAY) &&
                (request.dstLOD == 0 || request.dstMemoryType != CU_MEMORYTYPE_ARRAY),
            "the level of detail must be 0; copy the array of cuMipmappedArrayGetLevel instead");
    Copy copy;
    copy.width_bytes = request.WidthInBytes;
    copy.height = request.Height;
    copy.depth = request.Depth;
    const auto rows = [&](std::size_t given, std::size_t first) {
        require(given == 0 || (given >= request.Height && given - request.Height >= first),
                "a slice has fewer rows than the copy");
        return given != 0 ? given : request.Height;
    };
    copy.source =
        request.srcMemoryType == CU_MEMORYTYPE_ARRAY
            ? array_side(request.srcArray, {request.srcXInBytes, request.srcY, request.srcZ}, copy)
            : side(request.srcMemoryType, request.srcHost, request.srcDevice, request.srcPitch,
                   rows(request.srcHeight, request.srcY), request.srcXInBytes, request.srcY,
                   request.srcZ, request.WidthInBytes);
    copy.destination =
        request.dstMemoryType == CU_MEMORYTYPE_ARRAY
            ? array_side(request.dstArray, {request.dstXInBytes, request.dstY, request.dstZ}, copy)
            : side(request.dstMemoryType, request.dstHost, request.dstDevice, request.dstPitch,
                   rows(request.dstHeight, request.dstY), request.dstXInBytes, request.dstY,
                   request.dstZ, request.WidthInBytes);
    return copy;
}

/// Writes one end of a copy: device memory has another field than host memory.
void write_side(const CopySide& side, const Copy& copy, CUmemorytype& type, const void*& host,
                CUdeviceptr& device, std::size_t& pitch, std::size_t& height) {
    if (side.end == CopyEnd::Array) {
        return; // arrays have neither a pitch nor an address
    }
    const auto allocation = Allocations::instance().find(side.address);
    const bool is_host =
        side.end == CopyEnd::Host || (side.end == CopyEnd::Any && allocation == nullptr);
    type = is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    if (is_host) {
        host = reinterpret_cast<const void*>(side.address);
    } else {
        device = side.address;
    }
    const bool has_rows = copy.height > 1 || copy.depth > 1;
    pitch = has_rows ? side.pitch_bytes : 0;
    height = copy.depth > 1 && side.pitch_bytes != 0 ? side.slice_bytes / side.pitch_bytes : 0;
}

} // namespace

CopySide array_side(CUarray handle, const ArrayPosition& begin, const Copy& copy) {
    if (is_empty(copy)) {
        return {}; // anything goes
    }
    require(is_live(handle), "not an array, or it has been destroyed");
    const auto array = object_of(handle);
    if (array->format().is_planar()) {
        fail(CUDA_ERROR_INVALID_VALUE,
             std::string("arrays of format CU_AD_FORMAT_") + array->format().name +
                 " are copied plane by plane: get the planes with cuArrayGetPlane");
    }
    const ArrayLayout& layout = array->layout();
    const auto check = [&](const char* what, std::uint64_t first, std::uint64_t count,
                           std::uint64_t size) {
        if (first > size || count > size - first) {
            fail(CUDA_ERROR_INVALID_VALUE,
                 std::string("the copy takes ") + what + " " + std::to_string(first) + " to " +
                     std::to_string(first + count) + " of an array of " + std::to_string(size));
        }
    };
    check("bytes", begin.x_bytes, copy.width_bytes, layout.row_bytes);
    check("rows", begin.y, copy.height, layout.rows);
    check("slices", begin.z, copy.depth, layout.slices);
    CopySide side;
    side.end = CopyEnd::Array;
    side.array = handle;
    side.x_bytes = begin.x_bytes;
    side.y = begin.y;
    side.z = begin.z;
    side.pitch_bytes = layout.row_bytes;
    side.slice_bytes = layout.slice_bytes();
    side.address =
        array->address() + begin.x_bytes + begin.y * side.pitch_bytes + begin.z * side.slice_bytes;
    return side;
}

Copy copy_of(const CUDA_MEMCPY2D& request) {
    Copy copy;
    copy.width_bytes = request.WidthInBytes;
    copy.height = request.Height;
    copy.source =
        request.srcMemoryType == CU_MEMORYTYPE_ARRAY
            ? array_side(request.srcArray, {request.srcXInBytes, request.srcY, 0}, copy)
            : side(request.srcMemoryType, request.srcHost, request.srcDevice, request.srcPitch, 0,
                   request.srcXInBytes, request.srcY, 0, request.WidthInBytes);
    copy.destination =
        request.dstMemoryType == CU_MEMORYTYPE_ARRAY
            ? array_side(request.dstArray, {request.dstXInBytes, request.dstY, 0}, copy)
            : side(request.dstMemoryType, request.dstHost, request.dstDevice, request.dstPitch, 0,
                   request.dstXInBytes, request.dstY, 0, request.WidthInBytes);
    return copy;
}

Copy copy_of(const CUDA_MEMCPY3D& request) {
    require(request.reserved0 == nullptr && request.reserved1 == nullptr,
            "the reserved fields must be NULL");
    return copy_of_3d(request);
}

Copy copy_of(const CUDA_MEMCPY3D_PEER& request) {
    Copy copy = copy_of_3d(request);
    copy.is_between_contexts = true;
    return copy;
}

CUDA_MEMCPY3D request_of(const Copy& copy) {
    CUDA_MEMCPY3D request{};
    const void* destination = nullptr;
    write_side(copy.source, copy, request.srcMemoryType, request.srcHost, request.srcDevice,
               request.srcPitch, request.srcHeight);
    write_side(copy.destination, copy, request.dstMemoryType, destination, request.dstDevice,
               request.dstPitch, request.dstHeight);
    request.dstHost = const_cast<void*>(destination);
    if (copy.source.end == CopyEnd::Array) {
        request.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        request.srcArray = copy.source.array;
        request.srcXInBytes = copy.source.x_bytes;
        request.srcY = copy.source.y;
        request.srcZ = copy.source.z;
    }
    if (copy.destination.end == CopyEnd::Array) {
        request.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        request.dstArray = copy.destination.array;
        request.dstXInBytes = copy.destination.x_bytes;
        request.dstY = copy.destination.y;
        request.dstZ = copy.destination.z;
    }
    request.WidthInBytes = copy.width_bytes;
    request.Height = copy.height;
    request.Depth = copy.depth;
    return request;
}

} // namespace cuprum::emulator
