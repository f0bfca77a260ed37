// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which descriptors of arrays are valid, and what they mean in memory.

#include "objects/devices/device.hpp"
#include "objects/process/error.hpp"
#include "objects/textures/array.hpp"

#include <array>
#include <sstream>

namespace cuprum::emulator {

namespace {

constexpr unsigned FACES = 6;
constexpr unsigned KNOWN_FLAGS =
    CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |
    CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_COLOR_ATTACHMENT |
    CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;

constexpr auto NO_LIMIT = static_cast<CUdevice_attribute>(0);

/// The attributes that limit the sides of an array.
struct Limits {
    CUdevice_attribute width;
    CUdevice_attribute height;
    CUdevice_attribute depth;
};

struct ShapeLimits {
    const char* name;
    Limits textures;
    Limits mipmaps;
    Limits surfaces;
};

/// By ImageShape.
constexpr std::array SHAPE_LIMITS{
    ShapeLimits{"1-D",
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, NO_LIMIT, NO_LIMIT},
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, NO_LIMIT, NO_LIMIT},
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH, NO_LIMIT, NO_LIMIT}},
    ShapeLimits{"2-D",
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, NO_LIMIT},
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, NO_LIMIT},
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT, NO_LIMIT}},
    ShapeLimits{
        "3-D",
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
         CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
         CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT,
         CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH}},
    ShapeLimits{"layered 1-D",
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, NO_LIMIT,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS},
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, NO_LIMIT,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS},
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH, NO_LIMIT,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS}},
    ShapeLimits{"layered 2-D",
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS},
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS},
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS}},
    ShapeLimits{"cubemap",
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH, NO_LIMIT},
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH, NO_LIMIT},
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH, NO_LIMIT}},
    ShapeLimits{"layered cubemap",
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS},
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS},
                {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH,
                 CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS}},
};

constexpr Limits GATHER_LIMITS{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH,
                               CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT, NO_LIMIT};
/// 3-D textures may be deeper if they are narrower.
constexpr Limits DEEP_LIMITS{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE,
                             CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE,
                             CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE};

bool is_within(std::size_t value, CUdevice_attribute limit, const Device& device) {
    return limit == NO_LIMIT || value <= static_cast<std::size_t>(device.attribute(limit));
}

bool is_within(const CUDA_ARRAY3D_DESCRIPTOR& sizes, const Limits& limits, const Device& device) {
    return is_within(sizes.Width, limits.width, device) &&
           is_within(sizes.Height, limits.height, device) &&
           is_within(sizes.Depth, limits.depth, device);
}

void check_limits(const CUDA_ARRAY3D_DESCRIPTOR& sizes, const Limits& limits, const char* what,
                  const Device& device) {
    const auto check = [&](const char* field, std::size_t value, CUdevice_attribute limit) {
        if (!is_within(value, limit, device)) {
            fail(CUDA_ERROR_INVALID_VALUE, std::string(field) + " is " + std::to_string(value) +
                                               ", but the device has " + what + " of up to " +
                                               std::to_string(device.attribute(limit)));
        }
    };
    check("Width", sizes.Width, limits.width);
    check("Height", sizes.Height, limits.height);
    check("Depth", sizes.Depth, limits.depth);
}

void check_flags(const CUDA_ARRAY3D_DESCRIPTOR& descriptor, const ArrayFormat& format) {
    const auto has = [&](unsigned flag) { return (descriptor.Flags & flag) != 0; };
    if ((descriptor.Flags & ~KNOWN_FLAGS) != 0) {
        fail(CUDA_ERROR_INVALID_VALUE,
             "unknown flags " + std::to_string(descriptor.Flags & ~KNOWN_FLAGS) + " of an array");
    }
    require(
        !has(CUDA_ARRAY3D_DEPTH_TEXTURE) && !has(CUDA_ARRAY3D_COLOR_ATTACHMENT),
        "CUDA_ARRAY3D_DEPTH_TEXTURE and CUDA_ARRAY3D_COLOR_ATTACHMENT are for arrays of graphics "
        "and external memory only");
    if (format.is_video && !has(CUDA_ARRAY3D_VIDEO_ENCODE_DECODE)) {
        fail(CUDA_ERROR_INVALID_VALUE, std::string("arrays of format CU_AD_FORMAT_") + format.name +
                                           " need CUDA_ARRAY3D_VIDEO_ENCODE_DECODE");
    }
    if (has(CUDA_ARRAY3D_SURFACE_LDST) && format.is_compressed()) {
        fail(CUDA_ERROR_NOT_SUPPORTED, "surfaces cannot have a compressed format");
    }
    require(!has(CUDA_ARRAY3D_SPARSE) || !has(CUDA_ARRAY3D_DEFERRED_MAPPING),
            "an array cannot have both CUDA_ARRAY3D_SPARSE and CUDA_ARRAY3D_DEFERRED_MAPPING");
}

void check_sides(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    const bool is_cube = (descriptor.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
    const bool is_layered = (descriptor.Flags & CUDA_ARRAY3D_LAYERED) != 0;
    require(descriptor.Width != 0, "Width is 0: an array has at least one texel");
    if (is_cube) {
        require(descriptor.Width == descriptor.Height,
                "the faces of a cubemap are square: Width and Height must be equal");
        require(is_layered ? descriptor.Depth != 0 && descriptor.Depth % FACES == 0
                           : descriptor.Depth == FACES,
                is_layered ? "the Depth of layered cubemaps is 6 times the number of cubemaps"
                           : "the Depth of a cubemap is 6");
    } else if (is_layered) {
        require(descriptor.Depth != 0, "Depth is 0: a layered array has at least one layer");
    } else {
        require(descriptor.Height != 0 || descriptor.Depth == 0,
                "Height is 0, but Depth is not: only layered arrays have layers of one dimension");
    }
}

std::uint64_t blocks_of(std::uint64_t texels) {
    return (texels + BLOCK_TEXELS - 1) / BLOCK_TEXELS;
}

} // namespace

ImageShape shape_of(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) noexcept {
    const bool is_layered = (descriptor.Flags & CUDA_ARRAY3D_LAYERED) != 0;
    if ((descriptor.Flags & CUDA_ARRAY3D_CUBEMAP) != 0) {
        return is_layered ? ImageShape::CubeLayers : ImageShape::Cube;
    }
    if (is_layered) {
        return descriptor.Height == 0 ? ImageShape::LineLayers : ImageShape::PlaneLayers;
    }
    return descriptor.Height == 0  ? ImageShape::Line
           : descriptor.Depth == 0 ? ImageShape::Plane
                                   : ImageShape::Volume;
}

void check_descriptor(const CUDA_ARRAY3D_DESCRIPTOR& descriptor, const Device& device,
                      bool is_mipmapped) {
    const ArrayFormat& format = format_from(descriptor.Format, descriptor.NumChannels);
    check_flags(descriptor, format);
    check_sides(descriptor);
    const ImageShape shape = shape_of(descriptor);
    const ShapeLimits& limits = SHAPE_LIMITS[static_cast<std::size_t>(shape)];
    const std::string name = std::string(limits.name) + (is_mipmapped ? " mipmaps" : " arrays");
    if (shape != ImageShape::Volume || !is_within(descriptor, DEEP_LIMITS, device)) {
        check_limits(descriptor, is_mipmapped ? limits.mipmaps : limits.textures, name.c_str(),
                     device);
    }
    if ((descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0) {
        const std::string surfaces = std::string(limits.name) + " surfaces";
        check_limits(descriptor, limits.surfaces, surfaces.c_str(), device);
    }
    if ((descriptor.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) != 0) {
        require(shape == ImageShape::Plane, "only 2-D arrays can be made for texture gather");
        check_limits(descriptor, GATHER_LIMITS, "arrays for texture gather", device);
    }
    require(!format.is_compressed() ||
                (shape != ImageShape::Line && shape != ImageShape::LineLayers),
            "arrays of a compressed format have at least two dimensions");
    require(!format.is_video || (shape == ImageShape::Plane && !is_mipmapped),
            "arrays of a video format are 2-D and have no levels");
    if ((descriptor.Flags & CUDA_ARRAY3D_SPARSE) != 0) {
        require(shape == ImageShape::Plane || shape == ImageShape::Volume ||
                    shape == ImageShape::PlaneLayers,
                "sparse arrays are 2-D, layered 2-D or 3-D");
        fail(CUDA_ERROR_NOT_SUPPORTED, "sparse arrays are not supported by the emulated device");
    }
}

ArrayLayout layout_of(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    const ArrayFormat& format = format_from(descriptor.Format);
    const std::uint64_t height = std::max<std::uint64_t>(descriptor.Height, 1);
    ArrayLayout layout;
    layout.row_bytes = (format.is_compressed() ? blocks_of(descriptor.Width) : descriptor.Width) *
                       format.texel_bytes(descriptor.NumChannels);
    layout.rows = format.is_compressed() ? blocks_of(height) : height;
    layout.slices = std::max<std::uint64_t>(descriptor.Depth, 1);
    return layout;
}

std::string describe(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    std::ostringstream out;
    out << SHAPE_LIMITS[static_cast<std::size_t>(shape_of(descriptor))].name << " array of "
        << descriptor.Width;
    if (descriptor.Height != 0) {
        out << " x " << descriptor.Height;
    }
    if (descriptor.Depth != 0) {
        out << " x " << descriptor.Depth;
    }
    const ArrayFormat* const format = find_format(descriptor.Format);
    out << " " << (format == nullptr ? "unknown" : format->name) << " x " << descriptor.NumChannels;
    return out.str();
}

} // namespace cuprum::emulator
