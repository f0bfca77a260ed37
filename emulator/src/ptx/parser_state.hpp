// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The parser behind parse(): a recursive descent over the tokens, one member function per piece of
// syntax. Its members are defined by subject: parser.cpp (module, recovery), parse_functions.cpp,
// parse_variables.cpp (declarations, initialisers), parse_statements.cpp, parse_operands.cpp
// (operands, constant expressions).
//
// A member that returns bool reports an error before it returns false. Its callers return false up
// to the statement or module item, where the parser recovers.

#pragma once

#include "ptx/constant.hpp"
#include "ptx/lexer.hpp"
#include "ptx/tree.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator::ptx {

/// Limits on what untrusted text may ask for. Real modules stay far below them.
namespace limits {
constexpr std::size_t NESTING = 64;                        // blocks, lists, parentheses
constexpr std::size_t PARTS = 1024;                        // of a vector, an address or a list
constexpr std::size_t OPERANDS = 256;                      // of an instruction
constexpr std::size_t MODIFIERS = 64;                      // of an instruction
constexpr std::size_t PARAMETERS = 65536;                  // of a function
constexpr std::size_t DIMENSIONS = 16;                     // of an array
constexpr std::size_t FILE_INDEX = 65535;                  // of a .file directive
constexpr std::size_t INITIALIZERS = 16u << 20;            // values in a module
constexpr std::uint64_t REGISTERS = 1u << 20;              // in one range
constexpr std::uint64_t FUNCTION_REGISTERS = 1u << 22;     // in the ranges of one function
constexpr std::uint64_t VARIABLE_BYTES = 1ull << 40;       // of one variable
constexpr std::uint64_t ALIGNMENT = 1u << 20;              // in bytes
constexpr std::size_t VECTOR_BYTES = 16;                   // of a variable's .v2 or .v4 type
constexpr std::size_t SOURCE_BYTES = std::size_t{1} << 30; // of the whole text
} // namespace limits

/// Parses one module; used once.
class Parser {
public:
    Parser(std::shared_ptr<const std::string> source, Diagnostics& diagnostics);

    /// Parses the module. The result is valid only if no error was reported.
    [[nodiscard]] Module run();

private:
    // Tokens.
    void advance() { lexer_.next(token_); }

    [[nodiscard]] bool is(TokenKind kind) const noexcept { return token_.kind == kind; }

    [[nodiscard]] bool is_word(std::string_view word) const noexcept {
        return token_.kind == TokenKind::Identifier && token_.text == word;
    }

    [[nodiscard]] bool is_directive(std::string_view word) const noexcept {
        return token_.kind == TokenKind::Dotted && token_.text == word;
    }

    bool accept(TokenKind kind) {
        if (!is(kind)) {
            return false;
        }
        advance();
        return true;
    }

    bool accept_directive(std::string_view word);
    bool expect(TokenKind kind, std::string_view what);
    bool expect_name(std::string_view& name, std::string_view what);
    bool fail(const Location& location, std::string message, Problem problem = Problem::Syntax);
    bool fail_expected(std::string_view what);

    // parser.cpp: module directives and recovery.
    bool parse_module_item();
    bool parse_module_variables(Linkage linkage);
    bool parse_linked_item();
    bool parse_version();
    bool parse_target();
    bool parse_address_size();
    bool parse_alias();
    bool parse_file();
    bool parse_location();
    bool parse_pragma();
    bool skip_section();
    bool skip_debug_data();
    /// Skips to behind the token that closes this one; false, unreported, when there is none.
    bool skip_balanced(TokenKind open, TokenKind close);
    void rewind(const Lexer::Mark& mark, const Token& first);
    void recover_module_item();
    void recover_statement();

    // parse_functions.cpp
    bool parse_function(Linkage linkage);
    bool parse_parameters(std::vector<Variable>& parameters);
    /// Stops before what may follow a declaration if one `may_end` without a semicolon.
    bool parse_function_directives(KernelDirectives& directives, bool may_end);
    bool parse_extent(std::uint32_t (&extent)[3]);
    bool parse_body(Function& function);
    /// Reserves room for about as many statements as the body that starts here has, because moving
    /// them is slow. A wrong guess costs only time.
    void reserve_statements(std::vector<Statement>& body);
    bool parse_call_prototype(CallPrototype& prototype);

    // parse_variables.cpp
    bool parse_variables(Linkage linkage, std::vector<Variable>& variables);
    bool parse_variable_prefix(Variable& variable);
    bool parse_alignment(std::uint32_t& alignment);
    bool parse_attribute(Variable& variable);
    bool parse_pointer(Variable& variable);
    bool parse_variable_name(Variable& variable);
    bool parse_register_range(Variable& variable);
    bool parse_dimensions(Variable& variable);
    bool finish_variable(Variable& variable);
    bool check_complete(const Variable& variable);
    bool parse_initializer(Initializer& initializer);
    bool parse_initializer_list(Initializer& initializer);
    bool parse_symbol(Initializer& initializer);

    // parse_statements.cpp
    bool parse_statements(std::vector<Statement>& statements);
    bool parse_statement(std::vector<Statement>& statements);
    bool parse_body_directive(std::vector<Statement>& statements);
    bool parse_block(std::vector<Statement>& statements);
    bool parse_label_or_instruction(std::vector<Statement>& statements);
    bool parse_labelled_directive(std::vector<Statement>& statements, const Token& label);
    bool parse_targets(TargetList& targets);
    bool parse_guard(std::optional<Guard>& guard);
    bool parse_instruction(Instruction& instruction, const Token& opcode);
    void unwrap_single_registers(std::string_view opcode);

    // parse_operands.cpp
    bool parse_operand(Operand& operand, bool is_call);
    bool parse_name_operand(Operand& operand);
    bool parse_index(Operand& operand);
    void parse_suffixes(Operand& operand);
    bool parse_second_of_pair(Operand& operand);
    bool parse_address(Operand& operand);
    bool parse_parts(Operand& operand, TokenKind close, std::string_view what);
    bool parse_constant_operand(Operand& operand);
    bool parse_offset(std::int64_t& offset);
    bool parse_number(std::uint64_t& value, std::uint64_t max, std::string_view what);
    bool parse_number(std::uint32_t& value, std::string_view what);
    bool parse_integer(std::uint64_t& value, std::string_view what);
    bool parse_expression(Constant& value);
    bool parse_binary(Constant& value, int min_precedence);
    bool parse_unary(Constant& value);
    bool parse_parenthesis(Constant& value);
    bool parse_literal(Constant& value);

    /// Counts one level of nesting for as long as it lives.
    class [[nodiscard]] Level {
    public:
        explicit Level(Parser& parser) : parser_(parser) { ++parser_.depth_; }

        ~Level() { --parser_.depth_; }

        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;

        /// Returns whether this level is within bounds; reports it when not.
        [[nodiscard]] bool is_allowed();

    private:
        Parser& parser_;
    };

    Diagnostics& diagnostics_;
    Module module_;
    Lexer lexer_;
    Token token_;                       // the next one
    std::size_t depth_ = 0;             // levels of nesting now
    std::size_t initializer_count_ = 0; // in the module so far
    std::uint64_t register_count_ = 0;  // in the function so far
    std::size_t estimated_until_ = 0;   // how far reserve_statements() has looked
    std::uint32_t source_line_ = 0;     // of the last .loc
    std::uint32_t source_file_ = 0;
    std::vector<std::string_view> modifiers_; // reused, so that a tree's vectors have exact sizes
    std::vector<Operand> operands_;
    std::vector<Variable> variables_;
};

/// Returns the state space that a directive names, None when it names none.
[[nodiscard]] Space space_from(std::string_view directive) noexcept;

/// Returns the linkage that a directive names, Internal when it names none.
[[nodiscard]] Linkage linkage_from(std::string_view directive) noexcept;

/// Returns a name or number as a message quotes it: in quotes, shortened.
[[nodiscard]] std::string quote(std::string_view text);

} // namespace cuprum::emulator::ptx
