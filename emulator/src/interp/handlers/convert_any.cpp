// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cvt: any conversion, decided lane by lane from the form in `immediate`.
//
// A source becomes an exact double. A large integer becomes a double rounded to odd, which the
// second rounding treats like the exact value. The double is then rounded to the target format.

#include "interp/handlers/half_common.hpp"
#include "interp/handlers/round.hpp"
#include "interp/handlers/select.hpp"
#include "interp/handlers/small_formats.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

/// Widens a small float. Preserves NaN and infinity.
double decode_small(std::uint32_t bits, Format format) {
    if (format == Format::UE8M0) {
        return bits == 0xff ? __builtin_nan("")
                            : double_from(static_cast<std::uint64_t>(bits + 1023 - 127) << 52);
    }
    const Layout layout = layout_of(format);
    const unsigned sign_at = sign_position(format);
    const std::uint32_t magnitude = bits & ((1u << sign_at) - 1);
    const bool is_negative = (bits >> sign_at & 1) != 0;
    double value = 0;
    if (magnitude > layout.largest) {
        const std::uint64_t payload = magnitude & ((1u << layout.fraction_bits) - 1);
        value = layout.infinity != 0 && magnitude == layout.infinity
                    ? __builtin_inf()
                    : double_from(0x7ff8000000000000u | payload << (52 - layout.fraction_bits));
    } else {
        const std::uint32_t fraction = magnitude & ((1u << layout.fraction_bits) - 1);
        const std::uint32_t field = magnitude >> layout.fraction_bits;
        const int bias = (1 << (layout.exponent_bits - 1)) - 1;
        const int exponent = field == 0 ? 1 - bias : static_cast<int>(field) - bias;
        const std::uint32_t mantissa =
            field == 0 ? fraction : fraction | 1u << layout.fraction_bits;
        const auto scale = static_cast<std::uint64_t>(1023 + exponent - layout.fraction_bits) << 52;
        value = static_cast<double>(mantissa) * double_from(scale);
    }
    return is_negative ? -value : value;
}

/// Widens an integer to double. Rounds to odd if 53 bits do not hold it.
double widen_integer(std::uint64_t bits, bool is_signed) {
    const bool is_negative = is_signed && (bits >> 63) != 0;
    std::uint64_t magnitude = is_negative ? 0 - bits : bits;
    if (magnitude >> 53 != 0) {
        const int shift = 11 - __builtin_clzll(magnitude);
        const std::uint64_t dropped = magnitude & ((std::uint64_t{1} << shift) - 1);
        magnitude = (magnitude >> shift | (dropped != 0 ? 1 : 0)) << shift;
    }
    const auto value = static_cast<double>(magnitude);
    return is_negative ? -value : value;
}

double round_to_integer(double value, Rounding rounding) {
    switch (rounding) {
    case Rounding::Nearest:
        return round_to_even(value);
    case Rounding::Down:
        return __builtin_floor(value);
    case Rounding::Up:
        return __builtin_ceil(value);
    default:
        return __builtin_trunc(value);
    }
}

std::uint64_t extend(std::uint64_t bits, IntegerLimits limits) {
    const unsigned unused = 64 - limits.bits;
    bits <<= unused;
    return limits.is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> unused)
                            : bits >> unused;
}

std::uint64_t integer_to_integer(std::uint64_t bits, const ConvertForm& form) {
    const IntegerLimits from = limits_of(form.from);
    const IntegerLimits to = limits_of(form.to);
    bits = extend(bits, from);
    if (form.is_saturating) {
        const bool is_negative = from.is_signed && (bits >> 63) != 0;
        const std::uint64_t most = ~std::uint64_t{0} >> (64 - to.bits + (to.is_signed ? 1 : 0));
        if (is_negative) {
            const auto least = to.is_signed ? static_cast<std::int64_t>(~most) : 0;
            bits =
                static_cast<std::int64_t>(bits) < least ? static_cast<std::uint64_t>(least) : bits;
        } else {
            bits = bits > most ? most : bits;
        }
    }
    return extend(bits, to);
}

std::uint64_t float_to_integer(double value, const ConvertForm& form) {
    const IntegerLimits to = limits_of(form.to);
    const bool is_wide = to.bits == 64 || form.from == Format::F64;
    if (value != value) {
        return is_wide ? extend(std::uint64_t{1} << (to.bits - 1), to) : 0;
    }
    const double rounded = round_to_integer(value, form.rounding);
    const std::uint64_t most = ~std::uint64_t{0} >> (64 - to.bits + (to.is_signed ? 1 : 0));
    const double limit =
        double_from(static_cast<std::uint64_t>(1023 + to.bits - (to.is_signed ? 1 : 0)) << 52);
    if (rounded >= limit) {
        return most;
    }
    if (to.is_signed) {
        return rounded < -limit ? extend(~most, to)
                                : static_cast<std::uint64_t>(static_cast<std::int64_t>(rounded));
    }
    return rounded <= 0 ? 0 : static_cast<std::uint64_t>(rounded);
}

/// Returns the format's own NaN. A NaN from f64 keeps its sign and the upper part of its payload.
std::uint32_t encode_nan(double value, const ConvertForm& form, const Layout& layout,
                         unsigned shift) {
    const std::uint64_t bits = bits_from(value);
    const auto single = static_cast<std::uint32_t>(bits >> 32 & 0x80000000u) | 0x7f800000u |
                        static_cast<std::uint32_t>(bits >> 29 & 0x7fffffu);
    if (form.from == Format::F64 && !form.is_finite_saturating && !form.is_relu) {
        const unsigned dropped = 23 - static_cast<unsigned>(layout.fraction_bits);
        const std::uint32_t quiet = 1u << (layout.fraction_bits - 1);
        return (single >> 31) << sign_position(form.to) | layout.infinity | quiet |
               ((single & 0x7fffffu) >> dropped);
    }
    return layout.nan << shift;
}

/// Rounds a number to a format of up to 32 bits, including f32.
std::uint32_t encode(double value, const ConvertForm& form) {
    if (form.is_relu && value <= 0) {
        value = 0; // a NaN stays a NaN
    }
    if (form.is_saturating) {
        value = value > 0 ? (value < 1 ? value : 1.0) : 0.0;
    }
    const bool is_negative = (bits_from(value) >> 63) != 0;
    if (form.to == Format::UE8M0) {
        // ue8m0 holds powers of two without a sign, so drop the sign.
        constexpr std::uint32_t nan = 0xff;
        constexpr std::uint32_t largest = 0xfe;
        if (value != value) {
            return nan;
        }
        const auto field = static_cast<std::int64_t>(bits_from(value) >> 52 & 0x7ff);
        const bool is_exact = (bits_from(value) << 12) == 0;
        const std::int64_t power =
            field - 1023 + (form.rounding == Rounding::Up && !is_exact ? 1 : 0);
        if (power > 127) {
            return form.is_finite_saturating ? largest : nan;
        }
        return power < -127 ? 0 : static_cast<std::uint32_t>(power + 127);
    }
    const Layout layout = form.to == Format::F32 ? Layout{8, 23, 0x7f7fffff, 0x7f800000, 0x7fffffff}
                                                 : layout_of(form.to);
    const unsigned shift = form.to == Format::TF32 ? 13 : 0;
    if (value != value) {
        return encode_nan(value, form, layout, shift);
    }
    const Encoding to{.exponent_bits = layout.exponent_bits,
                      .fraction_bits = layout.fraction_bits,
                      .rounding = form.rounding,
                      .rounds_away = form.rounds_away,
                      .has_infinity = layout.infinity != 0,
                      .largest = layout.largest};
    bool overflows = false;
    std::uint32_t bits = encode_magnitude(value, to, overflows);
    if (overflows && !form.is_finite_saturating) {
        const bool is_infinite = value - value != 0;
        bits = !is_infinite && stays_finite(form.rounding, is_negative) ? layout.largest
               : layout.infinity != 0                                   ? layout.infinity
                                                                        : layout.nan;
    }
    const unsigned sign_at = form.to == Format::TF32 ? 18 : sign_position(form.to);
    return (bits | static_cast<std::uint32_t>(is_negative) << sign_at) << shift;
}

/// Converts the bits of one value.
std::uint64_t convert_one(std::uint64_t bits, const ConvertForm& form) {
    if (is_integer(form.from) && is_integer(form.to)) {
        return integer_to_integer(bits, form);
    }
    double value = 0;
    switch (form.from) {
    case Format::F32: {
        float single = float_from(static_cast<std::uint32_t>(bits));
        single = form.flushes ? flush(single) : single;
        value = static_cast<double>(single);
        break;
    }
    case Format::F64:
        value = double_from(bits);
        break;
    default:
        value =
            is_integer(form.from)
                ? widen_integer(extend(bits, limits_of(form.from)), limits_of(form.from).is_signed)
                : decode_small(static_cast<std::uint32_t>(
                                   bits & ((std::uint64_t{1} << storage_bits(form.from)) - 1)),
                               form.from);
        break;
    }
    if (is_integer(form.to)) {
        return float_to_integer(value, form);
    }
    if (form.rounds_to_integer) {
        value = round_to_integer(value, form.rounding);
    }
    if (form.to == Format::F64) {
        if (form.is_saturating) {
            value = value > 0 ? (value < 1 ? value : 1.0) : 0.0;
        }
        return bits_from(value);
    }
    if (form.rounds_away && value != value) {
        return bits & 0xffffe000u; // .rna to tf32 truncates a NaN
    }
    const std::uint32_t result = encode(value, form);
    if (form.to == Format::F32 && form.flushes) {
        // See resize_float in convert.cpp: 24 bits below the smallest normal number are flushed.
        const double magnitude = value < 0 ? -value : value;
        const bool is_tiny = form.rounding == Rounding::Nearest ? magnitude < 0x1p-126 - 0x1p-151
                                                                : magnitude <= 0x1p-126 - 0x1p-150;
        return is_tiny ? result & 0x80000000u : bits_from(flush(float_from(result)));
    }
    return result;
}

/// Converts an integer to f64 with directed rounding, which the processor does.
double integer_to_double(std::uint64_t bits, bool is_signed) {
    return is_signed ? static_cast<double>(static_cast<std::int64_t>(bits))
                     : static_cast<double>(bits);
}

std::uint64_t read_lane(const WarpContext& warp, Operand operand, Width width, unsigned lane) {
    return width == Width::B64 ? lanes_of<std::uint64_t>(warp, operand)[lane]
                               : lanes_of<std::uint32_t>(warp, operand)[lane];
}

void write_lane(const WarpContext& warp, Operand operand, Width width, unsigned lane,
                std::uint64_t value) {
    if (width == Width::B64) {
        lanes_of<std::uint64_t>(warp, operand)[lane] = value;
    } else {
        lanes_of<std::uint32_t>(warp, operand)[lane] = static_cast<std::uint32_t>(value);
    }
}

const Instruction* convert_any(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const ConvertForm form = unpack(at->immediate);
    const unsigned from_bits = storage_bits(form.from);
    const unsigned to_bits = storage_bits(form.to);
    std::uint64_t results[WARP_SIZE];
    for_each_lane(mask, [&](unsigned lane) {
        const std::uint64_t first = read_lane(warp, at->src[0], form.from_width, lane);
        if (!form.is_pair) {
            results[lane] = convert_one(first, form);
            return;
        }
        // With two sources, the first is the upper one. With one source, use its halves.
        const bool has_two = at->src_count == 2;
        const std::uint64_t upper = has_two ? first : first >> from_bits;
        const std::uint64_t lower =
            has_two ? read_lane(warp, at->src[1], form.from_width, lane) : first;
        results[lane] = convert_one(upper, form) << to_bits |
                        (convert_one(lower, form) & ((std::uint64_t{1} << to_bits) - 1));
    });
    for_each_lane(mask, [&](unsigned lane) {
        write_lane(warp, at->dst[0], form.to_width, lane, results[lane]);
    });
    return at + 1;
}

const Instruction* convert_integer_to_double(WarpContext& warp, const Instruction* at,
                                             std::uint32_t mask) {
    const ConvertForm form = unpack(at->immediate);
    const IntegerLimits from = limits_of(form.from);
    std::uint64_t inputs[WARP_SIZE] = {};
    double results[WARP_SIZE];
    for_each_lane(mask, [&](unsigned lane) {
        inputs[lane] = extend(read_lane(warp, at->src[0], form.from_width, lane), from);
    });
    {
        const RoundingScope scope(form.rounding);
        scope.keep(inputs);
        for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
            results[lane] = integer_to_double(inputs[lane], from.is_signed);
        }
        scope.keep(results);
    }
    for_each_lane(mask, [&](unsigned lane) {
        // Some compilers convert unsigned numbers with an addition: -0 if sums are rounded down.
        const std::uint64_t bits = inputs[lane] == 0 ? 0 : bits_from(results[lane]);
        write_lane(warp, at->dst[0], form.to_width, lane, bits);
    });
    return at + 1;
}

} // namespace

Handler select_any_conversion(const ConvertForm& form) {
    if (is_integer(form.from) && form.to == Format::F64) {
        return convert_integer_to_double;
    }
    return convert_any;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
