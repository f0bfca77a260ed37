// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "ptx/parser_state.hpp"
#include "sample.hpp"

#include <chrono>

namespace cuprum::emulator::ptx {

using testing::body_complaints;
using testing::complaints;
using testing::HEAD;
using testing::parse_good;

namespace {

std::string repeat(std::string_view text, std::size_t count) {
    std::string result;
    for (std::size_t i = 0; i < count; ++i) {
        result += text;
    }
    return result;
}

std::string module_complaints(std::string_view items) {
    return complaints(std::string(HEAD) + std::string(items));
}

} // namespace

TEST(ParserErrors, text_that_is_no_ptx_gets_one_complaint) {
    EXPECT_EQ(complaints("int main() { return 0; }"),
              "ptx:1:1: error: a module starts with '.version', found 'int'\n");
    EXPECT_EQ(complaints(""), "ptx:1:1: error: a module starts with '.version', found the end of "
                              "the text\n");
}

TEST(ParserErrors, a_module_needs_version_and_target) {
    EXPECT_EQ(complaints(".version 8\n.target sm_80"),
              "ptx:1:10: error: expected a version such as '8.0', found '8'\n");
    EXPECT_EQ(complaints(".version 8.0\n"),
              "ptx:2:1: error: the module has no '.target' directive, "
              "such as '.target sm_80'\n");
}

TEST(ParserErrors, several_statements_are_reported_each_at_its_place) {
    EXPECT_EQ(
        body_complaints("add.u32 %r1 %r2;\nmov.u32 %r1, ;\nld.u32 {%r1, %r2;\nret;\nst [%r1;"),
        "ptx:6:13: error: expected ',' or ';' in the operands of 'add', found '%r2'\n"
        "ptx:7:14: error: expected an operand, found ';'\n"
        "ptx:8:17: error: expected ',' or '}' in a vector, found ';'\n"
        "ptx:10:8: error: expected ']' after an address, found ';'\n");
}

TEST(ParserErrors, a_bad_head_does_not_hide_errors_in_later_functions) {
    EXPECT_EQ(module_complaints(".entry a(.param) { add x y; }\n.entry b() { add x y; }"),
              "ptx:4:16: error: expected a type after '.param', found ')'\n"
              "ptx:5:20: error: expected ',' or ';' in the operands of 'add', found 'y'\n");
}

TEST(ParserErrors, an_error_without_semicolon_does_not_swallow_the_next_item) {
    EXPECT_EQ(module_complaints(".alias a b\n.visible .entry k() { foo bar baz; }"),
              "ptx:4:10: error: expected ',' after the name of an alias, found 'b'\n"
              "ptx:5:31: error: expected ',' or ';' in the operands of 'foo', found 'baz'\n");
}

TEST(ParserErrors, an_open_body_is_reported_where_it_opens) {
    EXPECT_EQ(module_complaints(".entry k() {\nret;\n"),
              "ptx:4:12: error: the body of function 'k' is never closed\n");
    EXPECT_EQ(module_complaints(".entry a() {\nret;\n.entry b() { ret; }\n}"),
              "ptx:6:1: error: '.entry' inside the body of a function: is a '}' missing?\n");
}

TEST(ParserErrors, a_lexical_error_is_reported_once) {
    EXPECT_EQ(body_complaints("add x ` y;"),
              "ptx:6:7: error: unexpected character '`'\n"
              "ptx:6:9: error: expected ',' or ';' in the operands of 'add', found 'y'\n");
}

TEST(ParserErrors, directives_and_attributes_are_known_by_name) {
    EXPECT_EQ(module_complaints(".frobnicate 4;"),
              "ptx:4:1: error: unknown directive '.frobnicate'\n");
    EXPECT_EQ(body_complaints(".frobnicate 4;"),
              "ptx:6:1: error: unknown directive '.frobnicate' in the body of a function\n");
    EXPECT_EQ(module_complaints(".entry k() .frob { }"),
              "ptx:4:12: error: unknown directive '.frob' in the head of a function\n");
    EXPECT_EQ(module_complaints(".global .foo x;"),
              "ptx:4:9: error: '.foo' is not a type, after '.global'\n");
    EXPECT_EQ(module_complaints(".global .u32 .f32 x;"),
              "ptx:4:14: error: a second type, '.f32', for one variable\n");
    EXPECT_EQ(module_complaints(".reg .u32 x;"),
              "ptx:4:1: error: '.reg' is not allowed outside a function\n");
}

TEST(ParserErrors, numbers_are_checked) {
    EXPECT_EQ(body_complaints("mov.u32 x, 08;"),
              "ptx:6:12: error: '08' is malformed or too large for a number\n");
    EXPECT_EQ(body_complaints("mov.u32 x, 99999999999999999999;"),
              "ptx:6:12: error: '99999999999999999999' is malformed or too large for a number\n");
    EXPECT_EQ(body_complaints("mov.u32 x, 1/0;"),
              "ptx:6:13: error: division by zero in a constant\n");
    EXPECT_EQ(body_complaints("mov.u32 x, 1.5 & 2;"),
              "ptx:6:16: error: '&' does not apply to these values\n");
    EXPECT_EQ(body_complaints("mov.u32 x, ~1.5;"),
              "ptx:6:12: error: '~' does not apply to this value\n");
    EXPECT_EQ(body_complaints("ld x, [y+1.5];"), "ptx:6:9: error: an offset must be an integer\n");
    EXPECT_EQ(module_complaints(".global .align 3 .u32 x;"),
              "ptx:4:16: error: the alignment is '3', which is not a power of two\n");
}

TEST(ParserErrors, sizes_beyond_all_reason_are_refused) {
    EXPECT_EQ(body_complaints(".reg .b32 %r<4000000000>;"),
              "ptx:6:14: error: a number of registers is at most 1048576, found '4000000000'\n");
    EXPECT_EQ(body_complaints(".reg .b32 %r<0>;"),
              "ptx:6:14: error: the range '%r' has no registers\n");
    EXPECT_EQ(body_complaints(repeat(".reg .b32 %r<1048576>;", 5)),
              "ptx:6:102: error: the function declares more than 4194304 registers\n");
    EXPECT_EQ(module_complaints(".global .b8 x[1099511627777];"),
              "ptx:4:13: error: variable 'x' is larger than any device's memory\n");
    EXPECT_EQ(module_complaints(".global .b64 x[-1][-1];"),
              "ptx:4:14: error: variable 'x' is larger than any device's memory\n");
    EXPECT_EQ(module_complaints(".file 4000000000 \"x\""),
              "ptx:4:7: error: the number of a file is at most 65535, found '4000000000'\n");
}

TEST(ParserErrors, only_the_first_dimension_of_an_array_can_be_zero) {
    EXPECT_EQ(module_complaints(".global .b32 x[1][0][2147483649][2147483647] = {{{1},{2}}};"),
              "ptx:4:19: error: only the first dimension of array 'x' can be left open or be 0\n");
    EXPECT_EQ(module_complaints(".extern .shared .b32 x[4][];"),
              "ptx:4:27: error: only the first dimension of array 'x' can be left open or be 0\n");
    EXPECT_EQ(body_complaints(".local .b32 x[2][1-1];"),
              "ptx:6:18: error: only the first dimension of array 'x' can be left open or be 0\n");
}

TEST(ParserErrors, an_array_without_a_size_must_be_extern_or_a_parameter_of_a_function) {
    const std::string expected = "error: array 'x' has no size: only '.extern' arrays and "
                                 "parameters of functions can be open\n";
    EXPECT_EQ(module_complaints(".global .b32 x[0];"), "ptx:4:14: " + expected);
    EXPECT_EQ(module_complaints(".shared .b32 x[];"), "ptx:4:14: " + expected);
    EXPECT_EQ(module_complaints(".const .b32 x[] = {};"), "ptx:4:13: " + expected);
    EXPECT_EQ(body_complaints(".local .b8 x[0];"), "ptx:6:12: " + expected);
    EXPECT_EQ(module_complaints(".entry k(.param .b8 x[0]) { ret; }"), "ptx:4:21: " + expected);
    parse_good(std::string(HEAD) + ".extern .shared .b8 x[0]; .extern .global .b8 y[][4];\n"
                                   ".global .b8 z[0] = {1, 2}; .func f(.param .b8 a[]) { ret; }\n"
                                   ".func g(.param .b8 a[0]) { ret; }");
}

TEST(ParserErrors, only_external_functions_are_declared_without_a_semicolon) {
    for (const std::string_view head :
         {".func f (.param .b64 a)", ".weak .func f (.param .b64 a)",
          ".visible .func f (.param .b64 a)", ".extern .entry f (.param .b64 a)",
          ".entry f (.param .b64 a)"}) {
        EXPECT_NE(module_complaints(std::string(head) + "\n.visible .entry k() { ret; }"), "")
            << head;
    }
    // Nor may anything follow that is not part of a module.
    for (const std::string_view next :
         {".target sm_80", ".version 8.0", ".address_size 64", ".loc 1 1 1", ".b8 1", "{ ret; }",
          ".reg .b32 x;", ".local .b32 x;", ".param .b32 x;"}) {
        EXPECT_NE(module_complaints(".extern .func f (.param .b64 a)\n" + std::string(next)), "")
            << next;
    }
    EXPECT_EQ(module_complaints(".extern .func f (.param .b64 a)\n{ ret; }"),
              "ptx:5:1: error: function 'f' is '.extern' and cannot have a body\n");
}

TEST(ParserErrors, vectors_have_at_most_16_bytes_and_predicates_are_registers) {
    EXPECT_EQ(body_complaints(".reg .v8 .b32 %r;"),
              "ptx:6:6: error: '.v8' is not a type, after '.reg'\n");
    EXPECT_EQ(module_complaints(".global .v4 .f64 x;"),
              "ptx:4:18: error: variable 'x' is a vector of more than 16 bytes\n");
    EXPECT_EQ(module_complaints(".global .pred x;"),
              "ptx:4:15: error: predicate 'x' must be a register\n");
    EXPECT_EQ(module_complaints(".entry k(.param .pred x) { ret; }"),
              "ptx:4:23: error: predicate 'x' must be a register\n");
}

TEST(ParserErrors, nesting_is_bounded_everywhere) {
    constexpr std::size_t DEEP = 100000;
    const std::string_view expected = "nested more than 64 levels deep";
    EXPECT_NE(body_complaints(repeat("{", DEEP) + repeat("}", DEEP)).find(expected),
              std::string::npos);
    EXPECT_NE(body_complaints(repeat("{", DEEP)).find(expected), std::string::npos);
    for (const std::string_view opening :
         {"(", "-", "~", "1?", "1?1:", "(.s64)", "-(", "{", "[1,"}) {
        EXPECT_NE(body_complaints("x " + repeat(opening, DEEP) + "1;").find(expected),
                  std::string::npos)
            << opening;
    }
    EXPECT_NE(module_complaints(".global .u32 x[] = " + repeat("{", DEEP) + ";").find(expected),
              std::string::npos);
    EXPECT_NE(module_complaints(".global .u32 x = " + repeat("(", DEEP) + ";").find(expected),
              std::string::npos);
}

TEST(ParserErrors, an_overdeep_block_is_skipped_whole) {
    EXPECT_EQ(body_complaints(repeat("{", 65) + " a; b c d; " + repeat("}", 65) + " e f g;"),
              "ptx:6:65: error: nested more than 64 levels deep\n"
              "ptx:6:147: error: expected ',' or ';' in the operands of 'e', found 'g'\n");
}

TEST(ParserErrors, counts_are_bounded) {
    EXPECT_NE(
        body_complaints("x {a" + repeat(",a", limits::PARTS) + "};").find("more than 1024 parts"),
        std::string::npos);
    EXPECT_NE(body_complaints("x a" + repeat(",a", limits::OPERANDS) + ";")
                  .find("more than 256 operands"),
              std::string::npos);
    EXPECT_NE(body_complaints("x" + repeat(".a", limits::MODIFIERS + 1) + ";")
                  .find("more than 64 modifiers"),
              std::string::npos);
    EXPECT_NE(module_complaints(".global .u32 x" + repeat("[1]", limits::DIMENSIONS + 1) + ";")
                  .find("more than 16 dimensions"),
              std::string::npos);
}

TEST(ParserErrors, complaints_stop_at_the_bound) {
    Diagnostics diagnostics;
    EXPECT_FALSE(
        parse(std::string(HEAD) + ".entry k() {" + repeat("\na b c;", 1000) + "}", diagnostics));
    EXPECT_EQ(diagnostics.items().size(), Diagnostics::MAX_COUNT);
    EXPECT_TRUE(diagnostics.is_full());
}

TEST(ParserErrors, an_earlier_complaint_of_another_module_does_not_count) {
    Diagnostics diagnostics;
    diagnostics.report(Problem::Syntax, {}, "from elsewhere");
    EXPECT_TRUE(parse(std::string(HEAD), diagnostics));
    EXPECT_EQ(diagnostics.to_text(), "ptx: error: from elsewhere\n");
}

TEST(ParserErrors, long_names_are_shortened_in_messages) {
    const std::string text = module_complaints("." + repeat("x", 10000));
    EXPECT_LT(text.size(), 200u);
}

TEST(ParserErrors, hostile_text_takes_linear_time) {
    // Each of these tempts a parser to read the same bytes many times. A quadratic parser needs
    // minutes for a megabyte. The bound leaves room for sanitizers and busy machines.
    constexpr std::size_t BYTES = 1 << 20;
    constexpr std::chrono::seconds BOUND(20);
    const auto start = std::chrono::steady_clock::now();
    for (const std::string_view piece :
         {".visible ", ".func f(){}", ".entry k() {", "{", "}", ";", "#", " #", "/*", "\"", "@",
          "a:", ".loc ", ".section .x {", ".alias ", "(", "[", ".b8 ", ".b8 1 "}) {
        Diagnostics outside;
        (void)parse(std::string(HEAD) + repeat(piece, BYTES / piece.size()), outside);
        Diagnostics inside;
        (void)parse(std::string(HEAD) + ".entry k() {" + repeat(piece, BYTES / piece.size()),
                    inside);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, BOUND);
}

} // namespace cuprum::emulator::ptx
