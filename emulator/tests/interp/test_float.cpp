// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Results of floating-point arithmetic that a GPU has recorded, or that approximations must have.

#include "support/operation.hpp"

namespace cuprum::emulator::test {

namespace {

using U = std::uint32_t;

class Float : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, Float, LEVELS);

constexpr U NAN_BITS = 0x7fffffff;

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
