// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cvt: any conversion, decided by the form in `immediate`, for as many lanes at a time as a vector
// of doubles has.
//
// A source becomes an exact double. A large integer becomes a double rounded to odd, which the
// second rounding treats like the exact value. The double is then rounded to the target format.

#include "interp/handlers/functions.hpp"
#include "interp/handlers/select.hpp"
#include "interp/handlers/small_formats.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

using Bits = Vector<std::uint64_t>;
using Doubles = Vector<double>;

constexpr std::uint64_t ONE = 1;

[[gnu::always_inline]] inline Bits all(std::uint64_t value) {
    return broadcast<std::uint64_t>(value);
}

/// Returns the bits of a whole number of at most 51 bits.
[[gnu::always_inline]] inline Bits bits_of_whole(Doubles value) {
    return cast<Bits>(value + TO_WHOLE) - __builtin_bit_cast(std::uint64_t, TO_WHOLE);
}

/// Returns a signed number of at most 51 bits.
[[gnu::always_inline]] inline Doubles whole_from(Bits bits) {
    return cast<Doubles>(bits + __builtin_bit_cast(std::uint64_t, TO_WHOLE)) - TO_WHOLE;
}

[[gnu::always_inline]] inline Narrow<float> singles(Bits bits) {
    return cast<Narrow<float>>(convert<std::uint32_t>(bits));
}

/// Flushes the bits of floats.
[[gnu::always_inline]] inline Bits flush_singles(Bits bits) {
    return select((bits & 0x7f800000u) == 0, bits & 0x80000000u, bits);
}

/// Widens small floats. Preserves NaN and infinity.
Doubles decode_small(Bits bits, Format format) {
    if (format == Format::UE8M0) {
        return select(bits == 0xff, Doubles{} + __builtin_nan(""),
                      cast<Doubles>((bits + (1023 - 127)) << 52));
    }
    const rows::FormatRecord& layout = record_of(format);
    const auto fraction_bits = static_cast<std::uint64_t>(layout.fraction_bits);
    const std::uint64_t sign_at = sign_position(format);
    const Bits magnitude = bits & ((ONE << sign_at) - 1);
    // The fields of a normal number are those of a double with another bias. A subnormal one gets
    // the exponent of the smallest normal number, which is then subtracted.
    const std::uint64_t bias = (ONE << (layout.exponent_bits - 1)) - 1;
    const Bits moved = (magnitude << (52 - fraction_bits)) + ((1023 - bias) << 52);
    const std::uint64_t least = (1024 - bias) << 52;
    const Doubles subnormal = cast<Doubles>(moved + (ONE << 52)) - double_from(least);
    Doubles value = select((magnitude >> fraction_bits) == 0, subnormal, cast<Doubles>(moved));
    const Bits payload = (magnitude & ((ONE << fraction_bits) - 1)) << (52 - fraction_bits);
    const Bits nan = payload | 0x7ff8000000000000u;
    const Bits infinity = all(layout.infinity != 0 ? layout.infinity : ~std::uint64_t{0});
    value = select(magnitude > layout.largest, cast<Doubles>(nan), value);
    value = select(magnitude == infinity, Doubles{} + __builtin_inf(), value);
    return cast<Doubles>(cast<Bits>(value) | (bits >> sign_at & 1) << 63);
}

/// Extends the lowest bits of integers to 64.
[[gnu::always_inline]] inline Bits extend(Bits bits, IntegerLimits limits) {
    const std::uint64_t unused = 64 - limits.bits;
    const Bits upper = bits << unused;
    return limits.is_signed
               ? cast<Bits>(cast<Vector<std::int64_t>>(upper) >> static_cast<std::int64_t>(unused))
               : upper >> unused;
}

/// Widens integers to double. Rounds to odd where 53 bits do not hold them.
Doubles widen_integer(Bits bits, IntegerLimits limits) {
    if (limits.bits < 64) {
        return whole_from(bits);
    }
    const Doubles low = whole_from(bits & 0xffffffffu);
    const Doubles high = whole_from(extend(bits >> 32, {32, limits.is_signed}));
    return sum_to_odd(high * 0x1p32, low);
}

Bits integer_to_integer(Bits bits, const ConvertForm& form) {
    const IntegerLimits from = limits_of(form.from);
    const IntegerLimits to = limits_of(form.to);
    bits = extend(bits, from);
    if (form.is_saturating) {
        using Signed = Vector<std::int64_t>;
        const std::uint64_t most = ~std::uint64_t{0} >> (64 - to.bits + (to.is_signed ? 1 : 0));
        const std::uint64_t least = to.is_signed ? ~most : 0;
        const Bits not_above = select(bits > most, all(most), bits);
        const Bits not_below =
            select(cast<Signed>(bits) < cast<Signed>(all(least)), all(least), bits);
        const auto is_negative = (bits >> 63) != 0;
        bits = from.is_signed ? select(is_negative, not_below, not_above) : not_above;
    }
    return extend(bits, to);
}

/// Converts whole numbers of 64 bits.
Bits convert_whole(Doubles value, bool is_signed) {
    const double limit = is_signed ? 0x1p63 : 0x1p64;
    const Doubles least{};
    const auto fits = (value < limit) & (value >= (is_signed ? least - limit : least));
    const Doubles inside = select(fits, value, Doubles{});
    // The upper half of the unsigned numbers is converted without its highest bit.
    const auto is_upper = inside >= 0x1p63;
    const Doubles lower = select(is_upper, inside - 0x1p63, inside);
    const Bits bits = cast<Bits>(convert<std::int64_t>(lower));
    const Bits result = select(is_upper, bits | SIGN_64, bits);
    const std::uint64_t most = is_signed ? ~SIGN_64 : ~std::uint64_t{0};
    const Bits limited = select(value < 0.0, all(~most), all(most));
    return select(fits, result, limited);
}

Bits float_to_integer(Doubles value, const ConvertForm& form) {
    const IntegerLimits to = limits_of(form.to);
    const bool is_wide = to.bits == 64 || form.from == Format::F64;
    const Doubles rounded = whole_of(value, form.rounding);
    Bits result{};
    if (to.bits == 64) {
        result = convert_whole(rounded, to.is_signed);
    } else {
        const double limit =
            double_from(std::uint64_t{1023 + to.bits - (to.is_signed ? 1 : 0)} << 52);
        const Doubles most = Doubles{} + (limit - 1);
        const Doubles least = Doubles{} + (to.is_signed ? -limit : 0.0);
        const Doubles below = select(rounded < most, rounded, most);
        result = bits_of_whole(select(below > least, below, least));
    }
    const Bits nan = is_wide ? extend(all(ONE << (to.bits - 1)), to) : Bits{};
    return select(value != value, nan, result);
}

/// Returns the format's own NaN. A NaN from f64 keeps its sign and the upper part of its payload.
Bits encode_nan(Doubles value, const ConvertForm& form, const rows::FormatRecord& layout,
                unsigned shift) {
    if (form.from == Format::F64 && !form.is_finite_saturating && !form.is_relu) {
        const Bits bits = cast<Bits>(value);
        const auto fraction_bits = static_cast<std::uint64_t>(layout.fraction_bits);
        const std::uint64_t quiet = ONE << (fraction_bits - 1);
        return (bits >> 63) << std::uint64_t{sign_position(form.to)} | layout.infinity | quiet |
               (bits & 0xfffffffffffffu) >> (52 - fraction_bits);
    }
    return all(layout.nan << shift);
}

/// Rounds numbers to powers of two without a sign.
Bits encode_power(Doubles value, const ConvertForm& form) {
    const Bits bits = cast<Bits>(value);
    const Bits field = bits >> 52 & 0x7ff;
    const Bits up = select((bits << 12) != 0, all(form.rounding == Rounding::Up ? 1 : 0), Bits{});
    const Bits power = field + up; // with the bias of double precision
    constexpr std::uint64_t lowest = 1023 - 127;
    constexpr std::uint64_t nan = 0xff;
    constexpr std::uint64_t largest = 0xfe;
    const Bits limited = select(power < lowest, Bits{}, power - lowest);
    const std::uint64_t above = form.is_finite_saturating ? largest : nan;
    return select(value != value, all(nan), select(limited > largest, all(above), limited));
}

/// Rounds numbers to a format of up to 32 bits, including f32.
Bits encode(Doubles value, const ConvertForm& form) {
    if (form.is_relu) {
        value = select(value <= 0.0, Doubles{}, value); // a NaN stays a NaN
    }
    if (form.is_saturating) {
        value = saturate(value);
    }
    if (form.to == Format::UE8M0) {
        return encode_power(value, form);
    }
    const rows::FormatRecord& layout = record_of(form.to);
    const Bits sign = cast<Bits>(value) >> 63;
    const Bits magnitude = encode_magnitude(value, {.exponent_bits = layout.exponent_bits,
                                                    .fraction_bits = layout.fraction_bits,
                                                    .rounding = form.rounding,
                                                    .rounds_away = form.rounds_away});
    const Bits largest = all(layout.largest);
    Bits above = largest;
    if (!form.is_finite_saturating) {
        const Bits infinity = all(layout.infinity != 0 ? layout.infinity : layout.nan);
        const Bits positive = stays_finite(form.rounding, false) ? largest : infinity;
        const Bits negative = stays_finite(form.rounding, true) ? largest : infinity;
        above = select(sign != 0, negative, positive);
        above = select(value - value != 0.0, infinity, above); // an infinity stays one
    }
    const Bits bits = select(magnitude > largest, above, magnitude);
    const unsigned shift = form.to == Format::TF32 ? 13 : 0;
    const std::uint64_t sign_at = sign_position(form.to);
    const Bits result = (bits | sign << sign_at) << std::uint64_t{shift};
    return select(value != value, encode_nan(value, form, layout, shift), result);
}

Doubles decode(Bits bits, const ConvertForm& form) {
    switch (form.from) {
    case Format::F32:
        return convert<double>(singles(form.flushes ? flush_singles(bits) : bits));
    case Format::F64:
        return cast<Doubles>(bits);
    default:
        return is_integer(form.from)
                   ? widen_integer(extend(bits, limits_of(form.from)), limits_of(form.from))
                   : decode_small(bits & ((ONE << record_of(form.from).bits) - 1), form.from);
    }
}

/// Converts the bits of one vector of values.
Bits convert_bits(Bits bits, const ConvertForm& form) {
    if (is_integer(form.from) && is_integer(form.to)) {
        return integer_to_integer(bits, form);
    }
    Doubles value = decode(bits, form);
    if (is_integer(form.to)) {
        return float_to_integer(value, form);
    }
    if (form.rounds_to_integer) {
        value = whole_of(value, form.rounding);
    }
    if (form.to == Format::F64) {
        return cast<Bits>(form.is_saturating ? saturate(value) : value);
    }
    const Bits result = encode(value, form);
    if (form.rounds_away) {
        return select(value != value, bits & 0xffffe000u, result); // .rna truncates a NaN
    }
    if (form.to == Format::F32 && form.flushes) {
        // See resize_float in convert.cpp: 24 bits below the smallest normal number are flushed.
        const Doubles magnitude = cast<Doubles>(cast<Bits>(value) & ~SIGN_64);
        const auto is_tiny = form.rounding == Rounding::Nearest ? magnitude < 0x1p-126 - 0x1p-151
                                                                : magnitude <= 0x1p-126 - 0x1p-150;
        return select(is_tiny, result & 0x80000000u, flush_singles(result));
    }
    return result;
}

/// Converts integers to f64 with directed rounding, which the processor does.
double integer_to_double(std::uint64_t bits, bool is_signed) {
    return is_signed ? static_cast<double>(static_cast<std::int64_t>(bits))
                     : static_cast<double>(bits);
}

[[gnu::always_inline]] inline Bits read_chunk(const WarpContext& warp, Operand operand, Width width,
                                              unsigned chunk) {
    const std::byte* const from = locate(warp, operand);
    if (width == Width::B64) {
        return load<std::uint64_t>(from, chunk);
    }
    using Words = NarrowOf<std::uint32_t>;
    return convert<std::uint64_t>(
        Words::Value{reinterpret_cast<const Words::Memory*>(from)[chunk]});
}

/// Writes the results of all lanes, which are complete before the first is written, because the
/// registers of another width can overlap.
void write_all(const WarpContext& warp, Operand operand, Width width, const Bits* results,
               std::uint32_t mask) {
    std::byte* const to = locate(warp, operand);
    if (width == Width::B64) {
        store_lanes<std::uint64_t>(to, reinterpret_cast<const std::uint64_t*>(results), mask);
        return;
    }
    Narrow<std::uint32_t> words[CHUNKS<double>];
    for (unsigned chunk = 0; chunk < CHUNKS<double>; ++chunk) {
        words[chunk] = convert<std::uint32_t>(results[chunk]);
    }
    store_lanes<std::uint32_t>(to, reinterpret_cast<const std::uint32_t*>(words), mask);
}

} // namespace

const Instruction* convert_any(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const ConvertForm form = unpack(at->immediate);
    const std::uint64_t from_bits = record_of(form.from).bits;
    const std::uint64_t to_bits = record_of(form.to).bits;
    Bits results[CHUNKS<double>];
    for (unsigned chunk = 0; chunk < CHUNKS<double>; ++chunk) {
        const Bits first = read_chunk(warp, at->src[0], form.from_width, chunk);
        if (!form.is_pair) {
            results[chunk] = convert_bits(first, form);
            continue;
        }
        // With two sources, the first is the upper one. With one source, use its halves.
        const bool has_two = at->src_count == 2;
        const Bits upper = has_two ? first : first >> from_bits;
        const Bits lower = has_two ? read_chunk(warp, at->src[1], form.from_width, chunk) : first;
        results[chunk] = convert_bits(upper, form) << to_bits |
                         (convert_bits(lower, form) & ((ONE << to_bits) - 1));
    }
    write_all(warp, at->dst[0], form.to_width, results, mask);
    return at + 1;
}

const Instruction* convert_integer_to_double(WarpContext& warp, const Instruction* at,
                                             std::uint32_t mask) {
    const ConvertForm form = unpack(at->immediate);
    const IntegerLimits from = limits_of(form.from);
    Bits inputs[CHUNKS<double>];
    for (unsigned chunk = 0; chunk < CHUNKS<double>; ++chunk) {
        inputs[chunk] = extend(read_chunk(warp, at->src[0], form.from_width, chunk), from);
    }
    const auto* const integers = reinterpret_cast<const Aliased<std::uint64_t>::Value*>(inputs);
    Doubles results[CHUNKS<double>];
    auto* const numbers = reinterpret_cast<Aliased<double>::Value*>(results);
    {
        const RoundingScope scope(form.rounding);
        scope.keep(inputs);
        for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
            numbers[lane] = integer_to_double(integers[lane], from.is_signed);
        }
        scope.keep(results);
    }
    for (unsigned chunk = 0; chunk < CHUNKS<double>; ++chunk) {
        // Some compilers convert unsigned numbers with an addition: -0 if sums are rounded down.
        const Bits bits = select(inputs[chunk] == 0, Bits{}, cast<Bits>(results[chunk]));
        inputs[chunk] = form.is_saturating ? cast<Bits>(saturate(cast<Doubles>(bits))) : bits;
    }
    write_all(warp, at->dst[0], form.to_width, inputs, mask);
    return at + 1;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
