// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/flags.hpp"

#include "support/text.hpp"

#include <stdexcept>

namespace cuprum::detail {

void reject_option(const char* options_class, const char* field, const std::string& value,
                   const std::string& expected) {
    throw std::invalid_argument(std::string(options_class) + " " + field + " is " + value +
                                "; expected " + expected);
}

void Flags::on(const char* flag, const std::optional<bool>& value) {
    if (value.value_or(false)) {
        flags_.emplace_back(flag);
    }
}

void Flags::either(const char* flag, const std::optional<bool>& value) {
    if (value.has_value()) {
        flags_.push_back(std::string(flag) + (*value ? "true" : "false"));
    }
}

void Flags::number(const char* field, const char* flag, const std::optional<int>& value,
                   int least) {
    if (!value.has_value()) {
        return;
    }
    if (*value < least) {
        reject_option(options_class_, field, std::to_string(*value),
                      "a number of at least " + std::to_string(least));
    }
    flags_.push_back(flag + std::to_string(*value));
}

void Flags::numbers(const char* field, const char* flag, const std::vector<int>& values) {
    for (const int value : values) {
        number(field, flag, value, 1);
    }
}

void Flags::text(const char* field, const char* flag, const std::string& value) {
    if (value.empty()) {
        reject_option(options_class_, field, "\"\"", "a text that is not empty");
    }
    if (value.find('\0') != std::string::npos) {
        // Compilers take C strings and would ignore the rest.
        reject_option(options_class_, field, detail::quoted(value),
                      "a text without a NUL character");
    }
    flags_.push_back(flag + value);
}

void Flags::text(const char* field, const char* flag, const std::optional<std::string>& value) {
    if (value.has_value()) {
        text(field, flag, *value);
    }
}

void Flags::texts(const char* field, const char* flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
        text(field, flag, value);
    }
}

} // namespace cuprum::detail
