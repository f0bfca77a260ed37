// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Everything that has a to_string() in this library can be written to a stream and, where the
// standard library has std::format, be formatted.

#pragma once

#include <concepts>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <version>

#if defined(__cpp_lib_format)
#include <format>
#endif

namespace cuprum {

/// A class or enumeration that to_string() turns into text, as it does with most of this library.
template <typename T>
concept HasText = (std::is_class_v<T> || std::is_enum_v<T>) &&
                  !requires(const T& value) { std::to_string(value); } && requires(const T& value) {
                      { to_string(value) } -> std::convertible_to<std::string_view>;
                  };

/// Writes an object as to_string() shows it.
template <HasText T>
std::ostream& operator<<(std::ostream& out, const T& value) {
    return out << to_string(value);
}

} // namespace cuprum

#if defined(__cpp_lib_format)
/// Formats an object as to_string() shows it; takes the format specifications of a string.
template <cuprum::HasText T>
struct std::formatter<T, char> : std::formatter<std::string_view, char> {
    template <typename Context>
    auto format(const T& value, Context& context) const {
        const auto text = to_string(value); // keeps a std::string alive for the call
        return std::formatter<std::string_view, char>::format(std::string_view(text), context);
    }
};
#endif
