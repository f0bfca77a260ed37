// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cvt.rs: rounding with random bits. The model computes with exact fractions and knows which bit of
// the operand each random bit is.

#include "support/operation.hpp"

#include <cmath>
#include <limits>

namespace cuprum::emulator::test {

namespace {

using H = std::uint16_t;
using U = std::uint32_t;

class RandomRounding : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, RandomRounding, LEVELS);

// ---- the model ---------------------------------------------------------------------------------

struct Format {
    const char* name;
    int exponent_bits;
    int fraction_bits;
    int storage_bits;
    U largest;
    U infinity; // 0 if the format has none
    U nan;
    int random_bits;
};

constexpr Format E4M3{"e4m3x4", 4, 3, 8, 0x7e, 0, 0x7f, 16};
constexpr Format E5M2{"e5m2x4", 5, 2, 8, 0x7b, 0x7c, 0x7f, 16};
constexpr Format E2M3{"e2m3x4", 2, 3, 8, 0x1f, 0, 0x1f, 16};
constexpr Format E3M2{"e3m2x4", 3, 2, 8, 0x1f, 0, 0x1f, 16};
constexpr Format E2M1{"e2m1x4", 2, 1, 4, 0x07, 0, 0x07, 16};
constexpr Format F16{"f16x2", 5, 10, 16, 0x7bff, 0x7c00, 0x7fff, 13};
constexpr Format BF16{"bf16x2", 8, 7, 16, 0x7f7f, 0x7f80, 0x7fff, 16};

double magnitude_of(U bits, const Format& format) {
    const int bias = (1 << (format.exponent_bits - 1)) - 1;
    const auto exponent = static_cast<int>(bits >> format.fraction_bits);
    const double fraction = static_cast<double>(bits & ((1u << format.fraction_bits) - 1)) /
                            (1 << format.fraction_bits);
    return exponent == 0 ? std::ldexp(fraction, 1 - bias)
                         : std::ldexp(1 + fraction, exponent - bias);
}

U encode(float value, U random, const Format& format, bool saturates, bool is_relu) {
    if (std::isnan(value)) {
        return format.nan;
    }
    if (is_relu && std::signbit(value)) {
        return 0;
    }
    const U sign = std::signbit(value) ? 1u << (format.exponent_bits + format.fraction_bits) : 0;
    const double magnitude = std::fabs(static_cast<double>(value));
    U low = 0;
    U high = format.largest + 1;
    while (high - low > 1) { // finds the last value that is not above
        const U middle = (low + high) / 2;
        (magnitude_of(middle, format) <= magnitude ? low : high) = middle;
    }
    const double here = magnitude_of(low, format);
    const double part = (magnitude - here) / (magnitude_of(low + 1, format) - here);
    const double steps = std::ldexp(1.0, format.random_bits);
    if (std::floor(part * steps) + random >= steps) {
        ++low;
    }
    if (low > format.largest) {
        low = saturates ? format.largest : format.infinity;
    }
    return low | sign;
}

/// Returns the bit of the operand that is random bit `k`, counted from the most significant one, of
/// one of four values.
int bit_of(int value, int k, bool is_four_bits) {
    const int upper = k < 8 ? k : k - 8;
    switch (value) {
    case 0:
        return is_four_bits ? (k < 8 ? 8 : 24) + upper : 16 + k;
    case 1:
        return is_four_bits ? (k < 8 ? 31 : 15) - upper : 31 - k;
    case 2:
        return is_four_bits ? (k < 8 ? 0 : 16) + upper : k;
    default:
        return is_four_bits ? (k < 8 ? 23 : 7) - upper : 15 - k;
    }
}

U random_of_four(U operand, int value, const Format& format) {
    U random = 0;
    for (int k = 0; k < 16; ++k) {
        random = random << 1 | (operand >> bit_of(value, k, format.storage_bits == 4) & 1);
    }
    return random;
}

// ---- inputs ------------------------------------------------------------------------------------

std::vector<float> values_around(const Format& format) {
    std::vector<float> result{0.0f,   -0.0f, INFINITY, -INFINITY, NAN,   1e30f,
                              -1e30f, 1e-4f, -1e-12f,  1e-30f,    1e-41f};
    const U step = format.largest > 64 ? format.largest / 16 : 1;
    for (U bits = 0; bits <= format.largest; bits += step) {
        const double here = magnitude_of(bits, format);
        const double unit = magnitude_of(bits + 1, format) - here;
        for (const double part : {0.0, 1.0 / 3, 0.5, 1 - 0x1p-12}) {
            const auto single = static_cast<float>(here + part * unit);
            result.push_back((bits & 1) != 0 ? -single : single);
        }
    }
    return result;
}

std::vector<U> random_words() {
    std::vector<U> result{0, 0xffffffff, 0x12345678, 0xaaaa5555, 0x7fff8000};
    for (int bit = 0; bit < 32; ++bit) {
        result.push_back(1u << bit);
        result.push_back(~(1u << bit));
    }
    return result;
}

std::vector<std::tuple<float, float, U>> inputs_of(const Format& format) {
    const std::vector<float> values = values_around(format);
    std::vector<std::tuple<float, float, U>> result;
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (const U word : random_words()) {
            result.emplace_back(values[i], values[(i + 7) % values.size()], word);
        }
    }
    return result;
}

// ---- tests -------------------------------------------------------------------------------------

TEST_P(RandomRounding, two_values_have_a_half_of_the_bits_each) {
    for (const Format* const format : {&F16, &BF16}) {
        const U used = (1u << format->random_bits) - 1;
        for (const bool saturates : {false, true}) {
            for (const bool is_relu : {false, true}) {
                expect_operation<U>(
                    std::string("cvt.rs.") + (is_relu ? "relu." : "") +
                        (saturates ? "satfinite." : "") + format->name + ".f32 %d, %a, %b, %c;",
                    inputs_of(*format), [&](float a, float b, U bits) {
                        return encode(a, bits >> 16 & used, *format, saturates, is_relu) << 16 |
                               encode(b, bits & used, *format, saturates, is_relu);
                    });
            }
        }
    }
}

TEST_P(RandomRounding, of_four_values_each_two_share_bits) {
    for (const Format* const format : {&E4M3, &E5M2, &E2M3, &E3M2}) {
        for (const bool is_relu : {false, true}) {
            const auto code = [&](float value, int index, U bits) {
                return encode(value, random_of_four(bits, index, *format), *format, true, is_relu);
            };
            expect_operation<U>(std::string("cvt.rs.") + (is_relu ? "relu." : "") + "satfinite." +
                                    format->name + ".f32 %d, {%a, %b, %b, %a}, %c;",
                                inputs_of(*format), [&](float a, float b, U bits) {
                                    return code(a, 0, bits) << 24 | code(b, 1, bits) << 16 |
                                           code(b, 2, bits) << 8 | code(a, 3, bits);
                                });
        }
    }
}

TEST_P(RandomRounding, values_of_four_bits_take_bytes_of_both_halves) {
    for (const bool is_relu : {false, true}) {
        const auto code = [&](float value, int index, U bits) {
            return encode(value, random_of_four(bits, index, E2M1), E2M1, true, is_relu);
        };
        expect_operation<H>(std::string("cvt.rs.") + (is_relu ? "relu." : "") +
                                "satfinite.e2m1x4.f32 %d, {%a, %b, %b, %a}, %c;",
                            inputs_of(E2M1), [&](float a, float b, U bits) {
                                return static_cast<H>(code(a, 0, bits) << 12 |
                                                      code(b, 1, bits) << 8 |
                                                      code(b, 2, bits) << 4 | code(a, 3, bits));
                            });
    }
}

TEST_P(RandomRounding, the_mean_of_all_roundings_is_the_value) {
    // A quarter of the way from one bf16 to the next.
    constexpr float VALUE = 1.34375f + 0x1p-9f;
    std::vector<std::tuple<float, float, U>> inputs;
    for (U random = 0; random < 0x10000; random += 0x40) {
        inputs.emplace_back(VALUE, 0.0f, random << 16);
    }
    double sum = 0;
    for (const U bits : run_operation<U>("cvt.rs.bf16x2.f32 %d, %a, %b, %c;", inputs)) {
        sum += magnitude_of(bits >> 16, BF16);
    }
    EXPECT_EQ(sum / static_cast<double>(inputs.size()), VALUE);
}

TEST(RandomRoundingErrors, are_told_by_name) {
    const auto expect_refused = [](const std::string& instruction, const std::string& words) {
        TestDevice device;
        (void)device.compile(ptx_module(".visible .entry k()\n{\n.reg .b32 %d, %r;\n"
                                        ".reg .f32 %f<4>;\n" +
                                        instruction + "\nret;\n}\n"));
        EXPECT_NE(device.log.find(words), std::string::npos) << instruction << "\n" << device.log;
    };
    expect_refused("cvt.rs.e4m3x4.f32 %d, {%f0, %f1, %f2, %f3}, %r;", ".satfinite");
    expect_refused("cvt.rs.satfinite.e4m3x4.f32 %d, {%f0, %f1}, %r;", "four values");
    expect_refused("cvt.rs.satfinite.e4m3x2.f32 %d, %f0, %f1, %r;", "has no form with .rs");
    expect_refused("cvt.rs.f16x2.f32 %d, %f0, %f1;", "3 operands");
    expect_refused("cvt.rs.tf32.f32 %d, %f0, %r;", "has no form with .rs");
}

} // namespace

} // namespace cuprum::emulator::test
