// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The texels of the texture benchmarks: a gradient with noise, from 0 to 1. Neighbours often differ
// by more than a factor of 16, as in pictures.

#pragma once

#include <cuprum/cuprum.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace pictures {

/// A number in half precision.
struct Half {
    std::uint16_t bits = 0;
};

/// Returns number `i` of a picture. The noise is a hash of `i`.
inline float value_at(std::size_t i, std::size_t count) {
    std::uint32_t noise = static_cast<std::uint32_t>(i) * 0x9e3779b1U;
    noise = (noise ^ noise >> 15) * 0x85ebca6bU;
    const float grain = static_cast<float>(noise >> 8) * 0x1p-24F;
    return 0.5F * grain * grain + 0.5F * static_cast<float>(i) / static_cast<float>(count);
}

inline void set(float& texel, float value) {
    texel = value;
}

inline void set(std::uint8_t& texel, float value) {
    texel = static_cast<std::uint8_t>(std::lround(value * 255));
}

/// Cuts off the bits that do not fit.
inline void set(Half& texel, float value) {
    const int exponent = value > 0 ? std::ilogb(value) : -15;
    texel.bits =
        exponent < -14
            ? static_cast<std::uint16_t>(value * 0x1p24F)
            : static_cast<std::uint16_t>((exponent + 15) * 1024 +
                                         static_cast<int>(std::ldexp(value, 10 - exponent)) - 1024);
}

template <typename T>
constexpr cuprum::ArrayFormat FORMAT = std::is_same_v<T, float>  ? cuprum::ArrayFormat::Float32
                                       : std::is_same_v<T, Half> ? cuprum::ArrayFormat::Float16
                                                                 : cuprum::ArrayFormat::UInt8;

template <typename T>
void fill(const cuprum::OpaqueArray& picture, std::size_t count, const cuprum::Stream& stream) {
    std::vector<T> texels(count);
    for (std::size_t i = 0; i < count; ++i) {
        set(texels[i], value_at(i, count));
    }
    picture.copy_from_host(texels, stream);
    stream.sync();
}

/// Returns a square picture of numbers of type T.
template <typename T>
cuprum::OpaqueArray make(const cuprum::Device& device, const cuprum::Stream& stream,
                         std::size_t size, unsigned channels) {
    auto picture = device.create_opaque_array({.extent = {.width = size, .height = size},
                                               .format = FORMAT<T>,
                                               .num_channels = channels,
                                               .is_surface_load_store = true});
    fill<T>(picture, size * size * channels, stream);
    return picture;
}

/// Returns a volume with as many floats as a square picture.
inline cuprum::OpaqueArray make_volume(const cuprum::Device& device, const cuprum::Stream& stream,
                                       std::size_t size) {
    constexpr std::size_t rows = 64;
    auto volume =
        device.create_opaque_array({.extent = {.width = size, .height = rows, .depth = size / rows},
                                    .format = cuprum::ArrayFormat::Float32});
    fill<float>(volume, size * size, stream);
    return volume;
}

/// Returns a picture of floats with two levels, of which the second is a square of `size`.
inline cuprum::MipmappedArray make_levels(const cuprum::Device& device,
                                          const cuprum::Stream& stream, std::size_t size) {
    auto levels =
        device.create_mipmapped_array({.array = {.extent = {.width = 2 * size, .height = 2 * size},
                                                 .format = cuprum::ArrayFormat::Float32},
                                       .num_levels = 2});
    fill<float>(levels.level(1), size * size, stream);
    return levels;
}

/// Returns a texture that reads numbers from 0 to 1.
inline cuprum::TextureObject texture(const cuprum::OpaqueArray& picture,
                                     cuprum::TextureObjectOptions options) {
    if (picture.format() == cuprum::ArrayFormat::UInt8) {
        options.read_mode = cuprum::ReadMode::NormalizedFloat;
    }
    return cuprum::TextureObject::create(cuprum::ResourceDescriptor::from_opaque_array(picture),
                                         options);
}

/// Returns the options of a filter and an address mode.
inline cuprum::TextureObjectOptions options(cuprum::FilterMode filter, cuprum::AddressMode mode,
                                            bool is_normalized) {
    return {.address_mode = {mode, mode, mode},
            .filter_mode = filter,
            .normalized_coords = is_normalized};
}

} // namespace pictures
