// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::detail {

/// Returns a text in quotation marks for a message; what follows a NUL, where messages end, as
/// dots.
[[nodiscard]] inline std::string quoted(std::string_view text) {
    const std::size_t end = text.find('\0');
    return "\"" + std::string(text.substr(0, end)) +
           (end == std::string_view::npos ? "\"" : "\\0...\"");
}

/// Returns whether a character may be part of a C++ identifier.
[[nodiscard]] inline bool is_identifier_character(char character) {
    return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
}

/// Returns an address or handle for a message, "0x7f10".
[[nodiscard]] inline std::string hexadecimal(std::uintptr_t value) {
    std::array<char, 2 * sizeof(value)> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
    return "0x" + std::string(digits.data(), end);
}

[[nodiscard]] inline std::string hexadecimal(const void* value) {
    return hexadecimal(reinterpret_cast<std::uintptr_t>(value));
}

/// Returns the text of an enumerator, out of one for each from 0 to `LAST`.
template <auto LAST, std::size_t COUNT>
[[nodiscard]] constexpr const char* enumerator_text(decltype(LAST) value,
                                                    const char* const (&texts)[COUNT],
                                                    const char* unknown = "unknown") noexcept {
    static_assert(COUNT == static_cast<std::size_t>(LAST) + 1, "each enumerator has a text");
    const auto index = static_cast<std::size_t>(value);
    return index < COUNT ? texts[index] : unknown;
}

/// Refuses a text that libraries and the system, which take C strings, would see a part of.
/// @throws std::invalid_argument that names it.
inline void check_has_no_nul(const char* name, std::string_view text) {
    if (text.find('\0') != std::string_view::npos) [[unlikely]] {
        throw std::invalid_argument(std::string(name) + " is " + quoted(text) +
                                    "; expected a text without a NUL character");
    }
}

/// Makes room for one more element, so that adding it cannot fail. The capacity doubles: with
/// `reserve(size() + 1)`, every call would move all elements.
template <typename T>
void make_room_for_one(std::vector<T>& elements) {
    if (elements.size() == elements.capacity()) {
        elements.reserve(2 * elements.size() + 1);
    }
}

} // namespace cuprum::detail
