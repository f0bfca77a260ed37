// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "ptx/lexer.hpp"

#include <array>

namespace cuprum::emulator::ptx {

namespace {

enum CharClass : std::uint8_t {
    BLANK = 1,     // space, tab, carriage return, form feed; not the line feed, which is counted
    LETTER = 2,    // may start an identifier
    DIGIT = 4,     // decimal digit
    LINE_FEED = 8, //
    WORD = LETTER | DIGIT,
};

constexpr std::array<std::uint8_t, 256> CLASSES = [] {
    std::array<std::uint8_t, 256> classes{};
    for (const char c : {' ', '\t', '\r', '\f', '\v'}) {
        classes[static_cast<unsigned char>(c)] = BLANK;
    }
    for (unsigned char c = 'a'; c <= 'z'; ++c) {
        classes[c] = LETTER;
    }
    for (unsigned char c = 'A'; c <= 'Z'; ++c) {
        classes[c] = LETTER;
    }
    classes['_'] = LETTER;
    classes['$'] = LETTER;
    for (unsigned char c = '0'; c <= '9'; ++c) {
        classes[c] = DIGIT;
    }
    classes['\n'] = LINE_FEED;
    return classes;
}();

bool is_class(char c, std::uint8_t mask) noexcept {
    return (CLASSES[static_cast<unsigned char>(c)] & mask) != 0;
}

/// The kinds of the tokens that are one character.
constexpr std::array<TokenKind, 256> SINGLE = [] {
    std::array<TokenKind, 256> kinds{};
    kinds[','] = TokenKind::Comma;
    kinds[';'] = TokenKind::Semicolon;
    kinds[':'] = TokenKind::Colon;
    kinds['?'] = TokenKind::Question;
    kinds['@'] = TokenKind::At;
    kinds['{'] = TokenKind::LeftBrace;
    kinds['}'] = TokenKind::RightBrace;
    kinds['['] = TokenKind::LeftBracket;
    kinds[']'] = TokenKind::RightBracket;
    kinds['('] = TokenKind::LeftParen;
    kinds[')'] = TokenKind::RightParen;
    kinds['='] = TokenKind::Equal;
    kinds['!'] = TokenKind::Exclamation;
    kinds['~'] = TokenKind::Tilde;
    kinds['+'] = TokenKind::Plus;
    kinds['-'] = TokenKind::Minus;
    kinds['*'] = TokenKind::Star;
    kinds['/'] = TokenKind::Slash;
    kinds['%'] = TokenKind::Percent;
    kinds['&'] = TokenKind::Ampersand;
    kinds['|'] = TokenKind::Pipe;
    kinds['^'] = TokenKind::Caret;
    kinds['<'] = TokenKind::Less;
    kinds['>'] = TokenKind::Greater;
    return kinds;
}();

/// Returns the first place from `c` on that does not belong to a word.
const char* skip_word(const char* c, const char* end) noexcept {
    while (c != end && is_class(*c, WORD)) {
        ++c;
    }
    return c;
}

/// Longest piece of source that a message quotes.
constexpr std::size_t MAX_QUOTED = 60;

TokenKind double_operator(char first, char second) noexcept;
std::string unexpected_character(char c);

} // namespace

Lexer::Lexer(std::string_view source, Diagnostics& diagnostics)
    : begin_(source.data()), position_(source.data()), end_(source.data() + source.size()),
      line_start_(source.data()), diagnostics_(diagnostics) {
    // Images are C strings and often counted with their NUL, sometimes with padding behind it.
    while (end_ != begin_ && end_[-1] == '\0') {
        --end_;
    }
}

void Lexer::reset(const Mark& mark) noexcept {
    position_ = mark.position;
    line_start_ = mark.line_start;
    line_ = mark.line;
    follows_value_ = mark.follows_value;
}

void Lexer::next(Token& token) {
    while (true) {
        skip_blanks();
        if (position_ == end_) {
            return take(token, TokenKind::End, position_);
        }
        const char* const start = position_;
        const char c = *start;
        if (is_class(c, LETTER) || (c == '%' && !follows_value_ && is_class(peek(1), WORD))) {
            position_ = skip_word(start + 1, end_);
            return take(token, TokenKind::Identifier, start);
        }
        if (c == '.' && is_class(peek(1), WORD)) {
            return take_dotted(token);
        }
        if (is_class(c, DIGIT)) {
            return take_number(token);
        }
        if (c == '"') {
            return take_string(token);
        }
        if (const TokenKind kind = take_operator(); kind != TokenKind::End) {
            return take(token, kind, start);
        }
        diagnostics_.report(Problem::Syntax, here(), unexpected_character(c));
        ++position_;
        if (diagnostics_.is_full()) {
            // Nothing more will be said: do not walk through megabytes of something else.
            position_ = end_;
        }
    }
}

void Lexer::reread_as_number(Token& token) {
    position_ = token.text.data() - 1;
    take_number(token);
}

void Lexer::skip_blanks() {
    while (position_ != end_) {
        const char c = *position_;
        if (is_class(c, WORD)) {
            return; // nearly always
        }
        if (c == '\n') {
            ++position_;
            ++line_;
            line_start_ = position_;
        } else if (is_class(c, BLANK)) {
            ++position_;
        } else if ((c == '/' && peek(1) == '/') || (c == '#' && is_first_on_line())) {
            skip_line();
        } else if (c == '/' && peek(1) == '*') {
            skip_block_comment();
        } else {
            return;
        }
    }
}

void Lexer::skip_line() {
    const std::string_view rest(position_, static_cast<std::size_t>(end_ - position_));
    const std::size_t length = rest.find('\n');
    position_ = length == std::string_view::npos ? end_ : position_ + length;
}

void Lexer::skip_block_comment() {
    const Location start = here();
    position_ += 2;
    while (position_ != end_) {
        if (*position_ == '*' && peek(1) == '/') {
            position_ += 2;
            return;
        }
        if (*position_ == '\n') {
            ++line_;
            line_start_ = position_ + 1;
        }
        ++position_;
    }
    diagnostics_.report(Problem::Syntax, start, "this comment is never closed with '*/'");
}

bool Lexer::is_first_on_line() const noexcept {
    for (const char* c = position_; c != line_start_; --c) {
        if (!is_class(c[-1], BLANK)) {
            return false;
        }
    }
    return true;
}

void Lexer::take(Token& token, TokenKind kind, const char* start) noexcept {
    follows_value_ = kind == TokenKind::Number || kind == TokenKind::RightParen;
    token.kind = kind;
    token.text = {start, static_cast<std::size_t>(position_ - start)};
    token.location = location_of(start);
}

void Lexer::take_number(Token& token) {
    const char* const start = position_;
    const char second = peek(1);
    const bool has_prefix = *start == '0' && is_class(second, LETTER) && second != 'e' &&
                            second != 'E' && second != 'U';
    // Whatever sticks to the number belongs to it: constant_from() then says what is wrong with it.
    while (position_ != end_) {
        const char c = *position_;
        if (!has_prefix && (c == 'e' || c == 'E') && (peek(1) == '+' || peek(1) == '-') &&
            is_class(peek(2), DIGIT)) {
            position_ += 2;
        } else if (is_class(c, WORD) || (c == '.' && !has_prefix)) {
            ++position_;
        } else {
            break;
        }
    }
    take(token, TokenKind::Number, start);
}

void Lexer::take_dotted(Token& token) {
    const char* const start = position_ + 1;
    position_ = skip_word(start, end_);
    while (peek() == ':' && peek(1) == ':' && is_class(peek(2), WORD)) {
        position_ = skip_word(position_ + 2, end_);
    }
    take(token, TokenKind::Dotted, start);
    token.location.column -= 1; // the dot is where it starts
}

void Lexer::take_string(Token& token) {
    const char* const start = position_ + 1;
    const Location location = here();
    ++position_;
    while (position_ != end_ && *position_ != '"' && *position_ != '\n') {
        const bool is_escape = *position_ == '\\' && (peek(1) == '"' || peek(1) == '\\');
        position_ += is_escape ? 2 : 1;
    }
    take(token, TokenKind::String, start);
    token.location = location;
    if (position_ != end_ && *position_ == '"') {
        ++position_;
    } else {
        diagnostics_.report(Problem::Syntax, location, "this text is not closed with '\"'");
    }
}

TokenKind Lexer::take_operator() noexcept {
    const TokenKind one = SINGLE[static_cast<unsigned char>(*position_)];
    if (one == TokenKind::End) {
        return one;
    }
    const char second = peek(1);
    if (second == '=' || second == *position_) {
        if (const TokenKind two = double_operator(*position_, second); two != TokenKind::End) {
            position_ += 2;
            return two;
        }
    }
    ++position_;
    return one;
}

std::string describe(const Token& token) {
    if (token.kind == TokenKind::End) {
        return "the end of the text";
    }
    std::string quoted(token.text.substr(0, MAX_QUOTED));
    if (token.text.size() > MAX_QUOTED) {
        quoted += "...";
    }
    if (token.kind == TokenKind::String) {
        return "\"" + quoted + "\"";
    }
    return (token.kind == TokenKind::Dotted ? "'." : "'") + quoted + "'";
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Returns the operator that two characters make together, End when they make none.
TokenKind double_operator(char first, char second) noexcept {
    switch (first) {
    case '=':
        return TokenKind::EqualEqual;
    case '!':
        return second == '=' ? TokenKind::NotEqual : TokenKind::End;
    case '<':
        return second == '=' ? TokenKind::LessEqual : TokenKind::ShiftLeft;
    case '>':
        return second == '=' ? TokenKind::GreaterEqual : TokenKind::ShiftRight;
    case '&':
        return second == '&' ? TokenKind::AndAnd : TokenKind::End;
    case '|':
        return second == '|' ? TokenKind::OrOr : TokenKind::End;
    default:
        return TokenKind::End;
    }
}

std::string unexpected_character(char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7f) {
        return std::string("unexpected character '") + c + "'";
    }
    constexpr std::string_view HEX = "0123456789abcdef";
    return std::string("unexpected byte 0x") + HEX[byte >> 4] + HEX[byte & 15] +
           (byte == 0 ? ": the text ends before its size says" : "");
}

} // namespace

} // namespace cuprum::emulator::ptx
