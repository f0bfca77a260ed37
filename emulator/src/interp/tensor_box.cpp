// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/tensor_box.hpp"

namespace cuprum::emulator {

namespace {

constexpr std::uint32_t BITS_PER_BYTE = 8;
constexpr std::uint32_t LISTED_ROWS = 4;

/// Returns the bits of what dimension 0 counts: elements, or the slices of an interleaved tensor.
std::uint32_t unit_bits(const TensorMap& map) {
    switch (map.interleave) {
    case TensorInterleave::Bytes16:
        return 16 * BITS_PER_BYTE;
    case TensorInterleave::Bytes32:
        return 32 * BITS_PER_BYTE;
    default:
        return element_bits(map.element);
    }
}

/// Returns the first round at which `start` plus `step` times the round is at least 0.
std::uint32_t first_inside(std::int64_t start, std::int64_t step, std::uint32_t count) {
    const std::int64_t first = start >= 0 ? 0 : (-start + step - 1) / step;
    return static_cast<std::uint32_t>(std::min<std::int64_t>(first, count));
}

/// Returns the round after the last one at which the sum is less than `size`.
std::uint32_t end_inside(std::int64_t start, std::int64_t step, std::uint32_t count,
                         std::uint64_t size) {
    const std::int64_t left = static_cast<std::int64_t>(size) - start;
    const std::int64_t end = left <= 0 ? 0 : (left + step - 1) / step;
    return static_cast<std::uint32_t>(std::min<std::int64_t>(end, count));
}

} // namespace

TensorBox::TensorBox(const TensorMap& map, const TensorPlace& place, TensorAccess access)
    : access_(access), element_bits_(unit_bits(map)), base_(map.address) {
    switch (access) {
    case TensorAccess::Tile:
        plan_tile(map, place);
        break;
    case TensorAccess::Im2col:
        plan_pixels(map, place);
        break;
    case TensorAccess::FourRows:
        plan_listed_rows(map, place);
        break;
    }
    pitch_ = map.interleave == TensorInterleave::None ? std::max(row_bytes_, swizzle_span(map))
                                                      : row_bytes_;
}

/// Plans the elements of each row: `count` of them from `coordinate` on, of which the tensor has
/// those below `size`.
void TensorBox::clip_row(std::int32_t coordinate, std::uint32_t count, std::uint64_t size) {
    const std::uint32_t first = first_inside(coordinate, 1, count);
    const std::uint32_t end = end_inside(coordinate, 1, count, size);
    row_bytes_ = count * element_bits_ / BITS_PER_BYTE;
    skipped_ = first * element_bits_ / BITS_PER_BYTE;
    inside_bytes_ = end > first ? (end - first) * element_bits_ / BITS_PER_BYTE : 0;
    const std::int64_t start = std::int64_t{coordinate} + first;
    base_ += static_cast<std::uint64_t>(start * element_bits_ / BITS_PER_BYTE);
}

/// Adds a loop over `extent` elements of one dimension in steps. A step of 0 takes only one.
void TensorBox::add_loop(std::int64_t start, std::int64_t step, std::uint32_t extent,
                         std::uint64_t size, std::uint64_t stride) {
    Loop& loop = loops_[loop_count_++];
    extent = step == 0 ? 1 : extent;
    step = std::max<std::int64_t>(step, 1);
    loop.count = static_cast<std::uint32_t>((extent + step - 1) / step);
    loop.first = first_inside(start, step, loop.count);
    loop.last = end_inside(start, step, loop.count, size);
    loop.step = static_cast<std::uint64_t>(step) * stride;
    base_ += static_cast<std::uint64_t>(start) * stride;
    row_count_ *= loop.count;
}

void TensorBox::plan_tile(const TensorMap& map, const TensorPlace& place) {
    const bool is_interleaved = map.interleave != TensorInterleave::None;
    row_count_ = 1;
    if (is_interleaved && map.element_strides[0] > 1) {
        clip_row(0, 1, 1);
        add_loop(place.coordinates[0], map.element_strides[0], map.box[0], map.dimension(0),
                 row_bytes_);
    } else {
        clip_row(place.coordinates[0], map.box[0], map.dimension(0));
    }
    for (std::uint32_t i = 1; i < map.rank; ++i) {
        const bool counts_slices = is_interleaved && i + 2 == map.rank;
        add_loop(place.coordinates[i], counts_slices ? 1 : map.element_strides[i],
                 counts_slices ? 1 : map.box[i], map.dimension(i), map.strides[i - 1]);
    }
}

void TensorBox::plan_pixels(const TensorMap& map, const TensorPlace& place) {
    const bool is_interleaved = map.interleave != TensorInterleave::None;
    const std::uint32_t first = first_spatial(map);
    if (is_interleaved) {
        clip_row(0, 1, 1);
    } else {
        clip_row(place.coordinates[0], map.channels_per_pixel, map.dimension(0));
    }
    row_count_ = map.pixels_per_column;
    spatial_ = map.rank - 2u;
    for (std::uint32_t i = 0; i < spatial_; ++i) {
        const std::uint32_t dimension = first + i;
        Walk& walk = walks_[i];
        walk.start = place.coordinates[dimension];
        walk.lower = map.lower_corner[i];
        walk.size = static_cast<std::int64_t>(map.dimension(dimension));
        walk.upper = walk.size - 1 + map.upper_corner[i];
        walk.step = std::max<std::int32_t>(map.element_strides[dimension], 1);
        walk.stride = dimension == 0 ? row_bytes_ : map.strides[dimension - 1];
        walk.offset = place.offsets[i];
    }
    if (is_interleaved) {
        const std::int64_t slice = place.coordinates[spatial_];
        const bool is_inside =
            slice >= 0 && slice < static_cast<std::int64_t>(map.dimension(spatial_));
        inside_bytes_ = is_inside ? inside_bytes_ : 0;
        base_ += static_cast<std::uint64_t>(slice) * map.strides[spatial_ - 1];
    }
    image_ = place.coordinates[spatial_ + 1];
    image_count_ = static_cast<std::int64_t>(map.dimension(spatial_ + 1));
    image_stride_ = map.strides[spatial_];
}

void TensorBox::plan_listed_rows(const TensorMap& map, const TensorPlace& place) {
    clip_row(place.coordinates[0], map.box[0], map.dimension(0));
    row_count_ = LISTED_ROWS;
    std::copy_n(place.coordinates.begin() + 1, LISTED_ROWS, listed_rows_.begin());
    image_count_ = static_cast<std::int64_t>(map.dimension(1));
    image_stride_ = map.strides[0];
}

std::uint32_t first_spatial(const TensorMap& map) {
    return map.interleave == TensorInterleave::None ? 1 : 0;
}

std::uint32_t swizzle_span(const TensorMap& map) {
    switch (map.swizzle) {
    case TensorSwizzle::Bytes32:
        return 32;
    case TensorSwizzle::Bytes64:
        return 64;
    case TensorSwizzle::Bytes128:
        return 128;
    default:
        return 0;
    }
}

SharedSwizzle SharedSwizzle::of(const TensorMap& map) {
    switch (map.swizzle) {
    case TensorSwizzle::Bytes32:
        return {.mask = 0x10, .shift = 3};
    case TensorSwizzle::Bytes64:
        return {.mask = 0x30, .shift = 3};
    case TensorSwizzle::Bytes128:
        break;
    default:
        return {};
    }
    switch (map.swizzle_atom) {
    case TensorSwizzleAtom::Bytes16:
        return {.mask = 0x70, .shift = 3};
    case TensorSwizzleAtom::Bytes32:
        return {.mask = 0x60, .shift = 2};
    case TensorSwizzleAtom::Bytes32Flip8:
        return {.mask = 0x60, .shift = 2, .flips = true};
    case TensorSwizzleAtom::Bytes64:
        return {.mask = 0x40, .shift = 1};
    }
    return {};
}

} // namespace cuprum::emulator
