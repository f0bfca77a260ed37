// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "passes/scope.hpp"

#include <charconv>

namespace cuprum::emulator::passes {

const ParameterElement* ParameterStorage::find(std::int64_t offset,
                                               std::uint32_t size_bytes) const {
    for (const ParameterElement& element : elements) {
        if (element.offset == offset && element.size_bytes == size_bytes) {
            return &element;
        }
    }
    return nullptr;
}

void Scopes::push(bool is_function) {
    scopes_.emplace_back().is_function = is_function;
}

void Scopes::pop() {
    scopes_.pop_back();
}

bool Scopes::declare(std::string_view name, Symbol symbol) {
    return scopes_.back().names.emplace(name, std::move(symbol)).second;
}

void Scopes::declare(const RegisterRange& range) {
    scopes_.back().ranges.push_back(range);
}

const RegisterRange* Scopes::Scope::range_of(std::string_view name) const {
    std::size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') {
        --digits;
    }
    if (digits == name.size()) {
        return nullptr;
    }
    for (const RegisterRange& range : ranges) {
        // The prefix itself may end in digits, so compare with the prefix instead of splitting off
        // the name's digits.
        const std::size_t length = range.prefix.size();
        if (length < digits || length >= name.size() || !name.starts_with(range.prefix)) {
            continue;
        }
        const std::string_view number = name.substr(length);
        if (number.size() > 1 && number.front() == '0') {
            continue;
        }
        std::uint32_t index = 0;
        const auto [end, error] =
            std::from_chars(number.data(), number.data() + number.size(), index);
        if (error == std::errc{} && end == number.data() + number.size() && index < range.count) {
            return &range;
        }
    }
    return nullptr;
}

} // namespace cuprum::emulator::passes
