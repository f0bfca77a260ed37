// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/source/includes.hpp"

#include "support/once.hpp"
#include "support/text.hpp"

#include <cuprum/compiler.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <sys/stat.h>

namespace cuprum::detail {

std::vector<std::string> find_include_directories(const std::string& compiler,
                                                  std::span<const std::string> roots,
                                                  libraries::Targets targets) {
    namespace fs = std::filesystem;
    std::vector<fs::path> places;
    if (!compiler.empty()) {
        // The headers that came with this very compiler suit it best.
        fs::path root = fs::path(compiler).parent_path().parent_path();
        if (root.parent_path().filename() == "targets") {
            root = root.parent_path().parent_path();
        }
        places.push_back(std::move(root));
    }
    places.insert(places.end(), roots.begin(), roots.end());

    std::vector<std::string> folders{"include"};
    for (const char* target : targets) {
        folders.push_back("targets/" + std::string(target) + "/include");
    }
    std::vector<std::string> cccl_folders; // CUDA 13 keeps CCCL in a folder of its own
    for (const std::string& folder : folders) {
        cccl_folders.push_back(folder + "/cccl");
    }
    cccl_folders.emplace_back("include");

    std::vector<std::string> directories;
    const auto add_first = [&](const std::vector<std::string>& inside, const char* file) {
        for (const fs::path& place : places) {
            for (const std::string& folder : inside) {
                const fs::path directory = place / folder;
                std::error_code ignored;
                if (!fs::is_regular_file(directory / file, ignored)) {
                    continue;
                }
                const std::string text = directory.lexically_normal().string();
                if (std::find(directories.begin(), directories.end(), text) == directories.end()) {
                    directories.push_back(text);
                }
                return;
            }
        }
    };
    add_first(folders, "cuda_fp16.h");
    add_first(cccl_folders, "cuda/std/type_traits");
    return directories;
}

const std::string& default_headers_fingerprint() {
    static NeverDestroyed<std::string> fingerprint([] {
        std::string text;
        for (const std::string& directory : default_include_directories()) {
            text += directory;
            for (const char* file : {"/cuda.h", "/cuda_runtime_api.h", "/cuda_fp16.hpp",
                                     "/cuda/std/version", "/cuda/std/__cccl/version.h"}) {
                struct stat status{};
                if (::stat((directory + file).c_str(), &status) == 0) {
                    text += std::string(file) + ":" + std::to_string(status.st_size) + ":" +
                            std::to_string(status.st_mtim.tv_sec);
                }
            }
            text += ';';
        }
        return text;
    }());
    return *fingerprint;
}

// Finds the #include directives of a C++ text. Conditions are not evaluated and count as true.
// Comments, literals and lines continued with a backslash are read as C++ reads them. Trigraphs,
// which only older dialects have, are read both ways.

namespace {

constexpr std::array<std::string_view, 4> DIRECTIVES{"include", "include_next", "import", "embed"};
constexpr std::array<std::string_view, 3> QUESTIONS{"__has_include", "__has_include_next",
                                                    "__has_embed"};
constexpr std::array<std::string_view, 5> RAW_LITERALS{"R", "LR", "uR", "UR", "u8R"};

/// Walks over a text without line splices.
class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) {}

    [[nodiscard]] std::vector<Include> run();

private:
    [[nodiscard]] bool starts_with(std::string_view word) const {
        return text_.substr(at_).starts_with(word);
    }

    [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    /// Skips to a character or the end.
    void skip_to(std::string_view end) { at_ = std::min(text_.find(end, at_), text_.size()); }

    bool skip_comment();
    void skip_blanks();
    void skip_literal(char quote);
    bool skip_raw_literal();
    [[nodiscard]] std::string_view take_word();
    /// Takes "name" or <name>; anything else is a macro.
    void take_name();

    std::string_view text_;
    std::size_t at_ = 0;
    std::vector<Include> found_;
};

template <std::size_t Count>
bool is_one_of(std::string_view word, const std::array<std::string_view, Count>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_splice(std::string_view text) {
    return text.find("\\\n") != std::string_view::npos ||
           text.find("\\\r\n") != std::string_view::npos;
}

bool has_trigraph(std::string_view text) {
    return text.find("?\?=") != std::string_view::npos ||
           text.find("?\?/") != std::string_view::npos;
}

/// Replaces the trigraphs for # and for the backslash. No other character matters here.
std::string without_trigraphs(std::string_view text) {
    std::string replaced;
    replaced.reserve(text.size());
    while (!text.empty()) {
        const bool is_trigraph = text.starts_with("?\?=") || text.starts_with("?\?/");
        replaced += !is_trigraph ? text[0] : text[2] == '=' ? '#' : '\\';
        text.remove_prefix(is_trigraph ? 3 : 1);
    }
    return replaced;
}

/// Joins the lines that end with a backslash.
std::string spliced(std::string_view text) {
    std::string joined;
    joined.reserve(text.size());
    while (!text.empty()) {
        if (text.starts_with("\\\n")) {
            text.remove_prefix(2);
        } else if (text.starts_with("\\\r\n")) {
            text.remove_prefix(3);
        } else {
            joined += text.front();
            text.remove_prefix(1);
        }
    }
    return joined;
}

std::vector<Include> Scanner::run() {
    bool is_line_start = true;
    bool is_definition = false; // of a macro
    while (at_ < text_.size()) {
        const char character = here();
        if (skip_comment()) {
            continue; // counts as a blank
        }
        if (character == '\n') {
            is_line_start = true;
            is_definition = false;
            ++at_;
        } else if (std::isspace(static_cast<unsigned char>(character)) != 0) {
            ++at_;
        } else if (is_line_start && (character == '#' || starts_with("%:"))) {
            is_line_start = false;
            at_ += character == '#' ? 1 : 2;
            skip_blanks();
            const std::string_view directive = take_word();
            skip_blanks();
            is_definition = directive == "define";
            if (is_definition) {
                static_cast<void>(take_word()); // the macro's name
            } else if (is_one_of(directive, DIRECTIVES)) {
                take_name();
            }
        } else if (character == '"' || character == '\'') {
            is_line_start = false;
            skip_literal(character);
        } else if (is_identifier_character(character)) {
            is_line_start = false;
            const std::string_view word = take_word();
            if (here() == '"' && is_one_of(word, RAW_LITERALS) && skip_raw_literal()) {
                continue;
            }
            if (is_one_of(word, QUESTIONS)) {
                skip_blanks();
                if (here() == '(') {
                    ++at_;
                    skip_blanks();
                    take_name();
                } else if (is_definition) { // the macro stands for the question
                    found_.push_back({{}, true});
                }
            }
        } else {
            is_line_start = false;
            ++at_;
        }
    }
    return std::move(found_);
}

bool Scanner::skip_comment() {
    if (starts_with("//")) {
        skip_to("\n");
        return true;
    }
    if (starts_with("/*")) {
        at_ += 2;
        skip_to("*/");
        at_ = std::min(at_ + 2, text_.size());
        return true;
    }
    return false;
}

void Scanner::skip_blanks() {
    while ((here() != '\n' && std::isspace(static_cast<unsigned char>(here())) != 0) ||
           starts_with("/*")) {
        if (!skip_comment()) {
            ++at_;
        }
    }
}

/// Skips a string or character literal. None spans lines.
void Scanner::skip_literal(char quote) {
    ++at_;
    while (at_ < text_.size() && here() != '\n') {
        const char character = text_[at_++];
        if (character == quote) {
            return;
        }
        if (character == '\\' && at_ < text_.size() && here() != '\n') {
            ++at_;
        }
    }
}

/// Skips R"end(...)end". Returns false and skips nothing for other text.
bool Scanner::skip_raw_literal() {
    static constexpr std::size_t MAX_DELIMITER = 16;
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos || open - at_ - 1 > MAX_DELIMITER) {
        return false;
    }
    const std::string end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t close = text_.find(end, open);
    if (close == std::string_view::npos) {
        return false;
    }
    at_ = close + end.size();
    return true;
}

/// Takes an identifier or a number, whose digits apostrophes may separate.
std::string_view Scanner::take_word() {
    const std::size_t begin = at_;
    const bool is_number = std::isdigit(static_cast<unsigned char>(here())) != 0;
    while (is_identifier_character(here()) ||
           (is_number && here() == '\'' && at_ + 1 < text_.size() &&
            is_identifier_character(text_[at_ + 1]))) {
        ++at_;
    }
    return text_.substr(begin, at_ - begin);
}

void Scanner::take_name() {
    const char open = here();
    if (open == '"' || open == '<') {
        const char end = open == '"' ? '"' : '>';
        const std::size_t line_end = std::min(text_.find('\n', at_), text_.size());
        const std::size_t close = text_.find(end, at_ + 1);
        if (close < line_end && close > at_ + 1) {
            found_.push_back({std::string(text_.substr(at_ + 1, close - at_ - 1)), open == '"'});
            at_ = close + 1;
            return;
        }
    }
    found_.push_back({{}, true}); // from a macro
}

} // namespace

bool may_include(std::string_view text) {
    // A splice or a trigraph can divide a directive's name.
    return has_splice(text) || has_trigraph(text) ||
           std::ranges::any_of(DIRECTIVES, [text](std::string_view directive) {
               return text.find(directive) != std::string_view::npos;
           });
}

std::vector<Include> includes_in(std::string_view text) {
    if (!may_include(text)) {
        return {};
    }
    std::string joined;
    if (has_splice(text)) {
        joined = spliced(text);
    }
    std::vector<Include> found = Scanner(joined.empty() ? text : joined).run();
    if (has_trigraph(text)) {
        joined = spliced(without_trigraphs(text));
        std::ranges::move(Scanner(joined).run(), std::back_inserter(found));
    }
    return found;
}

} // namespace cuprum::detail
