// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// f16 and bf16 arithmetic: results recorded on an H200, and properties that must hold everywhere.

#include "support/operation.hpp"

namespace cuprum::emulator::test {

namespace {

using H = std::uint16_t;
using U = std::uint32_t;

class Half : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, Half, LEVELS);

H one(const std::string& code, H a, H b = 0, H c = 0) {
    return run_operation<H>(code, std::vector<std::tuple<H, H, H>>{{a, b, c}})[0];
}

TEST_P(Half, arithmetic_rounds_to_nearest_even) {
    EXPECT_EQ(one("add.rn.f16 %d, %a, %b;", 0x3c00, 0x1400), 0x3c01); // 1 + 2^-10
    EXPECT_EQ(one("add.rn.f16 %d, %a, %b;", 0x3c00, 0x1000), 0x3c00); // halfway: to even
    EXPECT_EQ(one("add.rn.f16 %d, %a, %b;", 0x3c01, 0x1000), 0x3c02);
    EXPECT_EQ(one("mul.rn.f16 %d, %a, %b;", 0x7bff, 0x4000), 0x7c00); // overflows
    EXPECT_EQ(one("sub.rn.f16 %d, %a, %b;", 0x7c00, 0x7c00), 0x7fff); // canonical NaN
    EXPECT_EQ(one("add.rn.bf16 %d, %a, %b;", 0x3f80, 0x3f80), 0x4000);
    EXPECT_EQ(one("mul.rn.bf16 %d, %a, %b;", 0x7f7f, 0x4000), 0x7f80);
}

TEST_P(Half, fma_is_rounded_once) {
    // (1 + 2^-10)^2 = 1 + 2^-9 + 2^-20: the last term decides the rounding of + 2^-11.
    EXPECT_EQ(one("fma.rn.f16 %d, %a, %b, %c;", 0x3c01, 0x3c01, 0x1000), 0x3c03);
    EXPECT_EQ(one("fma.rn.f16 %d, %a, %b, %c;", 0x3c00, 0x3c01, 0x1000), 0x3c02);
    EXPECT_EQ(one("fma.rn.relu.f16 %d, %a, %b, %c;", 0xbc00, 0x3c00, 0x0000), 0x0000);
    EXPECT_EQ(one("fma.rn.sat.f16 %d, %a, %b, %c;", 0x4000, 0x4000, 0x0000), 0x3c00);
}

TEST_P(Half, a_factor_out_of_bounds_makes_fma_zero) {
    // The out-of-bounds NaN of tensor copies is 0x7ff7, with either sign. Other NaNs are ordinary.
    for (const char* const type : {"f16", "bf16"}) {
        const std::string plain = std::string("fma.rn.oob.") + type + " %d, %a, %b, %c;";
        const H number = type[0] == 'f' ? 0x3c00 : 0x3f80;
        EXPECT_EQ(one(plain, 0x7ff7, number, number), 0x0000);
        EXPECT_EQ(one(plain, number, 0xfff7, number), 0x0000);
        EXPECT_EQ(one(plain, 0x7ff7, 0x7fff, 0x7fff), 0x0000);
        EXPECT_EQ(one(plain, number, number, 0x7ff7), 0x7fff);
        EXPECT_EQ(one(plain, 0x7ff6, number, number), 0x7fff);
        EXPECT_EQ(one(plain, number, number, 0x0000), number);
        const std::string clamped = std::string("fma.rn.oob.relu.") + type + " %d, %a, %b, %c;";
        EXPECT_EQ(one(clamped, 0x7ff7, number, number), 0x0000);
        EXPECT_EQ(one(clamped, number | 0x8000, number, 0x0000), 0x0000);
    }
    for (const char* const type : {"f16x2", "bf16x2"}) {
        const U number = type[0] == 'f' ? 0x3c00 : 0x3f80;
        const U each = number << 16 | number;
        EXPECT_EQ(
            run_operation<U>(std::string("fma.rn.oob.") + type + " %d, %a, %b, %c;",
                             std::vector<std::tuple<U, U, U>>{{0x7ff70000u | number, each, 0},
                                                              {each, number << 16 | 0x7ff7u, each}})
                .front(),
            number);
    }
}

} // namespace

} // namespace cuprum::emulator::test
