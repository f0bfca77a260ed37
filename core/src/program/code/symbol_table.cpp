// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/code/symbol_table.hpp"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cuprum::detail {

namespace {

// After the code: the number of symbols, their names and values, the size of all that in bytes, and
// the mark.
constexpr std::string_view MARK = "cuprum symbols\n";
constexpr std::size_t END_BYTES = sizeof(std::uint64_t) + MARK.size();

void put(std::vector<std::byte>& bytes, std::string_view text);
void put_number(std::vector<std::byte>& bytes, std::uint64_t number);
void put_text(std::vector<std::byte>& bytes, std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> take_number(std::span<const std::byte>& bytes);
[[nodiscard]] std::optional<std::string> take_text(std::span<const std::byte>& bytes);

} // namespace

std::vector<std::byte> with_symbols(const SymbolMapping& symbols, std::span<const std::byte> code) {
    std::vector<std::byte> packed(code.begin(), code.end());
    put_number(packed, symbols.size());
    for (const auto& [name, symbol] : symbols) {
        put_text(packed, name);
        put_text(packed, symbol);
    }
    put_number(packed, packed.size() - code.size());
    put(packed, MARK);
    return packed;
}

bool take_symbols(CodeWithSymbols& packed) {
    const std::span<const std::byte> whole = std::as_const(packed.code).bytes();
    if (whole.size() < END_BYTES ||
        std::memcmp(whole.data() + whole.size() - MARK.size(), MARK.data(), MARK.size()) != 0) {
        return false;
    }
    const std::span<const std::byte> before = whole.first(whole.size() - END_BYTES);
    std::span<const std::byte> rest = whole.subspan(before.size());
    const auto table_bytes = take_number(rest);
    if (*table_bytes > before.size()) {
        return false;
    }
    rest = before.last(*table_bytes);
    const auto count = take_number(rest);
    if (!count.has_value()) {
        return false;
    }
    SymbolMapping symbols;
    for (std::uint64_t i = 0; i < *count; ++i) {
        auto name = take_text(rest);
        auto symbol = take_text(rest);
        if (!name.has_value() || !symbol.has_value()) {
            return false;
        }
        symbols.emplace(*std::move(name), *std::move(symbol));
    }
    if (!rest.empty()) {
        return false;
    }
    packed.code.shorten(before.size() - *table_bytes);
    packed.symbols = std::move(symbols);
    return true;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void put_number(std::vector<std::byte>& bytes, std::uint64_t number) {
    const auto* const begin = reinterpret_cast<const std::byte*>(&number);
    bytes.insert(bytes.end(), begin, begin + sizeof(number));
}

void put_text(std::vector<std::byte>& bytes, std::string_view text) {
    put_number(bytes, text.size());
    put(bytes, text);
}

void put(std::vector<std::byte>& bytes, std::string_view text) {
    const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
    bytes.insert(bytes.end(), begin, begin + text.size());
}

std::optional<std::uint64_t> take_number(std::span<const std::byte>& bytes) {
    std::uint64_t number = 0;
    if (bytes.size() < sizeof(number)) {
        return std::nullopt;
    }
    std::memcpy(&number, bytes.data(), sizeof(number));
    bytes = bytes.subspan(sizeof(number));
    return number;
}

std::optional<std::string> take_text(std::span<const std::byte>& bytes) {
    const auto length = take_number(bytes);
    if (!length.has_value() || *length > bytes.size()) {
        return std::nullopt;
    }
    std::string text(reinterpret_cast<const char*>(bytes.data()), *length);
    bytes = bytes.subspan(*length);
    return text;
}

} // namespace

} // namespace cuprum::detail
