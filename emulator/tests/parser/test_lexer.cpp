// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "ptx/constant.hpp"
#include "ptx/lexer.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

namespace cuprum::emulator::ptx {

namespace {

using enum TokenKind;

std::vector<Token> lex(std::string_view text, Diagnostics& diagnostics) {
    Lexer lexer(text, diagnostics);
    std::vector<Token> tokens;
    Token token;
    for (lexer.next(token); token.kind != End; lexer.next(token)) {
        tokens.push_back(token);
    }
    return tokens;
}

std::vector<TokenKind> kinds(std::string_view text) {
    Diagnostics diagnostics;
    std::vector<TokenKind> result;
    for (const Token& token : lex(text, diagnostics)) {
        result.push_back(token.kind);
    }
    EXPECT_TRUE(diagnostics.is_empty()) << diagnostics.to_text();
    return result;
}

std::vector<std::string> texts(std::string_view text) {
    Diagnostics diagnostics;
    std::vector<std::string> result;
    for (const Token& token : lex(text, diagnostics)) {
        result.emplace_back(token.text);
    }
    EXPECT_TRUE(diagnostics.is_empty()) << diagnostics.to_text();
    return result;
}

std::string complaints_about(std::string_view text) {
    Diagnostics diagnostics;
    (void)lex(text, diagnostics);
    return diagnostics.to_text();
}

using Strings = std::vector<std::string>;
using Kinds = std::vector<TokenKind>;

} // namespace

TEST(Lexer, identifiers_may_start_with_percent_dollar_and_underscore) {
    EXPECT_EQ(texts("add %r1 $L__BB0_1 _Z3foo _ a$b"),
              (Strings{"add", "%r1", "$L__BB0_1", "_Z3foo", "_", "a$b"}));
}

TEST(Lexer, dotted_words_keep_their_double_colons) {
    EXPECT_EQ(texts("ld.global.L2::128B.shared::cluster .mbarrier::complete_tx::bytes.2d"),
              (Strings{"ld", "global", "L2::128B", "shared::cluster",
                       "mbarrier::complete_tx::bytes", "2d"}));
    EXPECT_EQ(kinds("a.b: .c"), (Kinds{Identifier, Dotted, Colon, Dotted}));
}

TEST(Lexer, a_percent_sign_after_a_value_is_the_remainder) {
    EXPECT_EQ(kinds("7 %3"), (Kinds{Number, Percent, Number}));
    EXPECT_EQ(kinds("(7)%r"), (Kinds{LeftParen, Number, RightParen, Percent, Identifier}));
    EXPECT_EQ(kinds("@%p1 bra"), (Kinds{At, Identifier, Identifier}));
}

TEST(Lexer, operators_of_two_characters_are_one_token) {
    EXPECT_EQ(kinds("<< >> <= >= == != && ||"),
              (Kinds{ShiftLeft, ShiftRight, LessEqual, GreaterEqual, EqualEqual, NotEqual, AndAnd,
                     OrOr}));
    EXPECT_EQ(kinds("%r<5>; !p | ~ ^ & = <"),
              (Kinds{Identifier, Less, Number, Greater, Semicolon, Exclamation, Identifier, Pipe,
                     Tilde, Caret, Ampersand, Equal, Less}));
    EXPECT_EQ(kinds("{{}}((,,"), (Kinds{LeftBrace, LeftBrace, RightBrace, RightBrace, LeftParen,
                                        LeftParen, Comma, Comma}));
}

TEST(Lexer, numbers_take_exponents_and_prefixes) {
    EXPECT_EQ(texts("1.5e-3+0x1e+2 0f3F800000 9.0 12U"),
              (Strings{"1.5e-3", "+", "0x1e", "+", "2", "0f3F800000", "9.0", "12U"}));
}

TEST(Lexer, comments_and_line_markers_are_skipped) {
    EXPECT_EQ(texts("a // b\n/* c\n* d */ e\n  # 1 \"f.cu\"\ng / h"),
              (Strings{"a", "e", "g", "/", "h"}));
}

TEST(Lexer, strings_keep_escapes_and_may_hold_anything) {
    EXPECT_EQ(texts(R"("a \"b\" // c" "\\" d)"), (Strings{R"(a \"b\" // c)", R"(\\)", "d"}));
}

TEST(Lexer, carriage_returns_and_trailing_nuls_are_not_seen) {
    EXPECT_EQ(texts(std::string_view("a\r\nb\r\n\0\0\0", 9)), (Strings{"a", "b"}));
}

TEST(Lexer, places_count_lines_and_columns_from_one) {
    Diagnostics diagnostics;
    const std::vector<Token> tokens = lex("a\n /* x\n */ .b\r\n\t\"c\"", diagnostics);
    ASSERT_EQ(tokens.size(), 3u);
    EXPECT_EQ(tokens[0].location.line, 1u);
    EXPECT_EQ(tokens[0].location.column, 1u);
    EXPECT_EQ(tokens[1].location.line, 3u);
    EXPECT_EQ(tokens[1].location.column, 5u);
    EXPECT_EQ(tokens[2].location.line, 4u);
    EXPECT_EQ(tokens[2].location.column, 2u);
}

TEST(Lexer, a_mark_can_be_returned_to) {
    Diagnostics diagnostics;
    Lexer lexer("a\nb c", diagnostics);
    Token token;
    lexer.next(token);
    const Lexer::Mark mark = lexer.mark();
    lexer.next(token);
    lexer.next(token);
    EXPECT_EQ(token.text, "c");
    lexer.reset(mark);
    lexer.next(token);
    EXPECT_EQ(token.text, "b");
    EXPECT_EQ(token.location.line, 2u);
}

TEST(Lexer, what_belongs_to_no_token_is_reported_with_its_place) {
    EXPECT_EQ(complaints_about("a\n  `b"), "ptx:2:3: error: unexpected character '`'\n");
    EXPECT_EQ(complaints_about("\x01"), "ptx:1:1: error: unexpected byte 0x01\n");
    EXPECT_EQ(complaints_about(std::string_view("a\0b", 3)),
              "ptx:1:2: error: unexpected byte 0x00: the text ends before its size says\n");
    EXPECT_EQ(complaints_about("a # b"), "ptx:1:3: error: unexpected character '#'\n");
    EXPECT_EQ(complaints_about("x /* y"),
              "ptx:1:3: error: this comment is never closed with '*/'\n");
    EXPECT_EQ(complaints_about("\"y\nz"), "ptx:1:1: error: this text is not closed with '\"'\n");
}

TEST(Constant, integers_have_four_bases_and_a_suffix) {
    EXPECT_EQ(constant_from("42")->bits, 42u);
    EXPECT_EQ(constant_from("0x2aU")->bits, 42u);
    EXPECT_EQ(constant_from("0X2A")->bits, 42u);
    EXPECT_EQ(constant_from("052")->bits, 42u);
    EXPECT_EQ(constant_from("0b101010")->bits, 42u);
    EXPECT_EQ(constant_from("0")->bits, 0u);
    EXPECT_EQ(constant_from("0U")->kind, Constant::Kind::Unsigned);
    EXPECT_EQ(constant_from("9223372036854775807")->kind, Constant::Kind::Signed);
    EXPECT_EQ(constant_from("0xFFFFFFFFFFFFFFFF")->kind, Constant::Kind::Unsigned);
}

TEST(Constant, floats_are_bit_patterns_or_decimal) {
    EXPECT_EQ(constant_from("0f3F800000")->kind, Constant::Kind::Float32);
    EXPECT_EQ(constant_from("0F3f800000")->bits, 0x3f800000u);
    EXPECT_EQ(constant_from("0d3FF0000000000000")->to_double(), 1.0);
    EXPECT_EQ(constant_from("1.5e1")->to_double(), 15.0);
    EXPECT_EQ(constant_from("1e3")->to_double(), 1000.0);
    EXPECT_EQ(constant_from(".25")->to_double(), 0.25);
}

TEST(Constant, malformed_literals_have_no_value) {
    for (const std::string_view literal :
         {"08", "0x", "0xg", "0b2", "0b", "12a", "0f3F80000", "0f3F8000000", "0fnothexxx", "1.2.3",
          "0d3FF", "18446744073709551616", "U", "1e999", ""}) {
        EXPECT_FALSE(constant_from(literal)) << literal;
    }
}

TEST(Constant, integer_arithmetic_never_traps) {
    const Constant min{Constant::Kind::Signed, std::uint64_t{1} << 63};
    const Constant minus_one{Constant::Kind::Signed, ~std::uint64_t{0}};
    const Constant hundred{Constant::Kind::Signed, 100};
    const Constant zero;
    EXPECT_EQ(apply(Slash, min, minus_one)->bits, min.bits);
    EXPECT_EQ(apply(Percent, min, minus_one)->bits, 0u);
    EXPECT_FALSE(apply(Slash, hundred, zero));
    EXPECT_FALSE(apply(Percent, hundred, zero));
    EXPECT_EQ(apply(ShiftLeft, hundred, hundred)->bits, 0u);
    EXPECT_EQ(apply(ShiftRight, min, hundred)->bits, minus_one.bits);
}

TEST(Constant, one_unsigned_operand_makes_the_operation_unsigned) {
    const Constant minus_one{Constant::Kind::Signed, ~std::uint64_t{0}};
    const Constant one{Constant::Kind::Signed, 1};
    const Constant unsigned_one{Constant::Kind::Unsigned, 1};
    EXPECT_EQ(apply(Less, minus_one, one)->bits, 1u);
    EXPECT_EQ(apply(Less, minus_one, unsigned_one)->bits, 0u);
}

TEST(Constant, casts_of_floats_hold_at_the_limits) {
    EXPECT_EQ(cast_to_integer(Constant::from_double(1e30), true).bits, 0x7fffffffffffffffu);
    EXPECT_EQ(cast_to_integer(Constant::from_double(-1e30), true).bits, 0x8000000000000000u);
    EXPECT_EQ(cast_to_integer(Constant::from_double(1e30), false).bits, ~std::uint64_t{0});
    EXPECT_EQ(cast_to_integer(Constant::from_double(-3.7), false).bits, 0u);
    EXPECT_EQ(cast_to_integer(Constant::from_double(-3.7), true).bits,
              static_cast<std::uint64_t>(-3));
}

} // namespace cuprum::emulator::ptx
