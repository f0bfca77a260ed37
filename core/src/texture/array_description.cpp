// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_state.hpp"
#include "driver/call.hpp"
#include "memory/allocation.hpp"
#include "support/text.hpp"
#include "texture/states.hpp"

#include <cuprum/texture/array_format.hpp>

#include <cuda.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cuprum {

namespace {

constexpr unsigned CUBE_FACES = 6;

/// A limit of a device: the largest size in one direction.
struct SizeLimit {
    std::size_t size = 0;
    std::string what;     // "width"
    std::string property; // the name of the device's property
};

using Limits = std::vector<SizeLimit>;

/// The ways in which an option sets a flag.
constexpr std::array<std::pair<bool OpaqueArrayOptions::*, unsigned>, 8> ARRAY_FLAGS{{
    {&OpaqueArrayOptions::is_cubemap, CUDA_ARRAY3D_CUBEMAP},
    {&OpaqueArrayOptions::is_surface_load_store, CUDA_ARRAY3D_SURFACE_LDST},
    {&OpaqueArrayOptions::is_texture_gather, CUDA_ARRAY3D_TEXTURE_GATHER},
    {&OpaqueArrayOptions::is_depth_texture, CUDA_ARRAY3D_DEPTH_TEXTURE},
    {&OpaqueArrayOptions::is_color_attachment, CUDA_ARRAY3D_COLOR_ATTACHMENT},
    {&OpaqueArrayOptions::is_sparse, CUDA_ARRAY3D_SPARSE},
    {&OpaqueArrayOptions::is_deferred_mapping, CUDA_ARRAY3D_DEFERRED_MAPPING},
    {&OpaqueArrayOptions::is_video, CUDA_ARRAY3D_VIDEO_ENCODE_DECODE},
}};

Limits size_limits(const CUDA_ARRAY3D_DESCRIPTOR& array, const std::string& use,
                   const std::string& kind, const std::string& suffix = {});

void check_extent(const OpaqueArrayOptions& options) {
    const ArrayExtent& extent = options.extent;
    const auto refuse = [](const std::string& text) { throw std::invalid_argument(text); };
    if (extent.width == 0) {
        refuse("width is 0, expected at least 1 element");
    }
    if (extent.depth != 0 && extent.height == 0) {
        refuse("height is 0 and depth is " + std::to_string(extent.depth) +
               ", expected a height: a depth needs all three sizes");
    }
    if (extent.depth != 0 && options.num_layers != 0) {
        refuse("depth is " + std::to_string(extent.depth) + " and num_layers is " +
               std::to_string(options.num_layers) +
               ", expected one of them: only 1-D and 2-D arrays have layers");
    }
    if (options.is_cubemap && extent.depth != 0) {
        refuse("depth is " + std::to_string(extent.depth) +
               ", expected none: a cubemap has six 2-D faces");
    }
    if (options.is_cubemap && extent.width != extent.height) {
        refuse("width is " + std::to_string(extent.width) + " and height is " +
               std::to_string(extent.height) +
               ", expected equal ones: faces of a cubemap are square");
    }
    const bool is_plain_2d =
        extent.height != 0 && extent.depth == 0 && options.num_layers == 0 && !options.is_cubemap;
    if (options.is_texture_gather && !is_plain_2d) {
        refuse("is_texture_gather is set, expected it only for a 2-D array without layers; this "
               "one has " +
               to_string(extent) + " elements");
    }
}

unsigned checked_channels(const OpaqueArrayOptions& options) {
    const ArrayFormatInfo& format = info_of(options.format);
    const unsigned wanted = options.num_channels;
    if (wanted == 0) {
        return std::max(format.num_channels, 1U);
    }
    const bool is_known = format.num_channels == 0 ? wanted == 1 || wanted == 2 || wanted == 4
                                                   : wanted == format.num_channels;
    if (!is_known) {
        throw std::invalid_argument(
            "num_channels is " + std::to_string(wanted) + ", expected " +
            (format.num_channels == 0 ? "1, 2 or 4" : std::to_string(format.num_channels)) +
            " for the format " + format.name);
    }
    return wanted;
}

/// Returns the sizes of an array with the properties that limit them: "maximum_", the use
/// ("texture" or "surface"), the dimensions, the kind ("mipmapped_"), the direction, and the
/// suffix.
Limits size_limits(const CUDA_ARRAY3D_DESCRIPTOR& array, const std::string& use,
                   const std::string& kind, const std::string& suffix) {
    const bool is_layered = (array.Flags & CUDA_ARRAY3D_LAYERED) != 0;
    const bool is_cubemap = (array.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
    const std::string dimensions = is_cubemap                       ? "cubemap"
                                   : array.Height == 0              ? "1d"
                                   : array.Depth == 0 || is_layered ? "2d"
                                                                    : "3d";
    const std::string start =
        "maximum_" + use + dimensions + "_" + (is_layered ? "layered_" : kind);
    Limits limits{{array.Width, "width", start + "width" + suffix}};
    if (array.Height != 0 && !is_cubemap) {
        limits.push_back({array.Height, "height", start + "height" + suffix});
    }
    if (is_layered) {
        limits.push_back(
            {array.Depth, is_cubemap ? "num_layers times 6" : "num_layers", start + "layers"});
    } else if (dimensions == "3d") {
        limits.push_back({array.Depth, "depth", start + "depth" + suffix});
    }
    return limits;
}

/// Returns a sentence about the first size over its limit; empty if there is none.
std::string exceeded_limit(const Limits& limits, const Device& device) {
    for (const SizeLimit& limit : limits) {
        const int most = device.properties().get(limit.property, 0);
        if (most > 0 && limit.size > static_cast<std::size_t>(most)) {
            return limit.what + " is " + std::to_string(limit.size) + ", expected at most " +
                   std::to_string(most) + ": the " + limit.property + " of device " +
                   std::to_string(device.ordinal());
        }
    }
    return {};
}

std::string exceeded_texture_limit(const CUDA_ARRAY3D_DESCRIPTOR& array, bool is_mipmapped,
                                   const Device& device) {
    const bool is_plain = (array.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) == 0;
    if (is_plain && array.Depth != 0) { // 3-D arrays meet one of two sets of limits
        const std::string text = exceeded_limit(size_limits(array, "texture", {}), device);
        return exceeded_limit(size_limits(array, "texture", {}, "_alternate"), device).empty()
                   ? std::string()
                   : text;
    }
    const bool is_gathered = (array.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) != 0;
    const std::string kind = !is_plain      ? ""
                             : is_gathered  ? "gather_"
                             : is_mipmapped ? "mipmapped_"
                                            : "";
    return exceeded_limit(size_limits(array, "texture", kind), device);
}

/// Returns what drivers are known to refuse about an array; empty if there is nothing.
std::string why_refused(const CUDA_ARRAY3D_DESCRIPTOR& array) {
    const ArrayFormatInfo& format = info_of(static_cast<ArrayFormat>(array.Format));
    const std::string name = format.name;
    const auto has = [&](unsigned flag) { return (array.Flags & flag) != 0; };
    if (format.is_video && !has(CUDA_ARRAY3D_VIDEO_ENCODE_DECODE)) {
        return "format is " + name + ", which the driver refuses without is_video";
    }
    if (format.block != 1 && array.Height == 0) {
        return "format is " + name + " and height is 0, expected a height: blocks have two sizes";
    }
    if (format.block != 1 && has(CUDA_ARRAY3D_SURFACE_LDST)) {
        return "is_surface_load_store is set, but the format is " + name +
               "; kernels cannot write compressed blocks";
    }
    if (has(CUDA_ARRAY3D_DEPTH_TEXTURE) || has(CUDA_ARRAY3D_COLOR_ATTACHMENT)) {
        return "is_depth_texture or is_color_attachment is set, which the driver allows only for "
               "memory of a graphics API";
    }
    if (has(CUDA_ARRAY3D_SPARSE) && has(CUDA_ARRAY3D_DEFERRED_MAPPING)) {
        return "is_sparse and is_deferred_mapping are set, expected one of them";
    }
    if (has(CUDA_ARRAY3D_SPARSE) && array.Height == 0) {
        return "is_sparse is set, expected a height: 1-D arrays cannot be sparse";
    }
    return {};
}

} // namespace

CUDA_ARRAY3D_DESCRIPTOR detail::description_of(const OpaqueArrayOptions& options) {
    check_extent(options);
    CUDA_ARRAY3D_DESCRIPTOR made{};
    made.Width = options.extent.width;
    made.Height = options.extent.height;
    made.Depth = options.extent.depth;
    made.Format = static_cast<CUarray_format>(options.format);
    made.NumChannels = checked_channels(options);
    for (const auto& [option, flag] : ARRAY_FLAGS) {
        made.Flags |= options.*option ? flag : 0U;
    }
    if (options.num_layers != 0) {
        made.Flags |= CUDA_ARRAY3D_LAYERED;
        made.Depth = options.num_layers;
    }
    if (options.is_cubemap) {
        made.Depth = std::size_t{CUBE_FACES} * std::max(options.num_layers, 1U);
    }
    return made;
}

OpaqueArrayOptions detail::options_of(const CUDA_ARRAY3D_DESCRIPTOR& description) {
    OpaqueArrayOptions made{.extent = {description.Width, description.Height, description.Depth},
                            .format = static_cast<ArrayFormat>(description.Format),
                            .num_channels = description.NumChannels};
    for (const auto& [option, flag] : ARRAY_FLAGS) {
        made.*option = (description.Flags & flag) != 0;
    }
    const auto layers = static_cast<unsigned>(description.Depth);
    if ((description.Flags & CUDA_ARRAY3D_LAYERED) != 0) {
        made.num_layers = made.is_cubemap ? layers / CUBE_FACES : layers;
    }
    if (made.is_cubemap || made.num_layers != 0) {
        made.extent.depth = 0;
    }
    return made;
}

std::size_t detail::bytes_of(const CUDA_ARRAY3D_DESCRIPTOR& description) {
    const ArrayFormatInfo& format = info_of(static_cast<ArrayFormat>(description.Format));
    const auto blocks = [&](std::size_t elements) {
        return (std::max<std::size_t>(elements, 1) + format.block - 1) / format.block;
    };
    const std::size_t bytes =
        std::size_t{format.bytes} * (format.num_channels == 0 ? description.NumChannels : 1U);
    return blocks(description.Width) * blocks(description.Height) *
           std::max<std::size_t>(description.Depth, 1) * bytes;
}

void detail::raise_array_failure(CUresult status, const char* call,
                                 const CUDA_ARRAY3D_DESCRIPTOR& description, unsigned levels,
                                 DeviceState& device) {
    if (status == CUDA_ERROR_OUT_OF_MEMORY) {
        raise_out_of_memory(call, bytes_of(description), device.ordinal);
    }
    if (status == CUDA_ERROR_INVALID_VALUE) {
        const Device home(device.ordinal);
        std::string text = exceeded_texture_limit(description, levels != 0, home);
        if (text.empty() && (description.Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0) {
            text = exceeded_limit(size_limits(description, "surface", {}), home);
        }
        if (!text.empty()) {
            throw std::invalid_argument(text);
        }
    }
    const std::string hint = why_refused(description);
    if (!hint.empty() &&
        (status == CUDA_ERROR_INVALID_VALUE || status == CUDA_ERROR_NOT_SUPPORTED)) {
        throw std::invalid_argument(hint);
    }
    driver::raise(status, call);
}

void detail::check_deferred(const CUDA_ARRAY3D_DESCRIPTOR& description) {
    if ((description.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) == 0) {
        throw std::invalid_argument("the array was made without is_deferred_mapping: only arrays "
                                    "whose memory is mapped later have requirements");
    }
}

void detail::check_sparse(const CUDA_ARRAY3D_DESCRIPTOR& description) {
    if ((description.Flags & CUDA_ARRAY3D_SPARSE) == 0) {
        throw std::invalid_argument("the array was made without is_sparse: only sparse arrays have "
                                    "tiles");
    }
}

std::string detail::text_of(const CUDA_ARRAY3D_DESCRIPTOR& description) {
    const OpaqueArrayOptions options = options_of(description);
    std::string text = to_string(options.extent) + " of " + to_string(options.format) +
                       " channels=" + std::to_string(options.num_channels);
    text += options.is_cubemap ? " cubemap" : "";
    text += options.num_layers != 0 ? " layers=" + std::to_string(options.num_layers) : "";
    return text;
}

ArraySparseProperties detail::sparse_properties_of(const CUDA_ARRAY_SPARSE_PROPERTIES& found) {
    return {.tile = {found.tileExtent.width, found.tileExtent.height, found.tileExtent.depth},
            .miptail_first_level = found.miptailFirstLevel,
            .miptail_size = found.miptailSize,
            .is_single_miptail = (found.flags & CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL) != 0};
}

std::string to_string(const ArrayExtent& extent) {
    std::string text = std::to_string(extent.width);
    if (extent.height != 0) {
        text += " x " + std::to_string(extent.height);
    }
    if (extent.depth != 0) {
        text += " x " + std::to_string(extent.depth);
    }
    return text;
}

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
