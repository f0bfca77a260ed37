// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "ptx/printer.hpp"
#include "sample.hpp"
#include "tree_equality.hpp"

namespace cuprum::emulator::ptx {

using testing::are_same;
using testing::HEAD;
using testing::parse_body;
using testing::parse_good;

namespace {

/// Returns the only statement of a body as the printer writes it.
std::string print_instruction(std::string_view text) {
    const Module module = parse_body(text);
    const auto& body = module.functions[0].body;
    EXPECT_EQ(body.size(), 1u);
    return body.empty() ? "" : to_text(body[0].instruction);
}

} // namespace

TEST(Printer, the_sample_reads_back_as_the_same_tree) {
    const Module first = parse_good(testing::SAMPLE);
    const std::string text = to_text(first);
    const Module second = parse_good(text);
    EXPECT_TRUE(are_same(first, second)) << text;
    EXPECT_EQ(to_text(second), text);
}

TEST(Printer, a_changed_tree_is_told_apart) {
    const Module first = parse_good(testing::SAMPLE);
    Module second = parse_good(testing::SAMPLE);
    ASSERT_TRUE(are_same(first, second));
    second.functions[3].body.back().instruction.opcode = "exit";
    EXPECT_FALSE(are_same(first, second));
}

TEST(Printer, instructions_print_on_one_line) {
    EXPECT_EQ(print_instruction("@!p mad .lo.s32 %r1,%r2 , 0x10,%tid.x ;"),
              "@!p mad.lo.s32 %r1, %r2, 16, %tid.x;");
    EXPECT_EQ(print_instruction("ld.v2.u32 {%r1,_}, [%rd1-8];"), "ld.v2.u32 {%r1, _}, [%rd1+-8];");
    EXPECT_EQ(print_instruction("x p|_, [t,{%r1,2}], sym+4, sym[3], 1.0, 0f3f800000, [16];"),
              "x p|_, [t, {%r1, 2}], sym+4, sym[3], 0d3FF0000000000000, 0f3F800000, [16];");
    EXPECT_EQ(print_instruction("ld.u32 %r1, [%rd1+4] .unified;"), "ld.u32 %r1, [%rd1+4].unified;");
    EXPECT_EQ(print_instruction("call (r), f, (a, b), proto;"), "call (r), f, (a, b), proto;");
    EXPECT_EQ(print_instruction("x a[%r1], a[ %r1 + 1 + 1 ], a[-1];"),
              "x a[%r1+0], a[%r1+2], a[-1];");
    EXPECT_EQ(print_instruction("ret;"), "ret;");
    EXPECT_EQ(print_instruction("vadd.s32 %r1, - %r2.h0, ! p;"), "vadd.s32 %r1, -%r2.h0, !p;");
}

TEST(Printer, extreme_integers_survive) {
    for (const std::string_view text :
         {"-9223372036854775808", "9223372036854775807", "0xFFFFFFFFFFFFFFFF", "-1", "0"}) {
        const Module first =
            parse_body("x " + std::string(text) + ", [y+" + std::string(text) + "];");
        EXPECT_TRUE(are_same(first, parse_good(to_text(first)))) << text;
    }
}

TEST(Printer, source_lines_survive) {
    const Module first =
        parse_good(std::string(HEAD) +
                   ".entry k() { .loc 1 5 0\n a; b; .loc 2 6 0\n { c; } .loc 0 0 0\n d; }");
    const Module second = parse_good(to_text(first));
    EXPECT_TRUE(are_same(first, second));
    EXPECT_EQ(second.functions[0].body.at(1).instruction.source_line, 5u);
}

TEST(Printer, variables_print_as_declared) {
    const Module module = parse_good(
        std::string(HEAD) + ".visible .global .attribute(.managed) .align 8 .v2 .f32 x[2][3];");
    EXPECT_EQ(to_text(module.variables.at(0)),
              ".visible .global .attribute(.managed) .align 8 .v2 .f32 x[2][3]");
}

} // namespace cuprum::emulator::ptx
