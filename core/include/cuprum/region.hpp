// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/strided_layout.hpp>

#include <cstddef>
#include <cstdint>

namespace cuprum {

/// The size of a block of bytes: bytes in a row, rows in a slice, and slices.
struct RegionExtent {
    std::size_t width = 0;  // bytes
    std::size_t height = 1; // rows
    std::size_t depth = 1;  // slices
};

/// The place of such a block in a buffer.
struct RegionPlace {
    std::size_t offset = 0;         // bytes from the start of the buffer
    std::size_t pitch = 0;          // bytes from row to row; 0 means without gaps
    std::size_t rows_per_slice = 0; // rows from slice to slice; 0 means without gaps
};

/// Copies a block of bytes from one buffer to another, ordered on `stream`: part of a buffer
/// (height and depth 1), a rectangle, or a box. Returns at once.
///
/// The buffers may lie on different devices or on the host.
/// @throws std::invalid_argument if a block does not lie in its buffer, rows or slices overlap, or
/// source and destination do.
CUPRUM_API void copy_region(const Buffer& destination, const RegionPlace& to, const Buffer& source,
                            const RegionPlace& from, const RegionExtent& extent,
                            const Stream& stream);

/// Fills a rectangle with a repeated 1-, 2- or 4-byte value, ordered on `stream`. Returns at once.
/// @throws std::invalid_argument if the rectangle does not lie in the buffer, or address, pitch or
/// width are not multiples of the value's width, or the depth is not 1.
CUPRUM_API void fill_region(const Buffer& buffer, const RegionPlace& place,
                            const RegionExtent& extent, std::uint8_t value, const Stream& stream);
/// Fills a region with a 2-byte value, ordered on `stream`.
CUPRUM_API void fill_region(const Buffer& buffer, const RegionPlace& place,
                            const RegionExtent& extent, std::uint16_t value, const Stream& stream);
/// Fills a region with a 4-byte value, ordered on `stream`.
CUPRUM_API void fill_region(const Buffer& buffer, const RegionPlace& place,
                            const RegionExtent& extent, std::uint32_t value, const Stream& stream);

/// The most driver calls that one strided copy may take.
inline constexpr std::size_t MAX_STRIDED_COPY_CALLS = 65536;

/// Copies the elements of one array to another of the same shape and element size, ordered on
/// `stream`. Addresses are those that the layouts' offsets count from.
///
/// Contiguous arrays and arrays with regular gaps take one copy. Arrays whose axes are in different
/// orders take several.
/// @throws std::invalid_argument if shapes or element sizes differ, elements of the destination
/// share memory, the arrays overlap (they may interleave if their strides are the same), or it
/// would take more than MAX_STRIDED_COPY_CALLS pieces.
CUPRUM_API void copy_strided(CUdeviceptr destination, const StridedLayout& to, CUdeviceptr source,
                             const StridedLayout& from, const Stream& stream);

} // namespace cuprum
