// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "ptx/parser_state.hpp"

#include <iterator>
#include <utility>

namespace cuprum::emulator::ptx {

bool Parser::parse_statements(std::vector<Statement>& statements) {
    while (!is(TokenKind::RightBrace) && !is(TokenKind::End)) {
        if (diagnostics_.is_full()) {
            return false;
        }
        const Lexer::Mark mark = lexer_.mark();
        const Token first = token_;
        if (!parse_statement(statements)) {
            rewind(mark, first);
            recover_statement();
        }
    }
    return true;
}

bool Parser::parse_statement(std::vector<Statement>& statements) {
    switch (token_.kind) {
    case TokenKind::Identifier:
        return parse_label_or_instruction(statements);
    case TokenKind::Dotted:
        return parse_body_directive(statements);
    case TokenKind::LeftBrace:
        return parse_block(statements);
    case TokenKind::Semicolon:
        advance();
        return true;
    case TokenKind::At: {
        std::optional<Guard> guard;
        const Location location = token_.location;
        advance();
        if (!parse_guard(guard)) {
            return false;
        }
        if (!is(TokenKind::Identifier)) {
            return fail_expected("an instruction after its guard");
        }
        const Token opcode = token_;
        advance();
        Statement& statement = statements.emplace_back();
        statement.location = location;
        statement.instruction.guard = guard;
        return parse_instruction(statement.instruction, opcode);
    }
    default:
        return fail_expected("an instruction, a label or a declaration");
    }
}

bool Parser::parse_body_directive(std::vector<Statement>& statements) {
    const Token directive = token_;
    if (directive.text == "loc") {
        advance();
        return parse_location();
    }
    Linkage linkage = linkage_from(directive.text);
    if (linkage != Linkage::Internal) {
        advance();
    }
    if (is(TokenKind::Dotted) && space_from(token_.text) != Space::None) {
        variables_.clear();
        if (!parse_variables(linkage, variables_)) {
            return false;
        }
        for (Variable& variable : variables_) {
            Statement& statement = statements.emplace_back();
            statement.kind = Statement::Kind::Variable;
            statement.location = directive.location;
            *statement.variable = std::move(variable);
        }
        return true;
    }
    if (is_directive("entry") || is_directive("func")) {
        fail(token_.location,
             describe(token_) + " inside the body of a function: is a '}' missing?");
        while (!is(TokenKind::End) && !is(TokenKind::Semicolon) && !is(TokenKind::LeftBrace)) {
            advance();
        }
        if (!accept(TokenKind::Semicolon)) {
            skip_balanced(TokenKind::LeftBrace, TokenKind::RightBrace);
        }
        return true;
    }
    if (linkage != Linkage::Internal) {
        return fail_expected("a variable after " + describe(directive));
    }
    if (directive.text == "section") {
        return skip_section();
    }
    if (directive.text == "b8" || directive.text == "b16" || directive.text == "b32" ||
        directive.text == "b64") {
        return skip_debug_data();
    }
    advance();
    if (directive.text == "pragma") {
        return parse_pragma();
    }
    if (directive.text == "file") {
        return parse_file();
    }
    if (directive.text == "loc_intermediate") { // a place in the compiler's own code
        std::uint32_t ignored = 0;
        return parse_number(ignored, "the number of a file") && parse_number(ignored, "a line") &&
               parse_number(ignored, "a column");
    }
    return fail(directive.location,
                "unknown directive " + describe(directive) + " in the body of a function");
}

bool Parser::parse_block(std::vector<Statement>& statements) {
    Level level(*this);
    if (!level.is_allowed()) {
        // Skip all of it: its statements must not count as those of an outer block.
        skip_balanced(TokenKind::LeftBrace, TokenKind::RightBrace);
        return true;
    }
    const Location location = token_.location;
    advance();
    std::vector<Statement> block;
    if (!parse_statements(block)) {
        return false;
    }
    if (!accept(TokenKind::RightBrace)) {
        fail(location, "this block is never closed");
        return true; // at the end of the text: nothing to recover
    }
    Statement& statement = statements.emplace_back();
    statement.kind = Statement::Kind::Block;
    statement.location = location;
    statement.block = std::move(block);
    return true;
}

bool Parser::parse_label_or_instruction(std::vector<Statement>& statements) {
    const Token first = token_;
    advance();
    if (!accept(TokenKind::Colon)) {
        Statement& statement = statements.emplace_back();
        statement.location = first.location;
        return parse_instruction(statement.instruction, first);
    }
    if (is_directive("callprototype") || is_directive("branchtargets") ||
        is_directive("calltargets")) {
        return parse_labelled_directive(statements, first);
    }
    Statement& statement = statements.emplace_back();
    statement.kind = Statement::Kind::Label;
    statement.location = first.location;
    statement.label = first.text;
    return true;
}

bool Parser::parse_labelled_directive(std::vector<Statement>& statements, const Token& label) {
    Statement& statement = statements.emplace_back();
    statement.location = label.location;
    if (is_directive("callprototype")) {
        statement.kind = Statement::Kind::Prototype;
        statement.prototype->name = label.text;
        statement.prototype->location = label.location;
        return parse_call_prototype(*statement.prototype);
    }
    statement.kind = Statement::Kind::Targets;
    statement.targets->name = label.text;
    statement.targets->location = label.location;
    statement.targets->is_call = is_directive("calltargets");
    return parse_targets(*statement.targets);
}

bool Parser::parse_targets(TargetList& targets) {
    advance();
    do {
        std::string_view target;
        if (!expect_name(target, targets.is_call ? "a function" : "a label")) {
            return false;
        }
        // `name<5>` stands for name0 to name4. No compiler writes it.
        if (is(TokenKind::Less)) {
            return fail(token_.location, "ranges of labels are not supported",
                        Problem::Unsupported);
        }
        targets.targets.push_back(target);
    } while (accept(TokenKind::Comma));
    return expect(TokenKind::Semicolon, "',' or ';' after a target");
}

bool Parser::parse_guard(std::optional<Guard>& guard) {
    guard.emplace().is_negated = accept(TokenKind::Exclamation);
    return expect_name(guard->predicate, "a predicate after '@'");
}

bool Parser::parse_instruction(Instruction& instruction, const Token& opcode) {
    instruction.opcode = opcode.text;
    instruction.location = opcode.location;
    instruction.source_line = source_line_;
    instruction.source_file = source_file_;
    modifiers_.clear();
    while (is(TokenKind::Dotted)) {
        if (modifiers_.size() == limits::MODIFIERS) {
            return fail(token_.location, quote(opcode.text) + " has more than " +
                                             std::to_string(limits::MODIFIERS) + " modifiers");
        }
        modifiers_.push_back(token_.text);
        advance();
    }
    instruction.modifiers.assign(modifiers_.begin(), modifiers_.end());
    const bool is_call = opcode.text == "call";
    operands_.clear();
    if (!is(TokenKind::Semicolon)) {
        do {
            if (operands_.size() == limits::OPERANDS) {
                return fail(token_.location, quote(opcode.text) + " has more than " +
                                                 std::to_string(limits::OPERANDS) + " operands");
            }
            if (!parse_operand(operands_.emplace_back(), is_call)) {
                return false;
            }
        } while (accept(TokenKind::Comma));
    }
    unwrap_single_registers(opcode.text);
    instruction.operands.assign(std::make_move_iterator(operands_.begin()),
                                std::make_move_iterator(operands_.end()));
    if (!is(TokenKind::Semicolon)) {
        return fail_expected("',' or ';' in the operands of " + quote(opcode.text));
    }
    advance();
    return true;
}

/// Replaces `{%r1}` by `%r1` in the operands of a load, store or move, as ptxas reads them.
///
/// A `.v2` or `.v4` instruction then reports one register where it needs several.
void Parser::unwrap_single_registers(std::string_view opcode) {
    if (opcode != "ld" && opcode != "st" && opcode != "ldu" && opcode != "mov") {
        return;
    }
    for (Operand& operand : operands_) {
        if (operand.kind == Operand::Kind::Vector && operand.parts.size() == 1) {
            Operand part = std::move(operand.parts.front());
            operand = std::move(part);
        }
    }
}

} // namespace cuprum::emulator::ptx
