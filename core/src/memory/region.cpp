// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/region.hpp>

#include "driver/current.hpp"
#include "memory/region_copy.hpp"
#include "driver/handle.hpp"
#include "stream/stream_state.hpp"

#include <limits>
#include <stdexcept>
#include <string>

namespace cuprum {

namespace {

using detail::Block;
using driver::table;

/// A block, and the bytes from its first to its last.
struct Placed {
    Block block;
    std::size_t span = 0; // bytes
};

[[nodiscard]] Placed place_in(const Buffer& buffer, const RegionPlace& place,
                              const RegionExtent& extent, const std::string& what);
void refuse_overlap(const Placed& destination, const Placed& source, const RegionExtent& extent);
void check_pitch(const Block& block, const char* what);
[[nodiscard]] std::size_t multiplied(std::size_t left, std::size_t right, const char* what);

template <typename Value, typename Row, typename Rectangle>
void fill(const Buffer& buffer, const RegionPlace& place, const RegionExtent& extent, Value value,
          const Stream& stream, const Row& row, const Rectangle& rectangle) {
    const detail::StreamState& queue = detail::open(stream);
    if (extent.depth != 1) {
        throw std::invalid_argument("depth is " + std::to_string(extent.depth) +
                                    ", expected 1: fill a box slice by slice");
    }
    const Placed placed = place_in(buffer, place, extent, "the region");
    constexpr std::size_t bytes = sizeof(Value);
    const auto check = [](std::size_t number, const char* name) {
        if (number % bytes != 0) {
            throw std::invalid_argument(std::string(name) + " is " + std::to_string(number) +
                                        ", expected a multiple of the value's " +
                                        std::to_string(bytes) + " bytes");
        }
    };
    check(placed.block.address, "the region's address");
    check(extent.width, "width");
    if (extent.width == 0 || extent.height == 0) {
        return;
    }
    const bool is_row = placed.block.pitch == extent.width || extent.height == 1;
    if (!is_row) {
        check(placed.block.pitch, "pitch");
        check_pitch(placed.block, "the region");
    }
    const driver::Current current(detail::context_of(queue));
    const CUresult status = is_row ? row(placed.block.address, value,
                                         extent.width * extent.height / bytes, queue.handle)
                                   : rectangle(placed.block.address, placed.block.pitch, value,
                                               extent.width / bytes, extent.height, queue.handle);
    if (status != CUDA_SUCCESS) [[unlikely]] {
        detail::raise_fill_failure(status, is_row ? row.name : rectangle.name, placed.block.address,
                                   queue);
    }
}

} // namespace

void copy_region(const Buffer& destination, const RegionPlace& to, const Buffer& source,
                 const RegionPlace& from, const RegionExtent& extent, const Stream& stream) {
    const detail::StreamState& queue = detail::open(stream);
    const Placed target = place_in(destination, to, extent, "the destination");
    const Placed origin = place_in(source, from, extent, "the source");
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) {
        return;
    }
    refuse_overlap(target, origin, extent);
    const driver::Current current(detail::context_of(queue));
    detail::copy_block(target.block, origin.block, extent, queue.handle);
}

void fill_region(const Buffer& buffer, const RegionPlace& place, const RegionExtent& extent,
                 std::uint8_t value, const Stream& stream) {
    fill(buffer, place, extent, value, stream, table().cuMemsetD8Async, table().cuMemsetD2D8Async);
}

void fill_region(const Buffer& buffer, const RegionPlace& place, const RegionExtent& extent,
                 std::uint16_t value, const Stream& stream) {
    fill(buffer, place, extent, value, stream, table().cuMemsetD16Async,
         table().cuMemsetD2D16Async);
}

void fill_region(const Buffer& buffer, const RegionPlace& place, const RegionExtent& extent,
                 std::uint32_t value, const Stream& stream) {
    fill(buffer, place, extent, value, stream, table().cuMemsetD32Async,
         table().cuMemsetD2D32Async);
}

void detail::copy_block(const Block& destination, const Block& source, const RegionExtent& extent,
                        CUstream stream) {
    const auto follow = [&](const Block& block) { return block.pitch == extent.width; };
    const auto fill_slices = [&](const Block& block) {
        return block.slice_pitch == block.pitch * extent.height;
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
    if (merged.depth > 1 && fill_slices(destination) && fill_slices(source)) {
        merged.height *= merged.depth;
        merged.depth = 1;
    }
    if (merged.depth == 1 && (merged.height == 1 || (follow(destination) && follow(source)))) {
        merged = {.width = merged.width * merged.height};
        finish(table().cuMemcpyAsync(destination.address, source.address, merged.width, stream),
               table().cuMemcpyAsync.name);
        return;
    }
    check_pitch(destination, "the destination");
    check_pitch(source, "the source");
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
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = source.address;
    copy.srcPitch = source.pitch;
    copy.srcHeight = source.slice_pitch / source.pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.dstDevice = destination.address;
    copy.dstPitch = destination.pitch;
    copy.dstHeight = destination.slice_pitch / destination.pitch;
    copy.WidthInBytes = merged.width;
    copy.Height = merged.height;
    copy.Depth = merged.depth;
    finish(table().cuMemcpy3DAsync(&copy, stream), table().cuMemcpy3DAsync.name);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::size_t multiplied(std::size_t left, std::size_t right, const char* what) {
    if (left != 0 && right > std::numeric_limits<std::size_t>::max() / 2 / left) {
        throw std::invalid_argument(std::string(what) + " is beyond any memory: " +
                                    std::to_string(left) + " times " + std::to_string(right));
    }
    return left * right;
}

Placed place_in(const Buffer& buffer, const RegionPlace& place, const RegionExtent& extent,
                const std::string& what) {
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
    const std::size_t size = buffer.size();
    if (place.offset > size || span > size - place.offset) {
        throw std::invalid_argument(what + " takes " + std::to_string(span) +
                                    " bytes from offset " + std::to_string(place.offset) +
                                    ", but the buffer has " + std::to_string(size));
    }
    return {{buffer.handle() + place.offset, pitch, slice_pitch}, span};
}

/// Refuses rows further apart than the driver takes.
void check_pitch(const Block& block, const char* what) {
    if (block.pitch > detail::MAX_PITCH_BYTES) {
        throw std::invalid_argument(std::string(what) + " has a pitch of " +
                                    std::to_string(block.pitch) + " bytes, expected at most " +
                                    std::to_string(detail::MAX_PITCH_BYTES));
    }
}

/// Tells whether two rows of equal width, this far apart, share a byte.
bool is_hit(std::int64_t distance, std::int64_t width) {
    return distance > -width && distance < width;
}

void refuse_overlap(const Placed& destination, const Placed& source, const RegionExtent& extent) {
    const bool is_apart = destination.block.address + destination.span <= source.block.address ||
                          source.block.address + source.span <= destination.block.address;
    if (is_apart) {
        return;
    }
    // The ranges interleave. With equal pitches, the distances between rows are all known.
    bool is_overlap = destination.block.pitch != source.block.pitch ||
                      destination.block.slice_pitch != source.block.slice_pitch;
    const auto distance = static_cast<std::int64_t>(destination.block.address) -
                          static_cast<std::int64_t>(source.block.address);
    const auto pitch = static_cast<std::int64_t>(source.block.pitch);
    const auto slice_pitch = static_cast<std::int64_t>(source.block.slice_pitch);
    const auto width = static_cast<std::int64_t>(extent.width);
    const auto rows = static_cast<std::int64_t>(extent.height);
    const auto slices = static_cast<std::int64_t>(extent.depth);
    // The slices that come nearest are one of the two around this many slice pitches away; the same
    // goes for rows.
    const std::int64_t nearest_slice = -distance / slice_pitch;
    for (std::int64_t slice = nearest_slice - 1; slice <= nearest_slice + 1; ++slice) {
        const std::int64_t apart = distance + slice * slice_pitch;
        const std::int64_t nearest = -apart / pitch;
        for (std::int64_t row = nearest - 1; row <= nearest + 1; ++row) {
            is_overlap = is_overlap || (slice > -slices && slice < slices && row > -rows &&
                                        row < rows && is_hit(apart + row * pitch, width));
        }
    }
    if (is_overlap) {
        throw std::invalid_argument(
            "source and destination overlap: " + std::to_string(source.span) + " bytes and " +
            std::to_string(destination.span) + " bytes, " + std::to_string(distance) +
            " bytes apart; copy through another buffer");
    }
}

} // namespace

} // namespace cuprum
