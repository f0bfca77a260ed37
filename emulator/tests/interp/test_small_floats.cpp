// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cvt to and from the formats of 8, 6 and 4 bits, tf32, and cvt.pack. Tests every 16-bit value, and
// values around the rounding boundaries, against a model that searches a table.

#include "support/operation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace cuprum::emulator::test {

namespace {

using H = std::uint16_t;
using U = std::uint32_t;

class SmallFloats : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, SmallFloats, LEVELS);

// ---- the model ---------------------------------------------------------------------------------

/// A format with a sign, given by the widths of its fields. Exponent 0 means subnormal.
struct Format {
    const char* name;
    int exponent_bits;
    int fraction_bits;
    int storage_bits;
    U largest;  // bits of the largest finite number; higher codes are infinity or NaN
    U infinity; // 0 if the format has none
    U nan;      // the result for a NaN
};

constexpr Format E4M3{"e4m3x2", 4, 3, 8, 0x7e, 0, 0x7f};
constexpr Format E5M2{"e5m2x2", 5, 2, 8, 0x7b, 0x7c, 0x7f};
constexpr Format E2M3{"e2m3x2", 2, 3, 8, 0x1f, 0, 0x1f};
constexpr Format E3M2{"e3m2x2", 3, 2, 8, 0x1f, 0, 0x1f};
constexpr Format E2M1{"e2m1x2", 2, 1, 4, 0x07, 0, 0x07};
constexpr Format F16{"f16x2", 5, 10, 16, 0x7bff, 0x7c00, 0x7fff};
constexpr Format BF16{"bf16x2", 8, 7, 16, 0x7f7f, 0x7f80, 0x7fff};

double magnitude_of(U bits, const Format& format) {
    const int bias = (1 << (format.exponent_bits - 1)) - 1;
    const auto exponent = static_cast<int>(bits >> format.fraction_bits);
    const double fraction = static_cast<double>(bits & ((1u << format.fraction_bits) - 1)) /
                            (1 << format.fraction_bits);
    return exponent == 0 ? std::ldexp(fraction, 1 - bias)
                         : std::ldexp(1 + fraction, exponent - bias);
}

double decode(U bits, const Format& format) {
    const int sign_at = format.exponent_bits + format.fraction_bits;
    const U magnitude = bits & ((1u << sign_at) - 1);
    const double sign = (bits >> sign_at & 1) != 0 ? -1.0 : 1.0;
    if (magnitude <= format.largest) {
        return sign * magnitude_of(magnitude, format);
    }
    return format.infinity != 0 && magnitude == format.infinity
               ? sign * std::numeric_limits<double>::infinity()
               : std::numeric_limits<double>::quiet_NaN();
}

/// Rounds to the nearest value, ties to the one with an even last bit.
U encode(double value, const Format& format, bool saturates, bool is_relu) {
    if (std::isnan(value)) {
        return format.nan;
    }
    if (is_relu && value <= 0) {
        return 0;
    }
    const U sign = std::signbit(value) ? 1u << (format.exponent_bits + format.fraction_bits) : 0;
    const double magnitude = std::fabs(value);
    U low = 0;
    U high = format.largest + 1;
    while (high - low > 1) { // finds the last value that is not above
        const U middle = (low + high) / 2;
        (magnitude_of(middle, format) <= magnitude ? low : high) = middle;
    }
    const double below = magnitude - magnitude_of(low, format);
    const double above = magnitude_of(low + 1, format) - magnitude;
    if (below > above || (below == above && (low & 1) != 0)) {
        ++low;
    }
    if (low > format.largest) {
        low = saturates ? format.largest : format.infinity;
    }
    return low | sign;
}

// ---- inputs ------------------------------------------------------------------------------------

/// Returns numbers around each value of a format and around the middle of each two, with both
/// signs; numbers beyond the largest; and NaNs.
std::vector<float> turning_points(const Format& format) {
    std::vector<float> result{0.0f, -0.0f, INFINITY, -INFINITY, NAN, -NAN, 1e30f, -1e30f, 1e-30f};
    for (U bits = 0; bits <= format.largest; ++bits) {
        const double here = magnitude_of(bits, format);
        for (const double value : {here, (here + magnitude_of(bits + 1, format)) / 2}) {
            const auto single = static_cast<float>(value);
            for (const float near :
                 {single, std::nextafter(single, INFINITY), std::nextafter(single, -INFINITY)}) {
                result.push_back(near);
                result.push_back(-near);
            }
        }
    }
    return result;
}

/// Returns all upper halves of single precision, with varying lower halves.
std::vector<float> all_upper_halves() {
    std::vector<float> result;
    for (U i = 0; i < 0x10000; i += 3) {
        result.push_back(std::bit_cast<float>(i << 16 | (i * 40503u & 0xffff)));
    }
    return result;
}

/// Pairs each value with one from elsewhere in the list.
std::vector<std::tuple<float, float>> paired(const std::vector<float>& values) {
    std::vector<std::tuple<float, float>> result;
    for (std::size_t i = 0; i < values.size(); ++i) {
        result.emplace_back(values[i], values[(i * 7 + 5) % values.size()]);
    }
    return result;
}

/// Returns every 16-bit value, paired with another one in the upper half.
std::vector<std::tuple<U>> all_half_pairs() {
    std::vector<std::tuple<U>> result;
    for (U i = 0; i < 0x10000; ++i) {
        result.emplace_back((i * 40503u & 0xffff) << 16 | i);
    }
    return result;
}

// ---- tests -------------------------------------------------------------------------------------

void expect_from_singles(const Format& format, bool is_relu) {
    const std::string code =
        std::string("cvt.rn.satfinite.") + (is_relu ? "relu." : "") + format.name + ".f32 ";
    const auto model = [&](float a, float b) {
        return static_cast<H>(encode(a, format, true, is_relu) << format.storage_bits |
                              encode(b, format, true, is_relu));
    };
    for (const auto& values : {turning_points(format), all_upper_halves()}) {
        if (format.storage_bits == 4) {
            expect_operation<H>("@G " + code + "%t8, %a, %b;\n@G cvt.u16.u8 %d, %t8;",
                                paired(values), model, ".reg .b8 %t8;\n");
        } else {
            expect_operation<H>(code + "%d, %a, %b;", paired(values), model);
        }
    }
}

TEST_P(SmallFloats, single_precision_is_rounded_to_nearest_even_and_saturated) {
    for (const Format* const format : {&E4M3, &E5M2, &E2M3, &E3M2, &E2M1}) {
        expect_from_singles(*format, false);
        expect_from_singles(*format, true);
    }
}

TEST_P(SmallFloats, every_half_precision_value_is_narrowed) {
    for (const Format* const from : {&F16, &BF16}) {
        for (const Format* const to : {&E4M3, &E5M2}) {
            for (const bool is_relu : {false, true}) {
                expect_operation<H>(
                    std::string("cvt.rn.satfinite.") + (is_relu ? "relu." : "") + to->name + "." +
                        from->name + " %d, %a;",
                    all_half_pairs(), [&](U pair) {
                        return static_cast<H>(
                            encode(decode(pair >> 16, *from), *to, true, is_relu) << 8 |
                            encode(decode(pair & 0xffff, *from), *to, true, is_relu));
                    });
            }
        }
    }
}

TEST_P(SmallFloats, every_pair_is_widened) {
    std::vector<std::tuple<H>> pairs;
    for (U i = 0; i < 0x10000; ++i) {
        pairs.emplace_back(static_cast<H>(i));
    }
    for (const Format* const from : {&E4M3, &E5M2, &E2M3, &E3M2}) {
        for (const bool is_relu : {false, true}) {
            expect_operation<U>(std::string("cvt.rn.") + (is_relu ? "relu." : "") + "f16x2." +
                                    from->name + " %d, %a;",
                                pairs, [&](H pair) {
                                    return encode(decode(pair >> 8, *from), F16, false, is_relu)
                                               << 16 |
                                           encode(decode(pair & 0xff, *from), F16, false, is_relu);
                                });
        }
    }
    pairs.resize(256);
    expect_operation<U>(
        "@G cvt.u8.u16 %t8, %a;\n@G cvt.rn.f16x2.e2m1x2 %d, %t8;", pairs,
        [](H pair) {
            return encode(decode(pair >> 4, E2M1), F16, false, false) << 16 |
                   encode(decode(pair & 15, E2M1), F16, false, false);
        },
        ".reg .b8 %t8;\n");
}

/// Returns the exponent of a power of two, rounded towards zero or up. The sign is ignored.
U encode_scale(double value, bool rounds_up, bool saturates) {
    if (std::isnan(value)) {
        return 0xff;
    }
    const double magnitude = std::fabs(value);
    U bits = 0; // 2^-127, also for smaller values
    while (bits < 0xff && (rounds_up ? std::ldexp(1, static_cast<int>(bits) - 127) < magnitude
                                     : std::ldexp(1, static_cast<int>(bits) - 126) <= magnitude)) {
        ++bits;
    }
    return bits == 0xff && saturates ? 0xfe : bits;
}

TEST_P(SmallFloats, scales_are_powers_of_two) {
    for (const bool rounds_up : {false, true}) {
        for (const bool saturates : {false, true}) {
            const std::string code = std::string("cvt.") + (rounds_up ? "rp" : "rz") +
                                     (saturates ? ".satfinite" : "") + ".ue8m0x2.";
            const auto one = [&](double value) {
                return encode_scale(value, rounds_up, saturates);
            };
            expect_operation<H>(
                code + "f32 %d, %a, %b;", paired(all_upper_halves()),
                [&](float a, float b) { return static_cast<H>(one(a) << 8 | one(b)); });
            expect_operation<H>(code + "bf16x2 %d, %a;", all_half_pairs(), [&](U pair) {
                return static_cast<H>(one(decode(pair >> 16, BF16)) << 8 |
                                      one(decode(pair & 0xffff, BF16)));
            });
        }
    }
    std::vector<std::tuple<H>> scales;
    for (U i = 0; i < 256; ++i) {
        scales.emplace_back(static_cast<H>(i << 8 | (255 - i)));
    }
    expect_operation<U>("cvt.rn.bf16x2.ue8m0x2 %d, %a;", scales, [](H pair) {
        const auto widen = [](U bits) {
            return bits == 0xff
                       ? U{0x7fff}
                       : encode(std::ldexp(1, static_cast<int>(bits) - 127), BF16, false, false);
        };
        return widen(pair >> 8) << 16 | widen(pair & 0xff);
    });
}

TEST_P(SmallFloats, tf32_keeps_ten_bits_of_fraction) {
    constexpr U dropped = 0x1fff;
    std::vector<std::tuple<float>> inputs;
    for (U i = 0; i < 0x10000; ++i) {
        // Below, at and above the middle of two values.
        constexpr U tails[] = {0x0000, 0x0001, 0x0fff, 0x1000, 0x1001, 0x1fff, 0x3000, 0x2fff};
        const float value = std::bit_cast<float>(i << 16 | tails[i % 8]);
        if (!std::isnan(value)) {
            inputs.emplace_back(value);
        }
    }
    const auto bits = [](float value) { return std::bit_cast<U>(value); };
    expect_operation<U>("cvt.rna.tf32.f32 %d, %a;", inputs, [&](float value) {
        return std::isinf(value) ? bits(value) : (bits(value) + 0x1000) & ~dropped;
    });
    expect_operation<U>("cvt.rn.tf32.f32 %d, %a;", inputs, [&](float value) {
        return std::isinf(value) ? bits(value)
                                 : (bits(value) + 0xfff + (bits(value) >> 13 & 1)) & ~dropped;
    });
    expect_operation<U>("cvt.rz.tf32.f32 %d, %a;", inputs,
                        [&](float value) { return bits(value) & ~dropped; });
    expect_operation<U>("cvt.rn.relu.tf32.f32 %d, %a;", inputs, [&](float value) {
        return value <= 0          ? 0
               : std::isinf(value) ? bits(value)
                                   : (bits(value) + 0xfff + (bits(value) >> 13 & 1)) & ~dropped;
    });
    expect_operation<U>("cvt.rna.satfinite.tf32.f32 %d, %a;", inputs, [&](float value) {
        const U rounded = std::isinf(value) ? bits(value) : (bits(value) + 0x1000) & ~dropped;
        return (rounded & 0x7fffffffu) >= 0x7f800000u ? (rounded & 0x80000000u) | 0x7f7fe000u
                                                      : rounded;
    });
}

TEST_P(SmallFloats, integers_are_packed_below_those_packed_before) {
    using S = std::int32_t;
    const std::vector<S> values{0,
                                1,
                                -1,
                                2,
                                -2,
                                3,
                                -3,
                                7,
                                8,
                                -8,
                                -9,
                                15,
                                16,
                                127,
                                128,
                                -128,
                                -129,
                                255,
                                256,
                                300,
                                32767,
                                32768,
                                -32768,
                                -32769,
                                65535,
                                65536,
                                99999,
                                -99999,
                                std::numeric_limits<S>::max(),
                                std::numeric_limits<S>::min()};
    const auto saturate = [](S value, int width, bool is_signed) {
        const S most = (1 << (is_signed ? width - 1 : width)) - 1;
        const S least = is_signed ? -most - 1 : 0;
        return static_cast<U>(std::clamp(value, least, most)) & ((1u << width) - 1);
    };
    for (const bool is_signed : {false, true}) {
        const std::string sign = is_signed ? "s" : "u";
        expect_operation<U>(
            "cvt.pack.sat." + sign + "16.s32 %d, %a, %b;", each(values, values), [&](S a, S b) {
                return saturate(a, 16, is_signed) << 16 | saturate(b, 16, is_signed);
            });
        for (const int width : {2, 4, 8}) {
            expect_operation<U>(
                "cvt.pack.sat." + sign + std::to_string(width) + ".s32.b32 %d, %a, %b, %c;",
                each(values, values, std::vector<U>{0, 0x12345678, 0xffffffff}),
                [&](S a, S b, U before) {
                    return before << 2 * width | saturate(a, width, is_signed) << width |
                           saturate(b, width, is_signed);
                });
        }
    }
}

TEST(SmallFloatForms, those_that_do_not_exist_are_rejected) {
    for (const char* const form :
         {"cvt.rn.e4m3x2.f32 %h, %f, %f;", "cvt.rz.satfinite.e4m3x2.f32 %h, %f, %f;",
          "cvt.rn.satfinite.ue8m0x2.f32 %h, %f, %f;", "cvt.rn.f16x2.ue8m0x2 %r, %h;",
          "cvt.rn.satfinite.f16x2.e4m3x2 %r, %h;", "cvt.rn.satfinite.e4m3x2.e5m2x2 %h, %h;",
          "cvt.rn.satfinite.e4m3x4.f32 %r, {%f, %f, %f, %f}, %r;",
          "cvt.pack.sat.u8.s32 %r, %r, %r;", "cvt.pack.u16.s32 %r, %r, %r;"}) {
        TestDevice device;
        EXPECT_EQ(device.compile(ptx_module(".visible .entry k() {\n.reg .b16 %h;\n.reg .b32 "
                                            "%r;\n.reg .f32 %f;\n" +
                                            std::string(form) + "\nret;\n}\n")),
                  nullptr)
            << form;
        EXPECT_NE(device.log.find("'cvt."), std::string::npos) << device.log;
    }
}

} // namespace

} // namespace cuprum::emulator::test
