// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/plane_view.hpp"

#include "interp/image_operand.hpp"
#include "interp/texture.hpp"

namespace cuprum::emulator {

namespace {

constexpr std::uint32_t LARGEST_SIZE =
    32768; // normalised coordinates of larger ones have more bits
constexpr std::uint64_t LARGEST_BYTES = std::uint64_t{1} << 32; // places of texels have 32 bits

/// Returns whether an address mode needs no border and no mirror.
bool is_plain(AddressMode mode, bool is_normalized, bool& wraps) {
    wraps = mode == AddressMode::Wrap && is_normalized;
    // Without normalised coordinates, wrapping and mirroring clamp.
    return mode == AddressMode::Clamp || mode == AddressMode::Wrap ||
           (mode == AddressMode::Mirror && !is_normalized);
}

} // namespace

bool find_plane(const WarpContext& warp, const bytecode::Instruction* at, std::uint32_t mask,
                bool is_line, PlaneView& view) {
    const Image* const image = find_common_image(warp, at, mask, ImageUse::Texture);
    const ImageShape shape = is_line ? ImageShape::Line : ImageShape::Plane;
    if (image == nullptr || image->shape != shape || image->level_count != 1 ||
        (image->source != ImageSource::Array && image->source != ImageSource::Pitched)) {
        return false;
    }
    const Sampler& sampler = image->sampler;
    const bool has_bytes = image->format == TexelFormat::U8;
    view.is_linear = sampler.filter == ImageFilter::Linear;
    view.reads_integers = has_bytes && sampler.reads_integers;
    if ((!has_bytes && image->format != TexelFormat::F32) || sampler.is_srgb ||
        (view.is_linear && view.reads_integers)) {
        return false;
    }
    view.is_normalized = sampler.is_normalized;
    const ImageLevel& level = image->levels[0];
    if (level.width == 0 || level.height == 0 || level.width > LARGEST_SIZE ||
        level.height > LARGEST_SIZE ||
        !is_plain(sampler.modes[0], sampler.is_normalized, view.wraps[0]) ||
        !is_plain(sampler.modes[1], sampler.is_normalized, view.wraps[1])) {
        return false;
    }
    if (level.pitch_bytes > LARGEST_BYTES / level.height) {
        return false;
    }
    view.data = level.data;
    view.pitch_bytes = level.pitch_bytes;
    view.sizes[0] = level.width;
    view.sizes[1] = level.height;
    view.texel_bytes = image->texel_bytes;
    view.channels = image->channels;
    view.has_bytes = has_bytes;
    return true;
}

const bytecode::Instruction* sample_any(WarpContext& warp, const bytecode::Instruction* at,
                                        std::uint32_t mask) {
    return texture::sample(warp, at, mask);
}

} // namespace cuprum::emulator
