// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/readable_name.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace cuprum::detail {

namespace {

constexpr std::size_t MAX_LENGTH = 120;

/// Leaves out parameters, which stand outside of template arguments, and tags such as "[abi:v1]".
std::string without_parameters(std::string_view text) {
    constexpr std::string_view unnamed = "(anonymous namespace)";
    constexpr std::string_view tag = "[abi:";
    std::string kept;
    int inside = 0; // template arguments and lambdas
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string_view rest = text.substr(i);
        if (const std::size_t end = rest.find(']');
            rest.starts_with(tag) && end != std::string_view::npos) {
            i += end;
            continue;
        }
        if (rest.starts_with(unnamed)) {
            kept += unnamed;
            i += unnamed.size() - 1;
            continue;
        }
        if (inside == 0 && text[i] == '(') {
            int depth = 0;
            for (; i < text.size(); ++i) {
                depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
                if (depth == 0) {
                    break;
                }
            }
            continue;
        }
        inside += text[i] == '<' || text[i] == '{' ? 1 : text[i] == '>' || text[i] == '}' ? -1 : 0;
        kept += text[i];
    }
    return kept;
}

} // namespace

std::string readable_signature(std::string_view symbol) {
    const std::string name(symbol);
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> demangled(
        symbol.starts_with("_Z") ? abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status)
                                 : nullptr,
        &std::free);
    return demangled != nullptr ? demangled.get() : name;
}

std::string readable_name(std::string_view symbol) {
    std::string name = readable_signature(symbol);
    if (name != symbol) {
        constexpr std::string_view result = "void "; // of a kernel that is a template
        name = without_parameters(name);
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
