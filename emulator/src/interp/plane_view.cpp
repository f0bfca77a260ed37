// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/plane_view.hpp"

#include "interp/image_operand.hpp"
#include "interp/sampling.hpp"
#include "interp/texture.hpp"

namespace cuprum::emulator {

namespace {

constexpr std::uint32_t LARGEST_SIZE = 1 << 20;
constexpr std::uint32_t LARGEST_NORMALIZED_SIZE = 32767;        // products have 15 bits
constexpr std::uint64_t LARGEST_BYTES = std::uint64_t{1} << 32; // places of texels have 32 bits

/// Describes the numbers of an image. Returns false if vectors cannot read or filter them.
bool find_numbers(const Image& image, bool is_linear, PlaneView& view) {
    const Sampler& sampler = image.sampler;
    view.channels = image.channels;
    view.texel_bytes = image.texel_bytes;
    view.is_linear = is_linear;
    view.is_signed = image.format == TexelFormat::S8 || image.format == TexelFormat::S16;
    view.reads_integers = sampler.reads_integers;
    switch (image.format) {
    case TexelFormat::U32:
    case TexelFormat::S32:
        view.numbers = PlaneNumbers::Words;
        return !is_linear;
    case TexelFormat::F32:
        view.numbers = PlaneNumbers::Words;
        return true;
    case TexelFormat::F16:
        view.numbers = PlaneNumbers::Halves;
        return true;
    case TexelFormat::U8:
    case TexelFormat::U16:
        view.numbers = image.format == TexelFormat::U8 ? PlaneNumbers::Bytes : PlaneNumbers::Shorts;
        return !is_linear || !sampler.reads_integers;
    case TexelFormat::S8:
    case TexelFormat::S16:
        view.numbers = image.format == TexelFormat::S8 ? PlaneNumbers::Bytes : PlaneNumbers::Shorts;
        return !is_linear && sampler.reads_integers;
    case TexelFormat::Unorm8:
    case TexelFormat::Unorm16:
        view.numbers =
            image.format == TexelFormat::Unorm8 ? PlaneNumbers::Bytes : PlaneNumbers::Shorts;
        view.reads_integers = false;
        return true;
    default:
        return false;
    }
}

AxisMode mode_of(AddressMode mode, bool is_normalized) {
    switch (mode) {
    case AddressMode::Wrap:
        return is_normalized ? AxisMode::Wrap : AxisMode::Clamp;
    case AddressMode::Mirror:
        return is_normalized ? AxisMode::Mirror : AxisMode::Clamp;
    case AddressMode::Border:
        return AxisMode::Border;
    default:
        return AxisMode::Clamp;
    }
}

/// Finds the address modes and the border.
void find_modes(const Image& image, PlaneView& view) {
    const Sampler& sampler = image.sampler;
    const std::size_t axes = image.shape == ImageShape::Volume ? 3 : 2;
    for (std::size_t axis = 0; axis < axes; ++axis) {
        view.modes[axis] = mode_of(sampler.modes[axis], view.is_normalized);
        view.has_border |= view.modes[axis] == AxisMode::Border;
    }
    if (!view.has_border) {
        return;
    }
    const Texel border = TexelReader(image, sampler).border();
    const unsigned bits = 8u * image.texel_bytes / image.channels;
    for (unsigned channel = 0; channel < image.channels; ++channel) {
        auto number = static_cast<std::uint32_t>(border.channels[channel]);
        if (view.numbers == PlaneNumbers::Bytes && !view.reads_integers) {
            number /= 257; // the reader has expanded it for the filter
        }
        const unsigned place = channel * bits;
        view.border[place / 32] |= (number & (UINT32_MAX >> (32 - bits))) << place % 32;
    }
}

/// Describes the memory of a level. Returns false if it is empty, or too large for vectors.
bool find_sizes(const ImageLevel& level, PlaneView& view) {
    view.data = level.data;
    view.pitch_bytes = level.pitch_bytes;
    view.slice_bytes = level.slice_bytes;
    view.sizes[0] = level.width;
    view.sizes[1] = level.height;
    view.sizes[2] = level.depth;
    const std::uint32_t largest = view.is_normalized ? LARGEST_NORMALIZED_SIZE : LARGEST_SIZE;
    for (const std::uint32_t size : view.sizes) {
        if (size == 0 || size > largest) {
            return false;
        }
    }
    return level.pitch_bytes <= LARGEST_BYTES / level.height &&
           (level.depth == 1 || level.slice_bytes <= LARGEST_BYTES / level.depth);
}

/// Makes a view read a level of an image.
bool use_level(const Image& image, double level, bool is_stated, PlaneView& view) {
    LevelChoice from;
    if (image.level_count != 1) {
        from = choose_levels(image.sampler, limit_level(image, image.sampler, level, is_stated));
    }
    return from.fraction == 0 && find_sizes(image.levels[from.level], view);
}

ImageShape shape_of(Geometry geometry) {
    switch (geometry) {
    case Geometry::Line:
        return ImageShape::Line;
    case Geometry::Plane:
        return ImageShape::Plane;
    case Geometry::Volume:
        return ImageShape::Volume;
    default:
        return ImageShape::PlaneLayers;
    }
}

} // namespace

bool view_of(const Image& image, Geometry geometry, PlaneView& view) {
    if (image.shape != shape_of(geometry) || image.layers == 0 ||
        image.source == ImageSource::Linear) {
        return false;
    }
    const Sampler& sampler = image.sampler;
    if (!find_numbers(image, sampler.filter == ImageFilter::Linear, view) || sampler.is_srgb) {
        return false;
    }
    // Coordinates of mipmapped images are always normalised.
    view.is_normalized = sampler.is_normalized || image.source == ImageSource::MipmappedArray;
    find_modes(image, view);
    view.layers = image.layers;
    view.levels = image.level_count == 1 ? nullptr : &image;
    return use_level(image, 0, false, view);
}

bool choose_level(float level, PlaneView& view) {
    const double number = level != level ? 0 : static_cast<double>(level);
    return view.levels == nullptr || use_level(*view.levels, number, true, view);
}

bool find_plane(const WarpContext& warp, const bytecode::Instruction* at, std::uint32_t mask,
                Geometry geometry, PlaneView& view) {
    const Image* const image = find_common_image(warp, at, mask, ImageUse::Texture);
    return image != nullptr && view_of(*image, geometry, view);
}

bool find_list(const WarpContext& warp, const bytecode::Instruction* at, std::uint32_t mask,
               PlaneView& view) {
    const Image* const image = find_common_image(warp, at, mask, ImageUse::Texture);
    if (image == nullptr || image->source != ImageSource::Linear || image->sampler.is_srgb ||
        !find_numbers(*image, false, view)) {
        return false;
    }
    const ImageLevel& level = image->levels[0];
    if (level.width == 0 || level.width > LARGEST_BYTES / image->texel_bytes) {
        return false;
    }
    view.data = level.data;
    view.sizes[0] = level.width;
    view.has_border = true; // of zeros
    return true;
}

const bytecode::Instruction* sample_any(WarpContext& warp, const bytecode::Instruction* at,
                                        std::uint32_t mask) {
    return texture::sample(warp, at, mask);
}

} // namespace cuprum::emulator
