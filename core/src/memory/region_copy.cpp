// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/region_copy.hpp"

#include "memory/peer_copy.hpp"

#include <limits>
#include <stdexcept>
#include <string>

namespace cuprum::detail {

namespace {

using driver::table;

/// What cuMemcpy3DAsync takes for one side. Its two sides have the same members twice.
struct SideDescription {
    CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
    CUdeviceptr device = 0;
    void* host = nullptr;
    std::size_t pitch = 0;
    std::size_t rows_per_slice = 0;
    CUarray array = nullptr;
    std::size_t x = 0; // bytes
    std::size_t y = 0;
    std::size_t z = 0;
};

SideDescription describe(const LinearMemory& side);
SideDescription describe(const HostMemory& side);
SideDescription describe(const ArrayMemory& side);
std::size_t multiplied(std::size_t left, std::size_t right, const char* what);
CUDA_MEMCPY3D description_of(const SideDescription& destination, const SideDescription& source,
                             const RegionExtent& extent);

} // namespace

void copy_box(const CopySide& destination, const CopySide& source, const RegionExtent& extent,
              CUstream stream) {
    const auto* const to = std::get_if<LinearMemory>(&destination);
    const auto* const from = std::get_if<LinearMemory>(&source);
    if (to != nullptr && from != nullptr) {
        copy_linear(*to, *from, extent, stream);
        return;
    }
    const auto described = [](const CopySide& side, const char* what) {
        const SideDescription made =
            std::visit([](const auto& each) { return describe(each); }, side);
        check_pitch(made.pitch, what);
        return made;
    };
    const CUDA_MEMCPY3D copy = description_of(described(destination, "the destination"),
                                              described(source, "the source"), extent);
    driver::call(table().cuMemcpy3DAsync, &copy, stream);
}

void copy_linear(const LinearMemory& destination, const LinearMemory& source,
                 const RegionExtent& extent, CUstream stream) {
    const auto has_gapless_rows = [&](const LinearMemory& box) {
        return box.pitch == extent.width;
    };
    const auto has_gapless_slices = [&](const LinearMemory& box) {
        return box.slice_pitch == box.pitch * extent.height;
    };
    RegionExtent merged = extent;
    const auto finish = [&](CUresult status, const char* name) {
        const bool is_done =
            status == CUDA_SUCCESS || (status == CUDA_ERROR_INVALID_VALUE &&
                                       copy_between_devices(destination, source, merged, stream));
        if (!is_done) [[unlikely]] {
            driver::raise(status, name);
        }
    };
    if (merged.depth > 1 && has_gapless_slices(destination) && has_gapless_slices(source)) {
        merged.height *= merged.depth;
        merged.depth = 1;
    }
    if (merged.depth == 1 &&
        (merged.height == 1 || (has_gapless_rows(destination) && has_gapless_rows(source)))) {
        merged = {.width = merged.width * merged.height};
        finish(table().cuMemcpyAsync(destination.address, source.address, merged.width, stream),
               table().cuMemcpyAsync.name);
        return;
    }
    check_pitch(destination.pitch, "the destination");
    check_pitch(source.pitch, "the source");
    if (merged.depth == 1) {
        CUDA_MEMCPY2D copy{};
        copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
        copy.srcDevice = source.address;
        copy.srcPitch = source.pitch;
        copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
        copy.dstDevice = destination.address;
        copy.dstPitch = destination.pitch;
        copy.WidthInBytes = merged.width;
        copy.Height = merged.height;
        finish(table().cuMemcpy2DAsync(&copy, stream), table().cuMemcpy2DAsync.name);
        return;
    }
    const CUDA_MEMCPY3D copy = description_of(describe(destination), describe(source), merged);
    finish(table().cuMemcpy3DAsync(&copy, stream), table().cuMemcpy3DAsync.name);
}

void check_pitch(std::size_t pitch, const char* what) {
    if (pitch > MAX_PITCH_BYTES) {
        throw std::invalid_argument(std::string(what) + " has a pitch of " + std::to_string(pitch) +
                                    " bytes, expected at most " + std::to_string(MAX_PITCH_BYTES));
    }
}

PlacedRows place_rows(std::size_t size, const RegionPlace& place, const RegionExtent& extent,
                      const std::string& what, const char* holder) {
    const std::size_t pitch = place.pitch == 0 ? extent.width : place.pitch;
    const std::size_t rows = place.rows_per_slice == 0 ? extent.height : place.rows_per_slice;
    if (pitch < extent.width) {
        throw std::invalid_argument(what + " has a pitch of " + std::to_string(pitch) +
                                    " bytes, expected at least the width of " +
                                    std::to_string(extent.width));
    }
    if (rows < extent.height) {
        throw std::invalid_argument(what + " has " + std::to_string(rows) +
                                    " rows per slice, expected at least the height of " +
                                    std::to_string(extent.height));
    }
    const std::size_t slice_pitch = multiplied(pitch, rows, "a slice");
    std::size_t span = 0;
    if (extent.width != 0 && extent.height != 0 && extent.depth != 0) {
        span = multiplied(slice_pitch, extent.depth - 1, "the region") +
               multiplied(pitch, extent.height - 1, "the region") + extent.width;
    }
    if (place.offset > size || span > size - place.offset) {
        throw std::invalid_argument(what + " takes " + std::to_string(span) +
                                    " bytes from offset " + std::to_string(place.offset) +
                                    ", but " + holder + " has " + std::to_string(size));
    }
    return {place.offset, pitch, slice_pitch, span};
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

SideDescription describe(const LinearMemory& side) {
    SideDescription made;
    made.device = side.address;
    made.pitch = side.pitch;
    made.rows_per_slice = side.slice_pitch / side.pitch;
    return made;
}

SideDescription describe(const HostMemory& side) {
    SideDescription made;
    made.type = CU_MEMORYTYPE_HOST;
    made.host = side.address;
    made.pitch = side.pitch;
    made.rows_per_slice = side.slice_pitch / side.pitch;
    return made;
}

SideDescription describe(const ArrayMemory& side) {
    SideDescription made;
    made.type = CU_MEMORYTYPE_ARRAY;
    made.array = side.array;
    made.x = side.x;
    made.y = side.y;
    made.z = side.z;
    return made;
}

CUDA_MEMCPY3D description_of(const SideDescription& destination, const SideDescription& source,
                             const RegionExtent& extent) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = source.type;
    copy.srcDevice = source.device;
    copy.srcHost = source.host;
    copy.srcPitch = source.pitch;
    copy.srcHeight = source.rows_per_slice;
    copy.srcArray = source.array;
    copy.srcXInBytes = source.x;
    copy.srcY = source.y;
    copy.srcZ = source.z;
    copy.dstMemoryType = destination.type;
    copy.dstDevice = destination.device;
    copy.dstHost = destination.host;
    copy.dstPitch = destination.pitch;
    copy.dstHeight = destination.rows_per_slice;
    copy.dstArray = destination.array;
    copy.dstXInBytes = destination.x;
    copy.dstY = destination.y;
    copy.dstZ = destination.z;
    copy.WidthInBytes = extent.width;
    copy.Height = extent.height;
    copy.Depth = extent.depth;
    return copy;
}

std::size_t multiplied(std::size_t left, std::size_t right, const char* what) {
    if (left != 0 && right > std::numeric_limits<std::size_t>::max() / 2 / left) {
        throw std::invalid_argument(std::string(what) + " is beyond any memory: " +
                                    std::to_string(left) + " times " + std::to_string(right));
    }
    return left * right;
}

} // namespace

} // namespace cuprum::detail
