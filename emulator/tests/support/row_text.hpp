// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The texts that rows describe.

#pragma once

#include "rows/integer.hpp"
#include "rows/move.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator::test {

/// A pattern that stands for instructions with the same operands.
struct RowPattern {
    rows::Pattern pattern;
    std::string_view kinds; // of the operands, as rows/row.hpp says
};

/// Adds the patterns of a list of rows, except those that are refused or decoded by hand.
template <typename T, std::size_t COUNT>
void add_patterns(std::vector<RowPattern>& patterns, const rows::Row<T> (&rows)[COUNT]) {
    for (const rows::Row<T>& row : rows) {
        if (row.operation != nullptr) {
            patterns.push_back({rows::Pattern(row.pattern), row.operands});
        }
    }
}

/// Returns the patterns of all rows.
inline const std::vector<RowPattern>& row_patterns() {
    static const std::vector<RowPattern> all = [] {
        std::vector<RowPattern> patterns;
        add_patterns(patterns, rows::INTEGER_ROWS);
        add_patterns(patterns, rows::DOT_ROWS);
        add_patterns(patterns, rows::CARRY_ROWS);
        add_patterns(patterns, rows::BITS_ROWS);
        add_patterns(patterns, rows::COMPARE_ROWS);
        add_patterns(patterns, rows::PACK_ROWS);
        add_patterns(patterns, rows::SELECT_ROWS);
        return patterns;
    }();
    return all;
}

/// One text of a pattern.
struct RowText {
    rows::Match match;
    std::string_view kinds;

    /// Returns the opcode with all modifiers.
    [[nodiscard]] std::string instruction() const {
        std::string text(match.word(0));
        for (std::size_t i = 1; i < match.pattern().groups.size(); ++i) {
            text += match.word(i).empty() ? "" : "." + std::string(match.word(i));
        }
        return text;
    }

    /// Returns the size of an operand; 1 for predicates.
    [[nodiscard]] unsigned bits_of(char kind) const {
        switch (kind) {
        case 'p':
        case 'P':
        case 'b':
            return 1;
        case 'h':
            return 16;
        case 'w':
        case 'i':
        case 'f':
            return 32;
        case 'q':
            return 64;
        case 'D':
            return 2 * ptx::bits_of(match.type().part);
        default:
            return ptx::bits_of(rows::type_named(match[kind]).part);
        }
    }

    [[nodiscard]] char result_kind() const { return kinds[1]; }

    /// Returns the kinds of the sources that the text has, in their order.
    [[nodiscard]] std::string source_kinds() const {
        std::string result;
        for (const char kind : kinds.substr(kinds.find(' ') + 1)) {
            const bool is_digit = kind >= '0' && kind <= '9';
            if (!is_digit && kind != 'c' && (kind != 'b' || !match['b'].empty())) {
                result += kind;
            }
        }
        return result;
    }
};

} // namespace cuprum::emulator::test
