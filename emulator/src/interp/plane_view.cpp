// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/plane_view.hpp"

#include "interp/image_operand.hpp"
#include "interp/texels.hpp"
#include "interp/texture.hpp"

#include <iterator>

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
    for (std::size_t axis = 0; axis < std::size(view.modes); ++axis) {
        view.modes[axis] = mode_of(sampler.modes[axis], sampler.is_normalized);
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

} // namespace

bool view_of(const Image& image, Geometry geometry, PlaneView& view) {
    const ImageShape shape = geometry == Geometry::Line    ? ImageShape::Line
                             : geometry == Geometry::Plane ? ImageShape::Plane
                                                           : ImageShape::PlaneLayers;
    if (image.shape != shape || image.level_count != 1 ||
        (image.source != ImageSource::Array && image.source != ImageSource::Pitched)) {
        return false;
    }
    const Sampler& sampler = image.sampler;
    if (!find_numbers(image, sampler.filter == ImageFilter::Linear, view) || sampler.is_srgb) {
        return false;
    }
    view.is_normalized = sampler.is_normalized;
    const ImageLevel& level = image.levels[0];
    const std::uint32_t largest = sampler.is_normalized ? LARGEST_NORMALIZED_SIZE : LARGEST_SIZE;
    if (level.width == 0 || level.height == 0 || level.width > largest || level.height > largest ||
        level.pitch_bytes > LARGEST_BYTES / level.height) {
        return false;
    }
    find_modes(image, view);
    view.data = level.data;
    view.pitch_bytes = level.pitch_bytes;
    view.slice_bytes = level.slice_bytes;
    view.layers = image.layers;
    view.sizes[0] = level.width;
    view.sizes[1] = level.height;
    return image.layers != 0;
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
