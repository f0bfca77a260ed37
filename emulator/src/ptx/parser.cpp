// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "ptx/parser.hpp"

#include "ptx/parser_state.hpp"

#include <charconv>
#include <utility>

namespace cuprum::emulator::ptx {

namespace {

Module module_with(std::shared_ptr<const std::string> source);
bool is_debug_data(std::string_view directive) noexcept;
bool starts_module_item(const Token& token) noexcept;

} // namespace

std::optional<Module> parse(std::shared_ptr<const std::string> source, Diagnostics& diagnostics) {
    if (source->size() > limits::SOURCE_BYTES) {
        diagnostics.report(Problem::Syntax, {},
                           "the text has " + std::to_string(source->size()) +
                               " bytes, more than the largest module accepted (" +
                               std::to_string(limits::SOURCE_BYTES) + ")");
        return std::nullopt;
    }
    const std::size_t before = diagnostics.items().size();
    Parser parser(std::move(source), diagnostics);
    Module module = parser.run();
    if (diagnostics.items().size() != before || diagnostics.is_full()) {
        return std::nullopt;
    }
    return module;
}

Parser::Parser(std::shared_ptr<const std::string> source, Diagnostics& diagnostics)
    : diagnostics_(diagnostics), module_(module_with(std::move(source))),
      lexer_(*module_.source, diagnostics) {}

Module Parser::run() {
    advance();
    if (!is_directive("version")) {
        // Not PTX, or not from its beginning: further errors would only repeat that.
        fail(token_.location, "a module starts with '.version', found " + describe(token_));
        return std::move(module_);
    }
    while (!is(TokenKind::End) && !diagnostics_.is_full()) {
        const Lexer::Mark mark = lexer_.mark();
        const Token first = token_;
        if (!parse_module_item()) {
            rewind(mark, first);
            recover_module_item();
        }
    }
    if (module_.target.empty()) {
        fail(token_.location, "the module has no '.target' directive, such as '.target sm_80'");
    }
    return std::move(module_);
}

bool Parser::Level::is_allowed() {
    return parser_.depth_ <= limits::NESTING ||
           parser_.fail(parser_.token_.location,
                        "nested more than " + std::to_string(limits::NESTING) + " levels deep");
}

// ---- tokens ------------------------------------------------------------------------------------

bool Parser::accept_directive(std::string_view word) {
    if (!is_directive(word)) {
        return false;
    }
    advance();
    return true;
}

bool Parser::expect(TokenKind kind, std::string_view what) {
    return accept(kind) || fail_expected(what);
}

bool Parser::expect_name(std::string_view& name, std::string_view what) {
    if (!is(TokenKind::Identifier)) {
        return fail_expected(what);
    }
    name = token_.text;
    advance();
    return true;
}

bool Parser::fail(const Location& location, std::string message, Problem problem) {
    diagnostics_.report(problem, location, std::move(message));
    return false;
}

bool Parser::fail_expected(std::string_view what) {
    return fail(token_.location, "expected " + std::string(what) + ", found " + describe(token_));
}

// ---- module directives -------------------------------------------------------------------------

bool Parser::parse_module_item() {
    if (accept(TokenKind::Semicolon)) {
        return true;
    }
    if (!is(TokenKind::Dotted)) {
        return fail_expected("a directive such as '.visible' or '.entry'");
    }
    const std::string_view word = token_.text;
    if (space_from(word) != Space::None) {
        return parse_module_variables(Linkage::Internal);
    }
    if (word == "entry" || word == "func") {
        return parse_function(Linkage::Internal);
    }
    if (linkage_from(word) != Linkage::Internal) {
        return parse_linked_item();
    }
    if (word == "section") {
        return skip_section();
    }
    if (is_debug_data(word)) {
        return skip_debug_data();
    }
    using Member = bool (Parser::*)();
    constexpr std::pair<std::string_view, Member> DIRECTIVES[] = {
        {"version", &Parser::parse_version}, {"target", &Parser::parse_target},
        {"file", &Parser::parse_file},       {"address_size", &Parser::parse_address_size},
        {"loc", &Parser::parse_location},    {"pragma", &Parser::parse_pragma},
        {"alias", &Parser::parse_alias},
    };
    for (const auto& [name, member] : DIRECTIVES) {
        if (word == name) {
            advance();
            return (this->*member)();
        }
    }
    if (word == "nv_intermediate_source_section") {
        return fail(token_.location,
                    "'.nv_intermediate_source_section' is not supported: compile without the "
                    "source of intermediate code",
                    Problem::Unsupported);
    }
    return fail(token_.location, "unknown directive " + describe(token_));
}

bool Parser::parse_linked_item() {
    const Linkage linkage = linkage_from(token_.text);
    const std::string written = describe(token_);
    advance();
    if (is_directive("entry") || is_directive("func")) {
        return parse_function(linkage);
    }
    if (is(TokenKind::Dotted) && space_from(token_.text) != Space::None) {
        return parse_module_variables(linkage);
    }
    return fail_expected("a function or a variable after " + written);
}

bool Parser::parse_module_variables(Linkage linkage) {
    const Space space = space_from(token_.text);
    if (space == Space::Register || space == Space::Param || space == Space::Local) {
        // ptxas accepts module-scope registers and locals only without the ABI. No compiler does
        // that.
        return fail(token_.location, describe(token_) + " is not allowed outside a function");
    }
    return parse_variables(linkage, module_.variables);
}

bool Parser::parse_version() {
    if (!is(TokenKind::Number)) {
        return fail_expected("a version such as '8.0'");
    }
    const char* const begin = token_.text.data();
    const char* const end = begin + token_.text.size();
    const auto major = std::from_chars(begin, end, module_.version_major);
    bool is_good = major.ec == std::errc() && major.ptr != end && *major.ptr == '.';
    if (is_good) {
        const auto minor = std::from_chars(major.ptr + 1, end, module_.version_minor);
        is_good = minor.ec == std::errc() && minor.ptr == end;
    }
    if (!is_good) {
        return fail_expected("a version such as '8.0'");
    }
    advance();
    return true;
}

bool Parser::parse_target() {
    do {
        std::string_view name;
        if (!expect_name(name, "a target such as 'sm_80'")) {
            return false;
        }
        module_.target.push_back(name);
    } while (accept(TokenKind::Comma));
    return true;
}

bool Parser::parse_address_size() {
    const Token written = token_;
    if (!parse_number(module_.address_size, "an address size")) {
        return false;
    }
    return module_.address_size == 32 || module_.address_size == 64 ||
           fail(written.location, "the address size is " + describe(written) + ", not 32 or 64");
}

bool Parser::parse_alias() {
    Alias alias;
    alias.location = token_.location;
    if (!expect_name(alias.name, "the name of an alias") ||
        !expect(TokenKind::Comma, "',' after the name of an alias") ||
        !expect_name(alias.target, "the function that an alias stands for") ||
        !expect(TokenKind::Semicolon, "';' after '.alias'")) {
        return false;
    }
    module_.aliases.push_back(alias);
    return true;
}

bool Parser::parse_file() {
    std::uint64_t index = 0;
    if (!parse_number(index, limits::FILE_INDEX, "the number of a file")) {
        return false;
    }
    if (!is(TokenKind::String)) {
        return fail_expected("a file name in quotes");
    }
    if (module_.files.size() <= index) {
        module_.files.resize(index + 1);
    }
    module_.files[index] = token_.text;
    advance();
    // Then optionally a time stamp and a size.
    while (accept(TokenKind::Comma)) {
        std::uint64_t ignored = 0;
        if (!parse_number(ignored, UINT64_MAX, "a time stamp or a size")) {
            return false;
        }
    }
    return true;
}

bool Parser::parse_location() {
    std::uint32_t column = 0;
    if (!parse_number(source_file_, "the number of a file") ||
        !parse_number(source_line_, "a line") || !parse_number(column, "a column")) {
        return false;
    }
    // Inlining: `, function_name label+offset, inlined_at file line column`, both ignored.
    while (accept(TokenKind::Comma)) {
        std::string_view word;
        if (!expect_name(word, "'function_name' or 'inlined_at'")) {
            return false;
        }
        if (word == "function_name") {
            std::string_view label;
            std::int64_t offset = 0;
            if (!expect_name(label, "a label after 'function_name'") || !parse_offset(offset)) {
                return false;
            }
        } else if (word == "inlined_at") {
            std::uint32_t ignored = 0;
            if (!parse_number(ignored, "the number of a file") ||
                !parse_number(ignored, "a line") || !parse_number(ignored, "a column")) {
                return false;
            }
        } else {
            return fail(token_.location, "'.loc' knows no attribute " + quote(word));
        }
    }
    return true;
}

bool Parser::parse_pragma() {
    do {
        if (!is(TokenKind::String)) {
            return fail_expected("a text in quotes after '.pragma'");
        }
        advance();
    } while (accept(TokenKind::Comma));
    return expect(TokenKind::Semicolon, "';' after '.pragma'");
}

bool Parser::skip_section() {
    advance();
    if (!is(TokenKind::Dotted) && !is(TokenKind::Identifier)) {
        return fail_expected("the name of a section");
    }
    advance();
    if (!is(TokenKind::LeftBrace)) {
        return fail_expected("'{' after the name of a section");
    }
    const Location opening = token_.location;
    return skip_balanced(TokenKind::LeftBrace, TokenKind::RightBrace) ||
           fail(opening, "this section is never closed");
}

bool Parser::skip_debug_data() {
    advance();
    while (is(TokenKind::Number) || is(TokenKind::Identifier) || is(TokenKind::Comma) ||
           is(TokenKind::Plus) || is(TokenKind::Minus)) {
        advance();
    }
    return true;
}

bool Parser::skip_balanced(TokenKind open, TokenKind close) {
    std::size_t depth = 0;
    do {
        if (is(TokenKind::End)) {
            return false;
        }
        depth += is(open) ? 1 : 0;
        depth -= is(close) ? 1 : 0;
        advance();
    } while (depth != 0);
    return true;
}

// ---- recovery ----------------------------------------------------------------------------------

void Parser::rewind(const Lexer::Mark& mark, const Token& first) {
    lexer_.reset(mark);
    token_ = first;
}

void Parser::recover_module_item() {
    advance();
    while (!is(TokenKind::End)) {
        if (accept(TokenKind::Semicolon) || starts_module_item(token_)) {
            return;
        }
        if (is(TokenKind::LeftBrace)) {
            skip_balanced(TokenKind::LeftBrace, TokenKind::RightBrace);
            accept(TokenKind::Semicolon); // the end of an initialised variable
            return;
        }
        advance();
    }
}

void Parser::recover_statement() {
    std::size_t depth = 0;
    while (!is(TokenKind::End) && !accept(TokenKind::Semicolon)) {
        if (is(TokenKind::LeftBrace)) {
            ++depth;
        } else if (is(TokenKind::RightBrace)) {
            if (depth == 0) {
                return; // the end of the block around the statement
            }
            --depth;
        }
        advance();
    }
}

// ---- helpers -----------------------------------------------------------------------------------

Space space_from(std::string_view directive) noexcept {
    constexpr std::pair<std::string_view, Space> SPACES[] = {
        {"reg", Space::Register},  {"sreg", Space::Special},       {"const", Space::Constant},
        {"global", Space::Global}, {"local", Space::Local},        {"param", Space::Param},
        {"shared", Space::Shared}, {"shared::cta", Space::Shared},
    };
    for (const auto& [name, space] : SPACES) {
        if (directive == name) {
            return space;
        }
    }
    return Space::None;
}

Linkage linkage_from(std::string_view directive) noexcept {
    constexpr std::pair<std::string_view, Linkage> LINKAGES[] = {
        {"visible", Linkage::Visible},
        {"extern", Linkage::Extern},
        {"weak", Linkage::Weak},
        {"common", Linkage::Common},
    };
    for (const auto& [name, linkage] : LINKAGES) {
        if (directive == name) {
            return linkage;
        }
    }
    return Linkage::Internal;
}

std::string quote(std::string_view text) {
    return describe({TokenKind::Identifier, text, {}});
}

namespace {

Module module_with(std::shared_ptr<const std::string> source) {
    Module module;
    module.source = std::move(source);
    return module;
}

bool is_debug_data(std::string_view directive) noexcept {
    return directive == "b8" || directive == "b16" || directive == "b32" || directive == "b64";
}

/// Returns whether this token can only start a module item, so that recovery stops there.
bool starts_module_item(const Token& token) noexcept {
    return token.kind == TokenKind::Dotted &&
           (linkage_from(token.text) != Linkage::Internal || token.text == "version" ||
            token.text == "target" || token.text == "address_size" || token.text == "file" ||
            token.text == "section" || token.text == "alias");
}

} // namespace

} // namespace cuprum::emulator::ptx
