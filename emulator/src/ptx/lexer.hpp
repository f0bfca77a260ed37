// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ptx/diagnostics.hpp"
#include "ptx/tree.hpp"

#include <cstdint>
#include <string_view>

namespace cuprum::emulator::ptx {

/// The kinds of tokens.
enum class TokenKind : std::uint8_t {
    End,
    Identifier, // foo, %r1, $L__BB0_1, _: the text as written
    Dotted,     // .shared::cta: the text without its first dot
    Number,     // any literal, text as written; see constant_from()
    String,     // the text between the quotes, escapes as written
    Comma,
    Semicolon,
    Colon,
    Question,
    At,
    LeftBrace,
    RightBrace,
    LeftBracket,
    RightBracket,
    LeftParen,
    RightParen,
    Equal,
    Exclamation,
    Tilde,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Ampersand,
    Pipe,
    Caret,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    EqualEqual,
    NotEqual,
    ShiftLeft,
    ShiftRight,
    AndAnd,
    OrOr,
};

/// One token; its text points into the source.
struct Token {
    TokenKind kind = TokenKind::End;
    std::string_view text;
    Location location;
};

/// Cuts PTX text into tokens, one at a time and without allocating.
///
/// Skips blanks, both kinds of comment and preprocessor line markers. A character that belongs to
/// no token is reported and skipped, so that the caller sees good tokens only.
class Lexer {
public:
    /// A position to return to.
    struct Mark {
        const char* position;
        const char* line_start;
        std::uint32_t line;
        bool follows_value;
    };

    /// Reads `source`, which must outlive the lexer and its tokens. Trailing NULs are not part of
    /// it.
    Lexer(std::string_view source, Diagnostics& diagnostics);

    /// Stores the next token in `token`, or End once the text is used up.
    ///
    /// It does not return the token, because copying one costs as much as finding it: the copy uses
    /// wide loads that wait for the narrow stores just before.
    void next(Token& token);

    /// Turns a Dotted token such as `.5`, the last one read, into the number that starts there. A
    /// modifier such as `.2d` and a number look alike: only the caller knows.
    void reread_as_number(Token& token);

    /// Returns the place after the last token.
    [[nodiscard]] Mark mark() const noexcept {
        return {position_, line_start_, line_, follows_value_};
    }

    /// Goes back to a place returned by mark().
    void reset(const Mark& mark) noexcept;

private:
    void skip_blanks();
    void skip_line();
    void skip_block_comment();
    [[nodiscard]] bool is_first_on_line() const noexcept;

    [[nodiscard]] Location here() const noexcept { return location_of(position_); }

    [[nodiscard]] Location location_of(const char* place) const noexcept {
        return {line_, static_cast<std::uint32_t>(place - line_start_) + 1};
    }

    /// Returns the character `ahead` places on, NUL past the end.
    [[nodiscard]] char peek(std::ptrdiff_t ahead = 0) const noexcept {
        return end_ - position_ > ahead ? position_[ahead] : '\0';
    }

    void take(Token& token, TokenKind kind, const char* start) noexcept;
    void take_number(Token& token);
    void take_dotted(Token& token);
    void take_string(Token& token);
    [[nodiscard]] TokenKind take_operator() noexcept;

    const char* begin_;
    const char* position_;
    const char* end_;
    const char* line_start_;
    std::uint32_t line_ = 1;
    bool follows_value_ = false; // the last token ended a value: `%` is then the remainder operator
    Diagnostics& diagnostics_;
};

/// Returns a token as messages show it: `'add'`, `the end of the text`.
[[nodiscard]] std::string describe(const Token& token);

} // namespace cuprum::emulator::ptx
