// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/region.hpp>

#include "driver/current.hpp"
#include "driver/handle.hpp"
#include "memory/copies.hpp"
#include "stream/active_captures.hpp"
#include "stream/stream_state.hpp"

#include <array>
#include <stdexcept>
#include <string>

namespace cuprum {

namespace {

using detail::LinearMemory;
using driver::table;

/// A box in a buffer, and the bytes from its first to its last.
struct Placed {
    LinearMemory block;
    std::size_t span = 0; // bytes
};

Placed place_in(const Buffer& buffer, const RegionPlace& place, const RegionExtent& extent,
                const std::string& what) {
    const detail::PlacedRows rows = detail::place_rows(buffer.size(), place, extent, what);
    return {{buffer.handle() + rows.offset, rows.pitch, rows.slice_pitch}, rows.span};
}

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
        detail::check_pitch(placed.block.pitch, "the region");
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
    if (detail::has_active_captures()) [[unlikely]] {
        detail::retain_buffers(stream, std::array{&buffer});
    }
}

/// Returns whether two rows of equal width, this far apart, share a byte.
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
    detail::copy_linear(target.block, origin.block, extent, queue.handle);
    if (detail::has_active_captures()) [[unlikely]] {
        detail::retain_buffers(stream, std::array{&destination, &source});
    }
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

} // namespace cuprum
