// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/texture/array_format.hpp>

#include "support/text.hpp"

#include <cuda.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace cuprum {

namespace {

using enum ArrayFormat;

static_assert(static_cast<int>(UInt8) == CU_AD_FORMAT_UNSIGNED_INT8);
static_assert(static_cast<int>(Float32) == CU_AD_FORMAT_FLOAT);
static_assert(static_cast<int>(SnormInt16x4) == CU_AD_FORMAT_SNORM_INT16X4);
static_assert(static_cast<int>(BC7UnormSrgb) == CU_AD_FORMAT_BC7_UNORM_SRGB);
static_assert(static_cast<int>(NV12) == CU_AD_FORMAT_NV12);
static_assert(static_cast<int>(YUV444SemiPlanar16) == CU_AD_FORMAT_YUV444_16bit_SemiPlanar);
static_assert(static_cast<int>(UnormInt101010x2) == CU_AD_FORMAT_UNORM_INT_101010_2);

constexpr auto I8 = dlpack::type_of<std::int8_t>();
constexpr auto I16 = dlpack::type_of<std::int16_t>();
constexpr auto I32 = dlpack::type_of<std::int32_t>();
constexpr auto U8 = dlpack::type_of<std::uint8_t>(); // also the bytes of blocks and planes
constexpr auto U16 = dlpack::type_of<std::uint16_t>();
constexpr auto U32 = dlpack::type_of<std::uint32_t>();
constexpr dlpack::DataType F16{dlpack::TypeCode::Float, 16, 1};
constexpr auto F32 = dlpack::type_of<float>();

constexpr auto FORMATS = std::to_array<ArrayFormatInfo>({
    {UInt8, "uint8", U8, 0, 1, 1, 1, true},
    {UInt16, "uint16", U16, 0, 2, 1, 1, true},
    {UInt32, "uint32", U32, 0, 4, 1, 1, true},
    {Int8, "int8", I8, 0, 1, 1, 1, true},
    {Int16, "int16", I16, 0, 2, 1, 1, true},
    {Int32, "int32", I32, 0, 4, 1, 1, true},
    {Float16, "float16", F16, 0, 2},
    {Float32, "float32", F32, 0, 4},
    {UnormInt8x1, "unorm_int8x1", U8, 1, 1},
    {UnormInt8x2, "unorm_int8x2", U8, 2, 2},
    {UnormInt8x4, "unorm_int8x4", U8, 4, 4},
    {UnormInt16x1, "unorm_int16x1", U16, 1, 2},
    {UnormInt16x2, "unorm_int16x2", U16, 2, 4},
    {UnormInt16x4, "unorm_int16x4", U16, 4, 8},
    {SnormInt8x1, "snorm_int8x1", I8, 1, 1},
    {SnormInt8x2, "snorm_int8x2", I8, 2, 2},
    {SnormInt8x4, "snorm_int8x4", I8, 4, 4},
    {SnormInt16x1, "snorm_int16x1", I16, 1, 2},
    {SnormInt16x2, "snorm_int16x2", I16, 2, 4},
    {SnormInt16x4, "snorm_int16x4", I16, 4, 8},
    {UnormInt101010x2, "unorm_int_101010_2", U32, 4, 4},
    {BC1Unorm, "bc1_unorm", U8, 4, 8, 4},
    {BC1UnormSrgb, "bc1_unorm_srgb", U8, 4, 8, 4, 1, false, true},
    {BC2Unorm, "bc2_unorm", U8, 4, 16, 4},
    {BC2UnormSrgb, "bc2_unorm_srgb", U8, 4, 16, 4, 1, false, true},
    {BC3Unorm, "bc3_unorm", U8, 4, 16, 4},
    {BC3UnormSrgb, "bc3_unorm_srgb", U8, 4, 16, 4, 1, false, true},
    {BC4Unorm, "bc4_unorm", U8, 1, 8, 4},
    {BC4Snorm, "bc4_snorm", U8, 1, 8, 4},
    {BC5Unorm, "bc5_unorm", U8, 2, 16, 4},
    {BC5Snorm, "bc5_snorm", U8, 2, 16, 4},
    {BC6HUnsigned, "bc6h_uf16", U8, 3, 16, 4},
    {BC6HSigned, "bc6h_sf16", U8, 3, 16, 4},
    {BC7Unorm, "bc7_unorm", U8, 4, 16, 4},
    {BC7UnormSrgb, "bc7_unorm_srgb", U8, 4, 16, 4, 1, false, true},
    {NV12, "nv12", U8, 3, 0, 1, 2, false, false, true},
    {P010, "p010", U8, 3, 0, 1, 2, false, false, true},
    {P016, "p016", U8, 3, 0, 1, 2, false, false, true},
    {NV16, "nv16", U8, 3, 0, 1, 2, false, false, true},
    {P210, "p210", U8, 3, 0, 1, 2, false, false, true},
    {P216, "p216", U8, 3, 0, 1, 2, false, false, true},
    {YUY2, "yuy2", U8, 4, 4, 1, 1, false, false, true},
    {Y210, "y210", U16, 2, 4, 1, 1, false, false, true},
    {Y216, "y216", U16, 2, 4, 1, 1, false, false, true},
    {AYUV, "ayuv", U8, 4, 4, 1, 1, false, false, true},
    {Y410, "y410", U32, 1, 4, 1, 1, false, false, true},
    {Y416, "y416", U16, 4, 8, 1, 1, false, false, true},
    {Y444Planar8, "y444_planar8", U8, 3, 0, 1, 3, false, false, true},
    {Y444Planar10, "y444_planar10", U8, 3, 0, 1, 3, false, false, true},
    {YUV444SemiPlanar8, "yuv444_8bit_semiplanar", U8, 3, 0, 1, 2, false, false, true},
    {YUV444SemiPlanar16, "yuv444_16bit_semiplanar", U8, 3, 0, 1, 2, false, false, true},
});

const ArrayFormatInfo* find_format(ArrayFormat format) noexcept {
    const auto* const place = std::ranges::find(FORMATS, format, &ArrayFormatInfo::format);
    return place != FORMATS.end() ? place : nullptr;
}

} // namespace

const ArrayFormatInfo& info_of(ArrayFormat format) {
    const ArrayFormatInfo* const found = find_format(format);
    if (found == nullptr) {
        throw std::invalid_argument("format is " + to_string(format) +
                                    ", expected a value of ArrayFormat");
    }
    return *found;
}

std::span<const ArrayFormatInfo> array_formats() noexcept {
    return FORMATS;
}

std::string to_string(ArrayFormat format) {
    const ArrayFormatInfo* const found = find_format(format);
    return found != nullptr ? found->name
                            : "format " + detail::hexadecimal(static_cast<std::uintptr_t>(format));
}

} // namespace cuprum
