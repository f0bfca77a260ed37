// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "ptx/parser_state.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cuprum::emulator::ptx {

namespace {

/// Returns whether a token may come directly behind a declaration without a semicolon.
bool may_follow_declaration(const Token& token) noexcept {
    constexpr std::string_view WORDS[] = {"alias", "entry", "file", "func", "pragma", "section"};
    return token.kind == TokenKind::End ||
           (token.kind == TokenKind::Dotted &&
            (linkage_from(token.text) != Linkage::Internal ||
             space_from(token.text) != Space::None ||
             std::ranges::find(WORDS, token.text) != std::end(WORDS)));
}

} // namespace

bool Parser::parse_function(Linkage linkage) {
    Function function;
    function.is_entry = token_.text == "entry";
    function.linkage = linkage;
    advance();
    if (accept_directive("attribute") &&
        (!is(TokenKind::LeftParen) ||
         !skip_balanced(TokenKind::LeftParen, TokenKind::RightParen))) {
        return fail_expected("'(' after '.attribute'");
    }
    if (is(TokenKind::LeftParen)) {
        if (function.is_entry) {
            return fail(token_.location,
                        "a kernel returns nothing: expected a name after '.entry'");
        }
        if (!parse_parameters(function.returns)) {
            return false;
        }
    }
    function.location = token_.location;
    if (!expect_name(function.name, "the name of a function")) {
        return false;
    }
    if (is(TokenKind::LeftParen) && !parse_parameters(function.parameters)) {
        return false;
    }
    // Only functions can have an open array as parameter: it takes a variable number of arguments.
    if (function.is_entry && !std::ranges::all_of(function.parameters, [&](const Variable& each) {
            return check_complete(each);
        })) {
        return false;
    }
    // As in ptxas, the declaration of an external function needs no semicolon. XLA writes none.
    const bool may_end = linkage == Linkage::Extern && !function.is_entry;
    if (!parse_function_directives(function.directives, may_end)) {
        return false;
    }
    if (accept(TokenKind::Semicolon) || (may_end && may_follow_declaration(token_))) {
        function.is_declaration = true;
    } else if (!is(TokenKind::LeftBrace)) {
        return fail_expected("'{' or ';' after the head of function " + quote(function.name));
    } else if (linkage == Linkage::Extern) {
        return fail(token_.location,
                    "function " + quote(function.name) + " is '.extern' and cannot have a body");
    } else if (!parse_body(function)) {
        return false;
    }
    module_.functions.push_back(std::move(function));
    return true;
}

bool Parser::parse_parameters(std::vector<Variable>& parameters) {
    advance();
    if (accept(TokenKind::RightParen)) {
        return true;
    }
    do {
        if (!is(TokenKind::Dotted) || (space_from(token_.text) != Space::Param &&
                                       space_from(token_.text) != Space::Register)) {
            return fail_expected("a parameter: '.param' or '.reg'");
        }
        if (parameters.size() == limits::PARAMETERS) {
            return fail(token_.location,
                        "more than " + std::to_string(limits::PARAMETERS) + " parameters");
        }
        Variable& parameter = parameters.emplace_back();
        if (!parse_variable_prefix(parameter) || !parse_variable_name(parameter) ||
            !finish_variable(parameter)) {
            return false;
        }
    } while (accept(TokenKind::Comma));
    return expect(TokenKind::RightParen, "',' or ')' after a parameter");
}

bool Parser::parse_function_directives(KernelDirectives& directives, bool may_end) {
    while (is(TokenKind::Dotted) && !(may_end && may_follow_declaration(token_))) {
        const Token directive = token_;
        const std::string_view word = directive.text;
        advance();
        std::uint32_t ignored = 0;
        bool is_good = true;
        if (word == "maxntid") {
            is_good = parse_extent(directives.max_threads);
        } else if (word == "reqntid") {
            is_good = parse_extent(directives.required_threads);
        } else if (word == "reqnctapercluster") {
            is_good = parse_extent(directives.required_cluster);
        } else if (word == "minnctapersm" || word == "maxnctapersm") {
            is_good = parse_number(directives.min_blocks_per_sm, "a number of blocks");
        } else if (word == "maxnreg") {
            is_good = parse_number(directives.max_registers, "a number of registers");
        } else if (word == "maxclusterrank") {
            is_good = parse_number(directives.max_cluster_rank, "a number of blocks");
        } else if (word == "explicitcluster") {
            directives.is_explicit_cluster = true;
        } else if (word == "noreturn") {
            directives.is_noreturn = true;
        } else if (word == "minnreg" || word == "abi_preserve" || word == "abi_preserve_control") {
            // These concern the registers of real hardware.
            is_good = parse_number(ignored, "a number of registers");
        } else if (word == "pragma") {
            is_good = parse_pragma();
        } else if (word == "blocksareclusters") {
            return fail(directive.location, "'.blocksareclusters' is not supported",
                        Problem::Unsupported);
        } else if (word == "minperctamemory") {
            return fail(directive.location,
                        "'.minperctamemory' is not supported: blocks have no memory of their own "
                        "in global memory here; pass a buffer to the kernel instead",
                        Problem::Unsupported);
        } else {
            return fail(directive.location,
                        "unknown directive " + describe(directive) + " in the head of a function");
        }
        if (!is_good) {
            return false;
        }
    }
    return true;
}

bool Parser::parse_extent(std::uint32_t (&extent)[3]) {
    std::fill(std::begin(extent), std::end(extent), 1);
    std::size_t count = 0;
    do {
        if (count == std::size(extent)) {
            return fail(token_.location, "more than three dimensions");
        }
        if (!parse_number(extent[count++], "a number of threads or blocks")) {
            return false;
        }
    } while (accept(TokenKind::Comma));
    return true;
}

bool Parser::parse_body(Function& function) {
    source_line_ = 0;
    source_file_ = 0;
    register_count_ = 0;
    const Location opening = token_.location;
    reserve_statements(function.body);
    advance();
    if (!parse_statements(function.body)) {
        return false;
    }
    if (is(TokenKind::End)) {
        fail(opening, "the body of function " + quote(function.name) + " is never closed");
        return true; // at the end of the text: nothing to recover
    }
    advance();
    return true;
}

void Parser::reserve_statements(std::vector<Statement>& body) {
    // A low estimate of the text of one statement, as compilers write it.
    constexpr std::size_t STATEMENT_BYTES = 24;
    const std::string_view source = *module_.source;
    const auto start = static_cast<std::size_t>(token_.text.data() - source.data());
    if (start < estimated_until_) {
        return; // looks at each byte once
    }
    std::size_t end = start;
    do {
        end = source.find('}', end + 1);
    } while (end != std::string_view::npos && source[end - 1] != '\n');
    estimated_until_ = std::min(end, source.size());
    body.reserve((estimated_until_ - start) / STATEMENT_BYTES);
}

bool Parser::parse_call_prototype(CallPrototype& prototype) {
    advance();
    if (is(TokenKind::LeftParen) && !parse_parameters(prototype.returns)) {
        return false;
    }
    std::string_view placeholder;
    if (!expect_name(placeholder, "'_' after '.callprototype'")) {
        return false;
    }
    if (is(TokenKind::LeftParen) && !parse_parameters(prototype.parameters)) {
        return false;
    }
    KernelDirectives directives;
    if (!parse_function_directives(directives, false)) {
        return false;
    }
    prototype.is_noreturn = directives.is_noreturn;
    return expect(TokenKind::Semicolon, "';' after '.callprototype'");
}

} // namespace cuprum::emulator::ptx
