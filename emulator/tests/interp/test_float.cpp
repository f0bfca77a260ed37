// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Floating-point arithmetic in all rounding directions, compared with the host's.

#include "support/operation.hpp"

#include <bit>
#include <cfenv>
#include <cmath>

namespace cuprum::emulator::test {

namespace {

using U = std::uint32_t;

class Float : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, Float, LEVELS);

constexpr U NAN_BITS = 0x7fffffff;

const std::vector<U> SINGLES{0,          0x80000000, 0x3f800000, 0xbf800000, 0x3f000001,
                             0x40490fdb, 0x7f7fffff, 0xff7fffff, 0x00800000, 0x00000001,
                             0x807fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
                             0x7f800001, 0x4b800001, 0x33800000, 0x3eaaaaab, 0xc2c80000};
const std::vector<double> DOUBLES{0.0,      -0.0,      1.0,    -1.0,
                                  1.0 / 3,  1e308,     -1e308, 4.9e-324,
                                  2.2e-308, 3.14159,   1e16,   9007199254740993.0,
                                  INFINITY, -INFINITY, 0.1,    -2.5e-5};

float single(U bits) {
    return std::bit_cast<float>(bits);
}

/// Returns the bits of a result, with the single NaN that a GPU produces.
U canonical(float value) {
    return value != value ? NAN_BITS : std::bit_cast<U>(value);
}

U flush(U bits) {
    return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}

struct Direction {
    const char* suffix;
    int mode;
};

constexpr Direction DIRECTIONS[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

/// Computes in a rounding direction. `volatile` prevents the compiler from computing it in advance.
template <typename T, typename Body>
T rounded(int mode, Body body) {
    std::fesetround(mode);
    volatile T result = body();
    std::fesetround(FE_TONEAREST);
    return result;
}

TEST_P(Float, single_precision_rounds_in_all_directions) {
    const auto pairs = each(SINGLES, SINGLES);
    for (const Direction& direction : DIRECTIONS) {
        const std::string suffix = std::string(direction.suffix) + ".f32";
        const auto check = [&](const std::string& opcode, auto operation) {
            expect_operation<U>(opcode + "." + suffix + " %d, %a, %b;", pairs, [&](U a, U b) {
                return canonical(rounded<float>(direction.mode, [&] {
                    volatile float x = single(a);
                    volatile float y = single(b);
                    return operation(x, y);
                }));
            });
        };
        check("add", [](float a, float b) { return a + b; });
        check("sub", [](float a, float b) { return a - b; });
        check("mul", [](float a, float b) { return a * b; });
        check("div", [](float a, float b) { return a / b; });
        expect_operation<U>("sqrt." + suffix + " %d, %a;", each(SINGLES), [&](U a) {
            return canonical(rounded<float>(direction.mode, [&] {
                volatile float x = single(a);
                return std::sqrt(x);
            }));
        });
        expect_operation<U>("rcp." + suffix + " %d, %a;", each(SINGLES), [&](U a) {
            return canonical(rounded<float>(direction.mode, [&] {
                volatile float x = single(a);
                return 1.0f / x;
            }));
        });
        expect_operation<U>("fma." + suffix + " %d, %a, %b, %c;",
                            each(SINGLES, SINGLES, std::vector<U>{0, 0xbf800000, 0x33800000, 1}),
                            [&](U a, U b, U c) {
                                return canonical(rounded<float>(direction.mode, [&] {
                                    volatile float x = single(a);
                                    return std::fma(x, single(b), single(c));
                                }));
                            });
    }
}

TEST_P(Float, double_precision_rounds_in_all_directions) {
    const auto pairs = each(DOUBLES, DOUBLES);
    // The NaN of double precision is not specified, so results are compared as numbers.
    const auto same = [](double a) { return a != a ? std::bit_cast<double>(std::uint64_t{1}) : a; };
    for (const Direction& direction : DIRECTIONS) {
        const std::string suffix = std::string(direction.suffix) + ".f64";
        const auto check = [&](const std::string& opcode, auto operation) {
            const auto results =
                run_operation<double>(opcode + "." + suffix + " %d, %a, %b;", pairs);
            for (std::size_t i = 0; i < pairs.size(); ++i) {
                const double expected = rounded<double>(direction.mode, [&] {
                    volatile double x = std::get<0>(pairs[i]);
                    volatile double y = std::get<1>(pairs[i]);
                    return operation(x, y);
                });
                EXPECT_EQ(same(results[i]), same(expected))
                    << opcode << '.' << suffix << ' ' << std::get<0>(pairs[i]) << ' '
                    << std::get<1>(pairs[i]);
            }
        };
        check("add", [](double a, double b) { return a + b; });
        check("mul", [](double a, double b) { return a * b; });
        check("div", [](double a, double b) { return a / b; });
    }
}

TEST_P(Float, fma_is_not_split) {
    // (1 + 2^-12)^2 - 1 - 2^-11 is 2^-24 exactly; a rounded product would give 0.
    expect_operation<U>("fma.rn.f32 %d, %a, %b, %c;",
                        std::vector<std::tuple<U, U, U>>{{0x3f800800, 0x3f800800, 0xbf801000}},
                        [](U, U, U) { return U{0x33800000}; });
}

TEST_P(Float, ftz_flushes_inputs_and_results) {
    const auto pairs = each(SINGLES, SINGLES);
    expect_operation<U>("add.ftz.f32 %d, %a, %b;", pairs, [](U a, U b) {
        return canonical(single(flush(canonical(single(flush(a)) + single(flush(b))))));
    });
    expect_operation<U>("mul.ftz.f32 %d, %a, %b;", pairs, [](U a, U b) {
        return flush(canonical(single(flush(a)) * single(flush(b))));
    });
    expect_operation<U>("mul.f32 %d, %a, %b;", pairs,
                        [](U a, U b) { return canonical(single(a) * single(b)); });
}

TEST_P(Float, ftz_flushes_what_only_the_subnormal_grid_rounds_up) {
    // Recorded on an H200. (1 - 2^-24) * 2^-126 fits into 24 bits below 2^-126 and is flushed,
    // although rounding to a multiple of 2^-149 would give 2^-126.
    const auto of = [](const std::string& code, U a, U b, U c = 0) {
        return run_operation<U>(code, std::vector<std::tuple<U, U, U>>{{a, b, c}})[0];
    };
    EXPECT_EQ(of("mul.rn.ftz.f32 %d, %a, %b;", 0x3f7fffff, 0x00800000), 0u);
    EXPECT_EQ(of("mul.rn.f32 %d, %a, %b;", 0x3f7fffff, 0x00800000), 0x00800000u);
    EXPECT_EQ(of("fma.rp.ftz.f32 %d, %a, %b, %c;", 0x3f7fffff, 0x80800000, 0x80000000),
              0x80000000u);
    EXPECT_EQ(of("div.rn.ftz.f32 %d, %a, %b;", 0x00ffffff, 0x40000000), 0u);
    EXPECT_EQ(of("mul.rn.ftz.f32 %d, %a, %b;", 0x3f800000, 0x00800000), 0x00800000u);
}

TEST_P(Float, approximate_quotients_vanish_for_huge_divisors) {
    const auto of = [](const std::string& code, U a, U b) {
        return run_operation<U>(code, std::vector<std::tuple<U, U>>{{a, b}})[0];
    };
    EXPECT_EQ(of("div.approx.f32 %d, %a, %b;", 0xc26b3ba8, 0x7f7f8000), 0x80000000u);
    EXPECT_EQ(of("div.approx.f32 %d, %a, %b;", 0x7f800000, 0x7f7f8000), NAN_BITS);
    EXPECT_NE(of("div.full.f32 %d, %a, %b;", 0xc26b3ba8, 0x7f7f8000), 0x80000000u);
}

TEST_P(Float, sat_clamps_to_the_unit_interval_and_nan_to_zero) {
    expect_operation<U>("add.sat.f32 %d, %a, %b;", each(SINGLES, SINGLES), [](U a, U b) {
        const float sum = single(a) + single(b);
        return std::bit_cast<U>(sum > 0 ? std::min(sum, 1.0f) : 0.0f);
    });
    expect_operation<U>("fma.rp.sat.f32 %d, %a, %b, %c;",
                        each(SINGLES, SINGLES, std::vector<U>{0x3f000000}), [](U a, U b, U c) {
                            const float sum = rounded<float>(FE_UPWARD, [&] {
                                volatile float x = single(a);
                                return std::fma(x, single(b), single(c));
                            });
                            return std::bit_cast<U>(sum > 0 ? std::min(sum, 1.0f) : 0.0f);
                        });
}

/// Orders numbers, with -0 below +0.
std::int64_t rank(U bits) {
    const std::int64_t magnitude = bits & 0x7fffffff;
    return (bits >> 31) != 0 ? -magnitude - 1 : magnitude;
}

bool is_nan(U bits) {
    return (bits & 0x7fffffff) > 0x7f800000;
}

TEST_P(Float, min_and_max_prefer_numbers_to_nans) {
    const auto pairs = each(SINGLES, SINGLES);
    const auto extreme = [](U a, U b, bool max, bool keeps_nan) {
        if ((is_nan(a) && is_nan(b)) || (keeps_nan && (is_nan(a) || is_nan(b)))) {
            return NAN_BITS;
        }
        if (is_nan(a) || is_nan(b)) {
            return is_nan(a) ? b : a;
        }
        return (rank(a) < rank(b)) != max ? a : b;
    };
    expect_operation<U>("min.f32 %d, %a, %b;", pairs,
                        [&](U a, U b) { return extreme(a, b, false, false); });
    expect_operation<U>("max.f32 %d, %a, %b;", pairs,
                        [&](U a, U b) { return extreme(a, b, true, false); });
    expect_operation<U>("min.NaN.f32 %d, %a, %b;", pairs,
                        [&](U a, U b) { return extreme(a, b, false, true); });
    expect_operation<U>("max.ftz.NaN.f32 %d, %a, %b;", pairs,
                        [&](U a, U b) { return extreme(flush(a), flush(b), true, true); });
    expect_operation<U>(
        "max.f32 %d, %a, %b, %c;", each(SINGLES, SINGLES, SINGLES),
        [&](U a, U b, U c) { return extreme(extreme(a, b, true, false), c, true, false); });
}

TEST_P(Float, xorsign_takes_the_sign_from_both) {
    expect_operation<U>("min.xorsign.abs.f32 %d, %a, %b;",
                        each(std::vector<U>{0x3f800000, 0xc0000000, 0x80000000},
                             std::vector<U>{0x40400000, 0xbf000000}),
                        [](U a, U b) {
                            const U x = a & 0x7fffffff;
                            const U y = b & 0x7fffffff;
                            return std::min(x, y) | ((a ^ b) & 0x80000000);
                        });
}

TEST_P(Float, signs) {
    expect_operation<U>("neg.f32 %d, %a;", each(SINGLES),
                        [](U a) { return is_nan(a) ? NAN_BITS : a ^ 0x80000000; });
    expect_operation<U>("abs.f32 %d, %a;", each(SINGLES),
                        [](U a) { return is_nan(a) ? NAN_BITS : a & 0x7fffffff; });
    expect_operation<double>("neg.f64 %d, %a;", each(DOUBLES), [](double a) { return -a; });
    expect_operation<U>("copysign.f32 %d, %a, %b;", each(SINGLES, SINGLES),
                        [](U a, U b) { return (a & 0x80000000) | (b & 0x7fffffff); });
}

TEST_P(Float, testp_sorts_numbers) {
    const auto check = [](const std::string& property, auto holds) {
        expect_operation<Bool>("testp." + property + ".f32 %d, %a;", each(SINGLES),
                               [&](U a) { return Bool{holds(single(a)) ? 1u : 0u}; });
    };
    check("finite", [](float a) { return std::isfinite(a); });
    check("infinite", [](float a) { return std::isinf(a); });
    check("number", [](float a) { return !std::isnan(a); });
    check("notanumber", [](float a) { return std::isnan(a); });
    check("normal", [](float a) { return std::isnormal(a) || a == 0; });
    check("subnormal", [](float a) { return std::fpclassify(a) == FP_SUBNORMAL; });
}

TEST_P(Float, approximate_functions_are_close) {
    // A GPU is accurate to 2 units in the last place or 2^-20 absolute; the emulator must be too.
    const std::vector<U> inputs = [] {
        std::vector<U> result;
        for (float x = 0.03f; x < 3.0f; x += 0.07f) {
            result.push_back(std::bit_cast<U>(x));
        }
        return result;
    }();
    const auto check = [&](const std::string& opcode, auto reference) {
        const auto results = run_operation<U>(opcode + " %d, %a;", each(inputs));
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const double expected = reference(double{single(inputs[i])});
            EXPECT_NEAR(single(results[i]), expected, std::abs(expected) * 2.5e-7) << opcode;
        }
    };
    check("sin.approx.f32", [](double x) { return std::sin(x); });
    check("cos.approx.ftz.f32", [](double x) { return std::cos(x); });
    check("lg2.approx.f32", [](double x) { return std::log2(x); });
    check("ex2.approx.ftz.f32", [](double x) { return std::exp2(x); });
    check("tanh.approx.f32", [](double x) { return std::tanh(x); });
    check("rsqrt.approx.f32", [](double x) { return 1 / std::sqrt(x); });
    check("rcp.approx.ftz.f32", [](double x) { return 1 / x; });
    check("sqrt.approx.f32", [](double x) { return std::sqrt(x); });
}

TEST_P(Float, special_values_of_approximate_functions) {
    const auto at = [](const std::string& opcode, U input) {
        return run_operation<U>(opcode + " %d, %a;", each(std::vector<U>{input})).front();
    };
    EXPECT_EQ(at("rcp.approx.ftz.f32", 0x00000001), 0x7f800000u);
    EXPECT_EQ(at("rsqrt.approx.f32", 0x80000000), 0xff800000u);
    EXPECT_EQ(at("rsqrt.approx.f32", 0xbf800000), NAN_BITS);
    EXPECT_EQ(at("lg2.approx.f32", 0), 0xff800000u);
    EXPECT_EQ(at("lg2.approx.f32", 0xbf800000), NAN_BITS);
    EXPECT_EQ(at("ex2.approx.f32", 0xff800000), 0u);
    EXPECT_EQ(at("sin.approx.f32", 0x7f800000), NAN_BITS);
}

} // namespace

} // namespace cuprum::emulator::test
