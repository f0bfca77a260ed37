// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// BC7: blocks of 16 bytes in one of eight modes. A mode divides the block into up to three subsets,
// each with two colours that its texels mix.

#include "interp/blocks.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace cuprum::emulator {

namespace {

/// What a mode stores, in bits.
struct Mode {
    std::uint8_t subsets;
    std::uint8_t partition;
    std::uint8_t rotation;
    std::uint8_t selection; // which of the two sets of indices is that of alpha
    std::uint8_t colour;
    std::uint8_t alpha;
    bool has_own_low_bits;    // a lowest bit for every end
    bool has_shared_low_bits; // one for both ends of a subset
    std::uint8_t index;
    std::uint8_t second_index;
};

constexpr std::array<Mode, 8> MODES{{
    {3, 4, 0, 0, 4, 0, true, false, 3, 0},
    {2, 6, 0, 0, 6, 0, false, true, 3, 0},
    {3, 6, 0, 0, 5, 0, false, false, 2, 0},
    {2, 6, 0, 0, 7, 0, true, false, 2, 0},
    {1, 0, 2, 1, 5, 6, false, false, 2, 3},
    {1, 0, 2, 0, 7, 8, false, false, 2, 2},
    {1, 0, 0, 0, 7, 7, true, false, 4, 0},
    {2, 6, 0, 0, 5, 5, true, false, 2, 0},
}};

/// The second subset of two, one bit for each texel.
constexpr std::array<std::uint16_t, 64> TWO_SUBSETS{
    0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80, 0xc800, 0xffec, 0xfe80,
    0xe800, 0xffe8, 0xff00, 0xfff0, 0xf000, 0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310,
    0x3100, 0x8cce, 0x088c, 0x3110, 0x6666, 0x366c, 0x17e8, 0x0ff0, 0x718e, 0x399c, 0xaaaa,
    0xf0f0, 0x5a5a, 0x33cc, 0x3c3c, 0x55aa, 0x9696, 0xa55a, 0x73ce, 0x13c8, 0x324c, 0x3bdc,
    0x6996, 0xc33c, 0x9966, 0x0660, 0x0272, 0x04e4, 0x4e40, 0x2720, 0xc936, 0x936c, 0x39c6,
    0x639c, 0x9336, 0x9cc6, 0x817e, 0xe718, 0xccf0, 0x0fcc, 0x7744, 0xee22};

/// The subset of three, two bits for each texel.
constexpr std::array<std::uint32_t, 64> THREE_SUBSETS{
    0xaa685050, 0x6a5a5040, 0x5a5a4200, 0x5450a0a8, 0xa5a50000, 0xa0a05050, 0x5555a0a0, 0x5a5a5050,
    0xaa550000, 0xaa555500, 0xaaaa5500, 0x90909090, 0x94949494, 0xa4a4a4a4, 0xa9a59450, 0x2a0a4250,
    0xa5945040, 0x0a425054, 0xa5a5a500, 0x55a0a0a0, 0xa8a85454, 0x6a6a4040, 0xa4a45000, 0x1a1a0500,
    0x0050a4a4, 0xaaa59090, 0x14696914, 0x69691400, 0xa08585a0, 0xaa821414, 0x50a4a450, 0x6a5a0200,
    0xa9a58000, 0x5090a0a8, 0xa8a09050, 0x24242424, 0x00aa5500, 0x24924924, 0x24499224, 0x50a50a50,
    0x500aa550, 0xaaaa4444, 0x66660000, 0xa5a0a5a0, 0x50a050a0, 0x69286928, 0x44aaaa44, 0x66666600,
    0xaa444444, 0x54a854a8, 0x95809580, 0x96969600, 0xa85454a8, 0x80959580, 0xaa141414, 0x96960000,
    0xaaaa1414, 0xa05050a0, 0xa0a5a5a0, 0x96000000, 0x40804080, 0xa9a8a9a8, 0xaaaaaa44, 0x2a4a5254};

/// The texels, besides the first, whose index has one bit less.
constexpr std::array<std::uint8_t, 64> ANCHOR_OF_TWO{
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 2,  8, 2, 2, 8,
    8,  15, 2,  8,  2,  2,  8,  8,  2,  2,  15, 15, 6,  8,  2,  8,  15, 15, 2, 8, 2, 2,
    2,  15, 15, 6,  6,  2,  6,  8,  15, 15, 2,  2,  15, 15, 15, 15, 15, 2,  2, 15};
constexpr std::array<std::uint8_t, 64> SECOND_ANCHOR{
    3,  3,  15, 15, 8, 3,  15, 15, 8,  8,  6, 6,  6, 5,  3, 3,  3,  3,  8,  15, 3,  3,
    6,  10, 5,  8,  8, 6,  8,  5,  15, 15, 8, 15, 3, 5,  6, 10, 8,  15, 15, 3,  15, 5,
    15, 15, 15, 15, 3, 15, 5,  5,  5,  8,  5, 10, 5, 10, 8, 13, 15, 12, 3,  3};
constexpr std::array<std::uint8_t, 64> THIRD_ANCHOR{
    15, 8, 8, 3,  15, 15, 3,  8,  15, 15, 15, 15, 15, 15, 15, 8,  15, 8,  15, 3,  15, 8,
    15, 8, 3, 15, 6,  10, 15, 15, 10, 8,  15, 3,  15, 10, 10, 8,  9,  10, 6,  15, 8,  15,
    3,  6, 6, 8,  15, 3,  15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 3,  15, 15, 8};

constexpr std::array<std::uint8_t, 4> WEIGHTS_2{0, 21, 43, 64};
constexpr std::array<std::uint8_t, 8> WEIGHTS_3{0, 9, 18, 27, 37, 46, 55, 64};
constexpr std::array<std::uint8_t, 16> WEIGHTS_4{0,  4,  9,  13, 17, 21, 26, 30,
                                                 34, 38, 43, 47, 51, 55, 60, 64};

/// Returns whether the index of a texel has one bit less.
bool is_anchor(unsigned subsets, std::uint32_t partition, unsigned texel) {
    if (texel == 0 || subsets == 1) {
        return texel == 0;
    }
    return subsets == 2 ? texel == ANCHOR_OF_TWO[partition]
                        : texel == SECOND_ANCHOR[partition] || texel == THIRD_ANCHOR[partition];
}

/// Returns a number of `width` bits as 8 bits, by repeating its upper ones.
std::int32_t widened(std::uint32_t value, unsigned width) {
    const std::uint32_t high = value << (8 - width);
    return static_cast<std::int32_t>(high | high >> width);
}

} // namespace

unsigned block_subset(unsigned subsets, std::uint32_t partition, unsigned texel) {
    return subsets == 1   ? 0
           : subsets == 2 ? TWO_SUBSETS[partition] >> texel & 1
                          : THREE_SUBSETS[partition] >> 2 * texel & 3;
}

std::uint32_t take_block_index(BlockBits& bits, unsigned subsets, std::uint32_t partition,
                               unsigned width, unsigned texel) {
    std::uint32_t found = 0;
    for (unsigned i = 0; i < 16; ++i) {
        const std::uint32_t index = bits.take(is_anchor(subsets, partition, i) ? width - 1 : width);
        found = i == texel ? index : found;
    }
    return found;
}

std::int32_t block_weight(unsigned bits, std::uint32_t index) {
    return bits == 2 ? WEIGHTS_2[index] : bits == 3 ? WEIGHTS_3[index] : WEIGHTS_4[index];
}

std::array<std::int32_t, 4> decode_bc7(const std::byte* block, unsigned texel) {
    BlockBits bits(block);
    const auto first = std::to_integer<std::uint8_t>(block[0]);
    if (first == 0) {
        return {}; // no mode
    }
    const auto number = static_cast<unsigned>(std::countr_zero(first));
    const Mode& mode = MODES[number];
    (void)bits.take(number + 1);
    const std::uint32_t partition = bits.take(mode.partition);
    const std::uint32_t rotation = bits.take(mode.rotation);
    const bool is_selected = bits.take(mode.selection) != 0;
    const unsigned ends = 2u * mode.subsets;
    std::array<std::array<std::uint32_t, 4>, 6> colours{};
    for (unsigned channel = 0; channel < 3; ++channel) {
        for (unsigned end = 0; end < ends; ++end) {
            colours[end][channel] = bits.take(mode.colour);
        }
    }
    for (unsigned end = 0; end < ends && mode.alpha != 0; ++end) {
        colours[end][3] = bits.take(mode.alpha);
    }
    unsigned colour_bits = mode.colour;
    unsigned alpha_bits = mode.alpha;
    if (mode.has_own_low_bits || mode.has_shared_low_bits) {
        std::uint32_t low = 0;
        for (unsigned end = 0; end < ends; ++end) {
            low = mode.has_own_low_bits || end % 2 == 0 ? bits.take(1) : low;
            for (std::uint32_t& channel : colours[end]) {
                channel = channel << 1 | low;
            }
        }
        ++colour_bits;
        alpha_bits += mode.alpha != 0 ? 1 : 0;
    }
    const unsigned subset = block_subset(mode.subsets, partition, texel);
    const std::uint32_t index = take_block_index(bits, mode.subsets, partition, mode.index, texel);
    std::uint32_t second = index;
    unsigned second_width = mode.index;
    if (mode.second_index != 0) {
        second = take_block_index(bits, mode.subsets, partition, mode.second_index, texel);
        second_width = mode.second_index;
    }
    const std::int32_t colour_weight =
        is_selected ? block_weight(second_width, second) : block_weight(mode.index, index);
    const std::int32_t alpha_weight =
        is_selected ? block_weight(mode.index, index) : block_weight(second_width, second);
    std::array<std::int32_t, 4> result{};
    for (unsigned channel = 0; channel < 4; ++channel) {
        const bool is_alpha = channel == 3;
        if (is_alpha && mode.alpha == 0) {
            result[channel] = 255;
            continue;
        }
        const unsigned width = is_alpha ? alpha_bits : colour_bits;
        const std::int32_t a = widened(colours[2 * subset][channel], width);
        const std::int32_t b = widened(colours[2 * subset + 1][channel], width);
        const std::int32_t weight = is_alpha ? alpha_weight : colour_weight;
        result[channel] = ((64 - weight) * a + weight * b + 32) >> 6;
    }
    if (rotation != 0) {
        std::swap(result[3], result[rotation - 1]);
    }
    return result;
}

} // namespace cuprum::emulator
