// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "places/python_frames.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <mutex>

namespace cuprum::emulator::places {

namespace {

constexpr std::size_t MAX_FRAMES_SHOWN = 3;
constexpr std::size_t MAX_SEEN = 100; // the limit of the interpreter's own dump

bool is_of_cuprum(std::string_view file);
bool is_installed(std::string_view file);
std::string unescape(std::string_view text);
void append_utf8(std::string& text, std::uint32_t character);

} // namespace

bool PythonFrames::add(std::string_view file, int line, std::string_view function) {
    if (!file.starts_with("<frozen ") && !is_of_cuprum(file)) {
        auto& kept = is_installed(file) ? installed_ : own_;
        if (kept.size() < MAX_FRAMES_SHOWN) {
            std::string text;
            if (function != "<module>") {
                text.append("in ").append(function).append(function.ends_with('>') ? " " : "() ");
            }
            kept.push_back(
                text.append("at ").append(file).append(":").append(std::to_string(line)));
        }
    }
    return ++seen_ < MAX_SEEN && own_.size() < MAX_FRAMES_SHOWN;
}

std::string PythonFrames::to_text() const {
    std::string text;
    for (const std::string& line : own_.empty() ? installed_ : own_) {
        text.append(text.empty() ? "" : "\n").append(line);
    }
    return text;
}

void read_dump(std::string_view dump, PythonFrames& frames) {
    constexpr std::string_view before_file = "  File \"";
    constexpr std::string_view before_line = "\", line ";
    constexpr std::string_view before_function = " in ";
    bool wants_more = true;
    for (std::size_t at = 0; at < dump.size() && wants_more;) {
        const std::size_t end = dump.find('\n', at);
        if (end == std::string_view::npos) {
            break; // the line is cut off
        }
        const std::string_view text = dump.substr(at, end - at);
        at = end + 1;
        const std::size_t middle = text.rfind(before_line);
        if (!text.starts_with(before_file) || middle == std::string_view::npos) {
            continue;
        }
        int line = 0;
        const std::size_t digits = middle + before_line.size();
        const auto number = std::from_chars(text.data() + digits, text.data() + text.size(), line);
        const auto rest = text.substr(static_cast<std::size_t>(number.ptr - text.data()));
        if (!rest.starts_with(before_function)) {
            continue;
        }
        const auto file = text.substr(before_file.size(), middle - before_file.size());
        wants_more =
            frames.add(unescape(file), line, unescape(rest.substr(before_function.size())));
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Returns whether a file belongs to the cuprum package: it lies below a folder of that name that
/// is a package. A project may lie in a folder of the same name.
bool is_of_cuprum(std::string_view file) {
    constexpr std::string_view folder = "/cuprum/";
    static std::mutex mutex; // protects the cache below
    static auto* known = new std::map<std::string, bool, std::less<>>;
    for (std::size_t at = file.find(folder); at != std::string_view::npos;
         at = file.find(folder, at + 1)) {
        const std::string_view package = file.substr(0, at + folder.size());
        const std::lock_guard lock(mutex);
        auto found = known->find(package);
        if (found == known->end()) {
            const std::string start = std::string(package) + "__init__.py";
            found = known->emplace(package, ::access(start.c_str(), F_OK) == 0).first;
        }
        if (found->second) {
            return true;
        }
    }
    return false;
}

bool is_installed(std::string_view file) {
    constexpr std::array<std::string_view, 4> folders{"/site-packages/", "/dist-packages/",
                                                      "/lib/python3", "/lib64/python3"};
    return std::ranges::any_of(
        folders, [&](auto folder) { return file.find(folder) != std::string_view::npos; });
}

/// Decodes the dump's escapes of non-ASCII characters (\xe9, \u20ac, \U0001f40d) to UTF-8.
std::string unescape(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const char kind = text[at] == '\\' && at + 1 < text.size() ? text[at + 1] : '\0';
        const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
        std::uint32_t character = 0;
        const char* const start = text.data() + at + 2;
        if (digits == 0 || at + 2 + digits > text.size() ||
            std::from_chars(start, start + digits, character, 16).ptr != start + digits) {
            result += text[at++];
            continue;
        }
        append_utf8(result, character);
        at += 2 + digits;
    }
    return result;
}

void append_utf8(std::string& text, std::uint32_t character) {
    const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    const auto rest = [&](unsigned shift) { add(0x80 | (character >> shift & 0x3f)); };
    if (character < 0x80) {
        add(character);
    } else if (character < 0x800) {
        add(0xc0 | character >> 6);
        rest(0);
    } else if (character < 0x10000) {
        add(0xe0 | character >> 12);
        rest(6);
        rest(0);
    } else {
        add(0xf0 | (character >> 18 & 0x07));
        rest(12);
        rest(6);
        rest(0);
    }
}

} // namespace

} // namespace cuprum::emulator::places
