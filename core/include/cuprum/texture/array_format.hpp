// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/dlpack.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace cuprum {

/// The format of an array's elements, with the driver's numbers.
///
/// The first eight formats have 1, 2 or 4 channels. All others fix the number of their channels.
enum class ArrayFormat : std::uint32_t {
    UInt8 = 0x01,
    UInt16 = 0x02,
    UInt32 = 0x03,
    Int8 = 0x08,
    Int16 = 0x09,
    Int32 = 0x0a,
    Float16 = 0x10,
    Float32 = 0x20,

    // Integers that are read as numbers from 0 to 1, or from -1 to 1.
    UnormInt8x1 = 0xc0,
    UnormInt8x2 = 0xc1,
    UnormInt8x4 = 0xc2,
    UnormInt16x1 = 0xc3,
    UnormInt16x2 = 0xc4,
    UnormInt16x4 = 0xc5,
    SnormInt8x1 = 0xc6,
    SnormInt8x2 = 0xc7,
    SnormInt8x4 = 0xc8,
    SnormInt16x1 = 0xc9,
    SnormInt16x2 = 0xca,
    SnormInt16x4 = 0xcb,
    UnormInt101010x2 = 0x50, // red, green and blue of 10 bits, alpha of 2

    // Compressed blocks of 4 by 4 elements.
    BC1Unorm = 0x91,
    BC1UnormSrgb = 0x92,
    BC2Unorm = 0x93,
    BC2UnormSrgb = 0x94,
    BC3Unorm = 0x95,
    BC3UnormSrgb = 0x96,
    BC4Unorm = 0x97,
    BC4Snorm = 0x98,
    BC5Unorm = 0x99,
    BC5Snorm = 0x9a,
    BC6HUnsigned = 0x9b, // half-precision numbers
    BC6HSigned = 0x9c,
    BC7Unorm = 0x9d,
    BC7UnormSrgb = 0x9e,

    // Video: brightness and colour, in several planes or packed into one.
    NV12 = 0xb0,
    P010 = 0x9f,
    P016 = 0xa1,
    NV16 = 0xa2,
    P210 = 0xa3,
    P216 = 0xa4,
    YUY2 = 0xa5,
    Y210 = 0xa6,
    Y216 = 0xa7,
    AYUV = 0xa8,
    Y410 = 0xa9,
    Y416 = 0xb1,
    Y444Planar8 = 0xb2,
    Y444Planar10 = 0xb3,
    YUV444SemiPlanar8 = 0xb4,
    YUV444SemiPlanar16 = 0xb5,
};

/// What an ArrayFormat means.
struct ArrayFormatInfo {
    ArrayFormat format = ArrayFormat::Float32; // the format itself
    const char* name = "";                     // as Python spells it, "float32"
    dlpack::DataType number = {};              // of which elements are made up, as copies see it
    unsigned num_channels = 0;                 // 0 if the array chooses 1, 2 or 4
    unsigned bytes = 0;      // of one channel if the array chooses, else of an element or block
    unsigned block = 1;      // elements along an edge of a block
    unsigned num_planes = 1; // a video format can have several arrays in one
    bool is_integer = false; // whether kernels can read it as integers
    bool is_srgb = false;    // whether the format itself says that it holds sRGB
    bool is_video = false;   // whether arrays of it need is_video
};

/// Returns what is known about a format.
/// @throws std::invalid_argument if there is no such format.
[[nodiscard]] CUPRUM_API const ArrayFormatInfo& info_of(ArrayFormat format);

/// Returns all formats.
[[nodiscard]] CUPRUM_API std::span<const ArrayFormatInfo> array_formats() noexcept;

/// Returns the name, "float32"; "format 0x.." for a number that is no format.
[[nodiscard]] CUPRUM_API std::string to_string(ArrayFormat format);

} // namespace cuprum
