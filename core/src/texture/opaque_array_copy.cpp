// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies of arrays: to and from buffers, host memory and other arrays, whole or in part.
//
// All of them are boxes of bytes: see memory/region_copy.hpp. An array is counted in columns and
// rows. These are its elements, or the blocks of a compressed format.

#include "device/device_state.hpp"
#include "driver/current.hpp"
#include "memory/buffer_state.hpp"
#include "memory/region_copy.hpp"
#include "stream/active_captures.hpp"
#include "stream/stream_state.hpp"
#include "texture/array_description.hpp"
#include "texture/array_state.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>

namespace cuprum {

namespace {

using detail::ArrayMemory;
using detail::ArrayState;

/// A box in an array, as the driver takes it.
struct ArrayBox {
    ArrayMemory memory;
    RegionExtent extent; // bytes, rows, slices or layers
};

[[nodiscard]] ArrayBox box_of(const ArrayState& array, const ArrayRegion& region);
[[nodiscard]] detail::PlacedRows place(std::size_t size, const RegionPlace& place,
                                       const ArrayBox& box, const ArrayState& array,
                                       const char* holder);
[[nodiscard]] RegionPlace place_of(const StridedLayout& layout, const ArrayBox& box,
                                   const ArrayState& array);
[[nodiscard]] std::size_t needed_bytes(const RegionExtent& extent);
[[nodiscard]] bool is_whole(const ArrayBox& box, const ArrayState& array);
[[nodiscard]] bool do_overlap(const ArrayBox& left, const ArrayBox& right);
void check_device(const ArrayState& array, const detail::StreamState& queue);

/// Copies between an array and a buffer or host memory.
template <typename Copy>
void copy_with(const OpaqueArray& array, const Stream& stream, const Copy& copy) {
    const detail::StreamState& queue = detail::open(stream);
    const ArrayState& state = detail::open(array);
    check_device(state, queue);
    const driver::Current current(detail::context_of(queue));
    copy(state, queue);
    detail::retain_if_captured(queue, detail::Access::state(array));
}

[[nodiscard]] detail::HostMemory host_memory(const void* address, const detail::PlacedRows& rows) {
    // NOTE: the driver writes only to destinations.
    return {const_cast<std::byte*>(static_cast<const std::byte*>(address)) + rows.offset,
            rows.pitch, rows.slice_pitch};
}

[[nodiscard]] detail::LinearMemory linear_memory(const Buffer& buffer,
                                                 const detail::PlacedRows& rows) {
    return {buffer.handle() + rows.offset, rows.pitch, rows.slice_pitch};
}

} // namespace

void OpaqueArray::copy_from(const Buffer& source, const Stream& stream) const {
    copy_from(source, {}, {}, stream);
}

void OpaqueArray::copy_from(const Buffer& source, const RegionPlace& from, const ArrayRegion& to,
                            const Stream& stream) const {
    copy_with(*this, stream, [&](const ArrayState& own, const detail::StreamState& queue) {
        const ArrayBox box = box_of(own, to);
        const auto rows = place(detail::open(source).size, from, box, own, "the buffer");
        detail::copy_box(box.memory, linear_memory(source, rows), box.extent, queue.handle);
    });
    if (detail::has_active_captures()) [[unlikely]] {
        detail::retain_buffers(stream, std::array{&source});
    }
}

void OpaqueArray::copy_to(const Buffer& destination, const Stream& stream) const {
    copy_to(destination, {}, {}, stream);
}

void OpaqueArray::copy_to(const Buffer& destination, const RegionPlace& to, const ArrayRegion& from,
                          const Stream& stream) const {
    copy_with(*this, stream, [&](const ArrayState& own, const detail::StreamState& queue) {
        const ArrayBox box = box_of(own, from);
        const auto rows = place(detail::open(destination).size, to, box, own, "the buffer");
        detail::copy_box(linear_memory(destination, rows), box.memory, box.extent, queue.handle);
    });
    if (detail::has_active_captures()) [[unlikely]] {
        detail::retain_buffers(stream, std::array{&destination});
    }
}

void OpaqueArray::copy_from(const OpaqueArray& source, const Stream& stream) const {
    const ArrayState& own = detail::open(*this);
    const ArrayState& other = detail::open(source);
    const RegionExtent to = box_of(own, {}).extent;
    const RegionExtent from = box_of(other, {}).extent;
    if (to.width != from.width || to.height != from.height || to.depth != from.depth) {
        throw std::invalid_argument("source is " + to_string(source) +
                                    ", expected the size and element size of " + to_string(*this) +
                                    "; name regions to copy a part");
    }
    copy_from(source, {}, {}, stream);
}

void OpaqueArray::copy_to(const OpaqueArray& destination, const Stream& stream) const {
    destination.copy_from(*this, stream);
}

void OpaqueArray::copy_from(const OpaqueArray& source, const ArrayRegion& from,
                            const ArrayRegion& to, const Stream& stream) const {
    copy_with(*this, stream, [&](const ArrayState& own, const detail::StreamState& queue) {
        const ArrayState& other = detail::open(source);
        check_device(other, queue);
        if (own.element_bytes() != other.element_bytes()) {
            throw std::invalid_argument("elements of the source have " +
                                        std::to_string(other.element_bytes()) +
                                        " bytes, expected " + std::to_string(own.element_bytes()));
        }
        const ArrayBox origin = box_of(other, from);
        ArrayRegion target_region = to;
        const std::size_t edge = own.format->block;
        if (to.width == 0) {
            target_region.width = origin.extent.width / own.element_bytes() * edge;
        }
        target_region.height = to.height == 0 ? origin.extent.height * edge : to.height;
        target_region.depth = to.depth == 0 ? origin.extent.depth : to.depth;
        const ArrayBox target = box_of(own, target_region);
        if (target.extent.width != origin.extent.width ||
            target.extent.height != origin.extent.height ||
            target.extent.depth != origin.extent.depth) {
            throw std::invalid_argument("the two regions differ in size");
        }
        if (own.handle == other.handle && do_overlap(target, origin)) {
            throw std::invalid_argument("the two regions of the array overlap; copy through "
                                        "another array");
        }
        detail::copy_box(target.memory, origin.memory, target.extent, queue.handle);
        detail::retain_if_captured(queue, detail::Access::state(source));
    });
}

void OpaqueArray::copy_from_host_bytes(const void* source, std::size_t bytes,
                                       const RegionPlace& from, const ArrayRegion& to,
                                       const Stream& stream) const {
    copy_with(*this, stream, [&](const ArrayState& own, const detail::StreamState& queue) {
        const ArrayBox box = box_of(own, to);
        const auto rows = place(bytes, from, box, own, "the host memory");
        detail::copy_box(box.memory, host_memory(source, rows), box.extent, queue.handle);
    });
}

void OpaqueArray::copy_to_host_bytes(void* destination, std::size_t bytes, const RegionPlace& to,
                                     const ArrayRegion& from, const Stream& stream) const {
    copy_with(*this, stream, [&](const ArrayState& own, const detail::StreamState& queue) {
        const ArrayBox box = box_of(own, from);
        const auto rows = place(bytes, to, box, own, "the host memory");
        detail::copy_box(host_memory(destination, rows), box.memory, box.extent, queue.handle);
    });
}

void OpaqueArray::copy_from_host_view(const void* source, const StridedLayout& layout,
                                      const ArrayRegion& to, const Stream& stream) const {
    const ArrayState& own = detail::open(*this);
    const RegionPlace from = place_of(layout, box_of(own, to), own);
    copy_from_host_bytes(source, std::numeric_limits<std::size_t>::max(), from, to, stream);
}

void OpaqueArray::copy_to_host_view(void* destination, const StridedLayout& layout,
                                    const ArrayRegion& from, const Stream& stream) const {
    const ArrayState& own = detail::open(*this);
    const RegionPlace to = place_of(layout, box_of(own, from), own);
    copy_to_host_bytes(destination, std::numeric_limits<std::size_t>::max(), to, from, stream);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// One direction of a region: its first column and how many columns it has.
struct ArrayRange {
    std::size_t first = 0;
    std::size_t count = 0;
};

/// Checks one direction of a region in an array with `size` elements there, and counts it in blocks
/// with `edge` elements.
ArrayRange range_of(std::size_t first, std::size_t count, std::size_t size, std::size_t edge,
                    const char* place, const char* length) {
    const std::size_t whole = std::max<std::size_t>(size, 1);
    if (first >= whole) {
        throw std::invalid_argument("the region begins at " + std::string(place) + " = " +
                                    std::to_string(first) + ", but the array's " + length + " is " +
                                    std::to_string(whole));
    }
    const std::size_t wanted = count == 0 ? whole - first : count;
    if (wanted > whole - first) {
        throw std::invalid_argument("the region has a " + std::string(length) + " of " +
                                    std::to_string(wanted) + " from " + place + " = " +
                                    std::to_string(first) + ", but the array's " + length + " is " +
                                    std::to_string(whole));
    }
    if (first % edge != 0 || (wanted % edge != 0 && first + wanted != whole)) {
        throw std::invalid_argument("the region takes " + std::to_string(wanted) +
                                    " elements from " + place + " = " + std::to_string(first) +
                                    ", expected multiples of " + std::to_string(edge) +
                                    ": the array's format has blocks");
    }
    return {first / edge, (wanted + edge - 1) / edge};
}

ArrayBox box_of(const ArrayState& array, const ArrayRegion& region) {
    if (array.format->num_planes != 1) {
        throw std::invalid_argument("an array of " + std::string(array.format->name) +
                                    " cannot be copied as a whole; copy its " +
                                    std::to_string(array.format->num_planes) +
                                    " planes one by one");
    }
    const std::size_t edge = array.format->block;
    const ArrayRange x =
        range_of(region.x, region.width, array.description.Width, edge, "x", "width");
    const ArrayRange y = range_of(region.y, region.height, array.description.Height,
                                  array.description.Height == 0 ? 1 : edge, "y", "height");
    const ArrayRange z =
        range_of(region.z, region.depth, array.description.Depth, 1, "z",
                 array.has_flag(CUDA_ARRAY3D_LAYERED) ? "number of layers" : "depth");
    const std::size_t bytes = array.element_bytes();
    return {{array.handle, x.first * bytes, y.first, z.first}, {x.count * bytes, y.count, z.count}};
}

std::size_t needed_bytes(const RegionExtent& extent) {
    return extent.width * extent.height * extent.depth;
}

bool is_whole(const ArrayBox& box, const ArrayState& array) {
    return needed_bytes(box.extent) == detail::bytes_of(array.description);
}

detail::PlacedRows place(std::size_t size, const RegionPlace& place, const ArrayBox& box,
                         const ArrayState& array, const char* holder) {
    const bool is_gapless = place.offset == 0 && place.pitch == 0 && place.rows_per_slice == 0;
    if (const std::size_t needed = needed_bytes(box.extent); is_gapless && size < needed) {
        throw std::invalid_argument(std::string(holder) + " has " + std::to_string(size) +
                                    " bytes, smaller than the " +
                                    (is_whole(box, array) ? "array extent" : "region") + " of " +
                                    std::to_string(needed) + " bytes");
    }
    return detail::place_rows(size, place, box.extent, "the region", holder);
}

/// Finds rows and slices in a layout. Its axes are those of the box, slowest first; the last one
/// may hold the channels.
RegionPlace place_of(const StridedLayout& layout, const ArrayBox& box, const ArrayState& array) {
    const std::size_t bytes = array.element_bytes();
    const std::size_t columns = box.extent.width / bytes;
    const auto refuse = [&](const std::string& expected) {
        throw std::invalid_argument("the host memory has " + layout.to_string() + ", expected " +
                                    expected);
    };

    struct Axis {
        std::size_t extent;
        std::int64_t stride; // bytes
    };

    std::vector<Axis> axes;
    const auto item = static_cast<std::int64_t>(layout.itemsize());
    for (std::size_t i = 0; i < layout.ndim(); ++i) {
        axes.push_back({static_cast<std::size_t>(layout.shape()[i]),
                        static_cast<std::int64_t>(layout.strides()[i]) * item});
        // Below, a stride of 0 says that there is no such axis.
        if (axes.back().extent > 1 && axes.back().stride <= 0) {
            refuse("strides above 0; copy it to a contiguous array first");
        }
    }
    if (layout.itemsize() != bytes) { // the last axis holds what makes up an element
        const std::size_t parts = layout.itemsize() == 0 ? 0 : bytes / layout.itemsize();
        if (axes.empty() || parts * layout.itemsize() != bytes || axes.back().extent != parts ||
            axes.back().stride != item) {
            refuse("elements of " + std::to_string(bytes) + " bytes");
        }
        axes.pop_back();
    }
    // Adds an axis of one element in front where the layout has none.
    const auto take = [&](std::size_t extent, const char* what) {
        const Axis axis = axes.empty() ? Axis{1, 0} : axes.back();
        if (!axes.empty()) {
            axes.pop_back();
        }
        if (axis.extent != extent) {
            refuse("a " + std::string(what) + " of " + std::to_string(extent));
        }
        return axis.extent == 1 ? 0 : axis.stride;
    };
    const std::int64_t column_stride = take(columns, "width");
    if (columns > 1 && column_stride != static_cast<std::int64_t>(bytes)) {
        refuse("elements of a row next to each other; copy it to a contiguous array first");
    }
    std::int64_t pitch = array.description.Height == 0 ? 0 : take(box.extent.height, "height");
    // What is left counts slices: one axis, or several without gaps between them.
    std::size_t slices = 1;
    std::int64_t slice_pitch = 0;
    while (!axes.empty()) {
        const Axis axis = axes.back();
        axes.pop_back();
        if (axis.extent == 1) {
            continue;
        }
        if (slice_pitch != 0 && axis.stride != slice_pitch * static_cast<std::int64_t>(slices)) {
            refuse("slices at equal distances");
        }
        slice_pitch = slice_pitch == 0 ? axis.stride : slice_pitch;
        slices *= axis.extent;
    }
    if (slices != box.extent.depth) {
        refuse(std::to_string(box.extent.depth) + " slices or layers");
    }
    const auto width = static_cast<std::int64_t>(box.extent.width);
    if (pitch == 0) { // one row in each slice
        pitch = std::max(slice_pitch, width);
    }
    slice_pitch =
        slice_pitch == 0 ? pitch * static_cast<std::int64_t>(box.extent.height) : slice_pitch;
    if (pitch < width || slice_pitch < pitch * static_cast<std::int64_t>(box.extent.height) ||
        slice_pitch % pitch != 0) {
        refuse("rows and slices in order, and slices a whole number of rows apart; copy it to a "
               "contiguous array first");
    }
    return {.offset = static_cast<std::size_t>(layout.slice_offset()) * layout.itemsize(),
            .pitch = static_cast<std::size_t>(pitch),
            .rows_per_slice = static_cast<std::size_t>(slice_pitch / pitch)};
}

bool do_overlap(const ArrayBox& left, const ArrayBox& right) {
    const auto meet = [](std::size_t first, std::size_t second, std::size_t count) {
        return first < second + count && second < first + count;
    };
    return meet(left.memory.x, right.memory.x, left.extent.width) &&
           meet(left.memory.y, right.memory.y, left.extent.height) &&
           meet(left.memory.z, right.memory.z, left.extent.depth);
}

void check_device(const ArrayState& array, const detail::StreamState& queue) {
    const detail::DeviceState* const home =
        queue.context != nullptr ? queue.context->device : detail::context_state_of(queue)->device;
    if (home != array.context->device) {
        throw std::invalid_argument("stream belongs to device " + std::to_string(home->ordinal) +
                                    ", but the array to device " +
                                    std::to_string(array.context->device->ordinal) +
                                    "; use a stream of the array's device");
    }
}

} // namespace

} // namespace cuprum
