// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// mov in all its forms, and what decoders refuse.

#include "support/operation.hpp"

namespace cuprum::emulator::test {

namespace {

using U = std::uint32_t;
using UL = std::uint64_t;

class Moves : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, Moves, LEVELS);

const std::vector<U> WORDS{0, 1, 0x12345678, 0xffffffff, 0x80007fff};

TEST_P(Moves, packing_puts_the_first_part_lowest) {
    expect_operation<UL>("mov.b64 %d, {%a, %b};", each(WORDS, WORDS),
                         [](U a, U b) { return UL{b} << 32 | a; });
    using H = std::uint16_t;
    const std::vector<H> halves{0, 0x1234, 0xffff};
    expect_operation<U>("mov.b32 %d, {%a, %b};", each(halves, halves),
                        [](H a, H b) { return U{b} << 16 | a; });
    expect_operation<UL>("mov.b64 %d, {%a, %b, %c, %a};", each(halves, halves, halves),
                         [](H a, H b, H c) { return UL{a} << 48 | UL{c} << 32 | UL{b} << 16 | a; });
}

TEST_P(Moves, unpacking_may_overwrite_its_source) {
    const std::vector<UL> longs{0, 0x123456789abcdef0, ~0ull};
    expect_operation<U>(
        "mov.b64 {%x, %d}, %a;", each(longs), [](UL a) { return static_cast<U>(a >> 32); },
        ".reg .b32 %x;\n");
    expect_operation<U>("mov.b64 {%d, _}, %a;", each(longs),
                        [](UL a) { return static_cast<U>(a); });
    using H = std::uint16_t;
    expect_operation<H>(
        "mov.b64 {%x, %y, %d, %z}, %a;", each(longs), [](UL a) { return static_cast<H>(a >> 32); },
        ".reg .b16 %x, %y, %z;\n");
    expect_operation<H>(
        "mov.b32 {%x, %d}, %a;", each(WORDS), [](U a) { return static_cast<H>(a >> 16); },
        ".reg .b16 %x;\n");
}

TEST_P(Moves, immediates_of_every_type) {
    const auto of = [](const std::string& code) {
        return run_operation<U>(code, each(std::vector<U>{0}))[0];
    };
    EXPECT_EQ(of("mov.u32 %d, -3;"), U(-3));
    EXPECT_EQ(of("mov.f32 %d, 0f3F800000;"), 0x3f800000u);
    EXPECT_EQ(of("mov.b32 %d, 0xdeadbeef;"), 0xdeadbeefu);
    expect_operation<double>("mov.f64 %d, 0d3FF8000000000000;", each(std::vector<U>{0}),
                             [](U) { return 1.5; });
}

TEST_P(Moves, wide_registers_travel_whole) {
    expect_operation<UL>(
        "@G mov.b128 %q, {%a, %b};\n@G mov.b128 %r, %q;\n@G mov.b128 {%x, %d}, %r;",
        each(std::vector<UL>{1, 2}, std::vector<UL>{3, ~0ull}), [](UL, UL b) { return b; },
        ".reg .b128 %q, %r;\n.reg .b64 %x;\n");
}

/// Compiles one instruction and returns the log, which is empty if it was accepted.
std::string log_of(const std::string& instruction) {
    TestDevice device;
    (void)device.compile(ptx_module(R"(.visible .entry k()
{
    .reg .b32 %r1, %r2, %r3;
    .reg .b64 %x1, %x2;
    .reg .f32 %f1, %f2;
    .reg .pred %p1;
    )" + instruction + "\n    ret;\n}\n"));
    return device.log;
}

TEST(Refusals, nothing_is_ignored) {
    const auto expect_refused = [](const std::string& instruction, const std::string& words) {
        const std::string log = log_of(instruction);
        EXPECT_NE(log.find(words), std::string::npos) << instruction << "\n" << log;
    };
    expect_refused("frobnicate.s32 %r1, %r2, %r3;", "'frobnicate.s32' is not an instruction");
    expect_refused("add.wrap.s32 %r1, %r2, %r3;", ".wrap");
    expect_refused("add.s32 %r1, %r2;", "operands");
    expect_refused("add.rn.rz.f32 %f1, %f1, %f2;", "exclude each other");
    expect_refused("add.ftz.f64 %x1, %x1, %x2;", ".ftz");
    expect_refused("mul.s32 %r1, %r2, %r3;", "needs .lo, .hi or .wide");
    expect_refused("mul.wide.s64 %x1, %x1, %x2;", ".wide");
    expect_refused("cvt.s32.f32 %r1, %f1;", ".rzi");
    expect_refused("cvt.f32.s32 %f1, %r1;", ".rn");
    expect_refused("sin.f32 %f1, %f2;", ".approx");
    expect_refused("setp.ltu.s32 %p1, %r1, %r2;", "has no form with .ltu");
    expect_refused("atom.global.inc.s32 %r1, [%x1], %r2;", "no form for type .s32");
    expect_refused("st.const.u32 [%x1], %r1;", "cannot be written");
    expect_refused("lop3.b32 %r1, %r1, %r2, %r3, 256;", "0 to 255");
    expect_refused("shfl.up.b32 %r1, %r2, 1, 0;", "without .sync");
    expect_refused("tcgen05.wait::ld.sync.aligned;", "tcgen05.wait::ld.sync.aligned");
}

} // namespace

} // namespace cuprum::emulator::test
