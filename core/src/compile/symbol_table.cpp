// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/symbol_table.hpp"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cuprum::detail {

namespace {

constexpr std::string_view MARK = "cuprum symbols\n";

void put(std::vector<std::byte>& bytes, std::string_view text);
void put(std::vector<std::byte>& bytes, std::uint64_t number);
[[nodiscard]] std::optional<std::uint64_t> take_number(std::span<const std::byte>& bytes);
[[nodiscard]] std::optional<std::string> take_text(std::span<const std::byte>& bytes);

} // namespace

std::vector<std::byte> with_symbols(const SymbolMapping& symbols, std::span<const std::byte> code) {
    std::vector<std::byte> packed;
    put(packed, MARK);
    put(packed, std::uint64_t{symbols.size()});
    for (const auto& [name, symbol] : symbols) {
        put(packed, name);
        put(packed, symbol);
    }
    packed.insert(packed.end(), code.begin(), code.end());
    return packed;
}

bool take_symbols(CodeWithSymbols& packed) {
    std::span<const std::byte> rest = packed.code;
    if (take_text(rest) != std::string(MARK)) {
        return false;
    }
    const auto count = take_number(rest);
    SymbolMapping symbols;
    for (std::uint64_t i = 0; i < count.value_or(0); ++i) {
        auto name = take_text(rest);
        auto symbol = take_text(rest);
        if (!name.has_value() || !symbol.has_value()) {
            return false;
        }
        symbols.emplace(*std::move(name), *std::move(symbol));
    }
    if (!count.has_value()) {
        return false;
    }
    packed.code = std::vector<std::byte>(rest.begin(), rest.end());
    packed.symbols = std::move(symbols);
    return true;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void put(std::vector<std::byte>& bytes, std::uint64_t number) {
    const auto* const begin = reinterpret_cast<const std::byte*>(&number);
    bytes.insert(bytes.end(), begin, begin + sizeof(number));
}

void put(std::vector<std::byte>& bytes, std::string_view text) {
    put(bytes, std::uint64_t{text.size()});
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
