// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies of arrays: to and from buffers, host memory and other arrays, whole or in part.
//
// All of them are boxes of bytes: see memory/region_copy.hpp. An array is counted in columns and
// rows. These are its elements, or the blocks of a compressed format.

#include "arrays/layout_algebra.hpp"
#include "device/device_state.hpp"
#include "driver/current.hpp"
#include "memory/buffer_state.hpp"
#include "memory/copies.hpp"
#include "stream/active_captures.hpp"
#include "stream/stream_state.hpp"
#include "texture/states.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace cuprum {

namespace {

using detail::ArrayState;

using detail::ArrayMemory;

/// A box in an array, as the driver takes it.
struct ArrayBox {
    ArrayMemory memory;
    RegionExtent extent; // bytes, rows, slices or layers
};

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

/// One direction of a region: its first column and how many columns it has.
struct ArrayRange {
    std::size_t first = 0;
    std::size_t count = 0;
};

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

/// Returns whether memory of such elements holds the numbers that an array has.
bool is_of_the_same_numbers(dlpack::DataType type, std::size_t itemsize, const ArrayState& array) {
    using enum dlpack::TypeCode;
    const dlpack::DataType own = array.format->number;
    if (type.bits == 0) {
        return true; // a structure: only its size is known
    }
    if (type.code == own.code && type.bits == own.bits) {
        return true;
    }
    if (type.code == Complex) {
        return own.code == Float && type.bits == 2 * own.bits;
    }
    if (type.code == Bool) {
        return own.code == UInt && type.bits == own.bits;
    }
    // All channels of an element, packed into one number.
    constexpr std::size_t byte_bits = 8;
    return type.code == UInt && type.lanes == 1 && itemsize == array.element_bytes() &&
           own.bits < itemsize * byte_bits;
}

/// Returns the shape of a region as a view has it, slowest axis first.
std::vector<StridedLayout::Index> shape_of(const ArrayBox& box, const ArrayState& array) {
    constexpr std::size_t byte_bits = 8;
    const std::size_t parts = array.element_bytes() * byte_bits / array.format->number.bits;
    std::vector<StridedLayout::Index> shape;
    const auto add = [&](std::size_t extent) {
        shape.push_back(static_cast<StridedLayout::Index>(extent));
    };
    if (array.description.Depth != 0) {
        add(box.extent.depth);
    }
    if (array.description.Height != 0) {
        add(box.extent.height);
    }
    add(box.extent.width / array.element_bytes());
    if (parts > 1) {
        add(parts);
    }
    return shape;
}

/// Finds the rows and slices of a box in memory with a layout. The axes of the layout are those of
/// the box, slowest first; the last one may hold the channels. Axes of one element do not count.
/// All elements may also lie in one dimension.
RegionPlace place_of(const StridedLayout& layout, dlpack::DataType type, const ArrayBox& box,
                     const ArrayState& array, const char* name) {
    struct Axis {
        std::size_t extent;
        std::int64_t stride; // bytes
    };

    const std::size_t bytes = array.element_bytes();
    const std::size_t needed = needed_bytes(box.extent);
    const auto item = static_cast<std::int64_t>(layout.itemsize());
    const std::size_t given = static_cast<std::size_t>(layout.volume()) * layout.itemsize();
    const auto refuse = [&](const std::string& expected) {
        throw std::invalid_argument(std::string(name) + " has " + layout.to_string() +
                                    ", expected " + expected +
                                    "; copy it to a contiguous array first");
    };
    const auto refuse_shape = [&] {
        const std::string number = detail::text_of(array.format->number, 0);
        const auto shape = shape_of(box, array);
        throw std::invalid_argument(
            std::string(name) +
            (given < needed ? " has " + std::to_string(given) + " bytes, smaller than the " +
                                  (is_whole(box, array) ? "array extent" : "region") + " of " +
                                  std::to_string(needed) + " bytes: it has"
                            : " has") +
            " shape " + detail::tuple_text(layout.shape()) + " of " +
            detail::text_of(type, layout.itemsize()) + ", expected " +
            (shape.size() > 1 ? "shape " + detail::tuple_text(shape) + " of " + number +
                                    ", slowest axis first, or these numbers in one dimension"
                              : "shape " + detail::tuple_text(shape) + " of " + number) +
            "; convert or reshape it, or pass its bytes to copy them as they are");
    };
    std::vector<Axis> axes;
    for (std::size_t i = 0; i < layout.ndim(); ++i) {
        if (layout.shape()[i] == 1) {
            continue;
        }
        axes.push_back({static_cast<std::size_t>(layout.shape()[i]), layout.strides()[i] * item});
        if (axes.back().stride <= 0 && axes.back().extent != 0) {
            refuse("strides above 0");
        }
    }
    if (given < needed) {
        refuse_shape();
    }
    const auto offset = static_cast<std::size_t>(layout.slice_offset_in_bytes());
    const bool is_same = is_of_the_same_numbers(type, layout.itemsize(), array);
    const bool is_bytes = type == dlpack::type_of<std::uint8_t>();
    const bool is_flat = axes.empty() || (axes.size() == 1 && axes.back().stride == item);
    if (is_flat && given == needed && (is_same || is_bytes)) {
        return {.offset = offset};
    }
    if (!is_same || given != needed || bytes % layout.itemsize() != 0) {
        refuse_shape();
    }
    // Takes the last axis, which has `extent` elements. There is none for one element.
    const auto take = [&](std::size_t extent) -> std::int64_t {
        if (extent == 1) {
            return 0;
        }
        if (axes.empty() || axes.back().extent != extent) {
            refuse_shape();
        }
        const std::int64_t stride = axes.back().stride;
        axes.pop_back();
        return stride;
    };
    const std::int64_t channel_stride = take(bytes / layout.itemsize());
    const std::int64_t column_stride = take(box.extent.width / bytes);
    std::int64_t pitch = take(box.extent.height);
    // What is left counts slices: one axis, or several without gaps between them.
    std::size_t slices = 1;
    std::int64_t slice_pitch = 0;
    while (!axes.empty()) {
        const Axis axis = axes.back();
        axes.pop_back();
        if (slice_pitch != 0 && axis.stride != slice_pitch * static_cast<std::int64_t>(slices)) {
            refuse("slices at equal distances");
        }
        slice_pitch = slice_pitch == 0 ? axis.stride : slice_pitch;
        slices *= axis.extent;
    }
    if (slices != box.extent.depth) {
        refuse_shape();
    }
    if ((channel_stride != 0 && channel_stride != item) ||
        (column_stride != 0 && column_stride != static_cast<std::int64_t>(bytes))) {
        refuse("elements of a row next to each other");
    }
    const auto width = static_cast<std::int64_t>(box.extent.width);
    if (pitch == 0) { // one row in each slice
        pitch = std::max(slice_pitch, width);
    }
    slice_pitch =
        slice_pitch == 0 ? pitch * static_cast<std::int64_t>(box.extent.height) : slice_pitch;
    if (pitch < width || slice_pitch < pitch * static_cast<std::int64_t>(box.extent.height) ||
        slice_pitch % pitch != 0) {
        refuse("rows and slices in order, and slices a whole number of rows apart");
    }
    return {.offset = offset,
            .pitch = static_cast<std::size_t>(pitch),
            .rows_per_slice = static_cast<std::size_t>(slice_pitch / pitch)};
}

/// Returns the elements of this many blocks with `edge` elements, from `first` on in an array with
/// `size` elements. The end of the array can cut off a part of the last block.
std::size_t elements_in(std::size_t blocks, std::size_t edge, std::size_t first, std::size_t size) {
    const std::size_t wanted = blocks * edge;
    const std::size_t whole = std::max<std::size_t>(size, 1);
    const std::size_t left = first < whole ? whole - first : 0;
    return wanted > left && wanted - left < edge ? left : wanted;
}

bool do_overlap(const ArrayBox& left, const ArrayBox& right) {
    const auto meet = [](std::size_t first, std::size_t second, std::size_t count) {
        return first < second + count && second < first + count;
    };
    return meet(left.memory.x, right.memory.x, left.extent.width) &&
           meet(left.memory.y, right.memory.y, left.extent.height) &&
           meet(left.memory.z, right.memory.z, left.extent.depth);
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
        const CUDA_ARRAY3D_DESCRIPTOR& size = own.description;
        const std::size_t edge = own.format->block;
        if (to.width == 0) {
            target_region.width =
                elements_in(origin.extent.width / own.element_bytes(), edge, to.x, size.Width);
        }
        if (to.height == 0) {
            target_region.height = elements_in(origin.extent.height, edge, to.y, size.Height);
        }
        if (to.depth == 0) {
            target_region.depth = origin.extent.depth;
        }
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
                                      dlpack::DataType type, const ArrayRegion& to,
                                      const Stream& stream, const char* name) const {
    const ArrayState& own = detail::open(*this);
    const RegionPlace from = place_of(layout, type, box_of(own, to), own, name);
    copy_from_host_bytes(source, std::numeric_limits<std::size_t>::max(), from, to, stream);
}

void OpaqueArray::copy_to_host_view(void* destination, const StridedLayout& layout,
                                    dlpack::DataType type, const ArrayRegion& from,
                                    const Stream& stream, const char* name) const {
    const ArrayState& own = detail::open(*this);
    const RegionPlace to = place_of(layout, type, box_of(own, from), own, name);
    copy_to_host_bytes(destination, std::numeric_limits<std::size_t>::max(), to, from, stream);
}

} // namespace cuprum
