// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "ptx/parser_state.hpp"

#include <bit>
#include <utility>

namespace cuprum::emulator::ptx {

namespace {

std::uint32_t vector_width_from(std::string_view directive) noexcept;

} // namespace

bool Parser::parse_variables(Linkage linkage, std::vector<Variable>& variables) {
    Variable prefix;
    prefix.linkage = linkage;
    if (!parse_variable_prefix(prefix)) {
        return false;
    }
    do {
        Variable variable = prefix;
        if (!parse_variable_name(variable)) {
            return false;
        }
        if (accept(TokenKind::Equal)) {
            if (variable.space != Space::Global && variable.space != Space::Constant) {
                return fail(token_.location, "variable " + quote(variable.name) +
                                                 " cannot have an initial value: only '.global' "
                                                 "and '.const' variables can");
            }
            if (!parse_initializer(variable.initializer.emplace())) {
                return false;
            }
        }
        if (!finish_variable(variable) || !check_complete(variable)) {
            return false;
        }
        variables.push_back(std::move(variable));
    } while (accept(TokenKind::Comma));
    return expect(TokenKind::Semicolon, "';' after variable " + quote(variables.back().name));
}

bool Parser::parse_variable_prefix(Variable& variable) {
    variable.space = space_from(token_.text);
    const std::string space = describe(token_);
    advance();
    if (is(TokenKind::LeftBracket)) { // the bank of `.const[2]`, an old form
        std::uint32_t bank = 0;
        advance();
        if (!parse_number(bank, "the number of a bank") ||
            !expect(TokenKind::RightBracket, "']' after the number of a bank")) {
            return false;
        }
    }
    while (is(TokenKind::Dotted)) {
        const Token directive = token_;
        const std::string_view word = directive.text;
        advance();
        bool is_good = true;
        if (word == "align") {
            is_good = parse_alignment(variable.alignment);
        } else if (word == "attribute") {
            is_good = parse_attribute(variable);
        } else if (word == "ptr") {
            is_good = parse_pointer(variable);
        } else if (const std::uint32_t width = vector_width_from(word); width != 0) {
            variable.vector_width = width;
        } else if (const Type type = type_from(word); type != Type::None) {
            if (variable.type != Type::None) {
                return fail(directive.location,
                            "a second type, " + describe(directive) + ", for one variable");
            }
            variable.type = type;
        } else {
            return fail(directive.location, describe(directive) + " is not a type, after " + space);
        }
        if (!is_good) {
            return false;
        }
    }
    return variable.type != Type::None || fail_expected("a type after " + space);
}

bool Parser::parse_alignment(std::uint32_t& alignment) {
    const Token written = token_;
    std::uint64_t value = 0;
    if (!parse_number(value, limits::ALIGNMENT, "an alignment")) {
        return false;
    }
    alignment = static_cast<std::uint32_t>(value);
    return std::has_single_bit(value) ||
           fail(written.location,
                "the alignment is " + describe(written) + ", which is not a power of two");
}

bool Parser::parse_attribute(Variable& variable) {
    if (!expect(TokenKind::LeftParen, "'(' after '.attribute'")) {
        return false;
    }
    do {
        if (accept_directive("managed")) {
            variable.is_managed = true;
        } else if (accept_directive("unified")) {
            // The two halves of an identifier that joins copies of a variable in several modules.
            if (!is(TokenKind::LeftParen) ||
                !skip_balanced(TokenKind::LeftParen, TokenKind::RightParen)) {
                return fail_expected("'(' after '.unified'");
            }
        } else {
            return fail_expected("an attribute: '.managed' or '.unified'");
        }
    } while (accept(TokenKind::Comma));
    return expect(TokenKind::RightParen, "')' after an attribute");
}

bool Parser::parse_pointer(Variable& variable) {
    variable.is_pointer = true;
    if (is(TokenKind::Dotted) && space_from(token_.text) != Space::None) {
        variable.pointer_space = space_from(token_.text);
        advance();
    }
    return !accept_directive("align") || parse_alignment(variable.pointer_alignment);
}

bool Parser::parse_variable_name(Variable& variable) {
    variable.location = token_.location;
    if (!expect_name(variable.name, "the name of a variable")) {
        return false;
    }
    if (is(TokenKind::Less)) {
        return parse_register_range(variable);
    }
    return !is(TokenKind::LeftBracket) || parse_dimensions(variable);
}

bool Parser::parse_register_range(Variable& variable) {
    if (variable.space != Space::Register) {
        return fail(token_.location, "only '.reg' variables come in ranges such as '%r<5>'");
    }
    advance();
    const Location location = token_.location;
    std::uint64_t count = 0;
    if (!parse_number(count, limits::REGISTERS, "a number of registers") ||
        !expect(TokenKind::Greater, "'>' after a number of registers")) {
        return false;
    }
    if (count == 0) {
        return fail(location, "the range " + quote(variable.name) + " has no registers");
    }
    register_count_ += count;
    if (register_count_ > limits::FUNCTION_REGISTERS) {
        return fail(location, "the function declares more than " +
                                  std::to_string(limits::FUNCTION_REGISTERS) + " registers");
    }
    variable.register_count = static_cast<std::uint32_t>(count);
    return true;
}

bool Parser::parse_dimensions(Variable& variable) {
    if (variable.space == Space::Register) {
        return fail(token_.location, "registers cannot be arrays");
    }
    while (accept(TokenKind::LeftBracket)) {
        if (variable.dimensions.size() == limits::DIMENSIONS) {
            return fail(token_.location, "array " + quote(variable.name) + " has more than " +
                                             std::to_string(limits::DIMENSIONS) + " dimensions");
        }
        const Location location = token_.location;
        std::uint64_t extent = 0; // `[]` means the same as `[0]`
        if (!accept(TokenKind::RightBracket) &&
            (!parse_integer(extent, "the size of an array") ||
             !expect(TokenKind::RightBracket, "']' after the size of an array"))) {
            return false;
        }
        if (extent == 0 && !variable.dimensions.empty()) {
            return fail(location, "only the first dimension of array " + quote(variable.name) +
                                      " can be left open or be 0");
        }
        variable.dimensions.push_back(extent);
    }
    return true;
}

bool Parser::finish_variable(Variable& variable) {
    if (!variable.dimensions.empty() && variable.dimensions[0] == 0 && variable.initializer &&
        variable.initializer->kind == Initializer::Kind::List) {
        variable.dimensions[0] = variable.initializer->items.size();
    }
    if (size_of(variable.type) * variable.vector_width > limits::VECTOR_BYTES) {
        return fail(variable.location, "variable " + quote(variable.name) +
                                           " is a vector of more than " +
                                           std::to_string(limits::VECTOR_BYTES) + " bytes");
    }
    if (variable.type == Type::Pred && variable.space != Space::Register) {
        return fail(variable.location, "predicate " + quote(variable.name) + " must be a register");
    }
    return variable.size_bytes() <= limits::VARIABLE_BYTES ||
           fail(variable.location,
                "variable " + quote(variable.name) + " is larger than any device's memory");
}

bool Parser::check_complete(const Variable& variable) {
    const bool is_open = !variable.dimensions.empty() && variable.dimensions[0] == 0;
    return !is_open || variable.linkage == Linkage::Extern ||
           fail(variable.location, "array " + quote(variable.name) +
                                       " has no size: only '.extern' arrays and parameters of "
                                       "functions can be open");
}

// ---- initial values ----------------------------------------------------------------------------

bool Parser::parse_initializer(Initializer& initializer) {
    initializer.location = token_.location;
    if (++initializer_count_ > limits::INITIALIZERS) {
        return fail(token_.location, "the module has more than " +
                                         std::to_string(limits::INITIALIZERS) + " initial values");
    }
    if (is(TokenKind::LeftBrace)) {
        return parse_initializer_list(initializer);
    }
    if (is(TokenKind::Identifier) && !is_word("WARP_SZ")) {
        return parse_symbol(initializer);
    }
    Constant value;
    if (!parse_expression(value)) {
        return false;
    }
    initializer.bits = value.bits;
    if (!is(TokenKind::LeftParen)) {
        initializer.kind = value.is_integer()                      ? Initializer::Kind::Integer
                           : value.kind == Constant::Kind::Float32 ? Initializer::Kind::Float32
                                                                   : Initializer::Kind::Float64;
        return true;
    }
    // A mask, as in 0xff00(symbol): one byte of an address.
    if (!value.is_integer() || value.bits == 0) {
        return fail(initializer.location, "the mask of a symbol's address must be an integer that "
                                          "is not zero");
    }
    initializer.mask = value.bits;
    advance();
    return parse_symbol(initializer) && expect(TokenKind::RightParen, "')' after a masked symbol");
}

bool Parser::parse_initializer_list(Initializer& initializer) {
    initializer.kind = Initializer::Kind::List;
    Level level(*this);
    if (!level.is_allowed()) {
        return false;
    }
    advance();
    while (!is(TokenKind::RightBrace)) {
        if (!parse_initializer(initializer.items.emplace_back())) {
            return false;
        }
        if (!accept(TokenKind::Comma)) {
            break;
        }
    }
    return expect(TokenKind::RightBrace, "',' or '}' after an initial value");
}

bool Parser::parse_symbol(Initializer& initializer) {
    initializer.kind = Initializer::Kind::Symbol;
    initializer.bits = 0;
    if (!expect_name(initializer.symbol, "a symbol")) {
        return false;
    }
    if (accept(TokenKind::Equal)) {
        initializer.kind = Initializer::Kind::Setting;
        return is(TokenKind::Identifier)
                   ? expect_name(initializer.word, "the value of a setting")
                   : parse_integer(initializer.bits, "the value of a setting");
    }
    std::int64_t offset = 0;
    if (initializer.symbol == "generic" && accept(TokenKind::LeftParen)) {
        initializer.is_generic = true;
        if (!expect_name(initializer.symbol, "a symbol") || !parse_offset(offset) ||
            !expect(TokenKind::RightParen, "')' after a symbol")) {
            return false;
        }
        initializer.bits = static_cast<std::uint64_t>(offset);
        offset = 0;
    }
    if (!parse_offset(offset)) {
        return false;
    }
    initializer.bits += static_cast<std::uint64_t>(offset);
    return true;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::uint32_t vector_width_from(std::string_view directive) noexcept {
    return directive == "v2" ? 2 : directive == "v4" ? 4 : 0;
}

} // namespace

} // namespace cuprum::emulator::ptx
