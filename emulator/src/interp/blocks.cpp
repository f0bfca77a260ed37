// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Block compression: BC1 to BC7. A block holds 4 x 4 texels in 8 or 16 bytes.

#include "interp/blocks.hpp"

#include "interp/texels.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cuprum::emulator {

namespace {

struct Colour {
    std::array<std::int32_t, 4> channels{};
};

std::uint64_t word_of(const std::byte* block) {
    std::uint64_t word = 0;
    std::memcpy(&word, block, sizeof word);
    return word;
}

/// Returns 5 bits times `factor` / 8 as 8 bits; 66 stands for one, and the parts of a mix add up to
/// it.
std::int32_t scale_5(std::int32_t value, std::int32_t factor) {
    return value * factor / 8;
}

/// Returns a mix of two numbers of 8 bits. `weight`: of the second, in 1/256, without the last part
/// of it.
std::int32_t mix_8(std::int32_t first, std::int32_t second, std::int32_t weight) {
    const std::int32_t difference = second - first;
    return (256 * first + difference / 4 + 128 + difference * weight) >> 8;
}

/// Decodes the colours of BC1, BC2 and BC3 to 8 bits, with the rounding of NVIDIA's hardware. Only
/// BC1 has the mode with a transparent colour.
Colour decode_colour(const std::byte* block, unsigned index, bool has_transparent) {
    const std::uint64_t word = word_of(block);
    auto first = static_cast<std::int32_t>(word & 0xffff);
    auto second = static_cast<std::int32_t>(word >> 16 & 0xffff);
    const auto selector = static_cast<std::uint32_t>(word >> (32 + 2 * index) & 3);
    const bool is_three = has_transparent && first <= second;
    if (is_three && selector == 3) {
        return {{0, 0, 0, 0}};
    }
    if (selector == 1 || selector == 3) {
        std::swap(first, second);
    }
    const std::array<std::int32_t, 2> red = {first >> 11 & 31, second >> 11 & 31};
    const std::array<std::int32_t, 2> blue = {first & 31, second & 31};
    const auto green = [](std::int32_t value) {
        const std::int32_t bits = value >> 5 & 63;
        return bits << 2 | bits >> 4;
    };
    if (selector < 2) {
        return {{scale_5(red[0], 66), green(first), scale_5(blue[0], 66), 255}};
    }
    if (is_three) {
        return {{scale_5(red[0] + red[1], 33), mix_8(green(first), green(second), 128),
                 scale_5(blue[0] + blue[1], 33), 255}};
    }
    return {{scale_5(2 * red[0] + red[1], 22), mix_8(green(first), green(second), 80),
             scale_5(2 * blue[0] + blue[1], 22), 255}};
}

/// Decodes one channel of BC4 and BC5 to a number of its class, with the weights of
/// NVIDIA's hardware.
std::int32_t decode_single(const std::byte* block, unsigned index, bool is_signed) {
    // The weight of the second end by selector, in 1/257.
    static constexpr std::array<std::int32_t, 8> OF_EIGHT{0, 257, 36, 72, 113, 144, 185, 221};
    static constexpr std::array<std::int32_t, 8> OF_SIX{0, 257, 48, 96, 161, 209, 0, 0};
    const std::uint64_t word = word_of(block);
    const auto selector = static_cast<std::size_t>(word >> (16 + 3 * index) & 7);
    std::int32_t a = static_cast<std::uint8_t>(word);
    std::int32_t b = static_cast<std::uint8_t>(word >> 8);
    if (is_signed) {
        a = std::max<std::int32_t>(static_cast<std::int8_t>(a), -127);
        b = std::max<std::int32_t>(static_cast<std::int8_t>(b), -127);
    }
    const auto expanded = [&](std::int32_t value) {
        if (!is_signed) {
            return value * 257;
        }
        const std::int32_t magnitude = value < 0 ? -value : value;
        const std::int32_t wide = magnitude << 8 | magnitude << 1 | magnitude >> 6;
        return value < 0 ? -wide : wide;
    };
    if (selector < 2) {
        return expanded(selector == 0 ? a : b);
    }
    if (a <= b && selector >= 6) {
        return selector == 7 ? expanded(is_signed ? 127 : 255) : expanded(is_signed ? -127 : 0);
    }
    // The hardware starts from the nearer end, which matters for signed numbers.
    const std::int32_t weight = (a > b ? OF_EIGHT : OF_SIX)[selector];
    const bool is_near_first = weight < 128;
    const std::int32_t near = is_near_first ? a : b;
    const std::int32_t far = is_near_first ? b : a;
    if (is_signed && a > b && (selector == 4 || selector == 5)) { // 114 / 258 of the expanded ends
        return expanded(near) + (far - near) * 114 + (expanded(far) - far * 258) -
               (expanded(near) - near * 258);
    }
    return expanded(near) + (far - near) * (is_near_first ? weight : 257 - weight);
}

/// Decodes the alpha of BC3 to 8 bits. The hardware starts from the nearer end; the steps fit what
/// an H200 gave.
std::int32_t decode_alpha(const std::byte* block, unsigned index) {
    struct Step {
        std::int32_t weight;
        std::int32_t offset;
        std::int32_t divisor;
    };

    static constexpr std::array<Step, 3> OF_EIGHT{
        {{36, 130, 255}, {72, 127, 255}, {111, 131, 255}}};
    static constexpr std::array<Step, 2> OF_SIX{{{48, 118, 255}, {96, 175, 256}}};
    const std::uint64_t word = word_of(block);
    const auto selector = static_cast<std::size_t>(word >> (16 + 3 * index) & 7);
    const std::int32_t a = static_cast<std::uint8_t>(word);
    const std::int32_t b = static_cast<std::uint8_t>(word >> 8);
    if (selector < 2) {
        return selector == 0 ? a : b;
    }
    const bool has_eight = a > b;
    if (!has_eight && selector >= 6) {
        return selector == 7 ? 255 : 0;
    }
    const bool is_near_first = selector <= (has_eight ? 4 : 3);
    const std::size_t place =
        is_near_first ? selector - 2 : (has_eight ? std::size_t{7} : std::size_t{5}) - selector;
    const Step& step = has_eight ? OF_EIGHT[place] : OF_SIX[place];
    const std::int32_t near = is_near_first ? a : b;
    const std::int32_t distance = (is_near_first ? b : a) - near;
    const std::int32_t magnitude = distance < 0 ? -distance : distance;
    const std::int32_t moved = (magnitude * step.weight + step.offset) / step.divisor;
    return distance < 0 ? near - moved : near + moved;
}

Texel to_texel(const Colour& colour, bool is_srgb) {
    Texel texel;
    for (unsigned i = 0; i < 4; ++i) {
        const auto value = static_cast<std::uint8_t>(colour.channels[i]);
        texel.channels[i] = is_srgb && i < 3
                                ? single_to_half(std::bit_cast<std::uint32_t>(
                                      static_cast<float>(srgb_to_linear(value)) / 16384))
                                : value * 257;
    }
    return texel;
}

} // namespace

Texel decode_block_texel(TexelFormat format, const std::byte* block, unsigned x, unsigned y,
                         bool is_srgb) {
    const unsigned index = 4 * y + x;
    switch (format) {
    case TexelFormat::Bc1:
        return to_texel(decode_colour(block, index, true), is_srgb);
    case TexelFormat::Bc2: {
        Texel texel = to_texel(decode_colour(block + 8, index, false), is_srgb);
        texel.channels[3] = static_cast<std::int32_t>(word_of(block) >> 4 * index & 15) * 0x1111;
        return texel;
    }
    case TexelFormat::Bc3: {
        Texel texel = to_texel(decode_colour(block + 8, index, false), is_srgb);
        texel.channels[3] = decode_alpha(block, index) * 257;
        return texel;
    }
    case TexelFormat::Bc4Unorm:
    case TexelFormat::Bc4Snorm:
        return {{decode_single(block, index, format == TexelFormat::Bc4Snorm), 0, 0, 0}};
    case TexelFormat::Bc5Unorm:
    case TexelFormat::Bc5Snorm: {
        const bool is_signed = format == TexelFormat::Bc5Snorm;
        return {{decode_single(block, index, is_signed), decode_single(block + 8, index, is_signed),
                 0, 0}};
    }
    case TexelFormat::Bc6hUnsigned:
    case TexelFormat::Bc6hSigned: {
        const auto colour = decode_bc6h(block, index, format == TexelFormat::Bc6hSigned);
        return {{colour[0], colour[1], colour[2], 0}};
    }
    case TexelFormat::Bc7:
        return to_texel({decode_bc7(block, index)}, is_srgb);
    default: // not a compressed format
        return {};
    }
}

} // namespace cuprum::emulator
