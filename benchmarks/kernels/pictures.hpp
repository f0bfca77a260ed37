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

/// Returns a square picture of numbers of type T.
template <typename T>
cuprum::OpaqueArray make(const cuprum::Device& device, const cuprum::Stream& stream,
                         std::size_t size, unsigned channels) {
    std::vector<T> texels(size * size * channels);
    for (std::size_t i = 0; i < texels.size(); ++i) {
        set(texels[i], value_at(i, texels.size()));
    }
    const auto picture = device.create_opaque_array({.extent = {.width = size, .height = size},
                                                     .format = FORMAT<T>,
                                                     .num_channels = channels,
                                                     .is_surface_load_store = true});
    picture.copy_from_host(texels, stream);
    stream.sync();
    return picture;
}

/// Returns a texture that reads numbers from 0 to 1.
inline cuprum::TextureObject texture(const cuprum::OpaqueArray& picture,
                                     cuprum::FilterMode filter) {
    const bool has_bytes = picture.format() == cuprum::ArrayFormat::UInt8;
    return cuprum::TextureObject::create(cuprum::ResourceDescriptor::from_opaque_array(picture),
                                         {.filter_mode = filter,
                                          .read_mode = has_bytes ? cuprum::ReadMode::NormalizedFloat
                                                                 : cuprum::ReadMode::ElementType});
}

} // namespace pictures
