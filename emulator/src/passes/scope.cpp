// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "passes/scope.hpp"

#include <algorithm>
#include <utility>

namespace cuprum::emulator::passes {

namespace {

/// Of the first of ten digits. No range has as many registers.
constexpr std::uint64_t MAX_POWER = 1'000'000'000;

} // namespace

const ParameterElement* ParameterStorage::find(std::int64_t offset,
                                               std::uint32_t size_bytes) const {
    const auto found = std::ranges::lower_bound(
        elements, std::pair{offset, size_bytes}, {}, [](const ParameterElement& element) {
            return std::pair{std::int64_t{element.offset}, element.size_bytes};
        });
    return found != elements.end() && found->offset == offset && found->size_bytes == size_bytes
               ? &*found
               : nullptr;
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
    Scope& scope = scopes_.back();
    auto& known = scope.ranges[range.prefix];
    if (known.empty() || known.back().first.count < range.count) { // the first one counts
        known.emplace_back(range, scope.range_count++);
    }
}

const RegisterRange* Scopes::Scope::range_of(std::string_view name) const {
    // The prefix itself may end in digits, so each of the last digits may be the first of the
    // number. The range that was declared first counts.
    const RegisterRange* result = nullptr;
    std::size_t place = ~std::size_t{0};
    std::uint64_t index = 0;
    std::uint64_t power = 1;
    for (std::size_t at = name.size(); at-- > 1 && power <= MAX_POWER; power *= 10) {
        if (name[at] < '0' || name[at] > '9') {
            break;
        }
        index += power * static_cast<std::uint64_t>(name[at] - '0');
        if (name[at] == '0' && at + 1 != name.size()) {
            continue; // no number starts with 0
        }
        const auto found = ranges.find(name.substr(0, at));
        if (found == ranges.end()) {
            continue;
        }
        const auto first = std::ranges::upper_bound(
            found->second, index, {}, [](const auto& each) { return each.first.count; });
        if (first != found->second.end() && first->second < place) {
            result = &first->first;
            place = first->second;
        }
    }
    return result;
}

} // namespace cuprum::emulator::passes
