// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Turns options into the flags of a compiler or linker.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::detail {

/// Throws std::invalid_argument for an option's value: "ProgramOptions std is "x"; expected ...".
[[noreturn]] void reject_option(const char* options_class, const char* field,
                                const std::string& value, const std::string& expected);

/// Collects flags and checks the values.
class Flags {
public:
    /// `options_class` is the class that messages name, such as "ProgramOptions".
    explicit Flags(const char* options_class) : options_class_(options_class) {}

    /// Adds `flag` if the option is on. Off is the compiler's default, which has no flag.
    void on(const char* flag, const std::optional<bool>& value);
    /// Adds `flag` with "true" or "false" if the option is set.
    void either(const char* flag, const std::optional<bool>& value);
    /// Adds `flag` with a number of at least `least`.
    void number(const char* field, const char* flag, const std::optional<int>& value, int least);
    void numbers(const char* field, const char* flag, const std::vector<int>& values);
    /// Adds `flag` with a text.
    void text(const char* field, const char* flag, const std::string& value);
    void text(const char* field, const char* flag, const std::optional<std::string>& value);
    void texts(const char* field, const char* flag, const std::vector<std::string>& values);

    [[nodiscard]] std::vector<std::string> take() { return std::move(flags_); }

private:
    const char* options_class_;
    std::vector<std::string> flags_;
};

} // namespace cuprum::detail
