// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Rows: one description of each instruction form.
//
//   {"{O:add,sub}{S:,.sat}.{T:u8x4,s8x4}", "=w ww", integer<...>, Effect::Pure, 120}
//
// A pattern lists the texts that exist. A group in braces stands for one of its words; an empty
// word means that the modifier may be missing. Only listed texts match, so every other modifier is
// refused, and the message can say which ones exist.
//
//   {T:u32,s32}   a group with a capital chooses the form, and with it the handler
//   {b:and,or}    one with a small letter changes only `tag` or `immediate`
//   {T:INT}       a word in capitals stands for a list of words (WORD_LISTS)
//
// Operands are written as their kinds, results first:
//
//   w q h         32, 64 or 16 bits; `i` is a signed 32-bit value, `f` an f32
//   T (any group) the type that the group names; D is twice as wide as T
//   p p0 p1       a predicate; as a source, its negation sets bit 0 or 1 of `tag`
//   b             a predicate to combine with, if group b has a word; its negation sets bit 2
//   P             as a result: a predicate, or two of them as in d|p; B: always two
//   c             the hidden carry flag, which the text does not show
//   n             an f16 or bf16, as group n says, which is widened to f32
//   m             the magnitude of an f32
//   v             two f32 in 64 bits: the instruction is done for each of them
//   T~            as T, and the register may be wider
//   V E           as a result: 32 bits and, as in d|p, a predicate (V: perhaps; E: always)
//   L             a constant from 0 to 255, which chooses the form
//
// Decoding (decode/rows.cpp), the tables of handlers (interp/handlers/), the page of what is
// supported and the tests (tests/interp/test_rows.cpp) all come from the rows.

#pragma once

#include "rows/format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cuprum::emulator::rows {

/// What an instruction does besides writing its results.
enum class Effect : std::uint8_t {
    Pure,
    Meets,    // waits for the lanes of a mask, its last source
    Observes, // depends on which lanes run together
};

class Match;

/// What an instruction means: its form, and what the form leaves to the instruction.
template <typename T>
struct Meaning {
    T form;
    std::uint16_t tag = 0;
    std::int64_t immediate = 0;
};

/// The function of a row, or none.
///
/// NOTE: not a pointer alone: with the undefined-behaviour sanitizer, GCC does not compare the
/// address of a function with null in constant expressions.
template <typename T>
class Operation {
public:
    using Function = Meaning<T> (*)(const Match&);

    constexpr Operation() = default;

    constexpr Operation(Function function) // NOLINT(google-explicit-constructor)
        : function_(function), is_set_(true) {}

    [[nodiscard]] constexpr bool is_set() const { return is_set_; }

    constexpr Meaning<T> operator()(const Match& match) const { return function_(match); }

private:
    Function function_ = nullptr;
    bool is_set_ = false;
};

/// One row; T is the structure of its forms.
template <typename T>
struct Row {
    std::string_view pattern;
    std::string_view operands;
    Operation<T> operation{}; // none: decoded by hand, or refused
    Effect effect = Effect::Pure;
    unsigned target = 0;        // the first architecture that has it
    std::string_view refusal{}; // why there is no such instruction
};

/// A row of texts that look right and do not exist.
struct Refusal {
    std::string_view pattern;
    std::string_view reason;

    template <typename T>
    constexpr operator Row<T>() const { // NOLINT(google-explicit-constructor)
        return {.pattern = pattern, .operands = "", .refusal = reason};
    }
};

constexpr Refusal refuse(std::string_view pattern, std::string_view reason) {
    return {pattern, reason};
}

struct WordList {
    std::string_view name;
    std::string_view words;
};

constexpr WordList WORD_LISTS[] = {
    {"INT", "u16,s16,u32,s32,u64,s64"},
    {"BITS", "b16,b32,b64"},
    {"ORDERS", "eq,ne,lt,le,gt,ge"},
    {"RELATIONS", "eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan"},
    {"COMBINE", ",.and,.or,.xor"},
    {"SELECTED", "b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64"},
    {"RESULTS", "u32,s32,u16,s16,f32,f16,f16x2,bf16,bf16x2"},
    {"INTEGERS", "u8,s8,u16,s16,u32,s32,u64,s64"},
    {"ROUNDING", "rn,rz,rm,rp"},
    {"ROUNDS", ",.rn,.rz,.rm,.rp"},
    {"WHOLE", "rni,rzi,rmi,rpi"},
    {"WHOLES", ",.rni,.rzi,.rmi,.rpi"},
    {"F16S", "f16,f16x2"},
    {"BF16S", "bf16,bf16x2"},
    {"HALVES", "f16,f16x2,bf16,bf16x2"},
};

/// A type as a modifier names it: one value, or several of them in 32 bits.
struct TypeName {
    ptx::Type part = ptx::Type::None;
    bool is_packed = false;
};

/// Returns what a modifier names; its part is None if it is not a type.
constexpr TypeName type_named(std::string_view word) {
    using ptx::Type;

    struct Entry {
        std::string_view word;
        TypeName type;
    };

    constexpr Entry ENTRIES[] = {
        {"u16", {Type::U16}},         {"s16", {Type::S16}},         {"u32", {Type::U32}},
        {"s32", {Type::S32}},         {"u64", {Type::U64}},         {"s64", {Type::S64}},
        {"b16", {Type::B16}},         {"b32", {Type::B32}},         {"b64", {Type::B64}},
        {"u8", {Type::U8}},           {"s8", {Type::S8}},           {"f32", {Type::F32}},
        {"f64", {Type::F64}},         {"f16", {Type::F16}},         {"f16x2", {Type::F16x2}},
        {"bf16", {Type::BF16}},       {"bf16x2", {Type::BF16x2}},   {"pred", {Type::Pred}},
        {"u16x2", {Type::U16, true}}, {"s16x2", {Type::S16, true}}, {"u8x4", {Type::U8, true}},
        {"s8x4", {Type::S8, true}},   {"b8", {Type::B8}},           {"b128", {Type::B128}},
        {"f32x2", {Type::F32, true}},
    };
    for (const Entry& entry : ENTRIES) {
        if (entry.word == word) {
            return entry.type;
        }
    }
    const FormatName format = format_named(word);
    switch (FORMATS[static_cast<unsigned>(format.format)].bits * format.count) {
    case 8:
        return {Type::B8};
    case 16:
        return {Type::B16};
    case 32:
        return {Type::B32};
    default:
        return {};
    }
}

/// Returns whether a modifier is spelled as a type, known or not. The order of types matters, that
/// of other modifiers does not.
constexpr bool is_type(std::string_view word) {
    if (word == "pred") {
        return true;
    }
    if (word.starts_with("bf") || word.starts_with("tf") || word.starts_with("ue")) {
        word.remove_prefix(1);
    }
    return word.size() > 1 && word.find_first_of("usbfe") == 0 && word[1] >= '0' &&
           word[1] <= '9' && word.find_first_not_of("0123456789xmf", 1) == word.npos;
}

/// Returns the type that is twice as wide.
constexpr ptx::Type doubled(ptx::Type type) {
    using ptx::Type;
    switch (type) {
    case Type::U16:
        return Type::U32;
    case Type::S16:
        return Type::S32;
    case Type::U32:
        return Type::U64;
    default:
        return Type::S64;
    }
}

/// The words at one place of a pattern.
struct Group {
    char name = 0; // 0: the word is fixed, or a group without a name
    bool is_optional = false;
    bool has_types = false;
    std::vector<std::string_view> words; // without dots; an empty one if it is optional

    [[nodiscard]] constexpr bool chooses_form() const { return name >= 'A' && name <= 'Z'; }
};

/// A pattern in parts. The first group is the opcode.
struct Pattern {
    std::vector<Group> groups;

    constexpr explicit Pattern(std::string_view text) {
        while (!text.empty()) {
            if (text[0] == '.') {
                text.remove_prefix(1);
            }
            if (text[0] == '{') {
                const std::size_t end = text.find('}');
                add_group(text.substr(1, end - 1));
                text.remove_prefix(end + 1);
            } else {
                const std::size_t end = std::min(text.find_first_of(".{"), text.size());
                add(Group{}, text.substr(0, end));
                text.remove_prefix(end);
            }
        }
    }

private:
    constexpr void add_group(std::string_view text) {
        Group group;
        if (text.size() > 1 && text[1] == ':') {
            group.name = text[0];
            text.remove_prefix(2);
        }
        if (text == "PAIRS" || text == "QUADS") { // of the formats that have quads
            group.has_types = true;
            for (const FormatRecord& record : FORMATS) {
                if (!record.quad.empty()) {
                    group.words.push_back(text == "PAIRS" ? record.pair : record.quad);
                }
            }
            groups.push_back(group);
            return;
        }
        for (const WordList& list : WORD_LISTS) {
            text = list.name == text ? list.words : text;
        }
        add(group, text);
    }

    constexpr void add(Group group, std::string_view words) {
        while (true) {
            const std::size_t end = std::min(words.find(','), words.size());
            std::string_view word = words.substr(0, end);
            group.is_optional = group.is_optional || word.empty();
            word.remove_prefix(!word.empty() && word[0] == '.' ? 1 : 0);
            group.has_types = group.has_types || is_type(word);
            group.words.push_back(word);
            if (end == words.size()) {
                break;
            }
            words.remove_prefix(end + 1);
        }
        groups.push_back(group);
    }
};

/// One text of a pattern: a word for each group.
class Match {
public:
    static constexpr std::size_t MAX_GROUPS = 10;

    constexpr explicit Match(const Pattern& pattern) : pattern_(&pattern) {}

    [[nodiscard]] constexpr const Pattern& pattern() const { return *pattern_; }

    constexpr void choose(std::size_t group, std::size_t word) {
        choices_[group] = static_cast<std::uint8_t>(word);
    }

    [[nodiscard]] constexpr std::string_view word(std::size_t group) const {
        return pattern_->groups[group].words[choices_[group]];
    }

    /// Returns which word a group has chosen; 0 if there is no such group.
    [[nodiscard]] constexpr std::size_t index(char name) const {
        for (std::size_t i = 0; i < pattern_->groups.size(); ++i) {
            if (pattern_->groups[i].name == name) {
                return choices_[i];
            }
        }
        return 0;
    }

    /// Returns the word that a group has chosen; empty if there is no such group.
    [[nodiscard]] constexpr std::string_view operator[](char name) const {
        for (std::size_t i = 0; i < pattern_->groups.size(); ++i) {
            if (pattern_->groups[i].name == name) {
                return word(i);
            }
        }
        return {};
    }

    [[nodiscard]] constexpr bool has(std::string_view wanted) const {
        for (std::size_t i = 1; i < pattern_->groups.size(); ++i) {
            if (word(i) == wanted) {
                return true;
            }
        }
        return false;
    }

    /// Returns the type that the instruction computes with: that of group T, or the last one.
    [[nodiscard]] constexpr TypeName type() const {
        if (const std::string_view named = (*this)['T']; !named.empty()) {
            return type_named(named);
        }
        TypeName result;
        for (std::size_t i = 1; i < pattern_->groups.size(); ++i) {
            if (const TypeName type = type_named(word(i)); type.part != ptx::Type::None) {
                result = type;
            }
        }
        return result;
    }

    /// Moves on to the next text. `only_forms`: leaves the groups alone that choose no form.
    /// Returns false after the last one.
    constexpr bool advance(bool only_forms) {
        for (std::size_t i = pattern_->groups.size(); i-- > 0;) {
            const Group& group = pattern_->groups[i];
            if (only_forms && !group.chooses_form()) {
                continue;
            }
            if (++choices_[i] < group.words.size()) {
                return true;
            }
            choices_[i] = 0;
        }
        return false;
    }

    /// The constant that chooses the form (`L`).
    std::uint8_t literal = 0;

private:
    const Pattern* pattern_;
    std::uint8_t choices_[MAX_GROUPS] = {};
};

__extension__ typedef unsigned __int128 Key;

/// Returns a form as one number.
template <typename T>
constexpr Key key_of(const T& form) {
    static_assert(sizeof(T) <= sizeof(Key));
    Key key = 0;
    for (const std::uint8_t byte : std::bit_cast<std::array<std::uint8_t, sizeof(T)>>(form)) {
        key = key << 8 | byte;
    }
    return key;
}

/// Returns the forms of some rows, each once, in the order of their keys.
template <typename T, std::size_t COUNT>
constexpr std::vector<T> collect_forms(const Row<T> (&rows)[COUNT]) {
    std::vector<T> forms;
    for (const Row<T>& row : rows) {
        if (!row.operation.is_set()) {
            continue;
        }
        const Pattern pattern(row.pattern);
        Match match(pattern);
        const unsigned literals = row.operands.find('L') != row.operands.npos ? 256 : 1;
        do {
            for (unsigned literal = 0; literal < literals; ++literal) {
                match.literal = static_cast<std::uint8_t>(literal);
                forms.push_back(row.operation(match).form);
            }
        } while (match.advance(true));
    }
    const auto is_before = [](const T& a, const T& b) { return key_of(a) < key_of(b); };
    const auto is_equal = [](const T& a, const T& b) { return key_of(a) == key_of(b); };
    std::sort(forms.begin(), forms.end(), is_before);
    forms.erase(std::unique(forms.begin(), forms.end(), is_equal), forms.end());
    return forms;
}

/// The forms of a list of rows. A form's place is its number, and that of its handler in the tables
/// of all levels.
template <const auto& ROWS>
constexpr inline auto FORMS = [] {
    constexpr auto all = [] { // evaluated once, so the size is not known yet
        constexpr std::size_t most = 2048;
        const auto forms = collect_forms(ROWS);
        std::pair<std::array<std::remove_cvref_t<decltype(forms[0])>, most>, std::size_t> result;
        std::copy(forms.begin(), forms.end(), result.first.begin());
        result.second = forms.size();
        return result;
    }();
    std::array<std::remove_cvref_t<decltype(all.first[0])>, all.second> result;
    std::copy_n(all.first.begin(), all.second, result.begin());
    return result;
}();

} // namespace cuprum::emulator::rows
