// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "ptx/constant.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace cuprum::emulator::ptx {

namespace {

using Kind = Constant::Kind;

/// The width of every integer constant.
constexpr std::uint64_t WIDTH_BITS = 64;
constexpr std::uint64_t SIGN_BIT_32 = std::uint64_t{1} << 31;
constexpr std::uint64_t SIGN_BIT_64 = std::uint64_t{1} << 63;

std::optional<Constant> parse_bit_pattern(std::string_view digits, std::size_t expected, Kind kind);
std::optional<Constant> parse_integer(std::string_view digits, int base);
std::optional<Constant> parse_decimal_float(std::string_view literal);
std::optional<Constant> apply_to_doubles(TokenKind operation, double a, double b) noexcept;
std::optional<Constant> divide(TokenKind operation, std::uint64_t a, std::uint64_t b,
                               Kind kind) noexcept;
std::uint64_t shift(TokenKind operation, const Constant& value, std::uint64_t by) noexcept;
bool compare(TokenKind operation, auto a, auto b) noexcept;

} // namespace

bool Constant::is_zero() const noexcept {
    return is_integer() ? bits == 0 : to_double() == 0;
}

double Constant::to_double() const noexcept {
    switch (kind) {
    case Kind::Signed:
        return static_cast<double>(static_cast<std::int64_t>(bits));
    case Kind::Unsigned:
        return static_cast<double>(bits);
    case Kind::Float32:
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case Kind::Float64:
        break;
    }
    return std::bit_cast<double>(bits);
}

Constant Constant::from_double(double value) noexcept {
    return {Kind::Float64, std::bit_cast<std::uint64_t>(value)};
}

std::optional<Constant> constant_from(std::string_view literal) {
    if (literal.size() > 1 && literal[0] == '0') {
        const std::string_view rest = literal.substr(2);
        switch (literal[1]) {
        case 'x':
        case 'X':
            return parse_integer(rest, 16);
        case 'b':
        case 'B':
            return parse_integer(rest, 2);
        case 'f':
        case 'F':
            return parse_bit_pattern(rest, 8, Kind::Float32);
        case 'd':
        case 'D':
            return parse_bit_pattern(rest, 16, Kind::Float64);
        default:
            break;
        }
    }
    if (literal.find_first_of(".eE") != std::string_view::npos) {
        return parse_decimal_float(literal);
    }
    return parse_integer(literal, literal.size() > 1 && literal[0] == '0' ? 8 : 10);
}

std::optional<Constant> apply(TokenKind operation, const Constant& value) noexcept {
    switch (operation) {
    case TokenKind::Plus:
        return value;
    case TokenKind::Minus:
        switch (value.kind) {
        case Kind::Float32: // only the sign changes, so that NaNs and zeros keep their bits
            return Constant{value.kind, value.bits ^ SIGN_BIT_32};
        case Kind::Float64:
            return Constant{value.kind, value.bits ^ SIGN_BIT_64};
        default:
            return Constant{value.kind, 0 - value.bits};
        }
    case TokenKind::Exclamation:
        return Constant::from_bool(value.is_zero());
    case TokenKind::Tilde:
        if (value.is_integer()) {
            return Constant{value.kind, ~value.bits};
        }
        return std::nullopt;
    default:
        return std::nullopt;
    }
}

std::optional<Constant> apply(TokenKind operation, const Constant& left,
                              const Constant& right) noexcept {
    switch (operation) {
    case TokenKind::AndAnd:
        return Constant::from_bool(!left.is_zero() && !right.is_zero());
    case TokenKind::OrOr:
        return Constant::from_bool(!left.is_zero() || !right.is_zero());
    default:
        break;
    }
    if (!left.is_integer() || !right.is_integer()) {
        return apply_to_doubles(operation, left.to_double(), right.to_double());
    }
    const Kind kind = left.kind == Kind::Unsigned ? left.kind : right.kind;
    const std::uint64_t a = left.bits;
    const std::uint64_t b = right.bits;
    switch (operation) {
    case TokenKind::Plus:
        return Constant{kind, a + b};
    case TokenKind::Minus:
        return Constant{kind, a - b};
    case TokenKind::Star:
        return Constant{kind, a * b};
    case TokenKind::Ampersand:
        return Constant{kind, a & b};
    case TokenKind::Pipe:
        return Constant{kind, a | b};
    case TokenKind::Caret:
        return Constant{kind, a ^ b};
    case TokenKind::Slash:
    case TokenKind::Percent:
        return divide(operation, a, b, kind);
    case TokenKind::ShiftLeft:
    case TokenKind::ShiftRight:
        return Constant{left.kind, shift(operation, left, b)};
    default:
        break;
    }
    if (precedence_of(operation) == 0) {
        return std::nullopt;
    }
    return Constant::from_bool(
        kind == Kind::Signed
            ? compare(operation, static_cast<std::int64_t>(a), static_cast<std::int64_t>(b))
            : compare(operation, a, b));
}

Constant cast_to_integer(const Constant& value, bool is_signed) noexcept {
    const Kind kind = is_signed ? Kind::Signed : Kind::Unsigned;
    if (value.is_integer()) {
        return {kind, value.bits};
    }
    const double number = value.to_double();
    if (std::isnan(number)) {
        return {kind, 0};
    }
    // The bounds are powers of two, hence exact as doubles.
    if (is_signed) {
        constexpr double LIMIT = 0x1p63;
        const std::int64_t clamped = number >= LIMIT    ? std::numeric_limits<std::int64_t>::max()
                                     : number <= -LIMIT ? std::numeric_limits<std::int64_t>::min()
                                                        : static_cast<std::int64_t>(number);
        return {kind, static_cast<std::uint64_t>(clamped)};
    }
    constexpr double LIMIT = 0x1p64;
    return {kind, number >= LIMIT ? std::numeric_limits<std::uint64_t>::max()
                  : number <= 0   ? 0
                                  : static_cast<std::uint64_t>(number)};
}

int precedence_of(TokenKind operation) noexcept {
    switch (operation) {
    case TokenKind::OrOr:
        return 1;
    case TokenKind::AndAnd:
        return 2;
    case TokenKind::Pipe:
        return 3;
    case TokenKind::Caret:
        return 4;
    case TokenKind::Ampersand:
        return 5;
    case TokenKind::EqualEqual:
    case TokenKind::NotEqual:
        return 6;
    case TokenKind::Less:
    case TokenKind::Greater:
    case TokenKind::LessEqual:
    case TokenKind::GreaterEqual:
        return 7;
    case TokenKind::ShiftLeft:
    case TokenKind::ShiftRight:
        return 8;
    case TokenKind::Plus:
    case TokenKind::Minus:
        return 9;
    case TokenKind::Star:
    case TokenKind::Slash:
    case TokenKind::Percent:
        return 10;
    default:
        return 0;
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::optional<Constant> parse_bit_pattern(std::string_view digits, std::size_t expected,
                                          Kind kind) {
    if (digits.size() != expected) {
        return std::nullopt;
    }
    Constant constant{kind, 0};
    const char* const begin = digits.data();
    const char* const end = begin + digits.size();
    const auto [stop, error] = std::from_chars(begin, end, constant.bits, 16);
    return error == std::errc() && stop == end ? std::optional(constant) : std::nullopt;
}

std::optional<Constant> parse_integer(std::string_view digits, int base) {
    Constant constant;
    if (!digits.empty() && digits.back() == 'U') {
        constant.kind = Kind::Unsigned;
        digits.remove_suffix(1);
    }
    const char* const begin = digits.data();
    const char* const end = begin + digits.size();
    const auto [stop, error] = std::from_chars(begin, end, constant.bits, base);
    if (error != std::errc() || stop != end) {
        return std::nullopt;
    }
    if (constant.bits >= SIGN_BIT_64) {
        constant.kind = Kind::Unsigned;
    }
    return constant;
}

std::optional<Constant> parse_decimal_float(std::string_view literal) {
    double value = 0;
    const char* const begin = literal.data();
    const char* const end = begin + literal.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || stop != end) {
        return std::nullopt;
    }
    return Constant::from_double(value);
}

std::optional<Constant> apply_to_doubles(TokenKind operation, double a, double b) noexcept {
    switch (operation) {
    case TokenKind::Plus:
        return Constant::from_double(a + b);
    case TokenKind::Minus:
        return Constant::from_double(a - b);
    case TokenKind::Star:
        return Constant::from_double(a * b);
    case TokenKind::Slash:
        return Constant::from_double(a / b);
    case TokenKind::Less:
    case TokenKind::Greater:
    case TokenKind::LessEqual:
    case TokenKind::GreaterEqual:
    case TokenKind::EqualEqual:
    case TokenKind::NotEqual:
        return Constant::from_bool(compare(operation, a, b));
    default:
        return std::nullopt;
    }
}

std::optional<Constant> divide(TokenKind operation, std::uint64_t a, std::uint64_t b,
                               Kind kind) noexcept {
    if (b == 0) {
        return std::nullopt;
    }
    const bool is_quotient = operation == TokenKind::Slash;
    if (kind == Kind::Unsigned) {
        return Constant{kind, is_quotient ? a / b : a % b};
    }
    if (b == ~std::uint64_t{0}) {
        // By -1: the quotient of the smallest number wraps, where C++ leaves it undefined.
        return Constant{kind, is_quotient ? 0 - a : 0};
    }
    const auto x = static_cast<std::int64_t>(a);
    const auto y = static_cast<std::int64_t>(b);
    return Constant{kind, static_cast<std::uint64_t>(is_quotient ? x / y : x % y)};
}

std::uint64_t shift(TokenKind operation, const Constant& value, std::uint64_t by) noexcept {
    if (operation == TokenKind::ShiftLeft) {
        return by >= WIDTH_BITS ? 0 : value.bits << by;
    }
    if (value.kind == Kind::Unsigned) {
        return by >= WIDTH_BITS ? 0 : value.bits >> by;
    }
    const auto number = static_cast<std::int64_t>(value.bits);
    return static_cast<std::uint64_t>(number >> (by >= WIDTH_BITS ? WIDTH_BITS - 1 : by));
}

bool compare(TokenKind operation, auto a, auto b) noexcept {
    switch (operation) {
    case TokenKind::Less:
        return a < b;
    case TokenKind::Greater:
        return a > b;
    case TokenKind::LessEqual:
        return a <= b;
    case TokenKind::GreaterEqual:
        return a >= b;
    case TokenKind::EqualEqual:
        return a == b;
    default:
        return a != b;
    }
}

} // namespace

} // namespace cuprum::emulator::ptx
