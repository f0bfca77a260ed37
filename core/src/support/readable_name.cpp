// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/readable_name.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace cuprum::detail {

namespace {

constexpr std::size_t MAX_LENGTH = 120;

/// Leaves out tags such as "[abi:v1]".
std::string without_tags(std::string text) {
    constexpr std::string_view tag = "[abi:";
    for (std::size_t begin = text.find(tag); begin != std::string::npos; begin = text.find(tag)) {
        const std::size_t end = text.find(']', begin);
        if (end == std::string::npos) {
            break;
        }
        text.erase(begin, end + 1 - begin);
    }
    return text;
}

} // namespace

std::string demangled(std::string_view symbol) {
    if (!symbol.starts_with("_Z")) {
        return {};
    }
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status), &std::free);
    return name == nullptr ? std::string() : std::string(name.get());
}

std::size_t parameters_at(std::string_view demangled) noexcept {
    constexpr std::string_view unnamed = "(anonymous namespace)";
    int inside = 0; // template arguments and lambdas
    for (std::size_t i = 0; i < demangled.size(); ++i) {
        if (demangled.substr(i).starts_with(unnamed)) {
            i += unnamed.size() - 1;
        } else if (inside == 0 && demangled[i] == '(') {
            return i;
        } else {
            inside += demangled[i] == '<' || demangled[i] == '{'   ? 1
                      : demangled[i] == '>' || demangled[i] == '}' ? -1
                                                                   : 0;
        }
    }
    return std::string_view::npos;
}

std::string readable_signature(std::string_view symbol) {
    std::string name = demangled(symbol);
    return name.empty() ? std::string(symbol) : name;
}

std::string readable_name(std::string_view symbol) {
    std::string name = without_tags(demangled(symbol));
    if (name.empty()) {
        name = symbol;
    } else {
        // A variable of a function stands behind the parameters: "sum(float*)::partial".
        for (std::size_t begin = parameters_at(name); begin != std::string::npos;
             begin = parameters_at(name)) {
            int depth = 0;
            std::size_t end = begin;
            do {
                depth += name[end] == '(' ? 1 : name[end] == ')' ? -1 : 0;
            } while (++end < name.size() && depth != 0);
            name.erase(begin, end - begin);
        }
        constexpr std::string_view result = "void "; // of a kernel that is a template
        if (name.starts_with(result)) {
            name.erase(0, result.size());
        }
    }
    if (name.size() > MAX_LENGTH) {
        constexpr std::string_view mark = "...";
        name.resize(MAX_LENGTH - mark.size());
        name += mark;
    }
    return name;
}

} // namespace cuprum::detail
