// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/textures/format.hpp"

#include "objects/process/error.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace cuprum::emulator {

namespace {

using enum ArrayFormat::Layout;

/// Formats of video frames, which texture instructions cannot read but plane by plane.
constexpr ArrayFormat video(CUarray_format id, const char* name, ArrayFormat::Layout layout,
                            std::uint8_t bytes, std::uint8_t channels) {
    return {id, name, layout, bytes, channels, TexelFormat::U8, false, true};
}

constexpr std::array FORMATS{
    ArrayFormat{CU_AD_FORMAT_UNSIGNED_INT8, "UNSIGNED_INT8", Plain, 1, 0, TexelFormat::U8},
    ArrayFormat{CU_AD_FORMAT_UNSIGNED_INT16, "UNSIGNED_INT16", Plain, 2, 0, TexelFormat::U16},
    ArrayFormat{CU_AD_FORMAT_UNSIGNED_INT32, "UNSIGNED_INT32", Plain, 4, 0, TexelFormat::U32},
    ArrayFormat{CU_AD_FORMAT_SIGNED_INT8, "SIGNED_INT8", Plain, 1, 0, TexelFormat::S8},
    ArrayFormat{CU_AD_FORMAT_SIGNED_INT16, "SIGNED_INT16", Plain, 2, 0, TexelFormat::S16},
    ArrayFormat{CU_AD_FORMAT_SIGNED_INT32, "SIGNED_INT32", Plain, 4, 0, TexelFormat::S32},
    ArrayFormat{CU_AD_FORMAT_HALF, "HALF", Plain, 2, 0, TexelFormat::F16},
    ArrayFormat{CU_AD_FORMAT_FLOAT, "FLOAT", Plain, 4, 0, TexelFormat::F32},
    ArrayFormat{CU_AD_FORMAT_UNORM_INT8X1, "UNORM_INT8X1", Packed, 1, 1, TexelFormat::Unorm8},
    ArrayFormat{CU_AD_FORMAT_UNORM_INT8X2, "UNORM_INT8X2", Packed, 2, 2, TexelFormat::Unorm8},
    ArrayFormat{CU_AD_FORMAT_UNORM_INT8X4, "UNORM_INT8X4", Packed, 4, 4, TexelFormat::Unorm8},
    ArrayFormat{CU_AD_FORMAT_UNORM_INT16X1, "UNORM_INT16X1", Packed, 2, 1, TexelFormat::Unorm16},
    ArrayFormat{CU_AD_FORMAT_UNORM_INT16X2, "UNORM_INT16X2", Packed, 4, 2, TexelFormat::Unorm16},
    ArrayFormat{CU_AD_FORMAT_UNORM_INT16X4, "UNORM_INT16X4", Packed, 8, 4, TexelFormat::Unorm16},
    ArrayFormat{CU_AD_FORMAT_SNORM_INT8X1, "SNORM_INT8X1", Packed, 1, 1, TexelFormat::Snorm8},
    ArrayFormat{CU_AD_FORMAT_SNORM_INT8X2, "SNORM_INT8X2", Packed, 2, 2, TexelFormat::Snorm8},
    ArrayFormat{CU_AD_FORMAT_SNORM_INT8X4, "SNORM_INT8X4", Packed, 4, 4, TexelFormat::Snorm8},
    ArrayFormat{CU_AD_FORMAT_SNORM_INT16X1, "SNORM_INT16X1", Packed, 2, 1, TexelFormat::Snorm16},
    ArrayFormat{CU_AD_FORMAT_SNORM_INT16X2, "SNORM_INT16X2", Packed, 4, 2, TexelFormat::Snorm16},
    ArrayFormat{CU_AD_FORMAT_SNORM_INT16X4, "SNORM_INT16X4", Packed, 8, 4, TexelFormat::Snorm16},
    ArrayFormat{CU_AD_FORMAT_UNORM_INT_101010_2, "UNORM_INT_101010_2", Packed, 4, 4,
                TexelFormat::Unorm10x3A2},
    ArrayFormat{CU_AD_FORMAT_BC1_UNORM, "BC1_UNORM", Blocks, 8, 4, TexelFormat::Bc1},
    ArrayFormat{CU_AD_FORMAT_BC1_UNORM_SRGB, "BC1_UNORM_SRGB", Blocks, 8, 4, TexelFormat::Bc1,
                true},
    ArrayFormat{CU_AD_FORMAT_BC2_UNORM, "BC2_UNORM", Blocks, 16, 4, TexelFormat::Bc2},
    ArrayFormat{CU_AD_FORMAT_BC2_UNORM_SRGB, "BC2_UNORM_SRGB", Blocks, 16, 4, TexelFormat::Bc2,
                true},
    ArrayFormat{CU_AD_FORMAT_BC3_UNORM, "BC3_UNORM", Blocks, 16, 4, TexelFormat::Bc3},
    ArrayFormat{CU_AD_FORMAT_BC3_UNORM_SRGB, "BC3_UNORM_SRGB", Blocks, 16, 4, TexelFormat::Bc3,
                true},
    ArrayFormat{CU_AD_FORMAT_BC4_UNORM, "BC4_UNORM", Blocks, 8, 1, TexelFormat::Bc4Unorm},
    ArrayFormat{CU_AD_FORMAT_BC4_SNORM, "BC4_SNORM", Blocks, 8, 1, TexelFormat::Bc4Snorm},
    ArrayFormat{CU_AD_FORMAT_BC5_UNORM, "BC5_UNORM", Blocks, 16, 2, TexelFormat::Bc5Unorm},
    ArrayFormat{CU_AD_FORMAT_BC5_SNORM, "BC5_SNORM", Blocks, 16, 2, TexelFormat::Bc5Snorm},
    ArrayFormat{CU_AD_FORMAT_BC6H_UF16, "BC6H_UF16", Blocks, 16, 3, TexelFormat::Bc6hUnsigned},
    ArrayFormat{CU_AD_FORMAT_BC6H_SF16, "BC6H_SF16", Blocks, 16, 3, TexelFormat::Bc6hSigned},
    ArrayFormat{CU_AD_FORMAT_BC7_UNORM, "BC7_UNORM", Blocks, 16, 4, TexelFormat::Bc7},
    ArrayFormat{CU_AD_FORMAT_BC7_UNORM_SRGB, "BC7_UNORM_SRGB", Blocks, 16, 4, TexelFormat::Bc7,
                true},
    video(CU_AD_FORMAT_NV12, "NV12", Planes, 0, 3),
    video(CU_AD_FORMAT_P010, "P010", Planes, 0, 3),
    video(CU_AD_FORMAT_P016, "P016", Planes, 0, 3),
    video(CU_AD_FORMAT_NV16, "NV16", Planes, 0, 3),
    video(CU_AD_FORMAT_P210, "P210", Planes, 0, 3),
    video(CU_AD_FORMAT_P216, "P216", Planes, 0, 3),
    video(CU_AD_FORMAT_YUY2, "YUY2", Packed, 2, 4),
    video(CU_AD_FORMAT_Y210, "Y210", Packed, 4, 2),
    video(CU_AD_FORMAT_Y216, "Y216", Packed, 4, 2),
    video(CU_AD_FORMAT_AYUV, "AYUV", Packed, 4, 4),
    video(CU_AD_FORMAT_Y410, "Y410", Packed, 4, 1),
    video(CU_AD_FORMAT_Y416, "Y416", Packed, 8, 4),
    video(CU_AD_FORMAT_Y444_PLANAR8, "Y444_PLANAR8", Planes, 0, 3),
    video(CU_AD_FORMAT_Y444_PLANAR10, "Y444_PLANAR10", Planes, 0, 3),
    video(CU_AD_FORMAT_YUV444_8bit_SemiPlanar, "YUV444_8bit_SemiPlanar", Planes, 0, 3),
    video(CU_AD_FORMAT_YUV444_16bit_SemiPlanar, "YUV444_16bit_SemiPlanar", Planes, 0, 3),
};

constexpr auto BYTES = CU_AD_FORMAT_UNSIGNED_INT8;
constexpr auto WORDS = CU_AD_FORMAT_UNSIGNED_INT16;
constexpr std::array SEMI_8_420{FormatPlane{BYTES, 1, 0, 0}, FormatPlane{BYTES, 2, 1, 1}};
constexpr std::array SEMI_16_420{FormatPlane{WORDS, 1, 0, 0}, FormatPlane{WORDS, 2, 1, 1}};
constexpr std::array SEMI_8_422{FormatPlane{BYTES, 1, 0, 0}, FormatPlane{BYTES, 2, 1, 0}};
constexpr std::array SEMI_16_422{FormatPlane{WORDS, 1, 0, 0}, FormatPlane{WORDS, 2, 1, 0}};
constexpr std::array SEMI_8_444{FormatPlane{BYTES, 1, 0, 0}, FormatPlane{BYTES, 2, 0, 0}};
constexpr std::array SEMI_16_444{FormatPlane{WORDS, 1, 0, 0}, FormatPlane{WORDS, 2, 0, 0}};
constexpr std::array PLANAR_8{FormatPlane{BYTES, 1, 0, 0}, FormatPlane{BYTES, 1, 0, 0},
                              FormatPlane{BYTES, 1, 0, 0}};
constexpr std::array PLANAR_16{FormatPlane{WORDS, 1, 0, 0}, FormatPlane{WORDS, 1, 0, 0},
                               FormatPlane{WORDS, 1, 0, 0}};

constexpr std::array VIEW_FORMATS{
    ViewFormat{CU_RES_VIEW_FORMAT_UINT_1X8, TexelFormat::U8, 1, 1},
    ViewFormat{CU_RES_VIEW_FORMAT_UINT_2X8, TexelFormat::U8, 2, 2},
    ViewFormat{CU_RES_VIEW_FORMAT_UINT_4X8, TexelFormat::U8, 4, 4},
    ViewFormat{CU_RES_VIEW_FORMAT_SINT_1X8, TexelFormat::S8, 1, 1},
    ViewFormat{CU_RES_VIEW_FORMAT_SINT_2X8, TexelFormat::S8, 2, 2},
    ViewFormat{CU_RES_VIEW_FORMAT_SINT_4X8, TexelFormat::S8, 4, 4},
    ViewFormat{CU_RES_VIEW_FORMAT_UINT_1X16, TexelFormat::U16, 1, 2},
    ViewFormat{CU_RES_VIEW_FORMAT_UINT_2X16, TexelFormat::U16, 2, 4},
    ViewFormat{CU_RES_VIEW_FORMAT_UINT_4X16, TexelFormat::U16, 4, 8},
    ViewFormat{CU_RES_VIEW_FORMAT_SINT_1X16, TexelFormat::S16, 1, 2},
    ViewFormat{CU_RES_VIEW_FORMAT_SINT_2X16, TexelFormat::S16, 2, 4},
    ViewFormat{CU_RES_VIEW_FORMAT_SINT_4X16, TexelFormat::S16, 4, 8},
    ViewFormat{CU_RES_VIEW_FORMAT_UINT_1X32, TexelFormat::U32, 1, 4},
    ViewFormat{CU_RES_VIEW_FORMAT_UINT_2X32, TexelFormat::U32, 2, 8},
    ViewFormat{CU_RES_VIEW_FORMAT_UINT_4X32, TexelFormat::U32, 4, 16},
    ViewFormat{CU_RES_VIEW_FORMAT_SINT_1X32, TexelFormat::S32, 1, 4},
    ViewFormat{CU_RES_VIEW_FORMAT_SINT_2X32, TexelFormat::S32, 2, 8},
    ViewFormat{CU_RES_VIEW_FORMAT_SINT_4X32, TexelFormat::S32, 4, 16},
    ViewFormat{CU_RES_VIEW_FORMAT_FLOAT_1X16, TexelFormat::F16, 1, 2},
    ViewFormat{CU_RES_VIEW_FORMAT_FLOAT_2X16, TexelFormat::F16, 2, 4},
    ViewFormat{CU_RES_VIEW_FORMAT_FLOAT_4X16, TexelFormat::F16, 4, 8},
    ViewFormat{CU_RES_VIEW_FORMAT_FLOAT_1X32, TexelFormat::F32, 1, 4},
    ViewFormat{CU_RES_VIEW_FORMAT_FLOAT_2X32, TexelFormat::F32, 2, 8},
    ViewFormat{CU_RES_VIEW_FORMAT_FLOAT_4X32, TexelFormat::F32, 4, 16},
    ViewFormat{CU_RES_VIEW_FORMAT_UNSIGNED_BC1, TexelFormat::Bc1, 4, 8},
    ViewFormat{CU_RES_VIEW_FORMAT_UNSIGNED_BC2, TexelFormat::Bc2, 4, 16},
    ViewFormat{CU_RES_VIEW_FORMAT_UNSIGNED_BC3, TexelFormat::Bc3, 4, 16},
    ViewFormat{CU_RES_VIEW_FORMAT_UNSIGNED_BC4, TexelFormat::Bc4Unorm, 1, 8},
    ViewFormat{CU_RES_VIEW_FORMAT_SIGNED_BC4, TexelFormat::Bc4Snorm, 1, 8},
    ViewFormat{CU_RES_VIEW_FORMAT_UNSIGNED_BC5, TexelFormat::Bc5Unorm, 2, 16},
    ViewFormat{CU_RES_VIEW_FORMAT_SIGNED_BC5, TexelFormat::Bc5Snorm, 2, 16},
    ViewFormat{CU_RES_VIEW_FORMAT_UNSIGNED_BC6H, TexelFormat::Bc6hUnsigned, 3, 16},
    ViewFormat{CU_RES_VIEW_FORMAT_SIGNED_BC6H, TexelFormat::Bc6hSigned, 3, 16},
    ViewFormat{CU_RES_VIEW_FORMAT_UNSIGNED_BC7, TexelFormat::Bc7, 4, 16},
};

} // namespace

const ArrayFormat* find_format(CUarray_format id) noexcept {
    const auto* const found = std::ranges::find(FORMATS, id, &ArrayFormat::id);
    return found == FORMATS.end() ? nullptr : found;
}

const ArrayFormat& format_from(CUarray_format id) {
    const ArrayFormat* const found = find_format(id);
    if (found == nullptr) {
        fail(CUDA_ERROR_INVALID_VALUE,
             "unknown array format " + std::to_string(static_cast<int>(id)));
    }
    return *found;
}

const ArrayFormat& format_from(CUarray_format id, unsigned channels) {
    const ArrayFormat& format = format_from(id);
    if (!format.allows_channels(channels)) {
        fail(CUDA_ERROR_INVALID_VALUE,
             std::string("arrays of format CU_AD_FORMAT_") + format.name + " have " +
                 (format.channels == 0 ? "1, 2 or 4" : std::to_string(format.channels)) +
                 (format.channels == 1 ? " channel, not " : " channels, not ") +
                 std::to_string(channels));
    }
    return format;
}

std::span<const FormatPlane> planes_of(CUarray_format id) noexcept {
    switch (id) {
    case CU_AD_FORMAT_NV12:
        return SEMI_8_420;
    case CU_AD_FORMAT_P010:
    case CU_AD_FORMAT_P016:
        return SEMI_16_420;
    case CU_AD_FORMAT_NV16:
        return SEMI_8_422;
    case CU_AD_FORMAT_P210:
    case CU_AD_FORMAT_P216:
        return SEMI_16_422;
    case CU_AD_FORMAT_YUV444_8bit_SemiPlanar:
        return SEMI_8_444;
    case CU_AD_FORMAT_YUV444_16bit_SemiPlanar:
        return SEMI_16_444;
    case CU_AD_FORMAT_Y444_PLANAR8:
        return PLANAR_8;
    case CU_AD_FORMAT_Y444_PLANAR10:
        return PLANAR_16;
    default:
        return {};
    }
}

std::uint64_t max_linear_texels(CUarray_format id, unsigned channels) {
    constexpr std::uint64_t most_texels = std::uint64_t{1} << 30;
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 32;
    const std::uint32_t bytes = format_from(id, channels).texel_bytes(channels);
    return bytes == 0 ? most_texels : std::min(most_texels, most_bytes / bytes);
}

const ViewFormat& view_format_from(CUresourceViewFormat id) {
    const auto* const found = std::ranges::find(VIEW_FORMATS, id, &ViewFormat::id);
    if (found == VIEW_FORMATS.end()) {
        fail(CUDA_ERROR_INVALID_VALUE,
             "unknown format " + std::to_string(static_cast<int>(id)) + " of a resource view");
    }
    return *found;
}

} // namespace cuprum::emulator
