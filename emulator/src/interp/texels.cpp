// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/texels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace cuprum::emulator {

namespace {

constexpr std::int32_t UNORM_ONE = 65535;
constexpr std::int32_t SNORM_ONE = 32767;
constexpr unsigned WEIGHT_BITS = 8;

template <typename T>
T load_as(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

bool has_signed_bytes(TexelFormat format);
std::int32_t border_channel(TexelFormat format, TexelClass texel_class, bool is_srgb, float value);
std::int32_t decode_channel(TexelFormat format, TexelClass texel_class, bool is_srgb,
                            const std::byte* from, unsigned channel);
std::int32_t sum_of_floats(std::span<const TapGroup> groups, unsigned channel,
                           unsigned mantissa_bits, int guard_bits);

/// Returns the bits of the single-precision number that is nearest to numerator / denominator.
std::uint32_t ratio(std::int32_t numerator, std::int32_t denominator) {
    return std::bit_cast<std::uint32_t>(
        static_cast<float>(static_cast<double>(numerator) / static_cast<double>(denominator)));
}

std::uint32_t to_register(TexelClass texel_class, std::int32_t channel) {
    switch (texel_class) {
    case TexelClass::Unorm:
        return ratio(channel, UNORM_ONE);
    case TexelClass::Snorm:
        return ratio(std::max(channel, -SNORM_ONE), SNORM_ONE);
    case TexelClass::Half:
        return half_to_single(static_cast<std::uint16_t>(channel));
    default:
        return static_cast<std::uint32_t>(channel);
    }
}

} // namespace

TexelClass class_of(TexelFormat format, bool reads_integers, bool is_srgb) {
    switch (format) {
    case TexelFormat::U32:
    case TexelFormat::S32:
        return TexelClass::Whole;
    case TexelFormat::U8:
        return reads_integers ? TexelClass::Whole : is_srgb ? TexelClass::Half : TexelClass::Unorm;
    case TexelFormat::U16:
        return reads_integers ? TexelClass::Whole : TexelClass::Unorm;
    case TexelFormat::S8:
    case TexelFormat::S16:
        return reads_integers ? TexelClass::Whole : TexelClass::Snorm;
    case TexelFormat::F16:
    case TexelFormat::Bc6hUnsigned:
    case TexelFormat::Bc6hSigned:
        return TexelClass::Half;
    case TexelFormat::F32:
        return TexelClass::Single;
    case TexelFormat::Snorm8:
    case TexelFormat::Snorm16:
    case TexelFormat::Bc4Snorm:
    case TexelFormat::Bc5Snorm:
        return TexelClass::Snorm;
    case TexelFormat::Unorm8:
    case TexelFormat::Bc1:
    case TexelFormat::Bc2:
    case TexelFormat::Bc3:
    case TexelFormat::Bc7:
        return is_srgb ? TexelClass::Half : TexelClass::Unorm;
    default:
        return TexelClass::Unorm;
    }
}

TexelReader::TexelReader(const Image& image, const Sampler& sampler)
    : image_(image), class_(class_of(image.format, sampler.reads_integers, sampler.is_srgb)),
      is_srgb_(sampler.is_srgb && class_ == TexelClass::Half && image.format != TexelFormat::F16) {
    for (std::size_t i = 0; i < border_.channels.size(); ++i) {
        border_.channels[i] =
            i < image.channels
                ? border_channel(image.format, class_of_channel(static_cast<unsigned>(i)), is_srgb_,
                                 sampler.border[i])
                : 0;
    }
}

Texel TexelReader::read(const ImageLevel& level, std::uint32_t x, std::uint32_t y,
                        std::uint32_t z) const {
    const std::byte* const slice = level.data + z * level.slice_bytes;
    if (is_block_compressed(image_.format)) {
        constexpr unsigned block = 4;
        const std::byte* const from =
            slice + y / block * level.pitch_bytes + std::size_t{x / block} * image_.texel_bytes;
        return decode_block_texel(image_.format, from, x % block, y % block, is_srgb_);
    }
    const std::byte* const from =
        slice + y * level.pitch_bytes + std::size_t{x} * image_.texel_bytes;
    Texel texel;
    if (image_.format == TexelFormat::Unorm10x3A2) {
        const auto word = load_as<std::uint32_t>(from);
        for (unsigned i = 0; i < 3; ++i) {
            const auto value = static_cast<std::int32_t>(word >> 10 * i & 1023);
            texel.channels[i] = value << 6 | value >> 4;
        }
        texel.channels[3] = static_cast<std::int32_t>((word >> 30) * 0x5555);
        return texel;
    }
    for (unsigned i = 0; i < image_.channels; ++i) {
        texel.channels[i] = decode_channel(image_.format, class_, is_srgb_channel(i), from, i);
    }
    return texel;
}

TexelBits TexelReader::to_registers(const Texel& texel) const {
    TexelBits result{};
    for (unsigned i = 0; i < image_.channels; ++i) {
        result[i] = to_register(class_of_channel(i), texel.channels[i]);
    }
    if (image_.format >= TexelFormat::Bc4Unorm && image_.format <= TexelFormat::Bc6hSigned) {
        result[3] = std::bit_cast<std::uint32_t>(1.0f); // these have no alpha
    }
    // These lose bits when they are expanded for the filter.
    if (image_.format == TexelFormat::Unorm10x3A2) {
        for (unsigned i = 0; i < 3; ++i) {
            result[i] = ratio(texel.channels[i] >> 6, 1023);
        }
    } else if (class_ == TexelClass::Snorm && has_signed_bytes(image_.format)) {
        for (unsigned i = 0; i < image_.channels; ++i) {
            result[i] = ratio(std::max(texel.channels[i], -127), 127);
        }
    }
    return result;
}

TexelBits TexelReader::filter(std::span<const TapGroup> groups) const {
    TexelBits result{};
    for (unsigned channel = 0; channel < image_.channels; ++channel) {
        const TexelClass texel_class = class_of_channel(channel);
        std::int32_t value = 0;
        switch (texel_class) {
        case TexelClass::Single:
            value = sum_of_floats(groups, channel, 24, 4);
            break;
        case TexelClass::Half:
            value = sum_of_floats(groups, channel, 11, is_srgb_ ? -3 : 4);
            break;
        default: {
            const bool is_unsigned = image_.format == TexelFormat::U32;
            std::int64_t sum = 0;
            for (const TapGroup& group : groups) {
                for (const Tap& tap : std::span(group.taps).first(group.count)) {
                    const std::int64_t number =
                        is_unsigned ? static_cast<std::uint32_t>(tap.texel.channels[channel])
                                    : std::int64_t{tap.texel.channels[channel]};
                    sum += number * tap.weight;
                }
            }
            // Signed bytes become 16-bit numbers after the sum: 32767 / 127 = 2^8 + 2 + 2^-7 + ...
            value =
                texel_class == TexelClass::Snorm && has_signed_bytes(image_.format)
                    ? static_cast<std::int32_t>(((sum << 3) + (sum >> 4) + (sum >> 12) + 4) >> 3)
                    : static_cast<std::int32_t>((sum + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS);
            break;
        }
        }
        result[channel] = to_register(texel_class, value);
    }
    if (image_.format >= TexelFormat::Bc4Unorm && image_.format <= TexelFormat::Bc6hSigned) {
        result[3] = std::bit_cast<std::uint32_t>(1.0f);
    }
    return result;
}

std::uint16_t srgb_to_linear(std::uint8_t value) {
    // As an H200 converts them: numbers with 8 significant bits.
    static constexpr std::array<std::uint16_t, 256> TABLE{
        0,     5,     10,    15,    20,    25,    30,    35,    40,    45,    50,    55,    60,
        66,    72,    78,    85,    92,    99,    107,   115,   123,   131,   140,   150,   159,
        169,   180,   190,   201,   213,   224,   236,   250,   262,   276,   290,   304,   318,
        332,   348,   364,   380,   396,   412,   430,   448,   466,   484,   504,   524,   544,
        564,   584,   604,   624,   648,   672,   692,   716,   740,   764,   788,   816,   840,
        864,   896,   920,   944,   976,   1000,  1032,  1064,  1088,  1120,  1152,  1184,  1216,
        1248,  1280,  1312,  1352,  1384,  1416,  1456,  1488,  1528,  1560,  1600,  1640,  1672,
        1712,  1752,  1792,  1832,  1872,  1920,  1952,  2000,  2048,  2080,  2128,  2176,  2224,
        2272,  2320,  2368,  2416,  2464,  2512,  2560,  2608,  2656,  2704,  2752,  2816,  2864,
        2912,  2976,  3024,  3072,  3136,  3184,  3248,  3296,  3360,  3424,  3472,  3536,  3600,
        3664,  3712,  3776,  3840,  3904,  3968,  4032,  4096,  4160,  4224,  4288,  4352,  4416,
        4512,  4576,  4640,  4704,  4768,  4864,  4928,  4992,  5056,  5152,  5216,  5280,  5376,
        5440,  5536,  5600,  5696,  5760,  5824,  5920,  6016,  6080,  6176,  6240,  6336,  6400,
        6496,  6592,  6688,  6752,  6848,  6944,  7008,  7104,  7200,  7296,  7392,  7488,  7584,
        7680,  7744,  7872,  7936,  8064,  8128,  8256,  8320,  8448,  8512,  8640,  8768,  8832,
        8960,  9024,  9152,  9280,  9344,  9472,  9600,  9664,  9792,  9920,  9984,  10112, 10240,
        10304, 10432, 10560, 10688, 10816, 10880, 11008, 11136, 11264, 11392, 11456, 11584, 11712,
        11840, 11968, 12096, 12224, 12352, 12480, 12608, 12736, 12864, 12992, 13120, 13248, 13376,
        13504, 13632, 13760, 13888, 14016, 14144, 14272, 14400, 14528, 14656, 14848, 14976, 15104,
        15232, 15360, 15488, 15616, 15744, 16000, 16128, 16256, 16384};
    return TABLE[value];
}

std::uint32_t half_to_single(std::uint16_t half) {
    const std::uint32_t sign = std::uint32_t{half} >> 15 << 31;
    const std::uint32_t exponent = half >> 10 & 31;
    const std::uint32_t mantissa = half & 1023;
    if (exponent == 31) {
        return sign | 0x7f800000u | mantissa << 13;
    }
    if (exponent != 0) {
        return sign | (exponent + 112) << 23 | mantissa << 13;
    }
    const float value = static_cast<float>(mantissa) * 0x1p-24f;
    return sign | std::bit_cast<std::uint32_t>(value);
}

std::uint16_t single_to_half(std::uint32_t single) {
    const auto sign = static_cast<std::uint16_t>(single >> 16 & 0x8000u);
    const std::uint32_t magnitude = single & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
        return 0x7fff;
    }
    if (magnitude >= 0x477ff000u) { // rounds to more than the largest half
        return sign | 0x7c00;
    }
    const int exponent = static_cast<int>(magnitude >> 23) - 127;
    const int shift = exponent < -14 ? -1 - exponent : 13; // bits that do not fit
    if (shift > 25) {
        return sign;
    }
    const std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    const std::uint32_t rest = mantissa & ((1u << shift) - 1);
    const std::uint32_t half = 1u << (shift - 1);
    std::uint32_t value = mantissa >> shift;
    value += rest > half || (rest == half && (value & 1) != 0) ? 1 : 0;
    // The leading bit of a normal number adds one to the exponent.
    const std::uint32_t base = exponent < -14 ? 0 : static_cast<std::uint32_t>(exponent + 14) << 10;
    return static_cast<std::uint16_t>(sign | (base + value));
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

bool has_signed_bytes(TexelFormat format) {
    return format == TexelFormat::S8 || format == TexelFormat::Snorm8;
}

/// Returns a number as the format would store it, expanded for the filter.
std::int32_t border_channel(TexelFormat format, TexelClass texel_class, bool is_srgb, float value) {
    const auto scaled = [&](float low, std::int32_t one) {
        const float inside = std::isnan(value) ? 0.0f : std::clamp(value, low, 1.0f);
        return static_cast<std::int32_t>(std::floor(static_cast<double>(inside) * one + 0.5));
    };
    switch (texel_class) {
    case TexelClass::Unorm:
        switch (format) {
        case TexelFormat::U16:
        case TexelFormat::Unorm16:
        case TexelFormat::Unorm10x3A2:
        case TexelFormat::Bc4Unorm:
        case TexelFormat::Bc5Unorm:
            return scaled(0, UNORM_ONE);
        default:
            return scaled(0, 255) * 257;
        }
    case TexelClass::Snorm:
        return scaled(-1, has_signed_bytes(format) ? 127 : SNORM_ONE);
    case TexelClass::Half: {
        const float inside = is_srgb ? std::clamp(value, 0.0f, 1.0f) : value;
        // Cut off, not rounded.
        return single_to_half(std::bit_cast<std::uint32_t>(inside) & 0xffffe000u);
    }
    case TexelClass::Whole: {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        switch (format) {
        case TexelFormat::U8:
            return static_cast<std::uint8_t>(bits);
        case TexelFormat::S8:
            return static_cast<std::int8_t>(bits);
        case TexelFormat::U16:
            return static_cast<std::uint16_t>(bits);
        case TexelFormat::S16:
            return static_cast<std::int16_t>(bits);
        default:
            return static_cast<std::int32_t>(bits);
        }
    }
    default:
        return std::bit_cast<std::int32_t>(value);
    }
}

std::int32_t decode_channel(TexelFormat format, TexelClass texel_class, bool is_srgb,
                            const std::byte* from, unsigned channel) {
    switch (format) {
    case TexelFormat::U8:
    case TexelFormat::Unorm8: {
        const auto value = load_as<std::uint8_t>(from + channel);
        if (is_srgb) {
            return single_to_half(
                std::bit_cast<std::uint32_t>(static_cast<float>(srgb_to_linear(value)) / 16384));
        }
        return texel_class == TexelClass::Whole ? value : value * 257;
    }
    case TexelFormat::S8:
    case TexelFormat::Snorm8:
        return load_as<std::int8_t>(from + channel);
    case TexelFormat::U16:
    case TexelFormat::Unorm16:
    case TexelFormat::F16:
        return load_as<std::uint16_t>(from + 2 * channel);
    case TexelFormat::S16:
    case TexelFormat::Snorm16:
        return load_as<std::int16_t>(from + 2 * channel);
    default:
        return load_as<std::int32_t>(from + 4 * channel);
    }
}

/// The parts of a floating-point number. Its value is mantissa * 2^exponent, times a constant that
/// depends on the format alone.
struct Parts {
    bool is_negative = false;
    std::int64_t mantissa = 0;
    int exponent = 0;
    bool is_special = false; // infinite or not a number
};

Parts split(std::int32_t bits, unsigned mantissa_bits) {
    const unsigned fraction = mantissa_bits - 1;
    const unsigned exponent_bits = mantissa_bits == 24 ? 8 : 5;
    const auto word = static_cast<std::uint32_t>(bits);
    const auto exponent = static_cast<int>(word >> fraction & ((1u << exponent_bits) - 1));
    const std::uint32_t low = word & ((1u << fraction) - 1);
    Parts parts;
    parts.is_negative = (word >> (fraction + exponent_bits) & 1) != 0;
    parts.is_special = exponent == (1 << exponent_bits) - 1;
    if (exponent != 0) {
        parts.mantissa = low | 1u << fraction;
        parts.exponent = exponent;
    } else if (mantissa_bits != 24) { // single-precision subnormals count as zero
        parts.mantissa = low;
        parts.exponent = 1;
    }
    return parts;
}

/// The sum of one group: a fixed-point number relative to the largest exponent in it.
struct Sum {
    std::int64_t value = 0;
    int exponent = 0; // 0: there is nothing in it
    bool has_negative = false;
    bool is_special = false; // a texel is infinite or not a number
};

Sum sum_of_group(const TapGroup& group, unsigned channel, unsigned mantissa_bits, int guard_bits) {
    std::array<Parts, 4> parts;
    const std::span taps = std::span(group.taps).first(group.count);
    Sum sum;
    for (std::size_t i = 0; i < taps.size(); ++i) {
        parts[i] = split(taps[i].texel.channels[channel], mantissa_bits);
        if (taps[i].weight != 0 && parts[i].mantissa != 0) {
            sum.exponent = std::max(sum.exponent, parts[i].exponent);
        }
    }
    for (std::size_t i = 0; i < taps.size(); ++i) {
        if (taps[i].weight == 0) {
            continue;
        }
        sum.has_negative |= parts[i].is_negative;
        sum.is_special |= parts[i].is_special;
        const int shift = sum.exponent - parts[i].exponent - guard_bits;
        if (parts[i].mantissa == 0 || shift > 40) {
            continue;
        }
        const std::int64_t aligned =
            shift < 0 ? parts[i].mantissa << -shift : parts[i].mantissa >> shift;
        const std::int64_t product = aligned * taps[i].weight;
        sum.value += parts[i].is_negative ? -product : product;
    }
    return sum;
}

/// Rounds a sum to the bits of a number, halfway cases away from zero. Small results of single
/// precision become zero, those of half precision are subnormal.
std::int32_t round_sum(const Sum& sum, unsigned mantissa_bits, int fraction_bits) {
    const unsigned exponent_bits = mantissa_bits == 24 ? 8 : 5;
    const auto sign = static_cast<std::uint32_t>(sum.value < 0 ? 1 : 0)
                      << (mantissa_bits - 1 + exponent_bits);
    const auto magnitude = static_cast<std::uint64_t>(sum.value < 0 ? -sum.value : sum.value);
    if (magnitude == 0) {
        return static_cast<std::int32_t>(sign);
    }
    int shift = std::bit_width(magnitude) - static_cast<int>(mantissa_bits);
    if (mantissa_bits != 24) { // not below the smallest subnormal
        shift = std::max(shift, fraction_bits + 1 - sum.exponent);
    }
    std::uint64_t mantissa =
        shift > 0 ? (magnitude + (std::uint64_t{1} << (shift - 1))) >> shift : magnitude << -shift;
    int exponent = sum.exponent - fraction_bits + shift;
    if (mantissa >> mantissa_bits != 0) {
        mantissa >>= 1;
        ++exponent;
    }
    const std::uint32_t fraction_mask = (1u << (mantissa_bits - 1)) - 1;
    const bool is_normal = mantissa >> (mantissa_bits - 1) != 0;
    if (exponent >= (1 << exponent_bits) - 1) {
        return static_cast<std::int32_t>(sign | ((1u << exponent_bits) - 1) << (mantissa_bits - 1));
    }
    if (mantissa_bits == 24 && exponent <= 0) {
        return static_cast<std::int32_t>(sign);
    }
    const std::uint32_t biased = is_normal ? static_cast<std::uint32_t>(exponent) : 0;
    return static_cast<std::int32_t>(sign | biased << (mantissa_bits - 1) |
                                     (static_cast<std::uint32_t>(mantissa) & fraction_mask));
}

/// Returns the sum if a texel is infinite or not a number.
std::int32_t special_sum(std::span<const TapGroup> groups, unsigned channel,
                         unsigned mantissa_bits) {
    double sum = 0;
    for (const TapGroup& group : groups) {
        for (const Tap& tap : std::span(group.taps).first(group.count)) {
            if (tap.weight != 0) {
                const std::int32_t bits = tap.texel.channels[channel];
                const std::uint32_t single = mantissa_bits == 24
                                                 ? static_cast<std::uint32_t>(bits)
                                                 : half_to_single(static_cast<std::uint16_t>(bits));
                sum += static_cast<double>(std::bit_cast<float>(single)) * tap.weight;
            }
        }
    }
    if (std::isnan(sum)) {
        return mantissa_bits == 24 ? 0x7fffffff : 0x7fff;
    }
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(sum));
    return static_cast<std::int32_t>(mantissa_bits == 24 ? bits : single_to_half(bits));
}

std::int32_t sum_of_floats(std::span<const TapGroup> groups, unsigned channel,
                           unsigned mantissa_bits, int guard_bits) {
    constexpr int EXTRA_BITS = 2; // that are kept when groups are added
    Sum total;
    for (const TapGroup& group : groups) {
        Sum sum = sum_of_group(group, channel, mantissa_bits, guard_bits);
        if (sum.is_special) {
            return special_sum(groups, channel, mantissa_bits);
        }
        sum.value *= 1 << EXTRA_BITS;
        Sum& lower = sum.exponent < total.exponent ? sum : total;
        const int exponent = std::max(sum.exponent, total.exponent);
        lower.value >>= std::min(exponent - lower.exponent, 62);
        total = {sum.value + total.value, exponent, sum.has_negative || total.has_negative, false};
    }
    return round_sum(total, mantissa_bits, static_cast<int>(WEIGHT_BITS) + guard_bits + EXTRA_BITS);
}

} // namespace

} // namespace cuprum::emulator
