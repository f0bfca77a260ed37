// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reading single texels, and the arithmetic of the filter.
//
// The texture unit of an H200 filters in fixed point, and so does this code, bit for bit where a
// recorded comparison shows it (docs/emulator/hardware.md). Every texel is first decoded to one of
// five classes:
//
//   Whole   integers
//   Unorm   0 to 1 as 0 to 65535
//   Snorm   -1 to 1 as -32767 to 32767, but signed bytes as they are
//   Half    half precision, as its bits
//   Single  single precision, as its bits
//
// Channels of sRGB textures are halves, except alpha, which is Unorm.
//
// Filters have weights of 1/256 that add up to 256.

#pragma once

#include "interp/image.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace cuprum::emulator {

/// How the texels of a texture are decoded and filtered.
enum class TexelClass : std::uint8_t { Whole, Unorm, Snorm, Half, Single };

/// The four channels of a decoded texel; what they mean depends on the class.
struct Texel {
    std::array<std::int32_t, 4> channels{};
};

/// One texel of a filter.
struct Tap {
    Texel texel;
    std::uint32_t weight = 0; // in 1/256
};

/// The texels of one slice of one level, which are added up at once.
struct TapGroup {
    std::array<Tap, 4> taps;
    std::size_t count = 0;
};

/// The bits of four result registers.
using TexelBits = std::array<std::uint32_t, 4>;

/// Returns the class of the texels that a texture reads.
[[nodiscard]] TexelClass class_of(TexelFormat format, bool reads_integers, bool is_srgb);

/// Reads texels of one image.
class TexelReader {
public:
    TexelReader(const Image& image, const Sampler& sampler);

    [[nodiscard]] TexelClass texel_class() const { return class_; }

    /// Returns the texel at a place that lies in the level.
    [[nodiscard]] Texel read(const ImageLevel& level, std::uint32_t x, std::uint32_t y,
                             std::uint32_t z) const;

    /// Returns the texel that stands for all places outside.
    [[nodiscard]] const Texel& border() const { return border_; }

    /// Returns a texel as bits of result registers: integers as they are, everything else as a
    /// float.
    [[nodiscard]] TexelBits to_registers(const Texel& texel) const;

    /// Returns the weighted sum of texels in the same form.
    [[nodiscard]] TexelBits filter(std::span<const TapGroup> groups) const;

private:
    [[nodiscard]] TexelClass class_of_channel(unsigned channel) const {
        return is_srgb_ && !is_srgb_channel(channel) ? TexelClass::Unorm : class_;
    }

    /// Returns whether sRGB conversion applies to a channel: not to alpha, which is the second of
    /// two channels.
    [[nodiscard]] bool is_srgb_channel(unsigned channel) const {
        return is_srgb_ && channel < (image_.channels == 2 ? 1u : 3u);
    }

    const Image& image_;
    TexelClass class_;
    bool is_srgb_;
    Texel border_;
};

/// Decodes one texel of a block of 4 x 4. Each channel is a number of its class: of 0 to 65535, of
/// -32767 to 32767, or the bits of a half.
[[nodiscard]] Texel decode_block_texel(TexelFormat format, const std::byte* block, unsigned x,
                                       unsigned y, bool is_srgb);

/// Returns how sRGB value 0 to 255 reads, in 1/16384.
[[nodiscard]] std::uint16_t srgb_to_linear(std::uint8_t value);

/// Conversions between half and single precision, by their bits.
[[nodiscard]] std::uint32_t half_to_single(std::uint16_t half);
[[nodiscard]] std::uint16_t single_to_half(std::uint32_t single);

} // namespace cuprum::emulator
