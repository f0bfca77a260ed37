// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// BC6H: blocks of 16 bytes in one of fourteen modes, with colours in half precision. The bits of
// the two or four colours lie scattered; LAYOUTS lists them in the order of the block.

#include "interp/blocks.hpp"

#include <algorithm>
#include <string_view>

namespace cuprum::emulator {

namespace {

/// What a mode stores, in bits.
struct HalfMode {
    std::uint8_t number;                // the first bits of the block
    std::uint8_t colour;                // bits of a channel of the first colour
    std::array<std::uint8_t, 3> others; // of the other colours, by channel
    bool has_differences;               // the other colours are stored as differences to the first
    bool has_two_subsets;
    std::string_view layout; // after the number
};

// A word names a channel (r, g, b), a colour (w, x, y, z) and its bits: one, or a range.
constexpr std::array<HalfMode, 14> HALF_MODES{{
    {0x00,
     10,
     {5, 5, 5},
     true,
     true,
     "gy4 by4 bz4 rw0-9 gw0-9 bw0-9 rx0-4 gz4 gy0-3 gx0-4 bz0 gz0-3 bx0-4 bz1 by0-3 ry0-4 bz2 "
     "rz0-4 bz3"},
    {0x01,
     7,
     {6, 6, 6},
     true,
     true,
     "gy5 gz4 gz5 rw0-6 bz0 bz1 by4 gw0-6 by5 bz2 gy4 bw0-6 bz3 bz5 bz4 rx0-5 gy0-3 gx0-5 gz0-3 "
     "bx0-5 by0-3 ry0-5 rz0-5"},
    {0x02,
     11,
     {5, 4, 4},
     true,
     true,
     "rw0-9 gw0-9 bw0-9 rx0-4 rw10 gy0-3 gx0-3 gw10 bz0 gz0-3 bx0-3 bw10 bz1 by0-3 ry0-4 bz2 "
     "rz0-4 bz3"},
    {0x06,
     11,
     {4, 5, 4},
     true,
     true,
     "rw0-9 gw0-9 bw0-9 rx0-3 rw10 gz4 gy0-3 gx0-4 gw10 gz0-3 bx0-3 bw10 bz1 by0-3 ry0-3 bz0 bz2 "
     "rz0-3 gy4 bz3"},
    {0x0a,
     11,
     {4, 4, 5},
     true,
     true,
     "rw0-9 gw0-9 bw0-9 rx0-3 rw10 by4 gy0-3 gx0-3 gw10 bz0 gz0-3 bx0-4 bw10 by0-3 ry0-3 bz1 bz2 "
     "rz0-3 bz4 bz3"},
    {0x0e,
     9,
     {5, 5, 5},
     true,
     true,
     "rw0-8 by4 gw0-8 gy4 bw0-8 bz4 rx0-4 gz4 gy0-3 gx0-4 bz0 gz0-3 bx0-4 bz1 by0-3 ry0-4 bz2 "
     "rz0-4 bz3"},
    {0x12,
     8,
     {6, 5, 5},
     true,
     true,
     "rw0-7 gz4 by4 gw0-7 bz2 gy4 bw0-7 bz3 bz4 rx0-5 gy0-3 gx0-4 bz0 gz0-3 bx0-4 bz1 by0-3 ry0-5 "
     "rz0-5"},
    {0x16,
     8,
     {5, 6, 5},
     true,
     true,
     "rw0-7 bz0 by4 gw0-7 gy5 gy4 bw0-7 gz5 bz4 rx0-4 gz4 gy0-3 gx0-5 gz0-3 bx0-4 bz1 by0-3 ry0-4 "
     "bz2 rz0-4 bz3"},
    {0x1a,
     8,
     {5, 5, 6},
     true,
     true,
     "rw0-7 bz1 by4 gw0-7 by5 gy4 bw0-7 bz5 bz4 rx0-4 gz4 gy0-3 gx0-4 bz0 gz0-3 bx0-5 by0-3 ry0-4 "
     "bz2 rz0-4 bz3"},
    {0x1e,
     6,
     {6, 6, 6},
     false,
     true,
     "rw0-5 gz4 bz0 bz1 by4 gw0-5 gy5 by5 bz2 gy4 bw0-5 gz5 bz3 bz5 bz4 rx0-5 gy0-3 gx0-5 gz0-3 "
     "bx0-5 by0-3 ry0-5 rz0-5"},
    {0x03, 10, {10, 10, 10}, false, false, "rw0-9 gw0-9 bw0-9 rx0-9 gx0-9 bx0-9"},
    {0x07, 11, {9, 9, 9}, true, false, "rw0-9 gw0-9 bw0-9 rx0-8 rw10 gx0-8 gw10 bx0-8 bw10"},
    {0x0b,
     12,
     {8, 8, 8},
     true,
     false,
     "rw0-9 gw0-9 bw0-9 rx0-7 rw11 rw10 gx0-7 gw11 gw10 bx0-7 bw11 bw10"},
    {0x0f,
     16,
     {4, 4, 4},
     true,
     false,
     "rw0-9 gw0-9 bw0-9 rx0-3 rw15 rw14 rw13 rw12 rw11 rw10 gx0-3 gw15 gw14 gw13 gw12 gw11 gw10 "
     "bx0-3 bw15 bw14 bw13 bw12 bw11 bw10"},
}};

/// The channels of the four colours: w and x of the first subset, y and z of the second.
using Colours = std::array<std::array<std::int32_t, 3>, 4>;

/// Takes the bits of all colours.
Colours take_colours(BlockBits& bits, std::string_view layout) {
    Colours colours{};
    for (std::size_t at = 0; at < layout.size();) {
        const std::size_t channel = layout[at] == 'r' ? 0 : layout[at] == 'g' ? 1 : 2;
        const auto colour = static_cast<std::size_t>(layout[at + 1] - 'w');
        at += 2;
        const auto number = [&] {
            unsigned value = 0;
            for (; at < layout.size() && layout[at] >= '0' && layout[at] <= '9'; ++at) {
                value = 10 * value + static_cast<unsigned>(layout[at] - '0');
            }
            return value;
        };
        const unsigned first = number();
        unsigned last = first;
        if (at < layout.size() && layout[at] == '-') {
            ++at;
            last = number();
        }
        ++at; // the space
        colours[colour][channel] |= static_cast<std::int32_t>(bits.take(last - first + 1) << first);
    }
    return colours;
}

std::int32_t sign_extended(std::int32_t value, unsigned bits) {
    const std::int32_t sign = std::int32_t{1} << (bits - 1);
    const std::int32_t low = value & ((sign << 1) - 1);
    return (low ^ sign) - sign;
}

/// Adds differences, and extends signs.
void complete(Colours& colours, const HalfMode& mode, bool is_signed) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
        std::int32_t& first = colours[0][channel];
        first = is_signed ? sign_extended(first, mode.colour) : first;
        for (std::size_t colour = 1; colour < colours.size(); ++colour) {
            std::int32_t& other = colours[colour][channel];
            if (is_signed || mode.has_differences) {
                other = sign_extended(other, mode.others[channel]);
            }
            if (mode.has_differences) {
                other = (first + other) & ((1 << mode.colour) - 1);
                other = is_signed ? sign_extended(other, mode.colour) : other;
            }
        }
    }
}

/// Returns a number of `bits` bits as 16 bits.
std::int32_t unquantized(std::int32_t value, unsigned bits, bool is_signed) {
    if (!is_signed) {
        return bits >= 15                 ? value
               : value == 0               ? 0
               : value == (1 << bits) - 1 ? 0xffff
                                          : ((value << 16) + 0x8000) >> bits;
    }
    if (bits >= 16) {
        return value;
    }
    const std::int32_t magnitude = value < 0 ? -value : value;
    const std::int32_t wide = magnitude == 0 ? 0
                              : magnitude >= (1 << (bits - 1)) - 1
                                  ? 0x7fff
                                  : ((magnitude << 15) + 0x4000) >> (bits - 1);
    return value < 0 ? -wide : wide;
}

/// Returns the bits of the half that a mixed number stands for.
std::int32_t finished(std::int32_t value, bool is_signed) {
    if (!is_signed) {
        return (value * 31) >> 6;
    }
    return value < 0 ? ((-value * 31) >> 5) | 0x8000 : (value * 31) >> 5;
}

} // namespace

std::array<std::int32_t, 3> decode_bc6h(const std::byte* block, unsigned texel, bool is_signed) {
    BlockBits bits(block);
    std::uint32_t number = bits.take(2);
    if (number >= 2) {
        number |= bits.take(3) << 2;
    }
    const auto* const found =
        std::find_if(HALF_MODES.begin(), HALF_MODES.end(),
                     [&](const HalfMode& each) { return each.number == number; });
    if (found == HALF_MODES.end()) {
        return {}; // a reserved mode
    }
    const HalfMode& mode = *found;
    Colours colours = take_colours(bits, mode.layout);
    complete(colours, mode, is_signed);
    const std::uint32_t partition = mode.has_two_subsets ? bits.take(5) : 0;
    const unsigned width = mode.has_two_subsets ? 3 : 4;
    const unsigned subsets = mode.has_two_subsets ? 2 : 1;
    const unsigned subset = block_subset(subsets, partition, texel);
    const std::uint32_t index = take_block_index(bits, subsets, partition, width, texel);
    const std::int32_t weight = block_weight(width, index);
    std::array<std::int32_t, 3> result{};
    for (std::size_t channel = 0; channel < 3; ++channel) {
        const std::int32_t a = unquantized(colours[2 * subset][channel], mode.colour, is_signed);
        const std::int32_t b =
            unquantized(colours[2 * subset + 1][channel], mode.colour, is_signed);
        result[channel] = finished((a * (64 - weight) + b * weight + 32) >> 6, is_signed);
    }
    return result;
}

} // namespace cuprum::emulator
