// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "launch/parameter_kinds.hpp"

#include "support/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace cuprum::detail {

namespace {

using Parameters = std::vector<DeclaredParameter>;

[[nodiscard]] bool agrees(const Parameters& declared, std::span<const ParameterInfo> reported);

// ---- PTX ---------------------------------------------------------------------------------------

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

// ---- mangled names -----------------------------------------------------------------------------

/// Reads as much of the Itanium ABI's mangling as the names of kernels use. What it does not know
/// ends the reading: kinds are then unknown, which is safe.
class NameReader {
public:
    explicit NameReader(std::string_view mangled) : rest_(mangled) {}

    [[nodiscard]] std::optional<Parameters> read() {
        if (!take("_Z") || !read_function_name()) {
            return std::nullopt;
        }
        // The result comes first, but only in the names of templates.
        if (is_template_ && !read_type().has_value()) {
            return std::nullopt;
        }
        Parameters parameters;
        if (rest_ == "v") {
            return parameters;
        }
        while (!rest_.empty() && rest_[0] != '.' && rest_[0] != '$') { // a suffix of a compiler
            const auto type = read_type();
            if (!type.has_value()) {
                return std::nullopt;
            }
            parameters.push_back(*type);
        }
        return parameters;
    }

private:
    using Type = DeclaredParameter;
    static constexpr Type UNKNOWN{};
    static constexpr int MAX_DEPTH = 64; // of nested types

    [[nodiscard]] bool starts_with(char character) const {
        return !rest_.empty() && rest_[0] == character;
    }

    bool take(std::string_view text) {
        if (!rest_.starts_with(text)) {
            return false;
        }
        rest_.remove_prefix(text.size());
        return true;
    }

    [[nodiscard]] bool is_digit() const {
        return !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9';
    }

    /// Reads a length and as many characters.
    bool take_source_name() {
        std::size_t length = 0;
        const auto read = std::from_chars(rest_.data(), rest_.data() + rest_.size(), length);
        if (read.ec != std::errc()) {
            return false;
        }
        rest_.remove_prefix(static_cast<std::size_t>(read.ptr - rest_.data()));
        if (length == 0 || length > rest_.size()) {
            return false;
        }
        rest_.remove_prefix(length);
        return true;
    }

    /// Reads the number before the underscore of "S_", "S0_", "T_", "T1_": 0, 1, 0, 2.
    std::optional<std::size_t> take_index(int base) {
        std::size_t index = 0;
        bool is_first = true;
        for (; !rest_.empty() && rest_[0] != '_'; rest_.remove_prefix(1)) {
            const char digit = rest_[0];
            const bool is_letter = digit >= 'A' && digit <= 'Z';
            if ((digit < '0' || digit > '9') && !is_letter) {
                return std::nullopt;
            }
            const int value = is_letter ? digit - 'A' + 10 : digit - '0';
            if (value >= base || index > rest_.size() + known_.size() + 4096) {
                return std::nullopt;
            }
            index = index * static_cast<std::size_t>(base) + static_cast<std::size_t>(value);
            is_first = false;
        }
        if (!take("_")) {
            return std::nullopt;
        }
        return is_first ? 0 : index + 1;
    }

    bool read_function_name() {
        if (take("N")) {
            while (take("r") || take("V") || take("K")) {
            }
            return read_nested(false);
        }
        static_cast<void>(take("L")); // internal linkage
        static_cast<void>(take("St"));
        if (!take_source_name()) {
            return false;
        }
        if (starts_with('I')) {
            known_.push_back(UNKNOWN); // the template's name
            return read_template_arguments(&arguments_) && (is_template_ = true);
        }
        return true;
    }

    /// Reads the parts of a nested name up to its E. The whole is a type, or names the function.
    bool read_nested(bool is_type) {
        bool has_arguments = false;
        while (!take("E")) {
            if (take("St")) {
                has_arguments = false;
                continue; // std itself is no candidate for a substitution
            }
            if (take("S")) {
                const auto index = take_index(36);
                if (!index.has_value() || *index >= known_.size()) {
                    return false;
                }
                continue; // known already
            }
            if (starts_with('I')) {
                if (!read_template_arguments(is_type ? nullptr : &arguments_)) {
                    return false;
                }
                has_arguments = true;
            } else if (take("T")) {
                if (!take_index(36).has_value()) {
                    return false;
                }
                has_arguments = false;
            } else {
                static_cast<void>(take("L"));
                if (!is_digit() || !take_source_name()) {
                    return false;
                }
                has_arguments = false;
            }
            if (is_type || !starts_with('E')) {
                known_.push_back(UNKNOWN);
            }
        }
        if (!is_type) {
            is_template_ = has_arguments;
        }
        return true;
    }

    /// Reads I...E. Types among the arguments go to `types`, unless that is null.
    bool read_template_arguments(Parameters* types) {
        Parameters found;
        if (!take("I") || !read_argument_list(found)) {
            return false;
        }
        if (types != nullptr) {
            *types = std::move(found);
        }
        return true;
    }

    // NOLINTNEXTLINE(misc-no-recursion): packs hold arguments; the depth is limited
    bool read_argument_list(Parameters& found) {
        if (++depth_ > MAX_DEPTH) {
            return false;
        }
        while (!take("E")) {
            if (take("L")) { // a value: its type and digits
                if (starts_with('_') || !read_type().has_value()) {
                    return false;
                }
                const std::size_t end = rest_.find('E');
                if (end == std::string_view::npos) {
                    return false;
                }
                rest_.remove_prefix(end + 1);
                found.push_back(UNKNOWN);
            } else if (take("J")) { // a pack
                Parameters ignored;
                if (!read_argument_list(ignored)) {
                    return false;
                }
                found.push_back(UNKNOWN);
            } else if (const auto type = read_type()) {
                found.push_back(*type);
            } else {
                return false;
            }
        }
        --depth_;
        return true;
    }

    // NOLINTNEXTLINE(misc-no-recursion): types nest; the depth is limited
    std::optional<Type> read_type() {
        if (rest_.empty() || ++depth_ > MAX_DEPTH) {
            return std::nullopt;
        }
        const std::optional<Type> type = read_type_inside();
        --depth_;
        return type;
    }

    // NOLINTNEXTLINE(misc-no-recursion)
    std::optional<Type> read_type_inside() {
        using enum ParameterKind;
        const char first = rest_[0];
        if (const std::optional<Type> plain = plain_type(first)) {
            rest_.remove_prefix(1);
            return plain;
        }
        if (is_digit() || first == 'N') {
            return read_class();
        }
        if (first == 'S') {
            return read_substitution();
        }
        rest_.remove_prefix(1);
        switch (first) {
        case 'P':
        case 'R':
        case 'O':
            if (!read_type().has_value()) {
                return std::nullopt;
            }
            return remember({Pointer, sizeof(void*)});
        case 'r':
        case 'V':
        case 'K': {
            while (take("V") || take("K")) { // the qualifiers of one type are one candidate
            }
            const auto type = read_type();
            return type.has_value() ? std::optional(remember(*type)) : std::nullopt;
        }
        case 'T': {
            const auto index = take_index(36);
            if (!index.has_value() || *index >= arguments_.size()) {
                return std::nullopt;
            }
            return remember(arguments_[*index]);
        }
        case 'F': // a function, behind a pointer
            static_cast<void>(take("Y"));
            while (!take("E")) {
                if (!read_type().has_value()) {
                    return std::nullopt;
                }
            }
            return remember(UNKNOWN);
        case 'A': {
            const std::size_t end = rest_.find('_');
            if (end == std::string_view::npos ||
                rest_.substr(0, end).find_first_not_of("0123456789") != std::string_view::npos) {
                return std::nullopt;
            }
            rest_.remove_prefix(end + 1);
            return read_type().has_value() ? std::optional(remember(UNKNOWN)) : std::nullopt;
        }
        case 'D':
            return read_newer_type();
        case 'u': // of a vendor
            return take_source_name() ? std::optional(remember(UNKNOWN)) : std::nullopt;
        default:
            return std::nullopt;
        }
    }

    [[nodiscard]] static std::optional<Type> plain_type(char letter) {
        using enum ParameterKind;
        switch (letter) {
        case 'b':
        case 'c':
        case 'a':
        case 'h':
            return Type{Integer, 1};
        case 's':
        case 't':
            return Type{Integer, 2};
        case 'i':
        case 'j':
        case 'w':
            return Type{Integer, 4};
        case 'l':
        case 'm':
        case 'x':
        case 'y':
            return Type{Integer, 8};
        case 'f':
            return Type{Float, 4};
        case 'd':
            return Type{Float, 8};
        case 'n':
        case 'o':
        case 'v':
            return UNKNOWN;
        default:
            return std::nullopt;
        }
    }

    /// Reads what follows a D.
    std::optional<Type> read_newer_type() {
        using enum ParameterKind;
        if (take("i")) {
            return Type{Integer, 4};
        }
        if (take("s")) {
            return Type{Integer, 2};
        }
        if (take("u")) {
            return Type{Integer, 1};
        }
        if (take("h") || take("n") || take("F16_") || take("F16b")) {
            return UNKNOWN;
        }
        return std::nullopt;
    }

    // NOLINTNEXTLINE(misc-no-recursion)
    std::optional<Type> read_class() {
        if (take("N")) {
            while (take("r") || take("V") || take("K")) {
            }
            return read_nested(true) ? std::optional(UNKNOWN) : std::nullopt;
        }
        if (!take_source_name()) {
            return std::nullopt;
        }
        return with_arguments(remember(UNKNOWN));
    }

    // NOLINTNEXTLINE(misc-no-recursion)
    std::optional<Type> read_substitution() {
        if (take("St")) {
            return take_source_name() ? with_arguments(remember(UNKNOWN)) : std::nullopt;
        }
        rest_.remove_prefix(1);
        if (!rest_.empty() && rest_[0] >= 'a' && rest_[0] <= 'z') { // Ss, Sa...: of the library
            rest_.remove_prefix(1);
            return with_arguments(UNKNOWN);
        }
        const auto index = take_index(36);
        if (!index.has_value() || *index >= known_.size()) {
            return std::nullopt;
        }
        return with_arguments(known_[*index]);
    }

    /// Reads the arguments of a class template, if there are any.
    // NOLINTNEXTLINE(misc-no-recursion)
    std::optional<Type> with_arguments(Type type) {
        if (!starts_with('I')) {
            return type;
        }
        return read_template_arguments(nullptr) ? std::optional(remember(UNKNOWN)) : std::nullopt;
    }

    /// Keeps a type for later substitutions.
    Type remember(Type type) {
        known_.push_back(type);
        return type;
    }

    std::string_view rest_;
    Parameters known_;     // what S_, S0_... stand for
    Parameters arguments_; // what T_, T0_... stand for
    bool is_template_ = false;
    int depth_ = 0;
};

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
    return NameReader(mangled).read();
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

// ---- helpers -----------------------------------------------------------------------------------

namespace {

bool agrees(const Parameters& declared, std::span<const ParameterInfo> reported) {
    return std::ranges::equal(declared, reported, [](const auto& left, const auto& right) {
        return left.size == 0 || left.size == right.size;
    });
}

} // namespace

} // namespace cuprum::detail
