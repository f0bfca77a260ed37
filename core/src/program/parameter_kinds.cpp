// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/parameter_kinds.hpp"

#include "support/readable_name.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace cuprum::detail {

namespace {

using Parameters = std::vector<DeclaredParameter>;

constexpr std::string_view SPACE = " \t\r\n";

/// Returns whether a character may be part of a name in PTX.
[[nodiscard]] bool is_ptx_name_character(char character) {
    return is_identifier_character(character) || character == '$' || character == '%';
}

[[nodiscard]] std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(SPACE);
    return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

/// Returns whether only directives, such as `.visible`, stand before a place in its line.
[[nodiscard]] bool is_directive(std::string_view ptx, std::size_t place) {
    const std::size_t line = ptx.rfind('\n', place) + 1;
    const std::string_view before = ptx.substr(line, place - line);
    return before.find_first_not_of(" \t.abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
}

/// Reads one `.param` declaration.
[[nodiscard]] std::optional<DeclaredParameter> read_ptx_parameter(std::string_view text) {
    struct Type {
        std::string_view name;
        DeclaredParameter parameter;
    };

    // The bits of .b types can be anything, so that they say the size only.
    using enum ParameterKind;
    static constexpr std::array TYPES{
        Type{".u8", {Integer, 1}},  Type{".u16", {Integer, 2}}, Type{".u32", {Integer, 4}},
        Type{".u64", {Integer, 8}}, Type{".s8", {Integer, 1}},  Type{".s16", {Integer, 2}},
        Type{".s32", {Integer, 4}}, Type{".s64", {Integer, 8}}, Type{".f32", {Float, 4}},
        Type{".f64", {Float, 8}},   Type{".b8", {Unknown, 1}},  Type{".b16", {Unknown, 2}},
        Type{".b32", {Unknown, 4}}, Type{".b64", {Unknown, 8}}, Type{".f16", {Unknown, 2}},
    };
    std::optional<DeclaredParameter> found;
    bool is_param = false;
    for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
        const std::size_t end = std::min(text.find_first_of(" \t\r\n["), text.size());
        const std::string_view word = text.substr(0, std::max<std::size_t>(end, 1));
        text.remove_prefix(word.size());
        const auto* const type =
            std::ranges::find_if(TYPES, [&](const Type& known) { return known.name == word; });
        if (word == ".param") {
            is_param = true;
        } else if (type != TYPES.end() && !found.has_value()) {
            found = type->parameter;
        } else if (word == ".ptr" && found.has_value()) {
            found->kind = Pointer;
        } else if (word == "[" && found.has_value()) { // an array: a structure, or a vector
            found->kind = Unknown;
            std::size_t count = 0;
            text = trimmed(text);
            const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
            found->size = read.ec == std::errc() ? found->size * count : 0;
            break;
        }
    }
    return is_param ? found : std::nullopt;
}

/// Returns a text without its line comments.
[[nodiscard]] std::string without_comments(std::string_view text) {
    std::string code;
    while (!text.empty()) {
        const std::size_t comment = text.find("//");
        code += text.substr(0, comment);
        if (comment == std::string_view::npos) {
            break;
        }
        text.remove_prefix(std::min(text.find('\n', comment), text.size()));
    }
    return code;
}

[[nodiscard]] std::optional<Parameters> read_ptx_list(std::string_view text) {
    Parameters parameters;
    const std::string code = without_comments(text);
    std::string_view rest = trimmed(code);
    while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        const auto parameter = read_ptx_parameter(rest.substr(0, comma));
        if (!parameter.has_value()) {
            return std::nullopt;
        }
        parameters.push_back(*parameter);
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    return parameters;
}

/// Calls a function for each kernel with the places where its declaration begins and ends, without
/// the directives that may follow.
template <typename Function>
void for_each_entry(std::string_view ptx, Function&& function) {
    static constexpr std::string_view ENTRY = ".entry";
    for (std::size_t place = ptx.find(ENTRY); place != std::string_view::npos;
         place = ptx.find(ENTRY, place + 1)) {
        if (!is_directive(ptx, place)) {
            continue;
        }
        // A kernel without a list is followed by its body, or by a semicolon.
        const std::size_t open = ptx.find_first_of("({;", place);
        const bool has_list = open != std::string_view::npos && ptx[open] == '(';
        const std::size_t end = has_list ? ptx.find(')', open) : open;
        if (end == std::string_view::npos) {
            break;
        }
        function(place, has_list ? end + 1 : end);
    }
}

/// Says what a type of a demangled name is, such as "float const*"; nothing for what no kernel
/// takes.
[[nodiscard]] std::optional<DeclaredParameter> read_type(std::string_view text) {
    using enum ParameterKind;
    static constexpr std::array<std::pair<std::string_view, DeclaredParameter>, 19> TYPES{{
        {"bool", {Integer, 1}},
        {"char", {Integer, 1}},
        {"signed char", {Integer, 1}},
        {"unsigned char", {Integer, 1}},
        {"char8_t", {Integer, 1}},
        {"short", {Integer, 2}},
        {"unsigned short", {Integer, 2}},
        {"char16_t", {Integer, 2}},
        {"int", {Integer, 4}},
        {"unsigned int", {Integer, 4}},
        {"wchar_t", {Integer, 4}},
        {"char32_t", {Integer, 4}},
        {"long", {Integer, 8}},
        {"unsigned long", {Integer, 8}},
        {"long long", {Integer, 8}},
        {"unsigned long long", {Integer, 8}},
        {"float", {Float, 4}},
        {"double", {Float, 8}},
        {"decltype(nullptr)", {Unknown, 0}},
    }};
    for (const std::string_view qualifier : {" const", " volatile"}) {
        if (text.ends_with(qualifier)) {
            text.remove_suffix(qualifier.size());
        }
    }
    if (text.empty() || text == "..." || text.ends_with("::*")) {
        return std::nullopt;
    }
    // Also to a function or an array: "void (*)(int)", "float (&) [4]".
    const bool is_declarator = text.back() == ')' || text.back() == ']';
    if (text.back() == '*' || text.back() == '&' ||
        (is_declarator && (text.find("(*") != std::string_view::npos ||
                           text.find("(&") != std::string_view::npos))) {
        return DeclaredParameter{Pointer, sizeof(void*)};
    }
    const auto* const type =
        std::ranges::find_if(TYPES, [&](const auto& known) { return known.first == text; });
    return type == TYPES.end() ? DeclaredParameter() : type->second;
}

bool agrees(const Parameters& declared, std::span<const ParameterInfo> reported) {
    return std::ranges::equal(declared, reported, [](const auto& left, const auto& right) {
        return left.size == 0 || left.size == right.size;
    });
}

} // namespace

std::optional<std::vector<DeclaredParameter>> parameters_in_ptx(std::string_view ptx,
                                                                std::string_view kernel) {
    static constexpr std::string_view ENTRY = ".entry";
    for (std::size_t place = ptx.find(ENTRY); place != std::string_view::npos;
         place = ptx.find(ENTRY, place + 1)) {
        std::string_view rest = trimmed(ptx.substr(place + ENTRY.size()));
        if (!rest.starts_with(kernel) || !is_directive(ptx, place)) {
            continue;
        }
        rest.remove_prefix(kernel.size());
        if (!rest.empty() && is_ptx_name_character(rest[0])) {
            continue; // a longer name
        }
        rest = trimmed(rest);
        if (!rest.starts_with('(')) {
            return Parameters();
        }
        const std::size_t end = rest.find(')');
        return end == std::string_view::npos ? std::nullopt
                                             : read_ptx_list(rest.substr(1, end - 1));
    }
    return std::nullopt;
}

std::string kernel_declarations(std::string_view ptx) {
    std::string declarations;
    for_each_entry(ptx, [&](std::size_t begin, std::size_t end) {
        declarations += ptx.substr(begin, end - begin);
        declarations += '\n';
    });
    return declarations;
}

std::string with_register_limit(std::string_view ptx, std::optional<int> limit) {
    if (!limit.has_value()) {
        return std::string(ptx);
    }
    std::string text;
    std::size_t copied = 0;
    for_each_entry(ptx, [&](std::size_t /*begin*/, std::size_t end) {
        const std::size_t body = ptx.find_first_of("{;", end);
        const std::string directives = without_comments(ptx.substr(end, body - end));
        if (body == std::string_view::npos || directives.find(".maxnreg") != std::string::npos) {
            return;
        }
        text += ptx.substr(copied, end - copied);
        text += "\n.maxnreg " + std::to_string(*limit) + '\n';
        copied = end;
    });
    text += ptx.substr(copied);
    return text;
}

std::optional<std::vector<DeclaredParameter>> parameters_in_name(std::string_view mangled) {
    const std::string name = demangled(mangled);
    const std::size_t open = parameters_at(name);
    if (open == std::string::npos) {
        return std::nullopt;
    }
    Parameters parameters;
    int inside = 0; // template arguments, and parameters of functions
    for (std::size_t begin = open + 1, at = begin; at < name.size(); ++at) {
        const char character = name[at];
        if (inside == 0 && (character == ',' || character == ')')) {
            const std::string_view type = std::string_view(name).substr(begin, at - begin);
            if (character == ')' && parameters.empty() && type.empty()) {
                return parameters;
            }
            const auto parameter = read_type(type);
            if (!parameter.has_value()) {
                return std::nullopt;
            }
            parameters.push_back(*parameter);
            if (character == ')') {
                return parameters;
            }
            begin = at + 2; // after the blank
        }
        inside += std::string_view("(<{[").find(character) != std::string_view::npos   ? 1
                  : std::string_view(")>}]").find(character) != std::string_view::npos ? -1
                                                                                       : 0;
    }
    return std::nullopt;
}

void note_kinds(std::span<ParameterInfo> parameters, std::string_view kernel,
                std::string_view ptx) {
    if (parameters.empty()) {
        return;
    }
    const auto fill = [&](const std::optional<Parameters>& declared) {
        if (!declared.has_value() || !agrees(*declared, parameters)) {
            return;
        }
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            if (parameters[i].kind == ParameterKind::Unknown) {
                parameters[i].kind = (*declared)[i].kind;
            }
        }
    };
    if (!ptx.empty()) {
        fill(parameters_in_ptx(ptx, kernel));
    }
    fill(parameters_in_name(kernel)); // some compilers declare all parameters as bits
}

} // namespace cuprum::detail
