// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The texts that rows describe.

#pragma once

#include "rows/all.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator::test {

/// A pattern that stands for instructions with the same operands.
struct RowPattern {
    rows::Pattern pattern;
    std::string_view kinds; // of the operands, as rows/row.hpp says
    rows::Effect effect = rows::Effect::Pure;
};

/// Returns the patterns of all lists of rows, except those that are refused or decoded by hand.
inline const std::vector<std::vector<RowPattern>>& row_lists() {
    static const std::vector<std::vector<RowPattern>> all = [] {
        std::vector<std::vector<RowPattern>> lists;
        rows::for_each_list([&](const auto& list) {
            lists.emplace_back();
            for (const auto& row : list) {
                if (row.operation.is_set()) {
                    lists.back().push_back({rows::Pattern(row.pattern), row.operands, row.effect});
                }
            }
        });
        return lists;
    }();
    return all;
}

/// Returns the patterns of all rows.
inline const std::vector<RowPattern>& row_patterns() {
    static const std::vector<RowPattern> all = [] {
        std::vector<RowPattern> patterns;
        for (const std::vector<RowPattern>& list : row_lists()) {
            patterns.insert(patterns.end(), list.begin(), list.end());
        }
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

    /// Returns the size of an operand's register: 1 for predicates, otherwise 16 bits at least.
    [[nodiscard]] unsigned bits_of(char kind) const {
        switch (kind) {
        case 'p':
        case 'P':
        case 'B':
        case 'b':
            return 1;
        case 'h':
            return 16;
        case 'w':
        case 'i':
        case 'f':
        case 'm':
        case 'V':
        case 'E':
            return 32;
        case 'q':
        case 'v':
            return 64;
        case 'D':
            return 2 * ptx::bits_of(match.type().part);
        default:
            return std::max(ptx::bits_of(rows::type_named(match[kind]).part), 16u);
        }
    }

    /// Returns whether the text computes with floating-point numbers or compares them.
    [[nodiscard]] bool is_float() const {
        const bool is_other = match.word(0) == "selp" || match.word(0) == "slct";
        const ptx::Type type = match.type().part;
        return !is_other && type >= ptx::Type::F16 && type <= ptx::Type::F64;
    }

    [[nodiscard]] bool is_conversion() const {
        return match.word(0) == "cvt" && !match.has("pack");
    }

    [[nodiscard]] char result_kind() const { return kinds[1]; }

    /// Returns the kinds of the sources that the text has, in their order.
    [[nodiscard]] std::string source_kinds() const {
        std::string result;
        for (const char kind : kinds.substr(kinds.find(' ') + 1)) {
            const bool is_mark = (kind >= '0' && kind <= '9') || kind == '~';
            if (!is_mark && kind != 'c' && (kind != 'b' || !match['b'].empty())) {
                result += kind;
            }
        }
        return result;
    }
};

} // namespace cuprum::emulator::test
