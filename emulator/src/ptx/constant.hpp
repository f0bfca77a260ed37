// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Literals and the arithmetic of constant expressions. Values are doubles and 64-bit integers,
// which are signed unless a literal ends in U. As in PTX, arithmetic wraps and shifts saturate; no
// operation is undefined.

#pragma once

#include "ptx/lexer.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace cuprum::emulator::ptx {

/// The value of a constant expression.
struct Constant {
    enum class Kind : std::uint8_t { Signed, Unsigned, Float32, Float64 };

    Kind kind = Kind::Signed;
    std::uint64_t bits = 0;

    [[nodiscard]] bool is_integer() const noexcept {
        return kind == Kind::Signed || kind == Kind::Unsigned;
    }

    [[nodiscard]] bool is_zero() const noexcept;
    /// Returns the value as a double, whatever its kind.
    [[nodiscard]] double to_double() const noexcept;
    [[nodiscard]] static Constant from_double(double value) noexcept;

    [[nodiscard]] static Constant from_bool(bool value) noexcept {
        return {Kind::Signed, value ? 1u : 0u};
    }
};

/// Returns the value of a literal: decimal, hexadecimal, octal or binary with an optional U, 0f and
/// 0d bit patterns, decimal floating point; nothing when it is malformed or too large.
[[nodiscard]] std::optional<Constant> constant_from(std::string_view literal);

/// Returns the result of a prefix operator; nothing when it does not apply to the operand.
[[nodiscard]] std::optional<Constant> apply(TokenKind operation, const Constant& value) noexcept;

/// Returns the result of an infix operator; nothing when it does not apply to the operands or
/// divides by zero.
[[nodiscard]] std::optional<Constant> apply(TokenKind operation, const Constant& left,
                                            const Constant& right) noexcept;

/// Returns the value converted to a 64-bit integer, as a cast does.
[[nodiscard]] Constant cast_to_integer(const Constant& value, bool is_signed) noexcept;

/// Returns how tightly an infix operator binds, from 1; 0 when the token is none.
[[nodiscard]] int precedence_of(TokenKind operation) noexcept;

} // namespace cuprum::emulator::ptx
