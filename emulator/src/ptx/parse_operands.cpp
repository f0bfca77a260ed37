// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "ptx/parser_state.hpp"

#include <limits>
#include <utility>

namespace cuprum::emulator::ptx {

namespace {

/// The value of WARP_SZ.
constexpr std::uint64_t WARP_SIZE = 32;

bool is_adjacent(std::string_view name, std::string_view dotted) noexcept;

} // namespace

bool Parser::parse_operand(Operand& operand, bool is_call) {
    operand.location = token_.location;
    switch (token_.kind) {
    case TokenKind::Identifier:
        return is_word("WARP_SZ") ? parse_constant_operand(operand) : parse_name_operand(operand);
    case TokenKind::LeftBracket:
        return parse_address(operand);
    case TokenKind::LeftBrace:
        operand.kind = Operand::Kind::Vector;
        return parse_parts(operand, TokenKind::RightBrace, "',' or '}' in a vector") &&
               (!is(TokenKind::Pipe) || parse_second_of_pair(operand));
    case TokenKind::LeftParen:
        if (is_call) {
            operand.kind = Operand::Kind::List;
            return parse_parts(operand, TokenKind::RightParen, "',' or ')' in a list");
        }
        return parse_constant_operand(operand);
    case TokenKind::Exclamation:
    case TokenKind::Minus: {
        const Lexer::Mark mark = lexer_.mark();
        const Token sign = token_;
        advance();
        if (is(TokenKind::Identifier) && !is_word("WARP_SZ")) {
            operand.is_negated = true;
            operand.is_minus = sign.kind == TokenKind::Minus;
            return parse_name_operand(operand);
        }
        rewind(mark, sign);
        return parse_constant_operand(operand);
    }
    default:
        return parse_constant_operand(operand);
    }
}

bool Parser::parse_name_operand(Operand& operand) {
    operand.text = token_.text;
    operand.kind = token_.text == "_" ? Operand::Kind::Discarded : Operand::Kind::Name;
    advance();
    switch (token_.kind) {
    case TokenKind::Comma:
    case TokenKind::Semicolon:
    case TokenKind::RightBrace:
        return true; // nearly always
    case TokenKind::Dotted:
        parse_suffixes(operand);
        break;
    default:
        break;
    }
    switch (token_.kind) {
    case TokenKind::Pipe:
        return parse_second_of_pair(operand);
    case TokenKind::Plus:
    case TokenKind::Minus:
        operand.kind = Operand::Kind::WithOffset;
        return parse_offset(operand.offset);
    case TokenKind::LeftBracket:
        return parse_index(operand);
    default:
        return true;
    }
}

/// Parses the index of an element: a register, a constant, or the sum of both.
bool Parser::parse_index(Operand& operand) {
    operand.kind = Operand::Kind::Element;
    advance();
    bool has_constant = true;
    if (is(TokenKind::Identifier) && !is_word("WARP_SZ")) {
        Operand index;
        index.text = token_.text;
        index.location = token_.location;
        advance();
        operand.parts.push_back(std::move(index));
        has_constant = accept(TokenKind::Plus);
    }
    return (!has_constant || parse_integer(operand.bits, "the index of an element")) &&
           expect(TokenKind::RightBracket, "']' after an index");
}

void Parser::parse_suffixes(Operand& operand) {
    // %tid.x, %r1.b0, %v.xy: one name with its dots.
    while (is(TokenKind::Dotted) && is_adjacent(operand.text, token_.text)) {
        const char* const begin = operand.text.data();
        const char* const end = token_.text.data() + token_.text.size();
        operand.text = {begin, static_cast<std::size_t>(end - begin)};
        advance();
    }
}

bool Parser::parse_second_of_pair(Operand& operand) {
    Operand second;
    advance();
    second.location = token_.location;
    if (!expect_name(second.text, "a register after '|'")) {
        return false;
    }
    if (second.text == "_") {
        second.kind = Operand::Kind::Discarded;
    }
    Operand first = std::move(operand);
    operand = Operand();
    operand.kind = Operand::Kind::Pair;
    operand.location = first.location;
    operand.parts.reserve(2);
    operand.parts.push_back(std::move(first));
    operand.parts.push_back(std::move(second));
    return true;
}

bool Parser::parse_address(Operand& operand) {
    operand.kind = Operand::Kind::Address;
    advance();
    if (is(TokenKind::Identifier) && !is_word("WARP_SZ")) {
        operand.text = token_.text;
        advance();
        parse_suffixes(operand);
        if (!parse_offset(operand.offset)) {
            return false;
        }
    } else {
        std::uint64_t address = 0;
        if (!parse_integer(address, "an address")) {
            return false;
        }
        operand.offset = static_cast<std::int64_t>(address);
    }
    if (is(TokenKind::Comma)) {
        return parse_parts(operand, TokenKind::RightBracket, "',' or ']' in an address");
    }
    if (!expect(TokenKind::RightBracket, "']' after an address")) {
        return false;
    }
    operand.is_unified = accept_directive("unified");
    return true;
}

bool Parser::parse_parts(Operand& operand, TokenKind close, std::string_view what) {
    // The size of nearly all vectors.
    constexpr std::size_t USUAL_PARTS = 4;
    Level level(*this);
    if (!level.is_allowed()) {
        return false;
    }
    advance();
    if (operand.kind == Operand::Kind::List && accept(close)) {
        return true;
    }
    operand.parts.reserve(USUAL_PARTS);
    do {
        if (operand.parts.size() == limits::PARTS) {
            return fail(token_.location,
                        "more than " + std::to_string(limits::PARTS) + " parts in one operand");
        }
        if (!parse_operand(operand.parts.emplace_back(), false)) {
            return false;
        }
    } while (accept(TokenKind::Comma));
    return expect(close, what);
}

bool Parser::parse_constant_operand(Operand& operand) {
    Constant value;
    if (!parse_expression(value)) {
        return false;
    }
    operand.kind = value.is_integer()                      ? Operand::Kind::Integer
                   : value.kind == Constant::Kind::Float32 ? Operand::Kind::Float32
                                                           : Operand::Kind::Float64;
    operand.bits = value.bits;
    return true;
}

bool Parser::parse_offset(std::int64_t& offset) {
    std::uint64_t total = 0;
    while (is(TokenKind::Plus) || is(TokenKind::Minus)) {
        const TokenKind sign = token_.kind;
        const Location location = token_.location;
        advance();
        Constant value;
        if (!parse_binary(value, precedence_of(TokenKind::Star))) {
            return false;
        }
        if (!value.is_integer()) {
            return fail(location, "an offset must be an integer");
        }
        total = sign == TokenKind::Plus ? total + value.bits : total - value.bits;
    }
    offset = static_cast<std::int64_t>(total);
    return true;
}

// ---- numbers and constant expressions ----------------------------------------------------------

bool Parser::parse_number(std::uint64_t& value, std::uint64_t max, std::string_view what) {
    const std::optional<Constant> constant =
        is(TokenKind::Number) ? constant_from(token_.text) : std::nullopt;
    if (!constant || !constant->is_integer()) {
        return fail_expected(what);
    }
    if (constant->bits > max) {
        return fail(token_.location, std::string(what) + " is at most " + std::to_string(max) +
                                         ", found " + describe(token_));
    }
    value = constant->bits;
    advance();
    return true;
}

bool Parser::parse_number(std::uint32_t& value, std::string_view what) {
    std::uint64_t wide = 0;
    const bool is_good = parse_number(wide, std::numeric_limits<std::uint32_t>::max(), what);
    value = static_cast<std::uint32_t>(wide);
    return is_good;
}

bool Parser::parse_integer(std::uint64_t& value, std::string_view what) {
    const Location location = token_.location;
    Constant constant;
    if (!parse_expression(constant)) {
        return false;
    }
    value = constant.bits;
    return constant.is_integer() || fail(location, std::string(what) + " must be an integer");
}

bool Parser::parse_expression(Constant& value) {
    Level level(*this);
    if (!level.is_allowed() || !parse_binary(value, 1)) {
        return false;
    }
    if (!accept(TokenKind::Question)) {
        return true;
    }
    Constant if_true;
    Constant if_false;
    if (!parse_expression(if_true) || !expect(TokenKind::Colon, "':' after '?'") ||
        !parse_expression(if_false)) {
        return false;
    }
    value = value.is_zero() ? if_false : if_true;
    return true;
}

bool Parser::parse_binary(Constant& value, int min_precedence) {
    if (!parse_unary(value)) {
        return false;
    }
    while (precedence_of(token_.kind) >= min_precedence && precedence_of(token_.kind) != 0) {
        const Token operation = token_;
        advance();
        Constant right;
        // One step tighter, so that operators of one rank group to the left; at most ten deep.
        if (!parse_binary(right, precedence_of(operation.kind) + 1)) {
            return false;
        }
        const std::optional<Constant> result = apply(operation.kind, value, right);
        if (!result) {
            return fail(operation.location,
                        right.is_zero() ? "division by zero in a constant"
                                        : describe(operation) + " does not apply to these values");
        }
        value = *result;
    }
    return true;
}

bool Parser::parse_unary(Constant& value) {
    switch (token_.kind) {
    case TokenKind::Plus:
    case TokenKind::Minus:
    case TokenKind::Exclamation:
    case TokenKind::Tilde: {
        const Token operation = token_;
        Level level(*this);
        advance();
        if (!level.is_allowed() || !parse_unary(value)) {
            return false;
        }
        const std::optional<Constant> result = apply(operation.kind, value);
        if (!result) {
            return fail(operation.location, describe(operation) + " does not apply to this value");
        }
        value = *result;
        return true;
    }
    case TokenKind::LeftParen:
        return parse_parenthesis(value);
    default:
        return parse_literal(value);
    }
}

bool Parser::parse_parenthesis(Constant& value) {
    Level level(*this);
    advance();
    if (!level.is_allowed()) {
        return false;
    }
    if (is_directive("s64") || is_directive("u64")) {
        const bool is_signed = is_directive("s64");
        advance();
        if (!expect(TokenKind::RightParen, "')' after a cast") || !parse_unary(value)) {
            return false;
        }
        value = cast_to_integer(value, is_signed);
        return true;
    }
    return parse_expression(value) && expect(TokenKind::RightParen, "')'");
}

bool Parser::parse_literal(Constant& value) {
    if (is_word("WARP_SZ")) {
        value = {Constant::Kind::Signed, WARP_SIZE};
        advance();
        return true;
    }
    if (is(TokenKind::Dotted) && token_.text.front() >= '0' && token_.text.front() <= '9') {
        lexer_.reread_as_number(token_);
    }
    if (!is(TokenKind::Number)) {
        return fail_expected("an operand");
    }
    const std::optional<Constant> constant = constant_from(token_.text);
    if (!constant) {
        return fail(token_.location, describe(token_) + " is malformed or too large for a number");
    }
    value = *constant;
    advance();
    return true;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Returns whether a dotted word, given without its dot, starts right behind a name.
bool is_adjacent(std::string_view name, std::string_view dotted) noexcept {
    return name.data() + name.size() + 1 == dotted.data();
}

} // namespace

} // namespace cuprum::emulator::ptx
