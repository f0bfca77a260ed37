// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The video instructions against their definitions.

#include "support/operation.hpp"

#include <algorithm>

namespace cuprum::emulator::test {

namespace {

using U = std::uint32_t;
using S = std::int32_t;
using SL = std::int64_t;

const std::vector<U> WORDS{0,          1,          0x7fffffff, 0x80000000, 0xffffffff,
                           0x12345678, 0x80ff7f01, 0x0000ffff, 0xff80007f};

SL clamp_signed(SL value, unsigned bits) {
    return std::clamp(value, -(SL{1} << (bits - 1)), (SL{1} << (bits - 1)) - 1);
}

S byte(U value, unsigned index) {
    return static_cast<std::int8_t>(value >> (8 * index));
}

S half(U value, unsigned index) {
    return static_cast<std::int16_t>(value >> (16 * index));
}

TEST(Video, signs_decide_how_parts_are_extended) {
    expect_operation<U>("vadd.s32.s32.u32 %d, %a.b3, %b.h0;", each(WORDS, WORDS),
                        [](U a, U b) { return static_cast<U>(byte(a, 3)) + (b & 0xffff); });
    expect_operation<U>("vabsdiff.u32.u32.s32 %d, %a, %b.b0;", each(WORDS, WORDS), [](U a, U b) {
        const SL difference = SL{a} - byte(b, 0);
        return static_cast<U>(difference < 0 ? -difference : difference);
    });
}

TEST(Video, saturation_is_to_the_destination) {
    expect_operation<U>("vsub.s32.s32.s32.sat %d, %a, %b;", each(WORDS, WORDS), [](U a, U b) {
        return static_cast<U>(clamp_signed(SL{static_cast<S>(a)} - static_cast<S>(b), 32));
    });
    expect_operation<U>("vadd.u32.s32.s32.sat %d, %a.h1, %b.h1;", each(WORDS, WORDS), [](U a, U b) {
        return static_cast<U>(std::max(0, half(a, 1) + half(b, 1)));
    });
}

TEST(Video, a_second_operation_follows) {
    expect_operation<U>(
        "vmin.s32.s32.s32.add %d, %a, %b, %c;", each(WORDS, WORDS, WORDS), [](U a, U b, U c) {
            return static_cast<U>(std::min(static_cast<S>(a), static_cast<S>(b))) + c;
        });
    expect_operation<U>(
        "vadd.s32.s32.s32.max %d, %a.b1, %b.b2, %c;", each(WORDS, WORDS, WORDS), [](U a, U b, U c) {
            return static_cast<U>(std::max(byte(a, 1) + byte(b, 2), static_cast<S>(c)));
        });
    expect_operation<U>("vadd.u32.s32.s32.max %d, %a, %b.b0, %c;", each(WORDS, WORDS, WORDS),
                        [](U a, U b, U c) { // as on a GPU if both have the highest bit
                            const U sum = a + static_cast<U>(byte(b, 0));
                            return (sum & c) >> 31 != 0 ? sum : std::max(sum, c);
                        });
}

TEST(Video, a_part_of_the_destination_is_merged_into_the_third_source) {
    expect_operation<U>("vadd.s32.s32.s32.sat %d.b2, %a, %b.h0, %c;", each(WORDS, WORDS, WORDS),
                        [](U a, U b, U c) {
                            // As on a GPU, negative sums count as large ones.
                            const U sum = std::min(a + static_cast<U>(half(b, 0)), 0x7fu);
                            return (c & 0xff00ffffu) | sum << 16;
                        });
    expect_operation<U>("vadd.s32.s32.s32 %d.h1, %a, %b.h0, %c;", each(WORDS, WORDS, WORDS),
                        [](U a, U b, U c) { // as on a GPU, the high halfword of the sum
                            const U sum = a + static_cast<U>(half(b, 0));
                            return (sum & 0xffff0000u) | (c & 0xffffu);
                        });
}

TEST(Video, shifts_clamp_or_wrap) {
    const std::vector<U> amounts{0, 1, 31, 32, 33, 63, 0xffffffff};
    expect_operation<U>("vshl.u32.u32.u32.clamp %d, %a, %b;", each(WORDS, amounts),
                        [](U a, U n) { return n > 31 ? 0 : a << n; });
    expect_operation<U>("vshl.u32.u32.u32.wrap %d, %a, %b;", each(WORDS, amounts),
                        [](U a, U n) { return a << (n & 31); });
    expect_operation<U>("vshr.s32.s32.u32.clamp %d, %a, %b;", each(WORDS, amounts), [](U a, U n) {
        return static_cast<U>(static_cast<S>(a) >> std::min(n, 31u));
    });
    expect_operation<U>("vshl.u32.u32.u32.sat.clamp %d, %a, %b;", each(WORDS, amounts),
                        [](U a, U n) {
                            const auto wide = static_cast<std::uint64_t>(a) << std::min(n, 32u);
                            // As on a GPU, bit 33 counts as the sign.
                            if ((wide >> 33 & 1) != 0) {
                                return 0u;
                            }
                            return (wide >> 32 & 1) != 0 ? 0xffffffffu : static_cast<U>(wide);
                        });
}

TEST(Video, products_are_scaled_and_summed) {
    expect_operation<U>("vmad.s32.s32.s32.shr7 %d, %a.h0, %b.b1, %c;", each(WORDS, WORDS, WORDS),
                        [](U a, U b, U c) {
                            const SL sum = SL{half(a, 0)} * byte(b, 1) + static_cast<S>(c);
                            return static_cast<U>(sum >> 7);
                        });
    expect_operation<U>(
        "vmad.u32.u32.u32.sat %d, %a, %b, %c;", each(WORDS, WORDS, WORDS), [](U a, U b, U c) {
            // As on a GPU, the summand is signed although the factors are unsigned.
            const auto product = static_cast<std::uint64_t>(a) * b;
            const std::uint64_t summand = static_cast<std::uint64_t>(static_cast<S>(c));
            if (static_cast<S>(c) < 0 && product < -summand) {
                return 0u;
            }
            return static_cast<U>(std::min<std::uint64_t>(product + summand, 0xffffffffu));
        });
    expect_operation<U>("vmad.s32.s32.s32 %d, %a.b0, -%b.b0, %c;", each(WORDS, WORDS, WORDS),
                        [](U a, U b, U c) { return static_cast<U>(-byte(a, 0) * byte(b, 0)) + c; });
}

TEST(Video, comparisons_give_one_or_zero) {
    expect_operation<U>("vset.s32.u32.lt %d, %a.b0, %b.b0;", each(WORDS, WORDS),
                        [](U a, U b) { return byte(a, 0) < static_cast<S>(b & 0xff) ? 1u : 0u; });
}

TEST(Video, halfwords_and_bytes_work_side_by_side) {
    expect_operation<U>(
        "vadd2.s32.s32.s32.sat %d, %a, %b, %c;", each(WORDS, WORDS, WORDS), [](U a, U b, U) {
            const auto sum = [&](unsigned i) {
                return static_cast<U>(clamp_signed(half(a, i) + half(b, i), 16)) & 0xffff;
            };
            return sum(0) | sum(1) << 16;
        });
    expect_operation<U>("vabsdiff4.u32.u32.u32.add %d, %a, %b, %c;", each(WORDS, WORDS, WORDS),
                        [](U a, U b, U c) {
                            for (unsigned i = 0; i < 4; ++i) {
                                const S x = static_cast<S>(a >> (8 * i) & 0xff);
                                const S y = static_cast<S>(b >> (8 * i) & 0xff);
                                c += static_cast<U>(std::abs(x - y));
                            }
                            return c;
                        });
    expect_operation<U>("vavrg2.s32.s32.s32 %d.h1, %a.h01, %b, %c;", each(WORDS, WORDS, WORDS),
                        [](U a, U b, U c) {
                            // .h01: the upper element is a's lower half.
                            const S sum = half(a, 0) + half(b, 1);
                            const S average = sum >= 0 ? (sum + 1) >> 1 : sum >> 1;
                            return (c & 0xffff) | static_cast<U>(average) << 16;
                        });
}

TEST(Video, unknown_selectors_are_rejected) {
    TestDevice device;
    const std::string head = ".visible .entry k()\n{\n.reg .b32 %a, %b, %d;\n";
    for (const char* const body :
         {"vadd.u32.u32.u32 %d, %a.b4, %b;", "vadd2.u32.u32.u32 %d.h2, %a, %b, %b;",
          "vadd4.u32.u32.u32 %d, %a.h10, %b, %b;", "vadd.u32.u32.u32 %d.b0, %a, %b;"}) {
        EXPECT_EQ(device.compile(ptx_module(head + body + "\nret;\n}\n")), nullptr) << body;
        EXPECT_EQ(device.problem, ptx::Problem::Syntax) << device.log;
    }
}

} // namespace

} // namespace cuprum::emulator::test
