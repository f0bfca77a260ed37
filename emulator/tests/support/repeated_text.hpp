// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Long texts from short patterns.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cuprum::emulator::test {

/// Joins the texts that `piece` makes of 0 to `count` - 1.
template <typename Piece>
std::string each(std::size_t count, Piece piece) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        text += piece(i);
    }
    return text;
}

/// Replaces every `#` by `i` and every `@@` by `i + 1`.
inline std::string numbered(std::string_view pattern, std::size_t i) {
    std::string text;
    for (std::size_t at = 0; at < pattern.size(); ++at) {
        if (pattern[at] == '#') {
            text += std::to_string(i);
        } else if (pattern.substr(at, 2) == "@@") {
            text += std::to_string(i + 1);
            ++at;
        } else {
            text += pattern[at];
        }
    }
    return text;
}

/// Repeats a pattern, numbered from 0.
inline std::string repeated(std::size_t count, std::string_view pattern) {
    return each(count, [&](std::size_t i) { return numbered(pattern, i); });
}

/// Repeats a pattern, numbered down to 0.
inline std::string reversed(std::size_t count, std::string_view pattern) {
    return each(count, [&](std::size_t i) { return numbered(pattern, count - 1 - i); });
}

} // namespace cuprum::emulator::test
